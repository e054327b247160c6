/** XXH64 with seed 0 over a stream, in 32-bit halves (BigInt is more than ten times slower). RFC 8878 stores its low 32 bits. */

const P1 = [0x9e3779b1, 0x85ebca87] as const;
const P2 = [0xc2b2ae3d, 0x27d4eb4f] as const;
const P3 = [0x165667b1, 0x9e3779f9] as const;
const P4 = [0x85ebca77, 0xc2b2ae63] as const;
const P5 = [0x27d4eb2f, 0x165667c5] as const;

/** The running state: four lanes of high and low halves, the bytes not yet taken, and the count of all bytes. */
export interface Xxh64 {
  update(bytes: Uint8Array): void;
  /** The low 32 bits of the hash of everything given so far. */
  low32(): number;
}

/** High 32 bits of the 64-bit product of two unsigned 32-bit numbers. */
function mulHigh(a: number, b: number): number {
  const a0 = a & 0xffff;
  const a1 = a >>> 16;
  const b0 = b & 0xffff;
  const b1 = b >>> 16;
  const low = a0 * b0;
  const mid1 = a1 * b0 + (low >>> 16);
  const mid2 = a0 * b1 + (mid1 & 0xffff);
  return (a1 * b1 + (mid1 >>> 16) + (mid2 >>> 16)) >>> 0;
}

type Prime = readonly [high: number, low: number];

class Hasher implements Xxh64 {
  // Halves of the four lanes: even indexes high, odd low.
  readonly #lanes = new Uint32Array(8);
  readonly #rest = new Uint8Array(32);
  #restBytes = 0;
  #total = 0;
  // The accumulator that the helpers below work on.
  #hi = 0;
  #lo = 0;

  constructor() {
    this.#setLane(0, 0x60ea27ee, 0xadc0b5d6);
    this.#setLane(1, P2[0], P2[1]);
    this.#setLane(2, 0, 0);
    this.#setLane(3, 0x61c8864e, 0x7a143579);
  }

