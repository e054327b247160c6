/** What stands below the live blocks of a driven session: the question, the plan, the prompt and the status row, in the rows there are. */
import type { Approval, DriverState } from "../../session/index.ts";
import { type Composer, composerRowsMax, drawComposer } from "../composer/index.ts";
import { type Notice, type RenderOptions, renderNotice, renderStatus, type Status } from "../render/index.ts";
import type { LiveCursor } from "../screen/index.ts";
import type { Line } from "../text/index.ts";
import { approvalBox } from "./approval-box.ts";
import { planLines, queuedLines } from "./parts.ts";

export interface FootFacts {
  readonly driver: DriverState;
  readonly composer: Composer;
  /** The question that is asked now, and how it stands. */
  readonly approval: Approval | undefined;
  readonly chosen: number | undefined;
  readonly isArmed: boolean;
  /** Whether its changes stand in the transcript's live blocks. */
  readonly isShown: boolean;
  /** Texts of prompts that wait, the next one first. */
  readonly queued: readonly string[];
  readonly notice: Notice | undefined;
  readonly status: Status;
  readonly layout: Pick<RenderOptions, "highlighter" | "time" | "moreKey">;
}

export interface Foot {
  /** One row each. */
  readonly lines: readonly Line[];
  readonly cursor?: LiveCursor;
}

const blank: Line = { spans: [], wrap: "fit" };
/** Rows from which on the foot has a blank row above it. */
const blankRowsMin = 7;

function hintOf({ driver }: FootFacts): string {
  switch (driver.phase) {
    case "starting":
      return "The agent is starting; what you send waits for it";
    case "working":
    case "cancelling":
      return "Type on: it waits for the turn to end";
    case "ended":
      return "The agent has ended";
    case "ready":
      return driver.commands.length > 0
        ? "Ask something  ·  / for commands  ·  Alt+Enter for a new line"
        : "Ask something  ·  Alt+Enter for a new line";
  }
}

function promptRows(facts: FootFacts, width: number, rowsMax: number): Foot {
  const isAside = facts.approval !== undefined && facts.isArmed;
  const { lines, cursor } = drawComposer(facts.composer, {
    width,
    rowsMax,
    commands: facts.driver.commands,
    hint: hintOf(facts),
    isAside,
  });
  return isAside ? { lines } : { lines, cursor: { line: cursor.row, column: cursor.column } };
}

/** The foot in at most `rowsMax` rows (1 at least), each of at most `width` cells. The prompt, or the question, is always there. */
export function drawFoot(facts: FootFacts, width: number, rowsMax: number): Foot {
  const { approval, driver } = facts;
  let left = Math.max(1, rowsMax);
  const take = (lines: readonly Line[]): readonly Line[] => {
    const taken = lines.slice(0, Math.max(0, left));
    left -= taken.length;
    return taken;
  };
  const isAsked = approval !== undefined;
  const status = left >= 2 ? take([renderStatus(facts.status, width)]) : [];
  const hidesPrompt = isAsked && facts.isArmed && left < 4;
  const promptMax = isAsked ? 1 : Math.max(1, Math.min(composerRowsMax, Math.ceil(left / 2)));
  const prompt: Foot = hidesPrompt ? { lines: [] } : promptRows(facts, width, Math.min(promptMax, left));
  take(prompt.lines);
  const top = rowsMax >= blankRowsMin ? take([blank]) : [];
  const box = isAsked
    ? take(
        approvalBox(approval, {
          width,
          rowsMax: left,
          chosen: facts.chosen,
          isArmed: facts.isArmed,
          isShown: facts.isShown,
          further: driver.approvals.length - 1,
          layout: facts.layout,
        }),
      )
    : [];
  // The blocks of the conversation keep some rows.
  if (!isAsked) left = Math.floor(left / 2);
  const isFailureSaid = driver.failure !== undefined && facts.notice?.text.includes(driver.failure) === true;
  const failure =
    driver.phase === "ended" && driver.failure !== undefined && !isFailureSaid
      ? take(renderNotice({ tone: "error", text: `The agent has ended: ${driver.failure}` }, width))
      : [];
  // It stands as long as it is true, whatever else is told meanwhile.
  const { notSaved } = driver;
  const unsaved = notSaved === undefined ? [] : take(renderNotice({ tone: "error", text: notSaved }, width));
  const isTold = facts.notice === undefined || facts.notice.text === notSaved;
  const notice = facts.notice === undefined || isTold ? [] : take(renderNotice(facts.notice, width));
  const queued = take(queuedLines(facts.queued, driver.queued, width, left));
  const plan =
    driver.phase === "ready" || driver.phase === "ended" ? [] : take(planLines(driver.plan, width, left));
  const above = [...top, ...plan, ...box, ...queued, ...failure, ...unsaved, ...notice];
  const lines = [...above, ...prompt.lines, ...status];
  return prompt.cursor === undefined
    ? { lines }
    : { lines, cursor: { line: above.length + prompt.cursor.line, column: prompt.cursor.column } };
}
