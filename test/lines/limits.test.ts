/** Each limit at its border. */
import { describe, expect, it } from "vitest";
import {
  type ByteSource,
  bytesOf,
  followFile,
  forwardBatches,
  type LineItem,
  readBackward,
  readForward,
} from "../../src/lines/index.ts";
import {
  chunkBytes,
  chunkGrowthMax,
  followReadBytesMin,
  headBytesMax,
  hintPauseMaxMs,
  joinBytesMax,
  lineBytesMax,
  nowReadBytesMax,
  resolveLimits,
  resyncPassesMax,
  sweepAloneMs,
  sweepFirstMs,
  sweepIdleMs,
} from "../../src/lines/limits.ts";
import { backward, bytes, FakeDisk, forward, itemsOf, notation, settle, untilCaughtUp } from "./support.ts";

/** Counts what is asked of a source, and the most bytes of one read. */
function counted(source: ByteSource): ByteSource & { reads: number[]; total(): number } {
  const reads: number[] = [];
  return {
    reads,
    total: () => reads.reduce((sum, length) => sum + length, 0),
    size: () => source.size(),
    read: (offset, length) => {
      reads.push(length);
      return source.read(offset, length);
    },
    close: () => source.close(),
  };
}

/** A log of any size that is not in memory: `{"a":"xxx…"}` of `length` bytes, then a small record. */
function longLine(length: number): ByteSource {
  const tail = Buffer.from('"}\n{"b":2}\n');
  const size = length + tail.length - 2;
  return {
    size: async () => size,
    read: async (offset, wanted) => {
      const part = Buffer.alloc(Math.max(0, Math.min(wanted, size - offset)), 0x78);
      const put = (content: Buffer, at: number): void => {
        for (let index = 0; index < content.length; index += 1) {
          const place = at + index - offset;
          if (place >= 0 && place < part.length) part[place] = content[index]!;
        }
      };
      put(Buffer.from('{"a":"'), 0);
      put(tail, length - 2);
      return part;
    },
    close: async () => undefined,
  };
}

async function all(items: AsyncIterable<LineItem>): Promise<LineItem[]> {
  const list: LineItem[] = [];
  for await (const item of items) list.push(item);
  return list;
}

describe("lineBytesMax", () => {
  const line = '{"a":"xxxxxxxx"}';
  it("parses a line of exactly that many bytes", async () => {
    for (const read of [forward, backward])
      expect(await read(bytes(`${line}\n`), { limits: { lineBytesMax: line.length } })).toMatchObject([
        { type: "record" },
      ]);
  });

  it("gives a longer one as a placeholder with its head, and goes on behind it", async () => {
    const log = bytes(`{"z":0}\n${line}\n{"b":2}\n`);
    for (const chunk of [1, 4, 4096])
      for (const read of [forward, backward]) {
        const items = await read(log, { limits: { lineBytesMax: line.length - 1, chunkBytes: chunk } });
        expect(items).toEqual([
          { type: "record", start: 0, end: 7, value: { z: 0 } },
          { type: "damage", start: 8, end: 24, reason: "too-large", head: Buffer.from(line) },
          { type: "record", start: 25, end: 32, value: { b: 2 } },
        ]);
      }
  });

  it("resume-skills#257: is 64 MiB, and a line above it takes no memory of its size", async () => {
    expect(lineBytesMax).toBe(64 * 1024 * 1024);
    const length = 400 * 1024 * 1024;
    for (const read of [readForward, readBackward]) {
      const before = process.memoryUsage().arrayBuffers;
      let most = 0;
      const source = longLine(length);
      const items = await all(
        read({
          ...source,
          read: async (offset, wanted) => {
            most = Math.max(most, process.memoryUsage().arrayBuffers - before);
            return source.read(offset, wanted);
          },
        }),
      );
      const large = items.find((item) => item.type === "damage");
      expect(large).toMatchObject({ reason: "too-large", start: 0, end: length });
      expect(large?.type === "damage" && large.head?.length).toBe(headBytesMax);
      expect(items).toContainEqual({ type: "record", start: length + 1, end: length + 8, value: { b: 2 } });
      // The held line, and what the collector has not yet taken back.
      expect(most).toBeLessThan(3 * lineBytesMax);
    }
  });

  it("reads the 19 MB record of codex#37719 and the 20 MB line of cop#2490 whole", async () => {
    const length = 20 * 1024 * 1024;
    for (const read of [readForward, readBackward]) {
      const items = await all(read(longLine(length)));
      const record = items.find((item) => item.type === "record" && item.start === 0);
      expect(record).toMatchObject({ end: length });
      expect(record?.type === "record" && (record.value as { a: string }).a.length).toBe(length - 8);
    }
  });
});

