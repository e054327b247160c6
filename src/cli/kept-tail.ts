/** The newest part of a session, read backwards within bounds: what an agent is told when it carries the session on. */
import { isPrompt } from "../agent/index.ts";
import type { Log, Page, Position } from "../sources/index.ts";
import type { Entry } from "../transcript/index.ts";
import { CommandError } from "./errors.ts";
import { exitCodes } from "./exit.ts";

/** Entries a read. */
const pageEntries = 256;
/** Bounds of a kept tail, whatever was asked for. */
export const keptEntriesMax = 20_000;
export const keptCharsMax: number = 16 * 1024 * 1024;
/** Entries before the kept tail among which the newest compaction's summary is looked for. */
export const summaryEntriesMax = 5_000;

export interface Kept {
  /** Oldest first. */
  readonly entries: readonly Entry[];
  /** The newest compaction before them. */
  readonly summary?: Entry;
  readonly turns: number;
  /** True where the session begins with them. */
  readonly isWhole: boolean;
  /** True where the log says that its last turn is still under way. */
  readonly isRunning: boolean;
}

export interface KeptSpec {
  /** The number of the turn that is the last one kept, from 1; absent: the newest. */
  readonly from?: number;
  /** So many turns; absent: as much as `chars` holds. */
  readonly turns?: number;
  readonly chars: number;
}

/** Characters of what an entry says, near enough to stop reading by. */
function charsOf(entry: Entry): number {
  switch (entry.kind) {
    case "delivered":
      return entry.body.length;
    case "model":
      return entry.blocks.reduce((sum, block) => sum + ("text" in block ? block.text.length : 100), 0);
    case "tool-result":
      return Math.min(entry.content.length, 8_192);
    case "compacted":
      return entry.summary.length;
    case "streaming":
      return entry.text.length;
    case "raw":
    case "wounded":
      return 0;
  }
}

/** The position just behind a turn, counted from the first prompt; reads the log up to there. Throws a CommandError where there are fewer. */
async function endOfTurn(log: Log, turn: number): Promise<Position> {
  let turns = 0;
  let page: Page = await log.first(pageEntries);
  for (;;) {
    for (const [index, entry] of page.entries.entries()) {
      if (!isPrompt(entry)) continue;
      turns += 1;
      if (turns > turn) return page.positions[index] ?? page.start;
    }
    if (page.atEnd) break;
    page = await log.newer(page.end, pageEntries);
  }
  if (turns === turn) return page.end;
  throw new CommandError(exitCodes.usage, `The session has no turn ${turn}.`, [
    turns === 0 ? "Nobody asked anything in it." : `Its last turn is ${turns}.`,
  ]);
}

/** The newest turns before a place, as many as are asked for or fit. */
export async function keepTail(log: Log, spec: KeptSpec): Promise<Kept> {
  const end = spec.from === undefined ? undefined : await endOfTurn(log, spec.from);
  const tail = end === undefined ? await log.tail(pageEntries) : undefined;
  let page: Page = tail ?? (await log.older(end as Position, pageEntries));
  const kept: Entry[] = [];
  let chars = 0;
  let turns = 0;
  let isFull = false;
  let left: Entry[] = [];
  const charsMax = Math.min(spec.chars, keptCharsMax);
  for (;;) {
    const entries = [...page.entries].reverse();
    for (const [index, entry] of entries.entries()) {
      kept.push(entry);
      chars += charsOf(entry);
      if (isPrompt(entry)) turns += 1;
      const isAtTurn = spec.turns !== undefined && turns >= spec.turns;
      // A turn that is larger than the bound is kept to its prompt's newer side; the quotation says what is left out.
      if (isAtTurn || kept.length >= keptEntriesMax || (spec.turns === undefined && chars >= charsMax)) {
        isFull = true;
        left = entries.slice(index + 1);
        break;
      }
    }
    if (isFull || page.atStart) break;
    page = await log.older(page.start, pageEntries);
  }
  const isWhole = page.atStart && left.length === 0;
  const summary = isWhole || kept.some(isSummary) ? undefined : await findSummary(log, page, left);
  return {
    entries: kept.reverse(),
    ...(summary === undefined ? {} : { summary }),
    turns,
    isWhole,
    isRunning: tail?.turnOpen === true,
  };
}

function isSummary(entry: Entry): boolean {
  return entry.kind === "compacted" && entry.summary !== "";
}

async function findSummary(log: Log, from: Page, first: readonly Entry[]): Promise<Entry | undefined> {
  let page = from;
  let entries = first;
  for (let looked = 0; looked < summaryEntriesMax; looked += entries.length) {
    const found = entries.find(isSummary);
    if (found !== undefined || page.atStart) return found;
    page = await log.older(page.start, pageEntries);
    entries = [...page.entries].reverse();
  }
  return undefined;
}
