/** UTF-8 and SHA-256 without a platform: the protocol's pure half runs where there is neither Node nor a DOM. */

/** The length of a text in UTF-8 bytes, a lone surrogate counted as the three bytes of the replacement character; cost O(length). */
export function utf8Length(text: string): number {
  let bytes = text.length;
  for (let i = 0; i < text.length; i += 1) {
    const unit = text.charCodeAt(i);
    if (unit < 0x80) continue;
    // A surrogate pair is two units and four bytes; any other unit from 0x800 is three.
    if (unit < 0x800 || isPairAt(text, i)) bytes += 1;
    else if (isPairAt(text, i - 1)) bytes += 1;
    else bytes += 2;
  }
  return bytes;
}

/** True where every surrogate of the text is half of a pair: what decodes to itself after being encoded as UTF-8. */
export function isWellFormed(text: string): boolean {
  for (let i = 0; i < text.length; i += 1) {
    const unit = text.charCodeAt(i);
    if (unit < 0xd800 || unit > 0xdfff) continue;
    if (!isPairAt(text, i)) return false;
    i += 1;
  }
  return true;
}

/** The text's UTF-8 bytes; a lone surrogate becomes U+FFFD. */
export function utf8Bytes(text: string): Uint8Array {
  const bytes = new Uint8Array(utf8Length(text));
  let at = 0;
  for (const character of text) {
    const raw = character.codePointAt(0) as number;
    const point = raw >= 0xd800 && raw <= 0xdfff ? 0xfffd : raw;
    if (point < 0x80) {
      bytes[at++] = point;
      continue;
    }
    if (point < 0x800) bytes[at++] = 0xc0 | (point >> 6);
    else {
      if (point < 0x10000) bytes[at++] = 0xe0 | (point >> 12);
      else {
        bytes[at++] = 0xf0 | (point >> 18);
        bytes[at++] = 0x80 | ((point >> 12) & 0x3f);
      }
      bytes[at++] = 0x80 | ((point >> 6) & 0x3f);
    }
    bytes[at++] = 0x80 | (point & 0x3f);
  }
  return bytes;
}

function isPairAt(text: string, index: number): boolean {
  const high = text.charCodeAt(index);
  const low = text.charCodeAt(index + 1);
  return high >= 0xd800 && high <= 0xdbff && low >= 0xdc00 && low <= 0xdfff;
}

/** The first 32 bits of the fractional parts of the `power`-th roots of the first `count` primes (FIPS 180-4, 4.2.2 and 5.3.3). */
function rootFractions(count: number, power: number): Int32Array {
  const words = new Int32Array(count);
  let found = 0;
  for (let candidate = 2; found < count; candidate += 1) {
    let isPrime = true;
    for (let divisor = 2; divisor * divisor <= candidate; divisor += 1) {
      if (candidate % divisor === 0) isPrime = false;
    }
    if (!isPrime) continue;
    const root = candidate ** power;
    words[found] = (root - Math.floor(root)) * 0x1_0000_0000;
    found += 1;
  }
  return words;
}

const roundWords = rootFractions(64, 1 / 3);
const initialState = rootFractions(8, 1 / 2);

function rotate(word: number, bits: number): number {
  return (word >>> bits) | (word << (32 - bits));
}

function absorb(state: Int32Array, schedule: Int32Array): void {
  for (let t = 16; t < 64; t += 1) {
    const w15 = schedule[t - 15] as number;
    const w2 = schedule[t - 2] as number;
    const s0 = rotate(w15, 7) ^ rotate(w15, 18) ^ (w15 >>> 3);
    const s1 = rotate(w2, 17) ^ rotate(w2, 19) ^ (w2 >>> 10);
    schedule[t] = (schedule[t - 16] as number) + s0 + (schedule[t - 7] as number) + s1;
  }
  let [a, b, c, d, e, f, g, h] = state as unknown as [
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
  ];
  for (let t = 0; t < 64; t += 1) {
    const sum1 = rotate(e, 6) ^ rotate(e, 11) ^ rotate(e, 25);
    const choice = (e & f) ^ (~e & g);
    const first = (h + sum1 + choice + (roundWords[t] as number) + (schedule[t] as number)) | 0;
    const sum0 = rotate(a, 2) ^ rotate(a, 13) ^ rotate(a, 22);
    const majority = (a & b) ^ (a & c) ^ (b & c);
    h = g;
    g = f;
    f = e;
    e = (d + first) | 0;
    d = c;
    c = b;
    b = a;
    a = (first + sum0 + majority) | 0;
  }
  const added = [a, b, c, d, e, f, g, h];
  for (let i = 0; i < 8; i += 1) state[i] = (state[i] as number) + (added[i] as number);
}

/** The SHA-256 digest of `bytes`, in lower-case hex. */
export function sha256Hex(bytes: Uint8Array): string {
  const state = Int32Array.from(initialState);
  const schedule = new Int32Array(64);
  const blocks = Math.floor((bytes.length + 8) / 64) + 1;
  for (let block = 0; block < blocks; block += 1) {
    for (let t = 0; t < 16; t += 1) {
      let word = 0;
      for (let k = 0; k < 4; k += 1) word = (word << 8) | paddedByte(bytes, block * 64 + t * 4 + k);
      schedule[t] = word;
    }
    if (block === blocks - 1) {
      // The message's length in bits, in 64 bits, ends the last block.
      schedule[14] = Math.floor(bytes.length / 0x2000_0000);
      schedule[15] = bytes.length << 3;
    }
    absorb(state, schedule);
  }
  let hex = "";
  for (const word of state) hex += (word >>> 0).toString(16).padStart(8, "0");
  return hex;
}

/** The padded message: the bytes, one 0x80, zeros. */
function paddedByte(bytes: Uint8Array, index: number): number {
  if (index < bytes.length) return bytes[index] as number;
  return index === bytes.length ? 0x80 : 0;
}