describe("joinBytesMax", () => {
  const log = bytes('{"t":"one\ntwo\nthree"}\n{"b":2}\n');
  it("joins lines that start no more than that many bytes below the first", async () => {
    for (const read of [forward, backward])
      expect(notation(await read(log, { limits: { joinBytesMax: 14 } }))).toEqual([
        'record 0-21 split {"t":"one\\ntwo\\nthree"}',
        'record 22-29 {"b":2}',
      ]);
  });

  it("joins nothing beyond", async () => {
    for (const read of [forward, backward])
      expect(notation(await read(log, { limits: { joinBytesMax: 13 } }))).toEqual([
        "torn 0-9",
        "not-json 10-13",
        "not-json 14-21",
        'record 22-29 {"b":2}',
      ]);
  });

  it("bounds what a tail read looks at in a log of nothing but damage", async () => {
    expect(joinBytesMax).toBe(4 * 1024 * 1024);
    const source = counted(bytesOf(Buffer.alloc(64 * 1024 * 1024, "no json here\n")));
    const items = readBackward(source, { limits: { joinBytesMax: 100_000 } });
    expect((await items.next()).value).toMatchObject({ reason: "not-json" });
    expect(source.total()).toBeLessThan(1_000_000);
  });

  it("is not reached by blank lines however many there are", async () => {
    const log = bytes('{"t":"x\n', "\n".repeat(100_000), '{"b":2}\n');
    for (const read of [forward, backward])
      expect(notation(await read(log, { limits: { joinBytesMax: 50 } }))).toEqual([
        "torn 0-7",
        'record 100008-100015 {"b":2}',
      ]);
  });
});

describe("chunkBytes", () => {
  it("is the size of the first read, which doubles up to 16 times", async () => {
    expect([chunkBytes, chunkGrowthMax]).toEqual([65536, 16]);
    const source = counted(bytesOf(Buffer.alloc(100_000, '{"a":1}\n')));
    const iterator = forwardBatches(source, { limits: { chunkBytes: 64 } });
    for await (const batch of iterator) expect(batch.length).toBeGreaterThan(0);
    expect(source.reads.slice(0, 6)).toEqual([64, 128, 256, 512, 1024, 1024]);
  });

  it("cc#79196, cc#3178: bounds what the newest record of a large log costs", async () => {
    const source = counted(bytesOf(Buffer.alloc(50_000_000, '{"a":1}\n')));
    expect((await readBackward(source).next()).value).toMatchObject({ end: 49_999_999 });
    expect(source.total()).toBeLessThanOrEqual(2 * chunkBytes);
  });

  it("bounds what a page in the middle costs: the line before it is not read again", async () => {
    const log = Buffer.alloc(8_000_000, '{"a":1}\n');
    for (const start of [4_000_000, 4_000_007]) {
      const source = counted(bytesOf(log));
      const { value } = await readForward(source, { start, limits: { chunkBytes: 256 } }).next();
      expect(value).toMatchObject({ start: Math.ceil(start / 8) * 8 });
      expect(source.total()).toBeLessThan(1024);
    }
  });
});

it("refuses limits that are no positive integers", () => {
  for (const value of [0, -1, 1.5, Number.NaN, Number.POSITIVE_INFINITY])
    expect(() => resolveLimits({ lineBytesMax: value })).toThrow(RangeError);
});

it("resyncPassesMax: a stub that holds very many beginnings of objects costs a bounded number of passes", async () => {
  expect(resyncPassesMax).toBe(8);
  const log = bytes('{"x":"', '{"a'.repeat(200_000), "\n", '{"b":2}\n');
  const started = process.cpuUsage().user;
  const items = await forward(log);
  expect(notation(items)).toEqual(["torn 0-600006", 'record 600007-600014 {"b":2}']);
  // Unbounded, this is 200,000 passes over 600 KB: minutes.
  expect(process.cpuUsage(undefined).user - started).toBeLessThan(5_000_000);
});

describe("the reads of a follower", () => {
  it("are two for what is appended: it with what was there before it, and the head", async () => {
    const disk = new FakeDisk();
    disk.write(bytes('{"a":1}\n'));
    const abort = new AbortController();
    const events = followFile("/log", { signal: abort.signal, ports: disk.ports });
    await untilCaughtUp(events);
    const before = disk.reads;
    disk.append('{"b":2}\n');
    disk.hint();
    expect(notation(itemsOf(await untilCaughtUp(events)))).toEqual(['record 8-15 {"b":2}']);
    expect(disk.reads - before).toBe(2);
    abort.abort();
  });

  // A read that was filled is followed by one that finds the end, or the rest of the line.
  it.each([
    [-1, 2],
    [0, 3],
    [1, 3],
  ])("take along what comes before the read, up to their bound (%i): %i reads", async (more, reads) => {
    const disk = new FakeDisk();
    disk.write(bytes('{"a":1}\n'));
    const abort = new AbortController();
    const events = followFile("/log", { signal: abort.signal, ports: disk.ports });
    await untilCaughtUp(events);
    disk.append('{"b":2}\n');
    disk.onRead = () => {
      disk.onRead = undefined;
      disk.append(`{"c":"${"x".repeat(followReadBytesMin - 9 + more)}"}\n`);
    };
    const before = disk.reads;
    disk.hint();
    expect(itemsOf(await untilCaughtUp(events))).toHaveLength(2);
    expect(disk.reads - before).toBe(reads);
    abort.abort();
  });
});

