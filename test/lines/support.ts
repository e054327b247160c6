/** Helpers of these tests: whole reads, logs made of damage, a file system with its own clock. */
import fc from "fast-check";
import {
  backwardBatches,
  bytesOf,
  FileError,
  type FileState,
  type FollowEvent,
  type FollowPorts,
  forwardBatches,
  type LineItem,
  type LineReadOptions,
} from "../../src/lines/index.ts";

export function bytes(...parts: readonly (string | readonly number[] | Uint8Array)[]): Buffer {
  return Buffer.concat(parts.map((part) => Buffer.from(part as string)));
}

export async function forward(log: Uint8Array, options: LineReadOptions = {}): Promise<LineItem[]> {
  const items: LineItem[] = [];
  for await (const batch of forwardBatches(bytesOf(log), options)) items.push(...batch);
  return items;
}

/** What a backward read gives, put in file order. */
export async function backward(log: Uint8Array, options: LineReadOptions = {}): Promise<LineItem[]> {
  const items: LineItem[] = [];
  for await (const batch of backwardBatches(bytesOf(log), options)) items.push(...batch);
  return items.reverse();
}

/** One line an item: `record 0-7 {"a":1}`, `record 0-7 glued {"a":1}`, `torn 8-20`. */
export function notation(items: readonly LineItem[]): string[] {
  return items.map((item) => {
    const range = `${item.start}-${item.end}`;
    if (item.type === "damage") return `${item.reason} ${range}`;
    const how = item.recovered === undefined ? "" : `${item.recovered} `;
    return `record ${range} ${how}${JSON.stringify(item.value)}`;
  });
}

function text(value: string): fc.Arbitrary<Buffer> {
  return fc.constant(Buffer.from(value));
}

const strings = fc.constantFrom(
  "",
  "a",
  "é",
  "漢字",
  "😀",
  "\u2028",
  "{",
  "}",
  '"',
  "\\",
  "\n",
  '{"type":"x"}',
  "]",
  ",",
  "\u0000",
  "\ud800",
);
const values: fc.Arbitrary<unknown> = fc.letrec((tie) => ({
  value: fc.oneof(
    { maxDepth: 3 },
    strings,
    fc.integer({ min: -9, max: 99 }),
    fc.constant(null),
    fc.array(tie("value"), { maxLength: 3 }),
    fc.dictionary(fc.constantFrom("a", "type", "timestamp", "b", ""), tie("value"), {
      maxKeys: 3,
      noNullPrototype: true,
    }),
  ),
})).value;

export const objects: fc.Arbitrary<object> = fc.dictionary(
  fc.constantFrom("a", "type", "timestamp", "b", "c"),
  values,
  {
    maxKeys: 4,
    noNullPrototype: true,
  },
);

const compact = objects.map((value) => Buffer.from(JSON.stringify(value)));
const pretty = objects.map((value) => Buffer.from(JSON.stringify(value, null, 2)));
/** A record written with its line feeds, tabs and NULs unescaped. */
const unescaped = objects.map((value) =>
  Buffer.from(
    JSON.stringify(value)
      .replace(/(?<!\\)((?:\\\\)*)\\n/g, "$1\n")
      .replace(/(?<!\\)((?:\\\\)*)\\u0000/g, "$1\0"),
  ),
);
const anyRecord = fc.oneof(compact, pretty, unescaped);

/** A part of a record, cut anywhere at both ends. */
const cut = fc.tuple(anyRecord, fc.nat(), fc.nat()).map(([record, a, b]) => {
  const first = a % (record.length + 1);
  const second = b % (record.length + 1);
  return record.subarray(Math.min(first, second), Math.max(first, second));
});
const stub = fc
  .tuple(anyRecord, fc.nat())
  .map(([record, at]) => record.subarray(0, at % (record.length + 1)));

const noise = fc.oneof(
  text("{"),
  text("}"),
  text("{}"),
  text("{}{"),
  text("  {}"),
  text("{ "),
  text(" "),
  text("\t\r"),
  text("["),
  text("12"),
  text('"x"'),
  text('x"y'),
  text("\\"),
  text("\0\0\0"),
  text("\ufeff"),
  text("\0"),
  fc.constant(Buffer.from([0xff])),
  fc.constant(Buffer.from([0xe2, 0x80])),
);

const ends = fc.oneof(
  { weight: 6, arbitrary: text("\n") },
  { weight: 2, arbitrary: text("\r\n") },
  { weight: 2, arbitrary: text("") },
  { weight: 1, arbitrary: text("\n\n") },
  { weight: 1, arbitrary: text("\n \n") },
);

/** Logs of good and damaged lines in any mixture. */
export const logs: fc.Arbitrary<Buffer> = fc
  .array(
    fc.tuple(
      fc.oneof(
        { weight: 5, arbitrary: compact },
        { weight: 3, arbitrary: pretty },
        { weight: 3, arbitrary: unescaped },
        { weight: 3, arbitrary: stub },
        { weight: 2, arbitrary: cut },
        { weight: 4, arbitrary: noise },
      ),
      ends,
    ),
    { maxLength: 14 },
  )
  .map((lines) => Buffer.concat(lines.flat()));

