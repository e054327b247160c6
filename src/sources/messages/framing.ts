/** How the model call of a step ended, from the lines of its response. Pure. */
import { objectOf, stringOf } from "../fields.ts";

/** How the last attempt in a response ended: not at all (it runs, or was killed), whole, at the output limit, or with an error line. */
export type Ending =
  | { readonly type: "open" }
  | { readonly type: "whole" }
  | { readonly type: "output-limit" }
  | { readonly type: "failed"; readonly words: string };

export interface Framing {
  readonly ending: Ending;
  /** Attempts that ended. */
  readonly attempts: number;
}

/**
 * The framing of a response. Only whole lines count. Its last line must be an `end`; what stands between that and the `end` before it is
 * the last attempt, and decides: an error wins over a finish, neither is no end.
 */
export function readFraming(text: string): Framing {
  const lines = text
    .slice(0, text.lastIndexOf("\n") + 1)
    .split("\n")
    .filter((line) => line !== "");
  const ends = lines.flatMap((line, at) => (isEnd(line) ? [at] : []));
  const last = ends.at(-1);
  const isClosed = last !== undefined && last === lines.length - 1;
  const ending = isClosed
    ? endingOf(lines.slice((ends.at(-2) ?? -1) + 1, last))
    : ({ type: "open" } as const);
  return { ending, attempts: ends.length };
}

function endingOf(attempt: readonly string[]): Ending {
  let ending: Ending = { type: "open" };
  for (const line of attempt.toReversed()) {
    // A look spares parsing the deltas, which most lines are.
    if (!line.includes("error") && !line.includes("finish")) continue;
    const event = eventOf(line);
    const type = event?.["type"];
    if (type === "error") return { type: "failed", words: line };
    if (type === "finish" && ending.type === "open")
      ending = { type: event?.["reason"] === "length" ? "output-limit" : "whole" };
  }
  return ending;
}

function isEnd(line: string): boolean {
  return line.includes("end") && stringOf(eventOf(line)?.["type"]) === "end";
}

function eventOf(line: string): Readonly<Record<string, unknown>> | undefined {
  try {
    return objectOf(JSON.parse(line));
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}
