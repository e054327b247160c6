/** The pager's last row: where one is, what is going on, what one can do. */
import type { Entry } from "../../transcript/index.ts";
import { createClock, type Detail, formatCount } from "../render/index.ts";
import {
  cellsOf,
  cutCells,
  cutStart,
  type Line,
  type Span,
  sanitizeLine,
  spansCells,
} from "../text/index.ts";

export interface PagerStatus {
  readonly typed: string | undefined;
  /** Blocks searched so far, while a search goes on. */
  readonly searching: number | undefined;
  readonly isLoading: boolean;
  readonly message: string | undefined;
  readonly newBlocks: number;
  readonly isAtStart: boolean;
  readonly isAtEnd: boolean;
  readonly entry: Entry | undefined;
  readonly detail: Detail;
}

const hints = ["/ search", "{ } prompts", "? keys", "q back"] as const;
let clock: ((timeMs: number) => string) | undefined;

function timeOf(entry: Entry | undefined): string | undefined {
  if (entry?.time === undefined) return undefined;
  clock ??= createClock();
  return clock(entry.time);
}

export function statusLine(status: PagerStatus, columns: number): Line {
  if (status.typed !== undefined) {
    const shown = cutStart(sanitizeLine(status.typed), Math.max(1, columns - 3));
    return {
      spans: fitted([{ text: "/", tone: "prompt" }, { text: shown }, { text: "▏", tone: "prompt" }], columns),
      wrap: "fit",
    };
  }
  const parts: Span[] = [{ text: "history", tone: "strong" }];
  if (status.isAtStart && status.isAtEnd) parts.push({ text: "all of it", tone: "dim" });
  else if (status.isAtStart) parts.push({ text: "start", tone: "dim" });
  else if (status.isAtEnd) parts.push({ text: "end", tone: "dim" });
  const time = timeOf(status.entry);
  if (time !== undefined && !status.isAtStart && !status.isAtEnd) parts.push({ text: time, tone: "dim" });
  if (status.detail === "raw") parts.push({ text: "raw", tone: "dim" });
  if (status.newBlocks > 0)
    parts.push({ text: `${formatCount(status.newBlocks)} newer below`, tone: "running" });
  if (status.searching !== undefined)
    parts.push({ text: `searching … ${formatCount(status.searching)} blocks · Esc stops`, tone: "running" });
  else if (status.isLoading) parts.push({ text: "reading …", tone: "running" });
  if (status.message !== undefined) parts.push({ text: sanitizeLine(status.message), tone: "warn" });
  const left: Span[] = [{ text: " " }];
  for (const [index, part] of parts.entries()) {
    if (index > 0) left.push({ text: " · ", tone: "rule" });
    left.push(part);
  }
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
