/** The keys of the pager, shown over the blocks. */
import { cutCells, type Line } from "../text/index.ts";

const keys: readonly (readonly [string, string])[] = [
  ["↑ ↓  j k", "a row up, down"],
  ["PageUp PageDown  b space", "a page"],
  ["Ctrl+U Ctrl+D", "half a page"],
  ["Home End  g G", "first block, newest block"],
  ["{ }  Alt+↑ Alt+↓", "prompt before, prompt after"],
  ["/", "search the whole session, from here back"],
  ["n N", "match before, match after"],
  ["d D", "fold or unfold this block (▏), all blocks"],
  ["r", "this block's record as it stands in the log"],
  ["y", "copy this block's text"],
  ["q  Esc  Ctrl+O", "back to the session"],
];

export function helpRows(columns: number, rows: number): readonly Line[] {
  const lines = keys.map(([key, what]): Line => {
    const name = cutCells(`  ${key}`, columns);
    const gap = " ".repeat(Math.max(1, 28 - name.length));
    const words = cutCells(gap + what, Math.max(0, columns - name.length));
    return { spans: [{ text: name, tone: "strong" }, { text: words }], wrap: "fit" };
  });
  const padded = [{ spans: [], wrap: "fit" } as Line, ...lines];
  while (padded.length < rows) padded.push({ spans: [], wrap: "fit" });
  return padded.slice(0, rows);
}
