/** Rows by turns: what led to an answer rolled up into one row that says what it took. Pure. */
import type { Entry } from "./entry.ts";
import { type Expansion, isExpanded } from "./expansion.ts";
import { turnKey } from "./key.ts";
import { isUnderWay, type Row } from "./rows.ts";
import { plural } from "./text.ts";

/** What a run of rows took, by what is committed. */
export interface TurnCounts {
  readonly inferenceCalls: number;
  readonly toolCalls: number;
  readonly thinkingBlocks: number;
  /** Sums of the counters under the provider's names, in name order. Nothing is estimated. */
  readonly tokens: Readonly<Record<string, number>>;
  /** Some of the calls reported no usage: the sums are less than what was used. */
  readonly isPartial: boolean;
}

export type Segment =
  /** Rows as they are: a boundary, or what is not rolled up. */
  | { readonly type: "rows"; readonly rows: readonly Row[] }
  | {
      readonly type: "turn";
      readonly aggregate: Row;
      readonly counts: TurnCounts;
      /** What the aggregate hides unless it is expanded; never empty. */
      readonly run: readonly Row[];
      readonly answer: Row;
    };

/**
 * The rows in segments, none dropped and in order. What stands between two boundaries is a turn where it ends in an answer that at least
 * one call of the model led to and nothing in it is under way.
 */
export function segmentRows(rows: readonly Row[], expansion: Expansion = {}): readonly Segment[] {
  const segments: Segment[] = [];
  let open: Row[] = [];
  const close = (): void => {
    if (open.length > 0) segments.push(segmentOf(open, expansion));
    open = [];
  };
  for (const row of rows) {
    if (row.part !== "boundary") {
      open.push(row);
      continue;
    }
    close();
    segments.push({ type: "rows", rows: [row] });
  }
  close();
  return segments;
}

/** The rows with each finished turn rolled up; an expanded one is followed by what it hides. */
export function rollUp(rows: readonly Row[], expansion: Expansion = {}): readonly Row[] {
  return segmentRows(rows, expansion).flatMap((segment) => {
    if (segment.type === "rows") return segment.rows;
    const { aggregate, run, answer } = segment;
    return aggregate.isExpanded ? [aggregate, ...run, answer] : [aggregate, answer];
  });
}

function segmentOf(rows: readonly Row[], expansion: Expansion): Segment {
  const run = rows.slice(0, -1);
  const answer = rows.at(-1);
  const [first] = run;
  if (first === undefined || answer?.class !== "response" || rows.some(isUnderWay))
    return { type: "rows", rows };
  const counts = countTurn(run);
  if (counts.inferenceCalls === 0) return { type: "rows", rows };
  const key = turnKey(first.entry.name);
  const aggregate: Row = {
    key,
    entry: first.entry,
    prefix: `⚙ ${turnTerms(counts).join(" · ")}`,
    preview: "",
    class: "other",
    tone: "weak",
    part: "plain",
    fold: "steps",
    isExpanded: isExpanded({ key, class: "other", isUnderWay: false }, expansion),
  };
  return { type: "turn", aggregate, counts, run, answer };
}

/** What the rows took. Entries that are parts of one message of the model count once, with the greatest of their counters. */
export function countTurn(rows: readonly Row[]): TurnCounts {
  const messages = new Map<string, Map<string, number>>();
  let toolCalls = 0;
  let thinkingBlocks = 0;
  let seen: Entry | undefined;
  for (const { entry, part } of rows) {
    if (part === "call") toolCalls += 1;
    else if (part === "thinking") thinkingBlocks += 1;
    if (entry.kind !== "model" || entry === seen) continue;
    seen = entry;
    const id = entry.messageId === undefined ? `entry ${entry.name}` : `message ${entry.messageId}`;
    const usage = messages.get(id) ?? new Map<string, number>();
    for (const [name, count] of Object.entries(entry.usage))
      usage.set(name, Math.max(count, usage.get(name) ?? 0));
    messages.set(id, usage);
  }
  const tokens = new Map<string, number>();
  for (const usage of messages.values())
    for (const [name, count] of usage) tokens.set(name, count + (tokens.get(name) ?? 0));
  return {
    inferenceCalls: messages.size,
    toolCalls,
    thinkingBlocks,
    tokens: Object.fromEntries([...tokens].sort(([a], [b]) => (a < b ? -1 : 1))),
    isPartial: [...messages.values()].some((usage) => usage.size === 0),
  };
}

/** The counts in words; what is zero is not said. */
export function turnTerms(counts: TurnCounts): readonly string[] {
  const terms: readonly (readonly [number, string])[] = [
    [counts.inferenceCalls, "inference call"],
    [counts.toolCalls, "tool call"],
    [counts.thinkingBlocks, "thinking block"],
  ];
  const tokens = Object.entries(counts.tokens).filter(([, sum]) => sum > 0);
  return [
    ...terms.filter(([count]) => count > 0).map(([count, word]) => plural(count, word)),
    ...tokens.map(([name, sum]) => `${sum}${counts.isPartial ? "+" : ""} ${name.replaceAll("_", " ")}`),
  ];
}
