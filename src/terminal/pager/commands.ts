/** The keys of the pager: what each does, and the page that says so. */
import { cellsOf, cutCells, type Line } from "../text/index.ts";

const keysOf = {
  rowOlder: ["up", "k", "ctrl+p"],
  rowNewer: ["down", "j", "ctrl+n"],
  wheelOlder: ["wheelup"],
  wheelNewer: ["wheeldown"],
  pageOlder: ["pageup", "b", "ctrl+b"],
  pageNewer: ["pagedown", "space", "f", "ctrl+f"],
  halfOlder: ["ctrl+u"],
  halfNewer: ["ctrl+d"],
  start: ["home", "g"],
  end: ["end", "G"],
  promptOlder: ["{", "alt+up"],
  promptNewer: ["}", "alt+down"],
  seek: ["/", "ctrl+s"],
  findOlder: ["n"],
  findNewer: ["N"],
  fold: ["d", "enter", "ctrl+j"],
  foldAll: ["D"],
  raw: ["r"],
  copy: ["y"],
  help: ["?", "f1"],
  close: ["q", "escape", "ctrl+o", "ctrl+c"],
} as const;

export type Command = keyof typeof keysOf;

const byKey: ReadonlyMap<string, Command> = new Map(
  (Object.keys(keysOf) as Command[]).flatMap((command) =>
    keysOf[command].map((key): [string, Command] => [key, command]),
  ),
);

/** What the key of that name does; undefined for one that does nothing. */
export function commandOf(name: string): Command | undefined {
  return byKey.get(name);
}

const help: readonly (readonly [string, string])[] = [
  ["↑ ↓  j k", "a row up, down"],
  ["PageUp PageDown  b space", "a page"],
  ["Ctrl+U Ctrl+D", "half a page"],
  ["Home End  g G", "first block, newest block"],
  ["{ }  Alt+↑ Alt+↓", "prompt before, prompt after"],
  ["/", "search the whole session, from here back"],
  ["n N", "match before, match after"],
  ["d Enter", "fold or unfold this block (▏)"],
  ["D", "fold or unfold all blocks"],
  ["r", "this block's record as it stands in the log"],
  ["y", "copy this block's text"],
  ["q  Esc  Ctrl+O", "back to the session"],
];
const keyCells = 28;
const emptyRow: Line = { spans: [], wrap: "fit" };

/** The page of keys, in exactly `rows` rows; on a low screen the last ones are missing. */
export function helpRows(columns: number, rows: number): readonly Line[] {
  const lines = help.map(([key, what]): Line => {
    const name = cutCells(`  ${key}`.padEnd(keyCells), columns);
    const words = cutCells(what, Math.max(0, columns - cellsOf(name)));
    return { spans: [{ text: name, tone: "strong" }, { text: words }], wrap: "fit" };
  });
  const padded = [emptyRow, ...lines];
  while (padded.length < rows) padded.push(emptyRow);
  return padded.slice(0, rows);
}
