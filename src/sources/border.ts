/** Where records begin and end: what a position of a log may be. */
import { type ByteSource, readBackward, readForward } from "../lines/index.ts";

const lineFeed = 0x0a;

/** Whether a record or a line begins or ends at an offset. Costs a byte, or the records around it where several share a line. */
export async function isBorder(source: ByteSource, offset: number): Promise<boolean> {
  if (offset === 0) return true;
  const size = await source.size();
  if (offset > size) return false;
  const around = await source.read(offset - 1, 2);
  if (offset === size || around[0] === lineFeed || around[1] === lineFeed) return true;
  for await (const item of readBackward(source, { end: offset })) {
    if (item.end === offset) return true;
    break;
  }
  for await (const item of readForward(source, { start: offset })) return item.start === offset;
  return false;
}