  #setLane(lane: number, high: number, low: number): void {
    this.#lanes[lane * 2] = high;
    this.#lanes[lane * 2 + 1] = low;
  }

  #multiply([ph, pl]: Prime): void {
    const high = mulHigh(this.#lo, pl) + Math.imul(this.#hi, pl) + Math.imul(this.#lo, ph);
    this.#lo = Math.imul(this.#lo, pl) >>> 0;
    this.#hi = high >>> 0;
  }

  #add(high: number, low: number): void {
    const sum = this.#lo + low;
    this.#hi = (this.#hi + high + (sum > 0xffffffff ? 1 : 0)) >>> 0;
    this.#lo = sum >>> 0;
  }

  #rotate(bits: number): void {
    const h = this.#hi;
    const l = this.#lo;
    if (bits === 32) {
      this.#hi = l;
      this.#lo = h;
      return;
    }
    const [a, b, n] = bits < 32 ? [h, l, bits] : [l, h, bits - 32];
    this.#hi = ((a << n) | (b >>> (32 - n))) >>> 0;
    this.#lo = ((b << n) | (a >>> (32 - n))) >>> 0;
  }

  /** One round of a lane: `lane += word * P2; lane = rotate(lane, 31) * P1`. Left in the accumulator. */
  #round(laneHigh: number, laneLow: number, high: number, low: number): void {
    this.#hi = high;
    this.#lo = low;
    this.#multiply(P2);
    this.#add(laneHigh, laneLow);
    this.#rotate(31);
    this.#multiply(P1);
  }

  #stripe(bytes: Uint8Array, at: number): void {
    const lanes = this.#lanes;
    for (let lane = 0; lane < 4; lane++) {
      const from = at + lane * 8;
      this.#round(lanes[lane * 2]!, lanes[lane * 2 + 1]!, word32(bytes, from + 4), word32(bytes, from));
      lanes[lane * 2] = this.#hi;
      lanes[lane * 2 + 1] = this.#lo;
    }
  }

  update(bytes: Uint8Array): void {
    this.#total += bytes.length;
    let at = 0;
    if (this.#restBytes > 0) {
      const take = Math.min(32 - this.#restBytes, bytes.length);
      this.#rest.set(bytes.subarray(0, take), this.#restBytes);
      this.#restBytes += take;
      at = take;
      if (this.#restBytes < 32) return;
      this.#stripe(this.#rest, 0);
      this.#restBytes = 0;
    }
    for (; at + 32 <= bytes.length; at += 32) this.#stripe(bytes, at);
    this.#rest.set(bytes.subarray(at));
    this.#restBytes = bytes.length - at;
  }

  #mergeLanes(): void {
    const lanes = this.#lanes;
    let high = 0;
    let low = 0;
    for (const [lane, bits] of [1, 7, 12, 18].entries()) {
      this.#hi = lanes[lane * 2]!;
      this.#lo = lanes[lane * 2 + 1]!;
      this.#rotate(bits);
      this.#add(high, low);
      high = this.#hi;
      low = this.#lo;
    }
    for (let lane = 0; lane < 4; lane++) {
      this.#round(0, 0, lanes[lane * 2]!, lanes[lane * 2 + 1]!);
      this.#hi = (this.#hi ^ high) >>> 0;
      this.#lo = (this.#lo ^ low) >>> 0;
      this.#multiply(P1);
      this.#add(P4[0], P4[1]);
      high = this.#hi;
      low = this.#lo;
    }
  }

  low32(): number {
    if (this.#total >= 32) this.#mergeLanes();
    else [this.#hi, this.#lo] = P5;
    this.#add(Math.floor(this.#total / 2 ** 32), this.#total >>> 0);
    let at = 0;
    for (; at + 8 <= this.#restBytes; at += 8) {
      const high = this.#hi;
      const low = this.#lo;
      this.#round(0, 0, word32(this.#rest, at + 4), word32(this.#rest, at));
      this.#hi = (this.#hi ^ high) >>> 0;
      this.#lo = (this.#lo ^ low) >>> 0;
      this.#rotate(27);
      this.#multiply(P1);
      this.#add(P4[0], P4[1]);
    }
    if (at + 4 <= this.#restBytes) {
      const high = this.#hi;
      const low = this.#lo;
      this.#hi = 0;
      this.#lo = word32(this.#rest, at);
      this.#multiply(P1);
      this.#hi = (this.#hi ^ high) >>> 0;
      this.#lo = (this.#lo ^ low) >>> 0;
      this.#rotate(23);
      this.#multiply(P2);
      this.#add(P3[0], P3[1]);
      at += 4;
    }
    for (; at < this.#restBytes; at++) {
      const high = this.#hi;
      const low = this.#lo;
      this.#hi = 0;
      this.#lo = this.#rest[at]!;
      this.#multiply(P5);
      this.#hi = (this.#hi ^ high) >>> 0;
      this.#lo = (this.#lo ^ low) >>> 0;
      this.#rotate(11);
      this.#multiply(P1);
    }
    return this.#avalanche();
  }

  #avalanche(): number {
    this.#lo = (this.#lo ^ (this.#hi >>> 1)) >>> 0;
    this.#multiply(P2);
    const shiftedLow = ((this.#lo >>> 29) | (this.#hi << 3)) >>> 0;
    this.#lo = (this.#lo ^ shiftedLow) >>> 0;
    this.#hi = (this.#hi ^ (this.#hi >>> 29)) >>> 0;
    this.#multiply(P3);
    return (this.#lo ^ this.#hi) >>> 0;
  }
}

function word32(bytes: Uint8Array, at: number): number {
  return (bytes[at]! | (bytes[at + 1]! << 8) | (bytes[at + 2]! << 16) | (bytes[at + 3]! << 24)) >>> 0;
}

export function createXxh64(): Xxh64 {
  return new Hasher();
}
