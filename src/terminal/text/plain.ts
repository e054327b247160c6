/** Lines as plain text, for pipes, logs and screen readers. */
import { sanitize } from "./sanitize.ts";
import type { Line } from "./types.ts";

/** The text of one line, without style and trailing blanks; safe to write. */
export function plainLine(line: Line): string {
  return sanitize(line.spans.map((span) => span.text).join(""))
    .replaceAll("\n", "␊")
    .trimEnd();
}

/** The text of many lines, one a row. */
export function plainLines(lines: readonly Line[]): string {
  return lines.map((line) => `${plainLine(line)}\n`).join("");
}