export const limits = fc.record({
  chunkBytes: fc.constantFrom(1, 2, 3, 7, 16, 64, 4096),
  joinBytesMax: fc.constantFrom(1, 8, 20, 40, 80, 4096),
  lineBytesMax: fc.constantFrom(5, 30, 60, 4096, 4096),
});

/** A file system of one file with a clock that only the test moves. */
export class FakeDisk {
  bytes: Buffer | undefined;
  inode = 1;
  modified = 1n;
  /** What `stat` throws instead of answering. */
  failure: FileError | undefined;
  /** What `watch` throws; where undefined, watchers are set up. */
  watchFailure: Error | undefined;
  readonly watches: {
    path: string;
    hint: (name: string | undefined) => void;
    fail: (error: Error) => void;
  }[] = [];
  readonly timers: { delayMs: number; run: () => void }[] = [];
  openSources = 0;
  stats = 0;
  reads = 0;
  /** Of these, what was asked for at once: the lengths of reads, and the number of `stat`. */
  readonly readsNow: number[] = [];
  statsNow = 0;
  /** Called at each read, as a watcher that reports reads would be. */
  onRead: (() => void) | undefined;

  write(content: Uint8Array | undefined): void {
    this.bytes = content === undefined ? undefined : Buffer.from(content);
    this.modified += 1n;
  }

  append(content: Uint8Array | string): void {
    this.write(Buffer.concat([this.bytes ?? Buffer.alloc(0), Buffer.from(content as string)]));
  }

  replace(content: Uint8Array | undefined): void {
    this.inode += 1;
    this.write(content);
  }

  /** Lets the earliest timer ring; false where none is set. */
  ring(): boolean {
    const timer = this.timers.shift();
    timer?.run();
    return timer !== undefined;
  }

  hint(): void {
    for (const watch of [...this.watches]) watch.hint(undefined);
  }

  readonly ports: FollowPorts = {
    stat: async () => this.#stat(),
    statNow: () => {
      this.statsNow += 1;
      return this.#stat();
    },
    open: async (path) => {
      if (this.bytes === undefined) throw new FileError("not-found", path, "not there");
      const inode = this.inode;
      let last = this.bytes;
      const now = (): Buffer => {
        if (this.inode === inode && this.bytes !== undefined) last = this.bytes;
        return last;
      };
      this.openSources += 1;
      let isOpen = true;
      const read = (offset: number, length: number): Buffer => {
        if (!isOpen) throw new FileError("unreadable", path, "closed");
        this.reads += 1;
        this.onRead?.();
        return Buffer.from(now().subarray(offset, offset + length));
      };
      return {
        path,
        size: async () => now().length,
        state: async () => this.#state(inode),
        read: async (offset, length) => read(offset, length),
        readNow: (offset, length) => {
          this.readsNow.push(length);
          return read(offset, length);
        },
        close: async () => {
          if (isOpen) this.openSources -= 1;
          isOpen = false;
        },
      };
    },
    watch: (path, hint, fail) => {
      if (this.watchFailure !== undefined) throw this.watchFailure;
      const watch = { path, hint, fail };
      this.watches.push(watch);
      return {
        close: () => {
          const index = this.watches.indexOf(watch);
          if (index >= 0) this.watches.splice(index, 1);
        },
      };
    },
    after: (delayMs, run) => {
      const timer = { delayMs, run };
      this.timers.push(timer);
      return () => {
        const index = this.timers.indexOf(timer);
        if (index >= 0) this.timers.splice(index, 1);
      };
    },
  };

  #stat(): FileState | undefined {
    this.stats += 1;
    if (this.failure !== undefined) throw this.failure;
    return this.bytes === undefined ? undefined : this.#state(this.inode);
  }

  #state(inode: number): FileState {
    return { identity: `1:${inode}`, size: this.bytes?.length ?? 0, modified: this.modified };
  }
}

/** Takes events until the log is caught up; returns all of them. */
export async function untilCaughtUp(events: AsyncIterator<FollowEvent>): Promise<FollowEvent[]> {
  return until(events, (event) => event.type === "caughtUp");
}

/** Takes events until one fits; returns all of them. */
export async function until(
  events: AsyncIterator<FollowEvent>,
  fits: (event: FollowEvent) => boolean,
): Promise<FollowEvent[]> {
  const taken: FollowEvent[] = [];
  for (;;) {
    const next = await events.next();
    if (next.done === true) return taken;
    taken.push(next.value);
    if (fits(next.value)) return taken;
  }
}

/** The items of the events after the last reset. */
export function itemsOf(events: readonly FollowEvent[]): LineItem[] {
  let items: LineItem[] = [];
  for (const event of events) {
    if (event.type === "reset") items = [];
    if (event.type === "items") items.push(...event.items);
  }
  return items;
}

/**
 * The items without what depends on when they were first seen: an object that stood alone at the end of the log before something was
 * glued to it.
 */
export function timeless(items: readonly LineItem[]): LineItem[] {
  return items.map((item) => {
    if (item.type !== "record" || (item.recovered !== "glued" && item.recovered !== "nul-run")) return item;
    const { recovered: _, ...rest } = item;
    return rest;
  });
}

/** Lets all work that waits for no timer run. */
export async function settle(): Promise<void> {
  for (let turn = 0; turn < 20; turn += 1) await new Promise((resolve) => setImmediate(resolve));
}