describe("what is done at once", () => {
  const head = '{"a":1}\n';

  async function appended(length: number, look: (disk: FakeDisk) => void): Promise<FakeDisk> {
    const disk = new FakeDisk();
    disk.write(bytes(head));
    const abort = new AbortController();
    const events = followFile("/log", { signal: abort.signal, ports: disk.ports });
    await untilCaughtUp(events);
    const next = untilCaughtUp(events);
    await settle();
    disk.append(`{"b":"${"x".repeat(length - 9)}"}\n`);
    look(disk);
    expect(itemsOf(await next)).toHaveLength(1);
    abort.abort();
    return disk;
  }

  // The print is read along, and somewhat beyond what is known to be there.
  const longest = nowReadBytesMax - head.length - followReadBytesMin;

  it.each([
    ["as much as may be", longest, [nowReadBytesMax, head.length]],
    ["more than may be", longest + 1, [head.length]],
  ])("after a hint: %s", async (_, length, readsNow) => {
    const disk = await appended(length, (each) => each.hint());
    expect(disk.readsNow).toEqual(readsNow);
    expect(disk.statsNow).toBe(1);
  });

  it("nothing where no hint told of a write on this computer, or no watcher works", async () => {
    const swept = await appended(longest, (disk) => disk.ring());
    const alone = await appended(longest, (disk) => {
      for (const { fail } of [...disk.watches]) fail(new Error("no more watchers"));
    });
    for (const { readsNow, statsNow } of [swept, alone]) expect([readsNow, statsNow]).toEqual([[], 0]);
  });
});

describe("the sweep and the pause of hints", () => {
  async function delays(disk: FakeDisk, count: number): Promise<number[]> {
    const abort = new AbortController();
    const events = followFile("/log", { signal: abort.signal, ports: disk.ports });
    await untilCaughtUp(events);
    if (disk.watchFailure !== undefined)
      expect((await events.next()).value).toMatchObject({ type: "watcherFailed" });
    const next = events.next();
    const seen: number[] = [];
    for (let turn = 0; turn < count; turn += 1) {
      await settle();
      expect(disk.timers).toHaveLength(1);
      seen.push(disk.timers[0]!.delayMs);
      disk.ring();
    }
    abort.abort();
    await next;
    return seen;
  }

  it("go from quick to idle, with one timer", async () => {
    const disk = new FakeDisk();
    disk.write(bytes('{"a":1}\n'));
    expect(await delays(disk, 7)).toEqual([sweepFirstMs, 100, 200, 400, 800, sweepIdleMs, sweepIdleMs]);
  });

  it("stay shorter where no watcher works", async () => {
    const disk = new FakeDisk();
    disk.write(bytes('{"a":1}\n'));
    disk.watchFailure = Object.assign(new Error("ENOSPC: System limit for number of file watchers reached"), {
      code: "ENOSPC",
    });
    const seen = await delays(disk, 6);
    expect(Math.max(...seen)).toBe(sweepAloneMs);
    expect(seen.at(-1)).toBe(sweepAloneMs);
  });

  it("claude-code-history-viewer#294: hints that mean nothing are answered ever more slowly, a true one at once again", async () => {
    const disk = new FakeDisk();
    disk.write(bytes('{"a":1}\n'));
    const abort = new AbortController();
    const events = followFile("/log", { signal: abort.signal, ports: disk.ports });
    await untilCaughtUp(events);
    const next = events.next();
    const pauses: number[] = [];
    for (let turn = 0; turn < 9; turn += 1) {
      await settle();
      disk.hint();
      await settle();
      const timer = disk.timers[0];
      if (turn > 0) pauses.push(timer!.delayMs);
      if (turn > 0) disk.ring();
    }
    expect(pauses).toEqual([4, 8, 16, 32, 64, 128, hintPauseMaxMs, hintPauseMaxMs]);
    disk.append('{"b":2}\n');
    disk.hint();
    await settle();
    disk.ring();
    expect((await next).value).toMatchObject({ type: "items" });
    await untilCaughtUp(events);
    const later = events.next();
    await settle();
    disk.append('{"c":3}\n');
    disk.hint();
    expect((await later).value).toMatchObject({ type: "items", items: [{ value: { c: 3 } }] });
    abort.abort();
    await events.next();
  });
});
