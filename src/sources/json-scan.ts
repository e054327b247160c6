/**
 * Finds the parts of one JSON document by their bytes, without keeping its contents: the elements of a list, or the members of an object and
 * each element of its `messages` (also within `$set`). A document of any size costs one chunk of memory.
 */
import type { ByteSource } from "../lines/index.ts";

export type ScanItem =
  /** A member of the object (`key`) or of its `$set` (`$set.key`) that is no list of messages. */
  | { readonly type: "member"; readonly key: string; readonly start: number; readonly end: number }
  | { readonly type: "messages"; readonly start: number; readonly isSet: boolean }
  | { readonly type: "element"; readonly start: number; readonly end: number }
  /** The object ended at `end`, or the bytes ended inside it. */
  | { readonly type: "end"; readonly end: number; readonly isWhole: boolean };

/** Longest key that is told apart. */
const KEY_MAX = 200;
const CHUNK_BYTES = 256 * 1024;

interface Container {
  readonly isObject: boolean;
  readonly path: string;
  key: string | undefined;
  expectsKey: boolean;
}

const QUOTE = 0x22;
const BACKSLASH = 0x5c;

class Scanner {
  readonly items: ScanItem[] = [];
  isOver = false;
  // The containers that are looked into; deeper ones are only counted.
  readonly #named: Container[] = [];
  #deeper = 0;
  #inString = false;
  #isEscaped = false;
  #keyBytes: number[] | undefined;
  #valueStart = -1;
  #isPrimitive = false;

  push(chunk: Uint8Array, offset: number): void {
    for (let i = 0; i < chunk.length && !this.isOver; i++) {
      const byte = chunk[i]!;
      if (this.#inString) this.#string(byte, offset + i);
      else this.#token(byte, offset + i);
    }
  }

  #string(byte: number, at: number): void {
    if (this.#isEscaped) this.#isEscaped = false;
    else if (byte === BACKSLASH) this.#isEscaped = true;
    else if (byte === QUOTE) {
      this.#inString = false;
      if (this.#keyBytes) this.#endKey();
      else if (this.#deeper === 0) this.#endValue(at + 1);
      return;
    }
    if (this.#keyBytes && this.#keyBytes.length < KEY_MAX) this.#keyBytes.push(byte);
  }

  #endKey(): void {
    const parent = this.#named.at(-1);
    if (parent) {
      parent.key = new TextDecoder().decode(Uint8Array.from(this.#keyBytes ?? []));
      parent.expectsKey = false;
    }
    this.#keyBytes = undefined;
  }

  #token(byte: number, at: number): void {
    switch (byte) {
      case QUOTE: {
        this.#inString = true;
        const parent = this.#named.at(-1);
        if (this.#deeper === 0 && parent?.isObject && parent.expectsKey) this.#keyBytes = [];
        else if (this.#deeper === 0) this.#valueStart = at;
        return;
      }
      case 0x7b: // {
      case 0x5b: // [
        this.#open(byte === 0x7b, at);
        return;
      case 0x7d: // }
      case 0x5d: // ]
        this.#close(at);
        return;
      case 0x2c: // ,
        this.#endPrimitive(at);
        if (this.#deeper === 0) {
          const parent = this.#named.at(-1);
          if (parent?.isObject) parent.expectsKey = true;
        }
        return;
      case 0x3a: // :
        return;
      case 0x20:
      case 0x09:
      case 0x0a:
      case 0x0d:
        this.#endPrimitive(at);
        return;
      default:
        if (this.#deeper === 0 && !this.#isPrimitive && this.#named.length > 0) {
          this.#valueStart = at;
          this.#isPrimitive = true;
        }
    }
  }

  #open(isObject: boolean, at: number): void {
    if (this.#deeper > 0) {
      this.#deeper += 1;
      return;
    }
    const parent = this.#named.at(-1);
    const path = parent === undefined ? "" : pathOf(parent);
    // Only the object itself, its `$set` and its lists of messages are looked into.
    if (parent !== undefined && !(path === "$set" && isObject) && !(isMessages(path) && !isObject)) {
      this.#valueStart = at;
      this.#deeper = 1;
      return;
    }
    if (isMessages(path)) this.items.push({ type: "messages", start: at, isSet: path !== "messages" });
    this.#named.push({ isObject, path, key: undefined, expectsKey: isObject });
  }

  #close(at: number): void {
    this.#endPrimitive(at);
    if (this.#deeper > 0) {
      this.#deeper -= 1;
      if (this.#deeper === 0) this.#endValue(at + 1);
      return;
    }
    this.#named.pop();
    if (this.#named.length === 0) {
      this.isOver = true;
      this.items.push({ type: "end", end: at + 1, isWhole: true });
    }
  }

  #endPrimitive(at: number): void {
    if (!this.#isPrimitive) return;
    this.#isPrimitive = false;
    this.#endValue(at);
  }

  /** A value directly inside a named container is complete. */
  #endValue(end: number): void {
    const parent = this.#named.at(-1);
    const start = this.#valueStart;
    this.#valueStart = -1;
    if (!parent || start < 0) return;
    if (!parent.isObject) this.items.push({ type: "element", start, end });
    else if (parent.key !== undefined) this.items.push({ type: "member", key: pathOf(parent), start, end });
  }
}

function pathOf(parent: Container): string {
  if (!parent.isObject) return "";
  return parent.path ? `${parent.path}.${parent.key ?? ""}` : (parent.key ?? "");
}

function isMessages(path: string): boolean {
  return path === "messages" || path === "$set.messages";
}

/** Scans the object or list that begins at `start`; white space may come before it. Gives batches of items; the last item is `end`. */
export async function* scanObject(
  source: ByteSource,
  start: number,
  end: number,
): AsyncIterable<readonly ScanItem[]> {
  const scanner = new Scanner();
  let at = start;
  while (at < end && !scanner.isOver) {
    const chunk = await source.read(at, Math.min(CHUNK_BYTES, end - at));
    if (chunk.length === 0) break;
    scanner.push(chunk, at);
    at += chunk.length;
    if (scanner.items.length > 0) yield scanner.items.splice(0);
  }
  if (!scanner.isOver) yield [{ type: "end", end: at, isWhole: false }];
}
