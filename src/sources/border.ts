/** Where records begin and end: what a position of a log may be. */
import { type ByteSource, readForward } from "../lines/index.ts";

const lineFeed = 0x0a;
const CHUNK_BYTES = 64 * 1024;
/** A line longer than this has no borders inside that a position may name. */
const LINE_BYTES_MAX = 64 * 1024 * 1024;

/** Whether a record or a line begins or ends at an offset. Costs a byte, or a line where several records share one. */
export async function isBorder(source: ByteSource, offset: number): Promise<boolean> {
  if (offset === 0) return true;
  const size = await source.size();
  if (offset > size) return false;
  const around = await source.read(offset - 1, 2);
  if (offset === size || around[0] === lineFeed || around[1] === lineFeed) return true;
  const start = await lineStart(source, offset);
  const end = await lineEnd(source, offset, size);
  if (start === undefined || end === undefined) return false;
  for await (const item of readForward(source, { start, end })) {
    if (item.start === offset || item.end === offset) return true;
  }
  return false;
}

async function lineStart(source: ByteSource, offset: number): Promise<number | undefined> {
  const floor = Math.max(0, offset - LINE_BYTES_MAX);
  for (let end = offset; end > floor; end -= CHUNK_BYTES) {
    const start = Math.max(floor, end - CHUNK_BYTES);
    const at = (await source.read(start, end - start)).lastIndexOf(lineFeed);
    if (at >= 0) return start + at + 1;
  }
  return floor === 0 ? 0 : undefined;
}

async function lineEnd(source: ByteSource, offset: number, size: number): Promise<number | undefined> {
  const ceiling = Math.min(size, offset + LINE_BYTES_MAX);
  for (let start = offset; start < ceiling; start += CHUNK_BYTES) {
    const at = (await source.read(start, CHUNK_BYTES)).indexOf(lineFeed);
    if (at >= 0) return start + at;
  }
  return ceiling === size ? size : undefined;
}
