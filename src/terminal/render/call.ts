/** A tool call: one row that turns from running to done or failed in place. */
import type { CallOutcome, CallState, ContentBlock } from "../../transcript/index.ts";
import {
  cellsOf,
  cutStart,
  type Line,
  type Span,
  safeSpans,
  sanitizeLine,
  spansCells,
  type Tone,
} from "../text/index.ts";
import { formatDuration, plural } from "./format.ts";
import { cutSpans, fitLine, tone } from "./layout.ts";
import type { RenderOptions } from "./options.ts";
import { toolWord } from "./tools.ts";

export type ToolUse = Extract<ContentBlock, { kind: "tool-use" }>;

/** The pictures of a running call, one after the other. */
export const spinnerFrames: readonly string[] = ["⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"];

interface Sign {
  readonly glyph: string;
  readonly tone: Tone;
  /** Said where the state is not plain from the rest. */
  readonly words?: string;
}

const signs: Readonly<Record<CallState, Sign>> = {
  running: { glyph: "⠿", tone: "running" },
  done: { glyph: "●", tone: "good" },
  failed: { glyph: "✖", tone: "bad" },
  denied: { glyph: "✖", tone: "warn", words: "denied" },
  interrupted: { glyph: "✖", tone: "warn", words: "interrupted" },
  unanswered: { glyph: "○", tone: "warn", words: "no result" },
};

function signOf(outcome: CallOutcome | undefined, options: RenderOptions): Sign {
  if (outcome === undefined) return { glyph: "○", tone: "dim" };
  const sign = signs[outcome.state];
  if (outcome.state !== "running" || options.spinnerFrame === undefined) return sign;
  const index = Math.abs(Math.trunc(options.spinnerFrame)) % spinnerFrames.length;
  return { ...sign, glyph: spinnerFrames[index] ?? sign.glyph };
}

/** What came of the call, without the time it took. */
function resultWords(outcome: CallOutcome | undefined, sign: Sign): readonly Span[] {
  if (sign.words !== undefined) {
    const said = [tone(sign.words, sign.tone)];
    if (outcome?.state !== "interrupted" || outcome.note === undefined) return said;
    return cutSpans([...said, ...safeSpans(`, ${outcome.note}`, { tone: "dim" })], interruptedCells);
  }
  if (outcome === undefined) return [];
  if (outcome.exitCode !== undefined && outcome.exitCode !== 0)
    return [tone(`exit ${outcome.exitCode}`, "bad")];
  if (outcome.note !== undefined) return cutSpans(safeSpans(outcome.note, { tone: "dim" }), 32);
  if (outcome.lines !== undefined) return [tone(plural(outcome.lines, "line"), "dim")];
  return outcome.state === "failed" ? [tone("failed", "bad")] : [];
}

/** Cells kept for the time at the right, so that times of neighbouring calls stand under each other. */
const timeCells = 6;
const wordsCells = 9;
/** Cells for what became of an interrupted call: it must not be taken for one that did nothing. */
const interruptedCells = 40;

function rightPart(
  outcome: CallOutcome | undefined,
  sign: Sign,
  startMs: number | undefined,
  options: RenderOptions,
): readonly Span[] {
  const words = resultWords(outcome, sign);
  const runningMs =
    outcome?.state === "running" && options.now !== undefined && startMs !== undefined
      ? Math.max(0, options.now - startMs)
      : undefined;
  const durationMs = outcome?.durationMs ?? runningMs;
  const time = durationMs === undefined ? "" : formatDuration(durationMs);
  if (time === "") return words;
  const pad = words.length === 0 ? 0 : Math.max(0, wordsCells - spansCells(words));
  const between = words.length === 0 ? "" : " ".repeat(pad + 2);
  return [
    ...words,
    { text: between },
    tone(time.padStart(timeCells), outcome?.state === "running" ? "running" : "dim"),
  ];
}

/** Code units of a subject that are looked at: far more than a row holds. */
const subjectUnitsMax = 4096;

/** A subject on one row: the end of a path tells most, the start of anything else. */
function subjectSpans(subject: string, isPath: boolean, max: number): readonly Span[] {
  if (max <= 0) return [];
  const trimmed = subject.trim();
  const reach =
    trimmed.length <= subjectUnitsMax
      ? trimmed
      : isPath
        ? trimmed.slice(-subjectUnitsMax)
        : trimmed.slice(0, subjectUnitsMax);
  const spans = safeSpans(reach);
  if (spansCells(spans) <= max) return spans;
  if (isPath && spans.length === 1) return [{ ...spans[0]!, text: cutStart(spans[0]!.text, max) }];
  return cutSpans(spans, max);
}

const verbCells = 6;

/** `● Read   src/a.ts          212 lines  0.1 s`. */
export function callLine(
  use: Pick<ToolUse, "name" | "subject" | "inputSummary" | "outcome">,
  startMs: number | undefined,
  options: RenderOptions,
): Line {
  const { verb, sort } = toolWord(use.name);
  const sign = signOf(use.outcome, options);
  const room = Math.max(1, options.width - 1);
  const right = rightPart(use.outcome, sign, startMs, options);
  const isWide = options.width >= 24;
  const name = safeSpans(verb, { bold: true });
  const pad = isWide ? " ".repeat(Math.max(0, verbCells - spansCells(name))) : "";
  const head: readonly Span[] = [
    { text: isWide ? " " : "" },
    { text: sign.glyph, tone: sign.tone },
    { text: " " },
    ...cutSpans(name, 40),
    { text: pad },
  ];
  const subject = use.subject ?? (use.inputSummary === "{}" ? "" : use.inputSummary);
  const used = spansCells(head) + 1;
  const rightCells = spansCells(right);
  const isRightShown =
    rightCells > 0 &&
    room - used - rightCells - 2 >= Math.min(12, cellsOf(sanitizeLine(subject.slice(0, 64))));
  const left = Math.max(0, room - used - (isRightShown ? rightCells + 2 : 0));
  const isPath = sort === "read" || sort === "edit";
  const said = subject === "" ? [] : subjectSpans(subject, isPath, left);
  const lead = said.length === 0 ? head : [...head, { text: " " }, ...said];
  if (!isRightShown) return fitLine(cutSpans(lead, room));
  const gap = Math.max(1, room - spansCells(lead) - rightCells);
  return fitLine([...lead, { text: " ".repeat(gap) }, ...right]);
}
