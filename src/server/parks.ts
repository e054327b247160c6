/** How the agent of a session stands that another process of Hansard drives, as far as its steps tell: what waits for an answer. Pure. */
import type { LaneEvent, ToolEvent } from "../follow/index.ts";
import type { Approval, DriverState } from "../session/index.ts";
import { APPROVALS_MAX } from "./limits.ts";

/** The standing before anything was told of a step. */
export function restingDriver(agent: string): DriverState {
  return {
    phase: "ready",
    agent: { name: agent },
    approvals: [],
    plan: [],
    modes: [],
    commands: [],
    queued: 0,
  };
}

/** The standing after an event; the same value where nothing of it changed. `now` is when a call that waits is taken to have asked. */
export function foldDriver(driver: DriverState, event: LaneEvent, now: number): DriverState {
  if (event.type === "over") return { ...driver, phase: "ready", approvals: [] };
  const approvals = event.frame.tools.reduce(
    (waiting, each) => foldPark(waiting, each, now),
    driver.approvals,
  );
  if (approvals === driver.approvals && driver.phase === "working") return driver;
  return { ...driver, phase: "working", approvals };
}

function foldPark(waiting: readonly Approval[], event: ToolEvent, now: number): readonly Approval[] {
  const { toolUse: id, held, options = [] } = event;
  const isWaiting = waiting.some((each) => each.id === id);
  const isOver = event.answered !== undefined || event.exitCode !== undefined;
  if (isOver) return isWaiting ? waiting.filter((each) => each.id !== id) : waiting;
  if (held === undefined || isWaiting || waiting.length >= APPROVALS_MAX) return waiting;
  const call = {
    id,
    name: event.tool ?? "tool",
    inputSummary: event.input ?? "",
    ...(held === "" ? {} : { subject: held }),
  };
  return [...waiting, { id, call, options, askedAt: now }];
}
