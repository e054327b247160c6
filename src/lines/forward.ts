/** Reading a log from its head to its end. */
import { findBegin } from "./context.ts";
import { resolveLimits } from "./limits.ts";
import { ForwardLines } from "./split.ts";
import type { ByteSource, LineItem, LineReadOptions } from "./types.ts";

/** The items of `[start, end)` that lie wholly within it. */
export function within(items: readonly LineItem[], start: number, end: number): LineItem[] {
  return items.filter((item) => item.start >= start && item.end <= end);
}

/**
 * The items of a log in file order, in batches of one read each, none empty. Memory: one read, one line, one split record. Damage is an
 * item, never an error; a rejection is one of the source or of the signal.
 */
export async function* forwardBatches(
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
  const { offset, joiner } = await findBegin(source, start, size, limits, parse);
  const lines = new ForwardLines(source, offset, size, limits);
  const isPart = start > 0 || end < size;
  const kept = (items: readonly LineItem[]): readonly LineItem[] =>
    isPart ? within(items, start, end) : items;
  for (let batch = await lines.next(); batch !== undefined; batch = await lines.next()) {
    signal?.throwIfAborted();
    const items: LineItem[] = [];
    let isPast = false;
    for (const line of batch) {
      for (const item of joiner.push(line)) items.push(item);
      isPast = line.end >= end && (joiner.heldFrom ?? end) >= end;
      if (isPast) break;
    }
    const given = kept(items);
    if (given.length > 0) yield given;
    if (isPast) return;
  }
  signal?.throwIfAborted();
  const last = lines.partial();
  const items: LineItem[] = [];
  if (last !== undefined) items.push(...(growing ? joiner.peek(last) : joiner.push(last)));
  if (!growing) items.push(...joiner.flush());
  const given = kept(items);
  if (given.length > 0) yield given;
}

/** `forwardBatches`, item by item. */
export async function* readForward(
  source: ByteSource,
  options: LineReadOptions = {},
): AsyncGenerator<LineItem, void, undefined> {
  for await (const batch of forwardBatches(source, options)) yield* batch;
}
