/** File changes as coloured lines: numbers in a gutter where they are known, what was taken out and what was put in. */
import { structuredPatch } from "diff";
import type { FileChange } from "../../transcript/index.ts";
import { type Line, rowsOf, type Span, sanitizeLines, type Tone } from "../text/index.ts";
import { hintLine } from "./fold.ts";
import { formatBytes, formatCount, plural } from "./format.ts";
import { codeLines, cutSpans, fitLine, tone } from "./layout.ts";
import { diffContextLines, diffEditsMax, diffTimeMaxMs, diffUnitsMax } from "./limits.ts";

export interface DiffOptions {
  readonly width: number;
  readonly indent: number;
  /** Rows shown at most; Infinity unfolds. */
  readonly rowsMax: number;
  readonly moreKey: string;
}

/** One row of a change. `old`/`new` are line numbers, where known. */
interface DiffRow {
  readonly sign: "+" | "-" | " " | "@";
  readonly text: string;
  readonly old?: number;
  readonly new?: number;
}

interface DiffRows {
  readonly rows: readonly DiffRow[];
  readonly added: number;
  readonly removed: number;
  /** Said in the place of rows that are not compared. */
  readonly note?: string;
}

const hunkHeader = /^@@ -(\d+)(?:,\d+)? \+(\d+)(?:,\d+)? @@/;

function counted(rows: readonly DiffRow[]): DiffRows {
  return {
    rows,
    added: rows.filter((row) => row.sign === "+").length,
    removed: rows.filter((row) => row.sign === "-").length,
  };
}

/** Rows of a unified patch, or of the patch form that has `@@` lines without numbers. */
function patchRows(patch: string): DiffRows {
  const rows: DiffRow[] = [];
  let old: number | undefined;
  let now: number | undefined;
  let isInHunk = false;
  const lines = patch.replace(/\r?\n$/, "").split("\n");
  const hasHunks = lines.some((line) => line.startsWith("@@"));
  for (const line of lines) {
    const header = hunkHeader.exec(line);
    if (line.startsWith("@@")) {
      old = header === null ? undefined : Number(header[1]);
      now = header === null ? undefined : Number(header[2]);
      isInHunk = true;
      if (rows.length > 0 || header === null) rows.push({ sign: "@", text: line });
      continue;
    }
    if (hasHunks && !isInHunk) continue;
    if (line.startsWith("\\")) continue;
    const sign = line[0] === "+" || line[0] === "-" ? line[0] : " ";
    const text = line === "" ? "" : line.slice(sign === " " && line[0] !== " " ? 0 : 1);
    rows.push({
      sign,
      text,
      ...(sign !== "+" && old !== undefined ? { old } : {}),
      ...(sign !== "-" && now !== undefined ? { new: now } : {}),
    });
    if (sign !== "+" && old !== undefined) old += 1;
    if (sign !== "-" && now !== undefined) now += 1;
  }
  return counted(rows);
}

/** Rows of two texts compared. The numbers of parts of a file are not known, so none are given. */
function comparedRows(before: string, after: string): DiffRows {
  const units = before.length + after.length;
  const note = `${formatBytes(before.length)} became ${formatBytes(after.length)}`;
  if (units > diffUnitsMax) return { rows: [], added: 0, removed: 0, note };
  const patch = structuredPatch("", "", before, after, "", "", {
    context: diffContextLines,
    timeout: diffTimeMaxMs,
    maxEditLength: diffEditsMax,
  });
  if (patch === undefined) return { rows: [], added: 0, removed: 0, note };
  const rows = patch.hunks.flatMap((hunk, index): readonly DiffRow[] => [
    ...(index === 0 ? [] : [{ sign: "@", text: "…" } as const]),
    ...hunk.lines.flatMap((line): readonly DiffRow[] => {
      const sign = line[0];
      return sign === "+" || sign === "-" || sign === " " ? [{ sign, text: line.slice(1) }] : [];
    }),
  ]);
  return counted(rows);
}

function rowsOfChange(change: FileChange): DiffRows {
  if (change.patch !== undefined && change.patch !== "") return patchRows(change.patch);
  const { oldText, newText } = change;
  if (oldText !== undefined && newText !== undefined && oldText !== "") return comparedRows(oldText, newText);
  const sign = newText === undefined ? "-" : "+";
  const text = (newText ?? oldText ?? "").replace(/\r?\n$/, "");
  if (text === "") return { rows: [], added: 0, removed: 0 };
  return counted(
    text.split("\n").map((line, index) => ({
      sign,
      text: line,
      ...(oldText === undefined && sign === "+" ? { new: index + 1 } : {}),
    })),
  );
}

const signTones: Readonly<Record<DiffRow["sign"], Tone>> = {
  "+": "added",
  "-": "removed",
  " ": "dim",
  "@": "hunk",
};

/** `+3 −1`, in colour. */
export function changeCount(change: FileChange): readonly Span[] {
  const { added, removed, note } = rowsOfChange(change);
  if (note !== undefined) return [tone(note, "dim")];
  return [
    tone(`+${formatCount(added)}`, "added"),
    { text: " " },
    tone(`−${formatCount(removed)}`, "removed"),
  ];
}

function rowLines(row: DiffRow, gutter: number, lead: string, width: number): readonly Line[] {
  const number = row.new ?? row.old;
  const label = gutter === 0 ? "" : `${String(number ?? "").padStart(gutter)} `;
  const name = signTones[row.sign];
  const safe = sanitizeLines(row.text, { tab: 4 }).flat();
  const text = safe.map((span) => (span.tone === "danger" ? span : { ...span, tone: name }));
  const sign = row.sign === "@" ? "" : `${row.sign} `;
  return codeLines([{ text: lead }, tone(label, "dim"), tone(sign, name), ...text], width);
}

/** The lines of a change, folded to `rowsMax` rows with what is hidden said. */
export function diffLines(change: FileChange, options: DiffOptions): readonly Line[] {
  const { rows, note } = rowsOfChange(change);
  const { width, indent } = options;
  const lead = " ".repeat(indent);
  if (note !== undefined) {
    return [fitLine(cutSpans([{ text: lead }, tone(`change not compared: ${note}`, "dim")], width))];
  }
  const most = rows.reduce((max, row) => Math.max(max, row.new ?? row.old ?? 0), 0);
  const gutter = most === 0 || width < 24 ? 0 : String(most).length;
  const lines: Line[] = [];
  let used = 0;
  for (const [index, row] of rows.entries()) {
    const next = rowLines(row, gutter, lead, width);
    used += next.reduce((sum, line) => sum + rowsOf(line, width), 0);
    if (used > options.rowsMax && index > 0) {
      const hidden = rows.length - index;
      const short = `${formatCount(hidden)} more`;
      return [...lines, hintLine(`${plural(hidden, "line")} more`, short, options.moreKey, width, indent)];
    }
    lines.push(...next);
  }
  return lines;
}
