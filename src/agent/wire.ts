/** Newline-delimited JSON as an agent writes it: whole messages, what is none, and what is too long. */
import { longTextBytesMax, messageBytesMax, messageHeadBytes, messageTailBytes } from "./limits.ts";
import { LongTextCutter } from "./long-texts.ts";

export type JsonObject = { readonly [key: string]: unknown };

export type WireItem =
  | { readonly type: "message"; readonly value: JsonObject }
  /** A line longer than the limit whose long texts were cut, each saying so at its end. */
  | { readonly type: "cut"; readonly value: JsonObject; readonly bytes: number }
  /** A line that is no JSON object. */
  | { readonly type: "bad"; readonly text: string; readonly bytes: number }
  /** A line longer than the limit that is no message when its long texts are cut: its first and its last bytes. */
  | { readonly type: "large"; readonly head: string; readonly tail: string; readonly bytes: number };

const feed = 0x0a;

/** Collects one line up to a limit; past it its long texts are cut, and its head and its tail are kept for the case that this does not help. */
class LineCollector {
  readonly #bytesMax: number;
  readonly #textBytesMax: number;
  #parts: Uint8Array[] = [];
  #bytes = 0;
  /** Present once the line is longer than the limit. */
  #cutter: LongTextCutter | undefined;
  #headBytes = 0;
  #tail: Uint8Array = new Uint8Array(0);

  constructor(bytesMax: number, textBytesMax: number) {
    this.#bytesMax = bytesMax;
    this.#textBytesMax = textBytesMax;
  }

  add(part: Uint8Array): void {
    if (part.length === 0) return;
    this.#bytes += part.length;
    if (this.#cutter === undefined && this.#bytes <= this.#bytesMax) {
      this.#parts.push(part);
      return;
    }
    if (this.#cutter !== undefined) {
      this.#addLarge(part, this.#cutter);
      return;
    }
    const cutter = new LongTextCutter(this.#textBytesMax, this.#bytesMax);
    this.#cutter = cutter;
    const before = this.#parts;
    this.#parts = [];
    for (const each of [...before, part]) this.#addLarge(each, cutter);
  }

  /** Keeps of a part what belongs to the head and to the tail, copied, so that the rest can go. */
  #addLarge(part: Uint8Array, cutter: LongTextCutter): void {
    cutter.add(part);
    const room = messageHeadBytes - this.#headBytes;
    if (room > 0) {
      const head = Buffer.from(part.subarray(0, room));
      this.#parts.push(head);
      this.#headBytes += head.length;
    }
    const end = Buffer.concat([this.#tail, part.subarray(Math.max(0, part.length - messageTailBytes))]);
    this.#tail = Buffer.from(end.subarray(Math.max(0, end.length - messageTailBytes)));
  }

  /** The line's item, if it says anything; begins a new line. */
  take(): WireItem | undefined {
    const bytes = this.#bytes;
    const cutter = this.#cutter;
    const all = this.#parts.length === 1 ? this.#parts[0] : Buffer.concat(this.#parts);
    const tail = this.#tail;
    this.#parts = [];
    this.#bytes = 0;
    this.#cutter = undefined;
    this.#headBytes = 0;
    this.#tail = new Uint8Array(0);
    const text = new TextDecoder().decode(all);
    if (cutter !== undefined) {
      const cut = cutter.take();
      const value = cut === undefined ? undefined : parseObject(new TextDecoder().decode(cut));
      if (value !== undefined) return { type: "cut", value, bytes };
      return { type: "large", head: text, tail: new TextDecoder().decode(tail), bytes };
    }
    if (text.trim() === "") return undefined;
    const value = parseObject(text);
    return value === undefined ? { type: "bad", text, bytes } : { type: "message", value };
  }
}

function parseObject(text: string): JsonObject | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null && !Array.isArray(value)
      ? (value as JsonObject)
      : undefined;
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

/**
 * The items of a byte stream, in order. Memory is bounded by one message. A last line without its line feed counts, since an agent may
 * die in the middle of it.
 */
export async function* readWire(
  chunks: AsyncIterable<Uint8Array>,
  bytesMax: number = messageBytesMax,
  textBytesMax: number = longTextBytesMax,
): AsyncGenerator<WireItem> {
  const line = new LineCollector(bytesMax, textBytesMax);
  for await (const chunk of chunks) {
    let start = 0;
    for (let at = chunk.indexOf(feed); at !== -1; at = chunk.indexOf(feed, start)) {
      line.add(chunk.subarray(start, at));
      start = at + 1;
      const item = line.take();
      if (item !== undefined) yield item;
    }
    line.add(chunk.subarray(start));
  }
  const last = line.take();
  if (last !== undefined) yield last;
}
