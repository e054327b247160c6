/** The order of texts. */

/** Negative, zero or positive as `a` comes before, with or after `b`, by code points: the order of their bytes in UTF-8. */
export function compareText(a: string, b: string): number {
  const length = Math.min(a.length, b.length);
  for (let i = 0; i < length; i++) {
    const x = a.charCodeAt(i);
    const y = b.charCodeAt(i);
    if (x === y) continue;
    const isPair = (unit: number): boolean => unit >= 0xd800 && unit <= 0xdfff;
    // Surrogates stand for code points above every other unit.
    return isPair(x) === isPair(y) ? x - y : isPair(x) ? 1 : -1;
  }
  return a.length - b.length;
}
