/** Texts made short for an event. Lengths are code points. Pure. */
import { ELIDE_MIN } from "./limits.ts";

const ellipsis = "…";
/** Objects within objects that are written out; a value deeper than that is told as an ellipsis. */
const DEPTH_MAX = 64;

/** At most `max` code points (not below `ELIDE_MIN`): of a longer text both ends stay, the head having the odd one. */
export function elideMiddle(text: string, max: number): string {
  const cap = Math.max(max, ELIDE_MIN);
  // A text has at least half as many code points as code units, so a short one needs no counting.
  if (text.length <= cap) return text;
  const points = headAndTail(text, cap);
  if (points === undefined) return text;
  return `${points.head}${ellipsis}${points.tail}`;
}

/** Both ends without walking through the whole text; undefined where it has no more than `cap` code points. */
function headAndTail(
  text: string,
  cap: number,
): { readonly head: string; readonly tail: string } | undefined {
  const kept = cap - 1;
  const headPoints = Math.ceil(kept / 2);
  const tailPoints = kept - headPoints;
  if (text.length <= 2 * cap && Array.from(text).length <= cap) return undefined;
  const head = Array.from(text.slice(0, 2 * headPoints + 1)).slice(0, headPoints);
  const tail = tailPoints === 0 ? [] : Array.from(text.slice(-2 * tailPoints)).slice(-tailPoints);
  return { head: head.join(""), tail: tail.join("") };
}

/** JSON in one line, keys sorted, as summaries of inputs have them everywhere. */
export function compactJson(value: unknown): string {
  return JSON.stringify(sorted(value, DEPTH_MAX)) ?? "";
}

function sorted(value: unknown, depth: number): unknown {
  if (typeof value !== "object" || value === null) return value;
  if (depth === 0) return ellipsis;
  if (Array.isArray(value)) return value.map((each) => sorted(each, depth - 1));
  const fields = value as Readonly<Record<string, unknown>>;
  return Object.fromEntries(
    Object.keys(fields)
      .sort()
      .map((key) => [key, sorted(fields[key], depth - 1)]),
  );
}
