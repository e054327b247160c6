/** The pager's last row: where one is, what is going on, what one can do. */
import { type Detail, formatCount } from "../render/index.ts";
import {
  cellsOf,
  cutCells,
  cutStart,
  type Line,
  type Span,
  sanitizeLine,
  spansCells,
} from "../text/index.ts";

/** Rows of one block that are seen, from 1, and how many it has. */
export interface RowsSeen {
  readonly first: number;
  readonly last: number;
  readonly total: number;
}

export interface PagerStatus {
  /** What is being typed to search for. */
  readonly typed: string | undefined;
  /** Blocks searched so far, while a search goes on. */
  readonly searching: number | undefined;
  readonly isLoading: boolean;
  readonly message: string | undefined;
  readonly newBlocks: number;
  readonly isAtStart: boolean;
  readonly isAtEnd: boolean;
  /** How much of the session stands above the bottom row, of 100; undefined where it is not known. */
  readonly percent: number | undefined;
  /** The time of day of the current block. */
  readonly time: string | undefined;
  readonly detail: Detail;
  /** Set where a block is higher than the screen. */
  readonly rowsSeen: RowsSeen | undefined;
}

const hints = ["/ search", "{ } prompts", "? keys", "q back"] as const;

export function statusLine(status: PagerStatus, columns: number): Line {
  if (status.typed !== undefined) {
    const shown = cutStart(sanitizeLine(status.typed), Math.max(1, columns - 3));
    return {
      spans: fitted([{ text: "/", tone: "prompt" }, { text: shown }, { text: "▏", tone: "prompt" }], columns),
      wrap: "fit",
    };
  }
  const left = joined(fittingParts(partsOf(status), columns));
  const room = columns - spansCells(left) - 2;
  let right = "";
  for (const hint of [...hints].reverse()) {
    const longer = right === "" ? hint : `${hint} · ${right}`;
    if (cellsOf(longer) > room) break;
    right = longer;
  }
  if (right === "") return { spans: fitted(left, columns), wrap: "fit" };
  const gap = " ".repeat(columns - spansCells(left) - cellsOf(right));
  return { spans: [...left, { text: gap }, { text: right, tone: "dim" }], wrap: "fit" };
}

/** A part of the row; where there is no room for all, the one of the lowest weight goes first. */
interface Part {
  readonly span: Span;
  readonly weight: number;
}

function partsOf(status: PagerStatus): readonly Part[] {
  const parts: Part[] = [{ span: { text: "history", tone: "strong" }, weight: 1 }];
  const add = (weight: number, text: string, tone: Span["tone"] = "dim"): void => {
    parts.push({ span: { text, tone }, weight });
  };
  const { isAtStart, isAtEnd, rowsSeen } = status;
  if (isAtStart && isAtEnd) add(3, "all of it");
  else if (isAtStart) add(3, "start");
  else if (isAtEnd) add(3, "end");
  else {
    if (status.percent !== undefined) add(3, `${status.percent}%`);
    if (status.time !== undefined) add(0, status.time);
  }
  if (rowsSeen !== undefined) {
    const { first, last, total } = rowsSeen;
    add(2, `rows ${formatCount(first)}–${formatCount(last)} of ${formatCount(total)}`);
  }
  if (status.detail === "raw") add(3, "raw");
  if (status.newBlocks > 0) add(4, `${formatCount(status.newBlocks)} newer below`, "running");
  if (status.searching !== undefined)
    add(5, `searching … ${formatCount(status.searching)} blocks · Esc stops`, "running");
  else if (status.isLoading) add(2, "reading …", "running");
  if (status.message !== undefined) add(6, sanitizeLine(status.message), "warn");
  return parts;
}

function fittingParts(parts: readonly Part[], columns: number): readonly Part[] {
  const kept = [...parts];
  while (kept.length > 1 && spansCells(joined(kept)) > columns) {
    const lowest = Math.min(...kept.map(({ weight }) => weight));
    kept.splice(
      kept.findIndex(({ weight }) => weight === lowest),
      1,
    );
  }
  return kept;
}

function joined(parts: readonly Part[]): readonly Span[] {
  return parts.flatMap(({ span }, index) => [
    index === 0 ? { text: " " } : { text: " · ", tone: "rule" as const },
    span,
  ]);
}

/** Spans cut to `columns`. */
function fitted(spans: readonly Span[], columns: number): readonly Span[] {
  const kept: Span[] = [];
  let left = columns;
  for (const span of spans) {
    if (left <= 0) break;
    const text = cutCells(span.text, left);
    kept.push({ ...span, text });
    left -= cellsOf(text);
  }
  return kept;
}
