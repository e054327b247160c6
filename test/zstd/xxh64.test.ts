import fc from "fast-check";
import { expect, test } from "vitest";
import { createXxh64 } from "../../src/sources/zstd/xxh64.ts";

const MASK = (1n << 64n) - 1n;
const P = [
  11400714785074694791n,
  14029467366897019727n,
  1609587929392839161n,
  9650029242287828579n,
  2870177450012600261n,
] as const;

/** The definition, word by word, in numbers without a limit. */
function slowLow32(bytes: Uint8Array): number {
  const rotl = (x: bigint, n: bigint): bigint => ((x << n) | (x >> (64n - n))) & MASK;
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const round = (acc: bigint, word: bigint): bigint => (rotl((acc + word * P[1]) & MASK, 31n) * P[0]) & MASK;
  let at = 0;
  let hash: bigint;
  if (bytes.length >= 32) {
    let lanes = [(P[0] + P[1]) & MASK, P[1], 0n, (MASK + 1n - P[0]) & MASK];
    for (; at + 32 <= bytes.length; at += 32)
      lanes = lanes.map((l, i) => round(l, view.getBigUint64(at + i * 8, true)));
    hash = lanes.reduce((sum, l, i) => (sum + rotl(l, [1n, 7n, 12n, 18n][i] ?? 0n)) & MASK, 0n);
    for (const lane of lanes) hash = ((hash ^ round(0n, lane)) * P[0] + P[3]) & MASK;
  } else hash = P[4];
  hash = (hash + BigInt(bytes.length)) & MASK;
  for (; at + 8 <= bytes.length; at += 8)
    hash = (rotl(hash ^ round(0n, view.getBigUint64(at, true)), 27n) * P[0] + P[3]) & MASK;
  if (at + 4 <= bytes.length) {
    hash = (rotl(hash ^ ((BigInt(view.getUint32(at, true)) * P[0]) & MASK), 23n) * P[1] + P[2]) & MASK;
    at += 4;
  }
  for (; at < bytes.length; at++)
    hash = (rotl(hash ^ ((BigInt(bytes[at] ?? 0) * P[4]) & MASK), 11n) * P[0]) & MASK;
  hash = ((hash ^ (hash >> 33n)) * P[1]) & MASK;
  hash = ((hash ^ (hash >> 29n)) * P[2]) & MASK;
  return Number((hash ^ (hash >> 32n)) & 0xffffffffn);
}

test("the known sums", () => {
  const sum = (text: string): number => {
    const hash = createXxh64();
    hash.update(Buffer.from(text));
    return hash.low32();
  };
  // XXH64 with seed 0: ef46db3751d8e999, d24ec4f1a98c6e5b, 44bc2cf5ad770999.
  expect([sum(""), sum("a"), sum("abc")]).toEqual([0x51d8e999, 0xa98c6e5b, 0xad770999]);
});

test("any bytes in any pieces give the sum of the definition", () => {
  fc.assert(
    fc.property(fc.array(fc.uint8Array({ maxLength: 70 }), { maxLength: 6 }), (pieces) => {
      const hash = createXxh64();
      for (const piece of pieces) hash.update(piece);
      expect(hash.low32()).toBe(slowLow32(Uint8Array.from(pieces.flatMap((p) => [...p]))));
    }),
  );
});
