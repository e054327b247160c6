/** What must hold of any log, however it is read: whole, by pages from either end, or followed while it grows. */
import fc from "fast-check";
import { expect } from "vitest";
import { bytesOf, followFile } from "../../src/lines/index.ts";
import type { Classifier } from "../../src/sources/classifier.ts";
import { openJsonlLog } from "../../src/sources/jsonl-log.ts";
import type { RecordDecoder } from "../../src/sources/reader.ts";
import type { AgentName, Log, LogEvent, LogItem, Page, Position, TailPage } from "../../src/sources/types.ts";
import type { Entry } from "../../src/transcript/index.ts";
import { FakeDisk } from "../lines/support.ts";

const PAGES_MAX = 100_000;

/** All entries, from the first page on. */
export async function readForward(log: Log, limit: number): Promise<Entry[]> {
  const entries: Entry[] = [];
  let page: Page = await log.first(limit);
  for (let n = 0; n < PAGES_MAX; n++) {
    expectWellFormed(page, limit);
    entries.push(...page.entries);
    if (page.atEnd) return entries;
    page = await log.newer(page.end, limit);
  }
  throw new Error("the log's end was never reached");
}

/** All entries, from the last page up. */
export async function readBackward(log: Log, limit: number): Promise<Entry[]> {
  const pages: (readonly Entry[])[] = [];
  let page: Page = await log.tail(limit);
  expect(page.atEnd).toBe(true);
  for (let n = 0; n < PAGES_MAX; n++) {
    expectWellFormed(page, limit);
    pages.push(page.entries);
    if (page.atStart) return pages.reverse().flat();
    page = await log.older(page.start, limit);
  }
  throw new Error("the log's start was never reached");
}

function expectWellFormed(page: Page, limit: number): void {
  expect(page.positions).toHaveLength(page.entries.length);
  expect(page.entries.length).toBeLessThanOrEqual(limit);
  if (page.entries.length === 0) expect(page.atStart || page.atEnd).toBe(true);
}

/** Entries as a follower holds them that does what the items say. */
export class Told {
  readonly entries: Entry[] = [];
  readonly starts: Position[] = [];
  readonly live = new Set<string>();
  readonly marks: string[] = [];
  isOpen = false;
  resets = 0;

  /** Begins with the newest page. */
  begin(tail: TailPage): void {
    this.entries.splice(0, this.entries.length, ...tail.entries);
    this.starts.splice(0, this.starts.length, ...tail.positions);
    this.live.clear();
    for (const name of tail.live) this.live.add(name);
    this.isOpen = tail.turnOpen;
  }

  take(event: LogEvent): void {
    if (event.type === "reset") {
      this.resets += 1;
      this.entries.length = 0;
      this.starts.length = 0;
      this.live.clear();
    } else if (event.type === "items") for (const item of event.items) this.#item(item);
  }

  #item(item: LogItem): void {
    switch (item.type) {
      case "entry": {
        const at = item.replaces === undefined ? -1 : this.entries.findIndex((e) => e.name === item.replaces);
        if (item.replaces !== undefined) expect(at, `${item.replaces} was told`).toBeGreaterThanOrEqual(0);
        const known = this.entries.findIndex((e) => e.name === item.entry.name);
        expect(known === -1 || known === at, `${item.entry.name} is new`).toBe(true);
        if (at === -1) {
          this.entries.push(item.entry);
          this.starts.push(item.start);
        } else {
          this.live.delete(item.replaces ?? "");
          this.entries[at] = item.entry;
          this.starts[at] = item.start;
        }
        this.#setLive(item.entry.name, item.live);
        return;
      }
      case "changed": {
        const at = this.entries.findIndex((e) => e.name === item.entry.name);
        expect(at, `${item.entry.name} was told`).toBeGreaterThanOrEqual(0);
        this.entries[at] = item.entry;
        this.#setLive(item.entry.name, item.live);
        return;
      }
      case "branchLeft":
        this.#leave(item.from, item.to);
        return;
      case "turnStarted":
        this.isOpen = true;
        this.marks.push("turnStarted");
        return;
      case "turnEnded":
        this.isOpen = false;
        this.marks.push("turnEnded");
        return;
      case "compacted":
        this.marks.push("compacted");
        return;
      case "info":
      case "damage":
        return;
    }
  }

  #setLive(name: string, isLive: boolean): void {
    if (isLive) this.live.add(name);
    else this.live.delete(name);
  }

  /** Byte positions are compared as numbers; positions with names by the entry that they name. */
  #leave(from: Position, to: Position): void {
    const isBytes = /^\d/.test(from) && /^\d/.test(to);
    const first = this.starts.indexOf(from);
    const last = this.entries.findIndex((e) => `>${e.name}` === to);
    for (const [at, entry] of this.entries.entries()) {
      const isLeft = isBytes
        ? Number.parseInt(this.starts[at] ?? "", 10) >= Number(from) &&
          Number.parseInt(this.starts[at] ?? "", 10) < Number(to)
        : at >= first && at <= last;
      if (isLeft) this.entries[at] = { ...entry, offPath: true };
    }
  }
}

