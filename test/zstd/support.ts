/** A small packer of zstd archives: frames of stored and repeated blocks, with checksums. */

import type { ByteFeed } from "../../src/sources/zstd/frames.ts";
import { createXxh64 } from "../../src/sources/zstd/xxh64.ts";

export interface FrameShape {
  readonly hasChecksum?: boolean;
  readonly blockBytes?: number;
  /** Log of the window, written where the frame tells no size. */
  readonly windowLog?: number;
  readonly dictionary?: number;
}

function le(value: number, length: number): Buffer {
  const bytes = Buffer.alloc(length);
  let rest = value;
  for (let i = 0; i < length; i++) {
    bytes[i] = rest % 256;
    rest = Math.floor(rest / 256);
  }
  return bytes;
}

/** One frame; a block of one repeated byte is packed as such. */
export function frame(content: Uint8Array, shape: FrameShape = {}): Buffer {
  const { hasChecksum = true, blockBytes = 64 * 1024, windowLog = 17, dictionary } = shape;
  const descriptor = (hasChecksum ? 4 : 0) | (dictionary === undefined ? 0 : 3);
  const parts = [le(0xfd2fb528, 4), le(descriptor, 1), le((windowLog - 10) << 3, 1)];
  if (dictionary !== undefined) parts.push(le(dictionary, 4));
  for (let at = 0; at < content.length || at === 0; at += blockBytes) {
    const block = content.subarray(at, at + blockBytes);
    const isLast = at + blockBytes >= content.length;
    const isRepeat = block.length > 1 && block.every((b) => b === block[0]);
    parts.push(le((isLast ? 1 : 0) | (isRepeat ? 2 : 0) | (block.length << 3), 3));
    parts.push(Buffer.from(isRepeat ? block.subarray(0, 1) : block));
  }
  if (hasChecksum) {
    const hash = createXxh64();
    hash.update(content);
    parts.push(le(hash.low32(), 4));
  }
  return Buffer.concat(parts);
}

/** A frame that decoders pass over. */
export function skippable(content: Uint8Array, number = 0): Buffer {
  return Buffer.concat([le(0x184d2a50 + number, 4), le(content.length, 4), content]);
}

/** A feed over bytes that remembers the largest piece it was asked for. */
export function feedOf(bytes: Uint8Array): ByteFeed & { readonly largest: number } {
  let position = 0;
  let largest = 0;
  return {
    async take(length) {
      largest = Math.max(largest, length);
      const piece = bytes.subarray(position, position + length);
      position += piece.length;
      return piece;
    },
    async skip(length) {
      position += length;
      return position <= bytes.length;
    },
    get position() {
      return position;
    },
    get largest() {
      return largest;
    },
  };
}
