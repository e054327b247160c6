/** JSON values: whether a value is one, and its text with nothing in it that splits lines or is no Unicode. */
import { jsonDepthMax } from "./limits.ts";

/**
 * Why `value` is no JSON value, naming the place; undefined where it is one. A property that is undefined is taken as absent; an
 * undefined element is not. Costs what the value costs.
 */
export function jsonProblem(value: unknown, at = "", depth = 0): string | undefined {
  switch (typeof value) {
    case "string":
    case "boolean":
      return undefined;
    case "number":
      return Number.isFinite(value) ? undefined : `${at || "the value"} is ${value}, which JSON cannot say`;
    case "object":
      break;
    default:
      return `${at || "the value"} is ${value === undefined ? "undefined" : `a ${typeof value}`}`;
  }
  if (value === null) return undefined;
  if (depth >= jsonDepthMax) return `${at.slice(0, 80)}… is nested deeper than ${jsonDepthMax}`;
  if (Array.isArray(value)) {
    for (let i = 0; i < value.length; i += 1) {
      const problem = jsonProblem(value[i], `${at}/${i}`, depth + 1);
      if (problem !== undefined) return problem;
    }
    return undefined;
  }
  const prototype: unknown = Object.getPrototypeOf(value);
  if (prototype !== Object.prototype && prototype !== null) return `${at || "the value"} is no plain object`;
  if (typeof (value as { toJSON?: unknown }).toJSON === "function")
    return `${at || "the value"} has a toJSON`;
  for (const [key, child] of Object.entries(value)) {
    if (child === undefined) continue;
    const problem = jsonProblem(child, `${at}/${key}`, depth + 1);
    if (problem !== undefined) return problem;
  }
  return undefined;
}

const surrogateEscape = /\\(?:u(d[89a-f][0-9a-f]{2})|[\s\S])/g;
// U+0085 too: readers that split as Unicode says would end a line there.
const lineSeparators = /[\u0085\u2028\u2029]/g;

/**
 * The JSON text of a value: well-formed Unicode on one line whatever splits it. A lone surrogate becomes U+FFFD (JSON.stringify writes
 * it as an escape, and writes no other escape of that form).
 */
export function jsonText(value: unknown): string {
  let text = JSON.stringify(value);
  if (text.includes("\\ud")) {
    text = text.replace(surrogateEscape, (whole, lone: string | undefined) =>
      lone === undefined ? whole : "\ufffd",
    );
  }
  return text.replace(lineSeparators, (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, "0")}`);
}

/** The first `units` UTF-16 units of a text, never cutting a pair in two. */
export function headOf(text: string, units: number): string {
  if (text.length <= units) return text;
  const last = text.charCodeAt(units - 1);
  return text.slice(0, last >= 0xd800 && last <= 0xdbff ? units - 1 : units);
}

/** The text of a value that does not depend on the order of its keys: for comparing copies. */
export function canonicalText(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonicalText).join(",")}]`;
  if (typeof value !== "object" || value === null) return JSON.stringify(value) ?? "undefined";
  const fields = Object.entries(value)
    .filter(([, child]) => child !== undefined)
    .sort(([a], [b]) => (a < b ? -1 : 1));
  return `{${fields.map(([key, child]) => `${JSON.stringify(key)}:${canonicalText(child)}`).join(",")}}`;
}
