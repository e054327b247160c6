/** Which sessions are listed, and in which order. */
import { resolve, sep } from "node:path";
import type { FoundSession } from "../sources/index.ts";
import { type Described, describeAll } from "./describe-all.ts";
import type { Io } from "./io.ts";
import { parseSince } from "./since.ts";

/** What a list can be sorted by. Times and sizes are the largest first, words from A on. */
export const listOrders = ["time", "size", "title", "cwd", "agent"] as const;
export type ListOrder = (typeof listOrders)[number];

export interface ListChoice {
  /** Only sessions that were at work in this folder or below it. */
  readonly cwd?: string;
  /** Only sessions that changed since then. */
  readonly since?: string;
  /** Only sessions whose title has this in it, whatever the capitals. */
  readonly title?: string;
  readonly sort?: ListOrder;
  readonly reverse?: boolean;
}

export interface Listed {
  readonly found: readonly FoundSession[];
  readonly infos: readonly Described[];
  /** How many more there are; undefined where that would take reading all of them. */
  readonly left: number | undefined;
}

type Session = readonly [found: FoundSession, info: Described];

const words = new Intl.Collator("en", { sensitivity: "base", numeric: true });

/** Compares what is known without looking into the files; undefined for what is not. */
const cheap: Readonly<Partial<Record<ListOrder, (a: FoundSession, b: FoundSession) => number>>> = {
  time: () => 0,
  size: (a, b) => b.bytes - a.bytes,
  agent: (a, b) => words.compare(a.agent, b.agent),
};

/** Absent comes last, in either direction. */
function compareWords(a: string | undefined, b: string | undefined, sign: number): number {
  if (a === undefined || b === undefined) return Number(a === undefined) - Number(b === undefined);
  return sign * words.compare(a, b);
}

/** Described in turns of so many, where not every session found is listed. */
const BATCH = 64;

/**
 * The sessions to list, at most `limit`. `all` comes newest first, which is the order among equals. Only the head and the tail of a file are
 * looked at, and only of as many files as the choice needs.
 */
export async function chooseListed(
  io: Pick<Io, "cwd" | "now">,
  all: readonly FoundSession[],
  limit: number,
  choice: ListChoice,
): Promise<Listed> {
  const since = choice.since === undefined ? undefined : parseSince(choice.since, io.now());
  const order = choice.sort ?? "time";
  const sign = choice.reverse === true ? -1 : 1;
  const compare = cheap[order];
  let sessions = since === undefined ? all : all.filter(({ modifiedAt }) => modifiedAt >= since);
  if (compare !== undefined) {
    sessions = sessions.toSorted((a, b) => sign * compare(a, b));
    if (order === "time" && sign < 0) sessions = sessions.toReversed();
  }
  const fits = fitting(io, choice);
  const isEach = choice.cwd === undefined && choice.title === undefined;
  const isWhole = compare === undefined || limit >= sessions.length;
  const kept: Session[] = [];
  let at = 0;
  while (at < sessions.length && (compare === undefined || kept.length < limit)) {
    const count = isWhole ? sessions.length : isEach ? limit - kept.length : BATCH;
    const batch = sessions.slice(at, at + count);
    const infos = await describeAll(batch);
    for (const [i, found] of batch.entries()) {
      const info = infos[i];
      if (kept.length === limit && compare !== undefined) break;
      at += 1;
      if (info !== undefined && info.parentId === undefined && fits(info)) kept.push([found, info]);
    }
  }
  if (compare === undefined) {
    const key = order === "title" ? "title" : "cwd";
    kept.sort(([, a], [, b]) => compareWords(a[key], b[key], sign));
  }
  const shown = kept.slice(0, limit);
  const hidden = kept.length - shown.length + sessions.length - at;
  return {
    found: shown.map(([found]) => found),
    infos: shown.map(([, info]) => info),
    left: isEach || at === sessions.length ? hidden : undefined,
  };
}

function fitting(io: Pick<Io, "cwd">, choice: ListChoice): (info: Described) => boolean {
  const folder = choice.cwd === undefined ? undefined : resolve(io.cwd, choice.cwd);
  const title = choice.title?.toLowerCase();
  return (info) => {
    if (folder !== undefined) {
      const { cwd } = info;
      if (cwd === undefined) return false;
      if (cwd !== folder && !cwd.startsWith(folder.endsWith(sep) ? folder : folder + sep)) return false;
    }
    return title === undefined || info.title?.toLowerCase().includes(title) === true;
  };
}
