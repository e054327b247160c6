/**
 * Planted bugs: single mistakes in the core's source, each with the law that must see it. They are applied to the text of
 * src/window/step.ts, never shipped; one that no longer fits the text is an error, so that the list keeps up with the code.
 */
import { readFileSync } from "node:fs";
import { compileFunction } from "node:vm";
import ts from "typescript";
import * as state from "../src/window/state.ts";
import type { StepFunction } from "./explore.ts";

export interface PlantedBug {
  /** The law that must be seen broken; `L17` is seen as a changed input or a differing answer. */
  readonly law: string;
  readonly what: string;
  readonly find: string;
  readonly put: string;
  /** The constants that are needed to see it; absent: `tiny`. */
  readonly universe?: string;
}

const bug = (law: string, what: string, find: string, put: string, universe?: string): PlantedBug =>
  universe === undefined ? { law, what, find, put } : { law, what, find, put, universe };

const compactedDrop = "return tryDrop({\n    ...state,\n    cycle:";
const olderSeen = "return pending.from === lo ? olderRead(next, count) : accept(next);";
const older = "movedOlder(state, Math.min(config.step, ctrlo.lo - heldFloor))";
const newer = "return showing(state, movedNewer(state, Math.min(config.step, nextSeq - ctrlo.hi)));";
const answeredBy = "if (state.ctrlo.pending?.token !== token) return undefined;";
const tokenIs = (wrong: string): string =>
  `if (state.ctrlo.pending === undefined || ${wrong}) return undefined;`;
const newEpoch = "epoch: state.epoch + 1,\n    paintedThrough: state.heldFloor,";

