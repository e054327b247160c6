/** Reading a log from its end to its head: the same items as forward, newest first. */
import { beginsObject, Joiner } from "./joiner.ts";
import { type ResolvedLimits, resolveLimits } from "./limits.ts";
import { judgeLine, type Line, type Shape, shapeOf, tailByte } from "./line.ts";
import { BackwardLines, ForwardLines, lineEndAt, readRange } from "./split.ts";
import type { ByteSource, LineItem, LineReadOptions } from "./types.ts";

const lineFeed = 0x0a;

interface Shaped {
  readonly line: Line;
  readonly shape: Shape;
}

/**
 * Gathers lines that come newest first until what is above them is known, and then gives their items, newest first. It keeps the lines
 * that an opener farther up could still reach, so at most `joinBytesMax` bytes and one line.
 */
class Gatherer {
  readonly #limits: ResolvedLimits;
  readonly #parse: boolean;
  /** Newest first; `#from` is the index of the newest that is still kept. */
  #lines: Shaped[] = [];
  #from = 0;
  /** The oldest line kept, where it holds only `{` and the line above it decides what it is. */
  #lone: Line | undefined;
  /** The unfinished last line of a growing log: never given unless it is sure. */
  #unfinished: Line | undefined;
  /** Whether the lines kept reach the end of a growing log, so that more may follow. */
  #isOpenEnded: boolean;
  readonly out: LineItem[] = [];

  constructor(limits: ResolvedLimits, parse: boolean, isOpenEnded: boolean) {
    this.#limits = limits;
    this.#parse = parse;
    this.#isOpenEnded = isOpenEnded;
  }

  get isEmpty(): boolean {
    return this.#lines.length === this.#from;
  }

