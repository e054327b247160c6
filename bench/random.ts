/** A small seeded generator (mulberry32), so that a bench makes the same input each time. */
export function createRandom(seed: number): {
  next(): number;
  below(n: number): number;
  words(count: number): string;
} {
  let state = seed >>> 0;
  const next = (): number => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = state;
    t = Math.imul(t ^ (t >>> 15), t | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
  const below = (n: number): number => Math.floor(next() * n);
  const vocabulary =
    "the of painter row window resize epoch block turn test screen line width cell log reads writes holds drops finds after before while every second bytes".split(
      " ",
    );
  const words = (count: number): string => {
    let out = "";
    for (let i = 0; i < count; i += 1) out += `${i === 0 ? "" : " "}${vocabulary[below(vocabulary.length)]}`;
    return out;
  };
  return { next, below, words };
}
