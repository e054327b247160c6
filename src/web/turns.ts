/** Entries as sections of a page, a turn each; what led to a finished answer is rolled up. Pure; runs on the server and on the page. */
import { beginsTurn, entryHtml, escapeHtml, timeWords } from "../html/index.ts";
import type { Entry } from "../transcript/index.ts";

/** An entry, and the position just before it where it is known. */
export interface Placed {
  readonly entry: Entry;
  readonly at?: string;
  /** UTF-16 units that were left out of its texts. */
  readonly cut?: number;
}

/** An entry as the server tells it: what was cut of it is beside it, not in it. */
export function placedOf({ cut, ...entry }: Entry & { readonly cut?: number }, at?: string): Placed {
  return {
    entry: entry as Entry,
    ...(at === undefined ? {} : { at }),
    ...(cut === undefined ? {} : { cut }),
  };
}

/** What stands in a turn besides prompts and answers: calls, results, thinking, notes. */
export function isStep(entry: Entry): boolean {
  switch (entry.kind) {
    case "tool-result":
      return true;
    case "model":
      return entry.subagent !== undefined || !entry.blocks.some((block) => block.kind === "text");
    case "delivered":
      return entry.sender === "system";
    case "raw":
      return entry.damaged !== true;
    default:
      return false;
  }
}

/** Whether a call of the entry has no result yet. */
export function isRunning(entry: Entry): boolean {
  return (
    entry.kind === "streaming" ||
    (entry.kind === "model" &&
      entry.blocks.some((block) => block.kind === "tool-use" && block.outcome?.state === "running"))
  );
}

/** An entry as an article; its name and its position are in its attributes. */
export function articleHtml({ entry, at, cut }: Placed): string {
  const counts = countsOf(entry);
  const counted = isStep(entry)
    ? ` data-calls="${counts.calls}" data-bad="${counts.bad}" data-thoughts="${counts.thoughts}"`
    : "";
  const classes = [
    "entry",
    entry.kind,
    ...(isStep(entry) ? ["step"] : []),
    ...(isRunning(entry) ? ["running"] : []),
    ...(entry.offPath === true ? ["left"] : []),
  ];
  const place = at === undefined ? "" : ` data-at="${escapeHtml(at)}"`;
  const since =
    isRunning(entry) && entry.time !== undefined
      ? `<p class="note clock" data-since="${entry.time}"></p>`
      : "";
  const more =
    cut === undefined || at === undefined
      ? ""
      : `<button type="button" class="whole" data-at="${escapeHtml(at)}">${cut} more characters</button>`;
  const branch = entry.offPath === true ? '<p class="note">On a branch that was left</p>' : "";
  return `<article class="${classes.join(" ")}" data-name="${escapeHtml(entry.name)}"${place}${counted}>${branch}${entryHtml(entry)}${since}${more}</article>`;
}

/** What is counted of a step. */
export interface StepCounts {
  readonly calls: number;
  readonly bad: number;
  readonly thoughts: number;
}

function countsOf(entry: Entry): StepCounts {
  let calls = 0;
  let bad = 0;
  let thoughts = 0;
  for (const block of entry.kind === "model" ? entry.blocks : []) {
    if (block.kind === "thinking") thoughts += 1;
    if (block.kind !== "tool-use") continue;
    calls += 1;
    if (block.outcome?.state === "failed" || block.outcome?.state === "denied") bad += 1;
  }
  return { calls, bad, thoughts };
}

/** What a roll of steps says of itself. */
export function rollWords(counts: readonly StepCounts[]): string {
  const sum = (of: keyof StepCounts): number => counts.reduce((total, each) => total + each[of], 0);
  const words = (n: number, one: string): readonly string[] =>
    n === 0 ? [] : [`${n} ${one}${n === 1 ? "" : "s"}`];
  const bad = sum("bad");
  const said = [
    ...words(sum("calls"), "tool call"),
    ...(bad === 0 ? [] : [`${bad} failed`]),
    ...words(sum("thoughts"), "thought"),
  ];
  return said.length === 0 ? words(counts.length, "note").join("") : said.join(" · ");
}

interface Run {
  readonly steps: Placed[];
}

/** The articles of one turn. Of a finished one, neighbouring steps are folded into one line. */
export function articlesHtml(placed: readonly Placed[], isFinished: boolean): string {
  if (!isFinished) return placed.map(articleHtml).join("");
  const out: string[] = [];
  let run: Run = { steps: [] };
  const close = (): void => {
    const [first] = run.steps;
    if (run.steps.length === 1 && first !== undefined) out.push(articleHtml(first));
    else if (run.steps.length > 1) out.push(rollHtml(run.steps));
    run = { steps: [] };
  };
  for (const one of placed) {
    if (isStep(one.entry) && !isRunning(one.entry)) {
      run.steps.push(one);
      continue;
    }
    close();
    out.push(articleHtml(one));
  }
  close();
  return out.join("");
}

function rollHtml(steps: readonly Placed[]): string {
  const words = rollWords(steps.map(({ entry }) => countsOf(entry)));
  return `<details class="roll"><summary>${escapeHtml(words)}</summary>${steps.map(articleHtml).join("")}</details>`;
}

/** Entries in turns, oldest first: each begins with a prompt, but the first one may have begun before. */
export function turnsOf(placed: readonly Placed[]): readonly (readonly Placed[])[] {
  const turns: Placed[][] = [];
  for (const one of placed) {
    const last = turns.at(-1);
    if (last === undefined || beginsTurn(one.entry)) turns.push([one]);
    else last.push(one);
  }
  return turns;
}

/** A turn as a section with a heading that people and screen readers jump to. */
export function turnHtml(placed: readonly Placed[], isFinished: boolean): string {
  const [first] = placed;
  const isBegun = first !== undefined && beginsTurn(first.entry);
  const time = first?.entry.time;
  const words = isBegun ? '<span class="hidden">Prompt</span>' : `<span>${CONTINUED}</span>`;
  const at = time === undefined ? "" : ` ${timeHtml(time)}`;
  return `<section class="turn"${isBegun ? " data-prompt" : ""}><h2 tabindex="-1">${words}${at}</h2>${articlesHtml(placed, isFinished)}</section>`;
}

/** What stands over the part of a turn whose prompt is not on the page. */
export const CONTINUED = "Continued";

/** A time in UTC; the page's script tells it in the reader's own. */
export function timeHtml(time: number): string {
  const words = timeWords(time);
  return words === "" ? "" : `<time datetime="${new Date(time).toISOString()}">${words}</time>`;
}

/** All turns of a page; the last one is open where its turn is. */
export function turnsHtml(placed: readonly Placed[], isLastOpen: boolean): string {
  const turns = turnsOf(placed);
  return turns.map((turn, index) => turnHtml(turn, !(isLastOpen && index === turns.length - 1))).join("");
}
