/** Reads one message of a messages directory. */
import { join } from "node:path";
import type { Entry, RawEntry } from "../../transcript/index.ts";
import { readFully } from "../ends.ts";
import { DAMAGE_TEXT_BYTES_MAX } from "../limits.ts";
import { classifyMessage } from "./classify.ts";
import { withFile } from "./files.ts";

/** A message file above this size is shown as a placeholder. */
export const MESSAGE_BYTES_MAX = 64 * 1024 * 1024;
/** The entry of a message file; one above `bytesMax` is told by its size and its first bytes. */
export async function readMessage(folder: string, name: string, bytesMax: number): Promise<Entry> {
  let size = 0;
  const bytes = await withFile(join(folder, name), async (source) => {
    size = await source.size();
    return readFully(source, 0, size > bytesMax ? DAMAGE_TEXT_BYTES_MAX : size);
  });
  const content = bytes ?? new Uint8Array(0);
  const entry = size > bytesMax ? tooLarge(name, content, size) : classifyMessage(name, content);
  return { ...entry, place: { start: 0, end: bytes === undefined ? 0 : size, file: name } };
}

function tooLarge(name: string, head: Uint8Array, size: number): RawEntry {
  const text = new TextDecoder().decode(head);
  return { kind: "raw", name, reason: `a message of ${size} bytes, too large to read`, text, damaged: true };
}
