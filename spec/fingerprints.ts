/**
 * A set of 64-bit fingerprints, numbered in the order they came: what the explorer keeps of each world it has seen. Two worlds with one
 * fingerprint would be taken for one; for n worlds the chance of that is about n² / 2^65 (a million worlds: 3 in 100 million).
 */

/** Most fingerprints a set takes: 12 bytes each at twice the room, so at most 1.5 GiB. */
export const FINGERPRINTS_MAX: number = 1 << 26;
const CAPACITY_FIRST = 1 << 12;

export class FingerprintSet {
  private high: Uint32Array = new Uint32Array(CAPACITY_FIRST);
  private low: Uint32Array = new Uint32Array(CAPACITY_FIRST);
  /** The number of a slot's fingerprint, plus one; 0 marks an empty slot. */
  private number: Uint32Array = new Uint32Array(CAPACITY_FIRST);
  private readonly max: number;
  private count = 0;

  constructor(max: number = FINGERPRINTS_MAX) {
    this.max = max;
  }

  get size(): number {
    return this.count;
  }

  /** The fingerprint's number: `size` before the call where it is new. Throws a RangeError past the most there may be. */
  add(high: number, low: number): number {
    const slot = this.find(high, low);
    const known = this.number[slot]!;
    if (known !== 0) return known - 1;
    if (this.count >= this.max) throw new RangeError(`more than ${this.max} fingerprints`);
    this.high[slot] = high;
    this.low[slot] = low;
    this.count += 1;
    this.number[slot] = this.count;
    if (this.count * 2 > this.number.length) this.grow();
    return this.count - 1;
  }

  private find(high: number, low: number): number {
    const mask = this.number.length - 1;
    for (let slot = low & mask; ; slot = (slot + 1) & mask) {
      if (this.number[slot] === 0) return slot;
      if (this.low[slot] === low && this.high[slot] === high) return slot;
    }
  }

  private grow(): void {
    const { high, low, number } = this;
    this.high = new Uint32Array(high.length * 2);
    this.low = new Uint32Array(high.length * 2);
    this.number = new Uint32Array(high.length * 2);
    for (let old = 0; old < number.length; old += 1) {
      if (number[old] === 0) continue;
      const slot = this.find(high[old]!, low[old]!);
      this.high[slot] = high[old]!;
      this.low[slot] = low[old]!;
      this.number[slot] = number[old]!;
    }
  }
}

/** Mixes words into two independent 32-bit halves, kept unsigned. */
export class Fingerprint {
  high = 0;
  low = 0;

  /** The fingerprint of the first `length` words. */
  of(words: Int32Array, length: number): void {
    let a = 0xdeadbeef ^ length;
    let b = 0x41c6ce57 ^ length;
    for (let i = 0; i < length; i += 1) {
      const word = words[i]!;
      a = Math.imul(a ^ word, 0x9e3779b1);
      a ^= a >>> 15;
      b = Math.imul(b ^ word, 0x5f356495);
      b ^= b >>> 13;
    }
    a = Math.imul(a ^ (a >>> 16), 0x85ebca6b) ^ Math.imul(b ^ (b >>> 13), 0xc2b2ae35);
    b = Math.imul(b ^ (b >>> 16), 0x85ebca6b) ^ Math.imul(a ^ (a >>> 13), 0xc2b2ae35);
    this.high = b >>> 0;
    this.low = a >>> 0;
  }
}
