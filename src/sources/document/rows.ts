/** The rows of a document: one for each element, with what its neighbours and a follower must know of it, and no contents. */
import type { DamageReason } from "../../lines/index.ts";
import type { Classified, Mark } from "../classifier.ts";
import type { NamedRow } from "../named-log.ts";
import { printOf } from "../print.ts";
import { stepTurn, type TurnState } from "../turns.ts";
import { ELEMENT_NAME_MAX } from "./limits.ts";

/** One element. Never changed: a newer reading replaces it. */
export interface Row extends NamedRow {
  readonly index: number;
  readonly start: number;
  readonly end: number;
  /** Of its bytes, to see whether a rewritten file changed them. */
  readonly print: number;
  readonly marks: readonly Mark[];
  readonly calls: readonly string[];
  readonly results: readonly string[];
  readonly isModel: boolean;
  /** More of its last entry may come. */
  readonly isUnfinished: boolean;
  readonly time: number | undefined;
  readonly damage: DamageReason | undefined;
}

/** A row as it stands among the others: equal prints mean equal entries. */
export interface StandingRow extends NamedRow {
  readonly row: Row;
  readonly print: string;
  /** Its calls without a result may still be answered, or its text may grow. */
  readonly isLive: boolean;
  /** Other rows that hold results of its calls, or calls of its results. */
  readonly partners: readonly Row[];
}

export interface Standing {
  readonly rows: readonly StandingRow[];
  readonly isOpen: boolean;
}

/** The row of an element that was read. */
export function rowOf(
  place: { readonly index: number; readonly start: number; readonly end: number },
  name: string,
  bytes: Uint8Array,
  said: Classified,
): Row {
  const calls: string[] = [];
  const results: string[] = [];
  for (const entry of said.entries) {
    if (entry.kind === "tool-result" && entry.toolUseId !== "") results.push(entry.toolUseId);
    if (entry.kind !== "model") continue;
    for (const block of entry.blocks) if (block.kind === "tool-use" && block.id !== "") calls.push(block.id);
  }
  // Field by field: spread, a row costs ten times as much, and a document has thousands.
  return {
    index: place.index,
    start: place.start,
    end: place.end,
    name,
    print: printOf(bytes),
    entryCount: said.entries.length,
    marks: said.marks ?? [],
    calls,
    results,
    isModel: said.entries.some((entry) => entry.kind === "model"),
    isUnfinished: said.entries.some((entry) => entry.unfinished === true),
    time: said.entries.find((entry) => entry.time !== undefined)?.time,
    damage: undefined,
  };
}

/** The row of an element that gave nothing. */
export function damagedRow(
  place: { readonly index: number; readonly start: number; readonly end: number },
  damage: DamageReason,
): Row {
  return {
    index: place.index,
    start: place.start,
    end: place.end,
    name: `@${place.index}`,
    print: place.end - place.start,
    entryCount: 1,
    marks: [],
    calls: [],
    results: [],
    isModel: false,
    isUnfinished: false,
    time: undefined,
    damage,
  };
}

/**
 * Names for elements: `m:<own name>`, with `~2` and so on where one name is used again, else `@<index>`. A dot would read as the start of
 * an ordinal.
 */
export class Names {
  readonly #uses = new Map<string, number>();

  next(own: string | undefined, index: number): string {
    if (own === undefined || own === "" || own.length > ELEMENT_NAME_MAX) return `@${index}`;
    const use = (this.#uses.get(own) ?? 0) + 1;
    this.#uses.set(own, use);
    const name = `m:${own.replaceAll("%", "%25").replaceAll(".", "%2E").replaceAll("#", "%23")}`;
    return use === 1 ? name : `${name}~${use}`;
  }
}

/** How the rows stand: the turn at their end, and what each has to do with the others. Linear in the rows and their calls. */
export function standingOf(rows: readonly Row[]): Standing {
  let turn: TurnState = "closed";
  let lastBorder = -1;
  let lastModel = -1;
  let lastFilled = -1;
  for (const [at, row] of rows.entries()) {
    for (const mark of row.marks) {
      const step = stepTurn(turn, mark);
      // A turn that begins settles the calls above it; one that ends settles those of its own row too.
      if (step.hasStarted) lastBorder = Math.max(lastBorder, at - 1);
      if (step.hasEnded) lastBorder = at;
      turn = step.state;
    }
    if (row.isModel) lastModel = at;
    if (row.entryCount > 0) lastFilled = at;
  }
  const isOpen = turn !== "closed";
  const partners = partnersOf(rows);
  return {
    isOpen,
    rows: rows.map((row, at) => {
      const mayBeAnswered = row.calls.length > 0 && at === lastModel && at > lastBorder;
      const mayGrow = row.isUnfinished && at === lastFilled;
      const isLive = isOpen && (mayBeAnswered || mayGrow);
      const beside = partners.get(row) ?? [];
      const { name, entryCount } = row;
      return { name, entryCount, row, isLive, partners: beside, print: mixed(row, isLive, beside) };
    }),
  };
}

function mixed(row: Row, isLive: boolean, partners: readonly Row[]): string {
  // With its place: an entry whose bytes moved is told again, so that they are found.
  return `${row.start} ${row.print}${isLive ? "+" : ""} ${partners.map((partner) => partner.print).join(" ")}`;
}

function partnersOf(rows: readonly Row[]): ReadonlyMap<Row, readonly Row[]> {
  const calls = new Map<string, Row>();
  const partners = new Map<Row, Row[]>();
  const join = (a: Row, b: Row): void => {
    const known = partners.get(a) ?? [];
    if (a !== b && !known.includes(b)) partners.set(a, [...known, b]);
  };
  for (const row of rows) {
    for (const id of row.calls) calls.set(id, row);
    for (const id of row.results) {
      const call = calls.get(id);
      if (call === undefined) continue;
      join(call, row);
      join(row, call);
    }
  }
  return partners;
}
