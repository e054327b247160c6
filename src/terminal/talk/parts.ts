/** Small parts of what stands above the prompt: the plan, prompts that wait, the line at a turn's end. */
import type { DriverState, PlanStep } from "../../session/index.ts";
import { formatDuration, formatTokens } from "../render/index.ts";
import { cellsOf, cutCells, type Line, type Span, sanitizeLine, type Tone } from "../text/index.ts";
import { planRowsMax, queuedRowsMax } from "./limits.ts";

function row(text: string, width: number, tone: Tone): Line {
  return { spans: [{ text: cutCells(text, width), tone }], wrap: "fit" };
}

const stepSigns: Readonly<Record<PlanStep["state"], readonly [sign: string, tone: Tone]>> = {
  waiting: ["○", "dim"],
  "at-work": ["◐", "running"],
  done: ["●", "good"],
};

/** The plan around the step at work, in at most `rowsMax` rows; how much of it is done where not all of it is shown. */
export function planLines(plan: readonly PlanStep[], width: number, rowsMax: number): readonly Line[] {
  const count = Math.min(plan.length, planRowsMax, rowsMax);
  if (count <= 0) return [];
  const isWhole = count === plan.length;
  const done = plan.filter(({ state }) => state === "done").length;
  const head = isWhole ? [] : [row(`   plan: ${done} of ${plan.length} done`, width, "dim")];
  const shown = count - head.length;
  const atWork = plan.findIndex(({ state }) => state !== "done");
  const from = Math.max(0, Math.min(atWork < 0 ? plan.length : atWork - 1, plan.length - shown));
  const steps = plan.slice(from, from + shown).map(({ text, state }): Line => {
    const [sign, tone] = stepSigns[state];
    const words = cutCells(sanitizeLine(text), Math.max(0, width - 5));
    const spans: readonly Span[] = [
      { text: cutCells(`   ${sign} `, width), tone },
      { text: words, ...(state === "at-work" ? {} : { tone: "dim" }) },
    ];
    return { spans, wrap: "fit" };
  });
  return [...head, ...steps];
}

/** The prompts that wait for the running turn, the next one first. `count` may be more than there are texts of. */
export function queuedLines(
  texts: readonly string[],
  count: number,
  width: number,
  rowsMax: number,
): readonly Line[] {
  const room = Math.min(queuedRowsMax, rowsMax);
  if (count <= 0 || room <= 0) return [];
  const rows = texts.slice(0, room).map((text) => {
    const [first = ""] = text.trim().split("\n", 1);
    return row(` ⧗ ${sanitizeLine(first.slice(0, width))}`, width, "dim");
  });
  const hidden = count - rows.length;
  if (hidden <= 0) return rows;
  const more = row(
    ` ⧗ ${rows.length === 0 ? "" : "… "}${hidden}${rows.length === 0 ? "" : " more"} waiting`,
    width,
    "dim",
  );
  return rows.length < room
    ? [...rows, more]
    : [...rows.slice(0, -1), row(` ⧗ … ${hidden + 1} more waiting`, width, "dim")];
}

type LastTurn = NonNullable<DriverState["lastTurn"]>;

/** Reasons for a turn's end that go without saying. */
const plainReasons: ReadonlySet<string> = new Set(["end_turn", "stop", "completed"]);
const reasonWords: Readonly<Record<string, string>> = {
  cancelled: "cancelled",
  max_tokens: "stopped at the limit of tokens",
  max_turn_requests: "stopped at the limit of requests",
  refusal: "refused",
};

/** The row under a turn: its time, its tokens, and why it ended where that needs saying. */
export function turnLine({ ms, stopReason, tokens }: LastTurn, width: number): Line {
  const reason = plainReasons.has(stopReason) ? [] : [reasonWords[stopReason] ?? sanitizeLine(stopReason)];
  const parts = [
    ...reason,
    formatDuration(ms),
    ...(tokens === undefined ? [] : [`${formatTokens(tokens)} tokens`]),
  ];
  const words = cutCells(` ─ ${parts.join(" · ")} `, width);
  const rule = "─".repeat(Math.max(0, Math.min(width, 60) - cellsOf(words)));
  return {
    spans: [
      { text: words, tone: reason.length > 0 ? "warn" : "dim" },
      { text: rule, tone: "rule" },
    ],
    wrap: "fit",
  };
}