  /** The newest line of all, unfinished in a growing log. */
  addUnfinished(line: Line): void {
    const items = new Joiner(this.#limits, this.#parse, undefined).peek(line);
    if (items.length > 0) {
      this.#give(items);
      this.#isOpenEnded = false;
      return;
    }
    this.#unfinished = line;
    this.#lines.push({ line, shape: { kind: "other" } });
  }

  add(line: Line, shape: Shape = shapeOf(line, this.#parse)): void {
    if (shape.kind === "blank") {
      // Above a lone `{`, or below all content, a blank line joins nothing.
      if (this.isEmpty || this.#lone !== undefined) return;
    } else {
      if (this.#lone !== undefined && beginsObject(tailByte(line))) this.#join(0);
      this.#lone = undefined;
    }
    if (shape.kind === "border") {
      this.#giveUp();
      this.#give(shape.items);
      return;
    }
    this.#lines.push({ line, shape });
    if (shape.kind === "opener") {
      this.#join(0);
      return;
    }
    if (shape.kind === "lone") this.#lone = line;
    this.#dropUnreachable(line.start);
  }

  /** The head of the log is above the lines. */
  finish(): void {
    if (this.#lone !== undefined) this.#join(undefined);
    this.#giveUp();
  }

  take(): LineItem[] {
    return this.out.splice(0);
  }

  #give(items: readonly LineItem[]): void {
    for (let index = items.length - 1; index >= 0; index -= 1) this.out.push(items[index]!);
  }

  #clear(): void {
    this.#lines = [];
    this.#from = 0;
    this.#lone = undefined;
    this.#unfinished = undefined;
    this.#isOpenEnded = false;
  }

  /** No object began above: each line stands alone. */
  #giveUp(): void {
    for (let index = this.#from; index < this.#lines.length; index += 1)
      this.#giveAlone(this.#lines[index]!.line);
    this.#clear();
  }

  #giveAlone(line: Line): void {
    if (line !== this.#unfinished) this.#give(judgeLine(line));
  }

  /** An object begins in the oldest line kept. */
  #join(tailAbove: number | undefined): void {
    const joiner = new Joiner(this.#limits, this.#parse, tailAbove);
    const items: LineItem[] = [];
    for (let index = this.#lines.length - 1; index >= this.#from; index -= 1) {
      const { line, shape } = this.#lines[index]!;
      items.push(...(line === this.#unfinished ? joiner.peek(line) : joiner.push(line, shape)));
    }
    if (!this.#isOpenEnded) items.push(...joiner.flush());
    this.#give(items);
    this.#clear();
  }

  /** Gives the lines that no object beginning at or above `start` can reach. */
  #dropUnreachable(start: number): void {
    while (this.#from < this.#lines.length) {
      const { line, shape } = this.#lines[this.#from]!;
      if (line.start - start <= this.#limits.joinBytesMax) break;
      this.#giveAlone(line);
      if (line !== this.#unfinished && shape.kind !== "blank") this.#isOpenEnded = false;
      if (line === this.#lone) this.#lone = undefined;
      this.#from += 1;
    }
    // Freed in strides, so that each line is moved a bounded number of times.
    if (this.#from > 1024 && this.#from * 2 > this.#lines.length) {
      this.#lines = this.#lines.slice(this.#from);
      this.#from = 0;
    }
  }
}

/** The lines from `offset` on that an object beginning at or above `first` may still take in, in file order. */
async function lookBelow(
  source: ByteSource,
  offset: number,
  size: number,
  first: Line,
  limits: ResolvedLimits,
  parse: boolean,
): Promise<{ readonly lines: Shaped[]; readonly unfinished?: Shaped; readonly isAtEnd: boolean }> {
  const found: Shaped[] = [];
  const lines = new ForwardLines(source, offset, size, limits);
  let tail = tailByte(first);
  for (let batch = await lines.next(); batch !== undefined; batch = await lines.next()) {
    for (const line of batch) {
      const shape = shapeOf(line, parse);
      const isBorder =
        shape.kind === "border" || shape.kind === "opener" || (shape.kind === "lone" && beginsObject(tail));
      if (isBorder || line.start - first.start > limits.joinBytesMax) return { lines: found, isAtEnd: false };
      if (shape.kind !== "blank") tail = tailByte(line);
      found.push({ line, shape: shape.kind === "lone" ? { kind: "other" } : shape });
    }
  }
  const line = lines.partial();
  if (line === undefined) return { lines: found, isAtEnd: true };
  const shape = shapeOf(line, parse);
  const isOpener = shape.kind === "lone" && beginsObject(tail);
  return { lines: found, unfinished: { line, shape: isOpener ? { kind: "opener" } : shape }, isAtEnd: true };
}

/** Puts what lies below `first`, up to where the log settles itself, into a new gatherer. */
async function gathererAt(
  source: ByteSource,
  offset: number,
  size: number,
  first: Line | undefined,
  limits: ResolvedLimits,
  options: { readonly parse: boolean; readonly growing: boolean },
): Promise<Gatherer> {
  const { parse, growing } = options;
  if (first === undefined || offset >= size) return new Gatherer(limits, parse, growing && offset >= size);
  if (shapeOf(first, parse).kind === "border") return new Gatherer(limits, parse, false);
  const below = await lookBelow(source, offset, size, first, limits, parse);
  const gatherer = new Gatherer(limits, parse, growing && below.isAtEnd);
  const { unfinished } = below;
  if (unfinished !== undefined) {
    if (growing) gatherer.addUnfinished(unfinished.line);
    else if (unfinished.shape.kind === "other" || unfinished.shape.kind === "lone")
      gatherer.add(unfinished.line, { kind: "other" });
  }
  for (const { line, shape } of below.lines.reverse()) gatherer.add(line, shape);
  return gatherer;
}

/**
 * The items of a log newest first, in batches of one read each, none empty: for any range the same items as `forwardBatches`. Memory:
 * one read, one line, `joinBytesMax` bytes of damage. Damage is an item, never an error; a rejection is one of the source or the signal.
 */
export async function* backwardBatches(
  source: ByteSource,
  options: LineReadOptions = {},
): AsyncGenerator<readonly LineItem[], void, undefined> {
  const { signal, parse = true, growing = false } = options;
  const limits = resolveLimits(options.limits);
  signal?.throwIfAborted();
  const size = await source.size();
  const start = Math.max(options.start ?? 0, 0);
  const end = Math.min(options.end ?? size, size);
  if (start >= end) return;
  const isAtLineStart = (await readRange(source, end - 1, 1))[0] === lineFeed;
  const lineEnd = isAtLineStart ? end : await lineEndAt(source, end, size, limits);
  const lines = new BackwardLines(source, lineEnd, limits);
  const below = isAtLineStart ? end : lineEnd + 1;
  let gatherer: Gatherer | undefined;
  for (let batch = await lines.next(); batch !== undefined; batch = await lines.next()) {
    signal?.throwIfAborted();
    let isPast = false;
    for (const line of batch) {
      if (line.start === line.end) {
        gatherer?.add(line);
        continue;
      }
      if (gatherer === undefined) {
        const isUnfinished = growing && line.end === size;
        gatherer = await gathererAt(source, below, size, isUnfinished ? undefined : line, limits, {
          parse,
          growing,
        });
        if (isUnfinished) gatherer.addUnfinished(line);
        else gatherer.add(line);
      } else gatherer.add(line);
      isPast = gatherer.isEmpty && line.start <= start;
      if (isPast) break;
    }
    const items = gatherer?.take().filter((item) => item.start >= start && item.end <= end) ?? [];
    if (items.length > 0) yield items;
    if (isPast) return;
  }
  signal?.throwIfAborted();
  gatherer?.finish();
  const items = gatherer?.take().filter((item) => item.start >= start && item.end <= end) ?? [];
  if (items.length > 0) yield items;
}

/** `backwardBatches`, item by item. */
export async function* readBackward(
  source: ByteSource,
  options: LineReadOptions = {},
): AsyncGenerator<LineItem, void, undefined> {
  for await (const batch of backwardBatches(source, options)) yield* batch;
}