/** Takes events until the log has told all that there is now. */
export async function followOn(events: AsyncIterator<LogEvent>, told: Told): Promise<void> {
  for (;;) {
    const next = await events.next();
    if (next.done === true) return;
    told.take(next.value);
    if (next.value.type === "caughtUp" || next.value.type === "reset") return;
  }
}

function decodedBy(decoder: RecordDecoder | undefined): { readonly decoder?: RecordDecoder } {
  return decoder === undefined ? {} : { decoder };
}

/** A log of lines over bytes in memory. */
export function logOf(
  agent: AgentName,
  classifier: Classifier,
  bytes: Uint8Array,
  decoder?: RecordDecoder,
): Promise<Log> {
  const source = bytesOf(bytes);
  return openJsonlLog({ agent, path: "memory.jsonl", classifier, source, ...decodedBy(decoder) });
}

/** What a follower holds that began at a position of the log's first `start` bytes and was then given the rest in pieces. */
export async function followPieces(
  agent: AgentName,
  classifier: Classifier,
  pieces: readonly Uint8Array[],
  decoder?: RecordDecoder,
): Promise<Told> {
  const disk = new FakeDisk();
  const [first, ...rest] = pieces;
  disk.write(first ?? new Uint8Array(0));
  const stop = new AbortController();
  const log = await openJsonlLog({
    agent,
    path: "memory.jsonl",
    classifier,
    source: await disk.ports.open("memory.jsonl"),
    follow: (from, signal) => followFile("memory.jsonl", { from, signal, ports: disk.ports }),
    ...decodedBy(decoder),
  });
  const told = new Told();
  let events: AsyncIterator<LogEvent> | undefined;
  /** Tells from the newest page on, and after a reset from a new one. */
  const begin = async (): Promise<void> => {
    const tail = await log.tail(1000);
    told.begin(tail);
    events = log.follow(tail.end, stop.signal)[Symbol.asyncIterator]();
    await goOn();
  };
  const goOn = async (): Promise<void> => {
    const { resets } = told;
    if (events !== undefined) await followOn(events, told);
    if (told.resets > resets) await begin();
  };
  await begin();
  for (const piece of rest) {
    if (piece.length === 0) continue;
    disk.append(piece);
    disk.hint();
    await goOn();
  }
  stop.abort();
  await events?.return?.();
  await log.close();
  return told;
}

/** The bytes cut at these places, each between 0 and 1 of the whole. */
export function cutAt(bytes: Uint8Array, places: readonly number[]): Uint8Array[] {
  const cuts = [...new Set(places.map((p) => Math.floor(p * bytes.length)))].sort((a, b) => a - b);
  return [0, ...cuts].map((start, i) => bytes.subarray(start, cuts[i] ?? bytes.length));
}

/** Places to cut a log at, any number of them. */
export const cutPlaces: fc.Arbitrary<number[]> = fc.array(fc.double({ min: 0, max: 1, noNaN: true }), {
  minLength: 1,
  maxLength: 24,
});

/** Reads a log of lines in every way and expects one result. */
export async function expectOneReading(
  agent: AgentName,
  classifier: Classifier,
  bytes: Uint8Array,
  decoder?: RecordDecoder,
): Promise<void> {
  const whole = await readBackward(await logOf(agent, classifier, bytes, decoder), 1000);
  for (const limit of [1, 7, 100]) {
    if (whole.length / limit > 250) continue;
    expect(
      await readBackward(await logOf(agent, classifier, bytes, decoder), limit),
      `backward by ${limit}`,
    ).toEqual(whole);
    expect(
      await readForward(await logOf(agent, classifier, bytes, decoder), limit),
      `forward by ${limit}`,
    ).toEqual(whole);
  }
}

/**
 * Follows a log of lines that is written in pieces, and expects what reading it whole gives. `mayReset` where its course takes up
 * branches again that were left.
 */
export async function expectFollowed(
  agent: AgentName,
  classifier: Classifier,
  bytes: Uint8Array,
  places: readonly number[],
  mayReset = false,
  decoder?: RecordDecoder,
): Promise<void> {
  const log = await logOf(agent, classifier, bytes, decoder);
  const tail = await log.tail(1000);
  const told = await followPieces(agent, classifier, cutAt(bytes, places), decoder);
  if (!mayReset) expect(told.resets).toBe(0);
  expect(told.entries.slice(-1000)).toEqual(tail.entries);
  expect([...told.live].sort()).toEqual([...tail.live].sort());
  expect(told.isOpen).toBe(tail.turnOpen);
}
