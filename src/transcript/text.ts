/** Counting and cutting texts by code points. Pure. */

/** The number of code points; a lone surrogate is one. Linear in the text. */
export function countPoints(text: string): number {
  let count = 0;
  for (let at = 0; at < text.length; at += unitsAt(text, at)) count += 1;
  return count;
}

/** The first `max` code points, with an ellipsis where something was cut. Never splits a surrogate pair; costs what it returns. */
export function cutPoints(text: string, max: number): string {
  if (text.length <= max) return text;
  let at = 0;
  for (let count = 0; count < max && at < text.length; count++) at += unitsAt(text, at);
  return at >= text.length ? text : `${text.slice(0, at)}…`;
}

function unitsAt(text: string, at: number): number {
  return (text.codePointAt(at) ?? 0) > 0xffff ? 2 : 1;
}

/** `1 entry`, `2 entries`. */
export function plural(count: number, one: string, many = `${one}s`): string {
  return `${count} ${count === 1 ? one : many}`;
}