export const plantedBugs: readonly PlantedBug[] = [
  bug("L1", "a compaction does not drop", compactedDrop, compactedDrop.replace("tryDrop(", "accept(")),
  bug(
    "L1",
    "the end of a turn does not drop",
    "return tryDrop({ ...state, turnOpen: false });",
    "return accept({ ...state, turnOpen: false });",
  ),
  bug(
    "L2",
    "a drop clears the live blocks",
    "heldFloor: to,\n    prevFirst",
    "heldFloor: to, live: [],\n    prevFirst",
  ),
  bug(
    "L3",
    "a drop does not ask whether the log has it",
    "isSaved && savedThrough < cycleFirst ? 0 : cycleFirst",
    "cycleFirst",
  ),
  bug(
    "L4",
    "a change counts as an epoch",
    'return accept(state, { type: "repaint_block", id });',
    'return accept({ ...state, epoch: state.epoch + 1 }, { type: "repaint_block", id });',
  ),
  bug(
    "L5",
    "a painted block is not counted",
    "paintedThrough: state.reprinting ? state.paintedThrough : seq + 1,",
    "paintedThrough: state.paintedThrough,",
  ),
  bug("L6", "a resize keeps what was painted", newEpoch, "epoch: state.epoch + 1,"),
  bug("L7", "a slice of one too many", "from + state.config.slice", "from + state.config.slice + 1", "small"),
  bug(
    "L8",
    "the window is not trimmed going older",
    "hi: Math.min(ctrlo.hi, lo + state.config.window)",
    "hi: ctrlo.hi",
    "small",
  ),
  bug(
    "L9",
    "a second read while one is pending",
    'if (state.ctrlo.pending !== undefined) return reject(state, "read is pending");',
    "",
  ),
  bug(
    "L9",
    "a pending read outlives the pager",
    "accept({ ...state, ctrlo: closedPager })",
    "accept({ ...state, ctrlo: { ...closedPager, pending: state.ctrlo.pending } })",
  ),
  bug(
    "L10",
    "opening asks the log",
    "showing(state, newest(state));\n}\n\nfunction ctrloClosed",
    'ask({ ...state, ctrlo: newest(state) }, "older", 0, 1);\n}\n\nfunction ctrloClosed',
  ),
  bug(
    "L10",
    "opening shows what is not held",
    "Math.max(state.heldFloor, state.nextSeq - state.config.window)",
    "Math.max(0, state.nextSeq - state.config.window)",
  ),
  bug("L11", "any token will do", "pending?.token !== token", "pending === undefined"),
  bug(
    "L12",
    "an unsaved session reads",
    'if (ctrlo.atStart || state.save === "unsaved")',
    "if (ctrlo.atStart)",
  ),
  bug(
    "L13",
    "live blocks outlive a resume",
    "savedThrough: nextSeq,\n    live: [],",
    "savedThrough: nextSeq,",
  ),
  bug("L13", "the old watermark outlives a resume", "savedThrough: nextSeq,\n", ""),
  bug("L13", "tokens go on over a resume", "nextToken: 0,", ""),
  bug(
    "L14",
    "a save between turns does not drop",
    "return tryDrop({ ...state, savedThrough: seq });",
    "return accept({ ...state, savedThrough: seq });",
  ),
  bug(
    "L15",
    "the last slice does not end a reprint",
    "const isLast = to === state.nextSeq;",
    "const isLast = false;",
  ),
  bug("L16", "the start is never seen", "moved.lo === 0 : n === 0", "moved.lo === 0 : false"),
  bug(
    "X16",
    "a failed read is never forgotten",
    "accept(next);\n}\n\n/**\n * The next state",
    "accept(state);\n}\n\n/**\n * The next state",
  ),
  bug("L18", "a drop in an open turn", "state.turnOpen ? from : dropEnd(state)", "dropEnd(state)"),
  bug(
    "L19",
    "a reprint starts at the current cycle",
    newEpoch,
    newEpoch.replace("state.heldFloor", "state.cycleFirst"),
  ),
  bug("L20", "a resize keeps the epoch", newEpoch, newEpoch.replace("state.epoch + 1", "state.epoch")),
  bug(
    "L20",
    "a slice starts one too early",
    '{ type: "reprint_slice", from, to }',
    '{ type: "reprint_slice", from: Math.max(0, from - 1), to }',
    "running",
  ),
  bug(
    "L6",
    "a drop in a reprint leaves the painted edge below it",
    "paintedThrough: Math.max(state.paintedThrough, to),",
    "",
  ),
  bug(
    "L21",
    "an older reply is not clamped to a step",
    "Math.min(count, state.config.step, lo)",
    "Math.min(count, lo)",
  ),
  bug(
    "X1",
    "a drop told from one too late",
    '{ type: "drop", from, to }',
    '{ type: "drop", from: from + 1, to }',
  ),
  bug(
    "X2",
    "a scroll that shows nothing",
    newer,
    newer.replace("showing(state,", "accept({ ...state, ctrlo:").replace("));", ") });"),
    "small",
  ),
  bug(
    "X3",
    "an unsaved session's pager does not slide",
    'if (state.save === "saved" || !ctrlo.open',
    "if (ctrlo.open || !ctrlo.open",
  ),
  bug(
    "X4",
    "Home's reply shows one more than it brought",
    "lo: 0, hi: n, atStart",
    "lo: 0, hi: n + 1, atStart",
  ),
  bug(
    "X5",
    "a scroll jumps to the oldest held block",
    older,
    "movedOlder(state, ctrlo.lo - heldFloor)",
    "running",
  ),
  bug("X6", "a reply whose edge is gone still counts", olderSeen, "return olderRead(next, count);", "small"),
  bug(
    "X7",
    "a read of more than a step",
    'ask(state, "older", ctrlo.lo, config.step)',
    'ask(state, "older", ctrlo.lo, config.window)',
  ),
  bug("X8", "an empty previous cycle", "first < state.nextSeq ? first : undefined", "first"),
  bug("X9", "an empty slice", "if (to > from) effects.push", "effects.push"),
  bug(
    "X10",
    "live blocks are not drawn after a reprint",
    'if (isLast) effects.push({ type: "repaint_live" });',
    "",
  ),
  bug(
    "X11",
    "the start is not left",
    "atStart: ctrlo.atStart && lo === ctrlo.lo",
    "atStart: ctrlo.atStart",
    "small",
  ),
  bug("X12", "a token is used twice", "nextToken: token + 1", "nextToken: token"),
  bug("X12", "a resize closes the turn", newEpoch, `${newEpoch} turnOpen: false,`),
  bug(
    "X13",
    "a window never meets memory",
    "if (!met) return showing(state, moved);",
    "if (!met || met) return showing(state, moved);",
  ),
  bug(
    "X14",
    "a reprint begins before what is dropped is told",
    'accept(kept.state, ...kept.effects, { type: "reprint_begin" })',
    'accept(kept.state, { type: "reprint_begin" }, ...kept.effects)',
  ),
  bug(
    "X15",
    "a read from the start",
    'if (ctrlo.atStart || state.save === "unsaved")',
    'if (state.save === "unsaved")',
  ),
  bug("X16", "the cycle stands still", "cycle: state.cycle + 1,", ""),
  bug("X16", "the epoch jumps", newEpoch, newEpoch.replace("+ 1", "+ 2")),
  bug("X17", "a turn in a turn", 'state.turnOpen ? reject(state, "turn is open") : ', ""),
  bug(
    "X17",
    "a watermark goes back",
    'if (seq < state.savedThrough) return reject(state, "watermark goes back");',
    "",
  ),
  bug(
    "X17",
    "an empty log refuses a resume",
    "if (cycleFirst > nextSeq) return",
    "if (cycleFirst >= nextSeq) return",
  ),
  bug("X18", "a scroll of more than a step", older, "movedOlder(state, ctrlo.lo - heldFloor)", "running"),
  bug(
    "X19",
    "a token three behind will do",
    answeredBy,
    tokenIs("state.ctrlo.pending.token !== token && state.ctrlo.pending.token < token + 3"),
  ),
  bug(
    "X19",
    "tokens are compared modulo 4",
    answeredBy,
    tokenIs("token % 4 !== state.ctrlo.pending.token % 4"),
  ),
  bug(
    "X19",
    "epoch 40 draws no live blocks",
    'if (isLast) effects.push({ type: "repaint_live" });',
    'if (isLast && state.epoch !== 40) effects.push({ type: "repaint_live" });',
  ),
  bug(
    "X19",
    "slices grow after epoch 30",
    "from + state.config.slice",
    "from + state.config.slice + (state.epoch > 30 ? 1 : 0)",
    "small",
  ),
  bug(
    "X19",
    "the fifth compaction forgets what is held",
    "first < state.nextSeq ? first : undefined",
    "first < state.nextSeq ? (state.cycle >= 5 ? state.cycleFirst : first) : undefined",
  ),
  bug(
    "X19",
    "a resume knows one cycle",
    "const fresh: WindowState = {\n    ...state,\n    cycle,",
    "const fresh: WindowState = {\n    ...state,\n    cycle: Math.min(cycle, 1),",
  ),
  bug(
    "E1",
    "scrolled up, the window follows",
    'ctrlo.anchor === "tail" && ctrlo.hi === seq',
    'ctrlo.anchor === "tail"',
    "small",
  ),
  bug(
    "E1",
    "following tells before it paints",
    "return accept({ ...next, ctrlo: followed }, ...effects, show(followed));",
    "return accept({ ...next, ctrlo: followed }, show(followed), ...effects);",
  ),
  bug("E2", "one more than the cap is held", "nextSeq - config.maxHeld)", "nextSeq - config.maxHeld - 1)"),
  bug("E2b", "the cap cuts one too many", "nextSeq - config.maxHeld)", "nextSeq - config.maxHeld + 1)"),
  bug(
    "E3",
    "Home asks for what is older",
    'ask(state, "first", 0, config.window)',
    'ask(state, "older", 0, config.window)',
  ),
  bug(
    "E3b",
    "Home's reply shows one too late",
    "const lo = heldFloor - n;\n",
    "const lo = Math.min(nextSeq, heldFloor - n + 1);\n",
  ),
  bug(
    "R1",
    "a refused event leaves a mark",
    'reject(state, "turn is open")',
    'reject({ ...state, cycle: state.cycle + 1 }, "turn is open")',
  ),
  bug("R2", "a scroll of one where a step is more", older, "movedOlder(state, 1)", "wide"),
  bug(
    "L17",
    "a set that is changed in place",
    "live: [...state.live, id]",
    "live: (state.live.push(id), state.live)",
  ),
  bug(
    "L17",
    "an answer that depends on how often it was asked",
    "export function step(state: WindowState, event: WindowEvent): StepResult {",
    'let calls = 0;\nexport function step(state: WindowState, event: WindowEvent): StepResult {\n  calls += 1;\n  if (event.type === "resized") return accept({ ...state, epoch: state.epoch + (calls % 2), reprinting: true, paintedThrough: state.heldFloor }, { type: "reprint_begin" });',
  ),
];

const source = new URL("../src/window/step.ts", import.meta.url);

/** The text of step.ts with a bug in it. Throws where the bug fits nowhere, or in more than one place. */
export function plantedText({ what, find, put }: PlantedBug): string {
  const text = readFileSync(source, "utf8");
  const count = text.split(find).length - 1;
  if (count !== 1) throw new Error(`planted bug "${what}" fits in ${count} places`);
  return text.replace(find, () => put);
}

/** The step function of a source text of step.ts, run in this process. */
export function compileStep(text: string): StepFunction {
  const compilerOptions = { module: ts.ModuleKind.CommonJS, target: ts.ScriptTarget.ES2023 };
  const { outputText } = ts.transpileModule(text, { compilerOptions });
  const run = compileFunction(outputText, ["exports", "require"]);
  const exports: { step?: StepFunction } = {};
  run(exports, () => state);
  if (exports.step === undefined) throw new Error("no step in the text");
  return exports.step;
}
