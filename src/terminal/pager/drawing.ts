/** What the screen shows of a viewport. */
import type { Line } from "../text/index.ts";
import type { Finder } from "./finder.ts";
import { highlighted } from "./search.ts";
import type { RowsSeen } from "./status.ts";
import type { Viewport } from "./viewport.ts";

/** The rows above the status row; those of block `current` have a mark. What is drawn is kept laid out. */
export function bodyRows(viewport: Viewport, finder: Finder, current: number): readonly Line[] {
  const { body, blocks } = viewport;
  const lines: Line[] = [];
  const drawn = new Set<string>();
  let { index, row } = viewport.top;
  while (lines.length < body && index < blocks.length) {
    const rows = viewport.rowsOf(index);
    drawn.add(blocks[index]!.entry.name);
    for (; row < rows.length && lines.length < body; row++) {
      const line = highlighted(rows[row]!.line, finder.stretches(index, row));
      lines.push(index === current ? marked(line) : line);
    }
    index += 1;
    row = 0;
  }
  viewport.layouts.pin(drawn);
  while (lines.length < body) lines.push({ spans: [], wrap: "fit" });
  return lines;
}

/** The first blank of a row of the current block becomes a quiet mark. */
function marked(line: Line): Line {
  const [first, ...others] = line.spans;
  if (first === undefined || !first.text.startsWith(" ")) return line;
  const rest = first.text.slice(1);
  return {
    ...line,
    spans: [{ text: "▏", tone: "rule" }, ...(rest === "" ? [] : [{ ...first, text: rest }]), ...others],
  };
}

/** How much of the blocks stands above the bottom row, of 100. By blocks: rows are not laid out for it. */
export function percentOf(viewport: Viewport): number {
  const { index, row } = viewport.bottom();
  const share = (row + 1) / Math.max(1, viewport.rowsOf(index).length);
  return Math.min(100, Math.floor((100 * (index + share)) / Math.max(1, viewport.blocks.length)));
}

/** Where one is in a block that is higher than the screen; undefined in others. */
export function rowsSeenOf(viewport: Viewport): RowsSeen | undefined {
  const { top, body } = viewport;
  const total = viewport.rowsOf(top.index).length;
  if (total <= body) return undefined;
  return { first: top.row + 1, last: Math.min(total, top.row + body), total };
}
