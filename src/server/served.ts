/** A session as the server serves it: with its steps and, where Hansard keeps it, with what can be done to it from another process. */
import { dirname } from "node:path";
import { stepsFolder } from "../follow/index.ts";
import { answerParked, depositPrompt } from "../follow/node/index.ts";
import {
  type Answered,
  type DrivenSession,
  type DriverState,
  followSession,
  readSessionOnce,
  type Session,
  stepPlaceOf,
} from "../session/index.ts";
import { foldDriver, restingDriver } from "./parks.ts";
import type { Prompted, ServedSession, SessionActs } from "./types.ts";

export function isDriven(session: Session): session is DrivenSession {
  return "driver" in session;
}

/** The session with all that can be served of it. Opens nothing and reads nothing yet. */
export function servedSession(session: Session, now: () => number = Date.now): ServedSession {
  const lane: Pick<ServedSession, "steps" | "step"> = {
    steps: (signal) => followSession(session, signal),
    step: () => readSessionOnce(session),
  };
  if (isDriven(session)) return { session, ...lane, acts: actsOfDriven(session) };
  // Sessions of other programs are only read, their parked calls and inboxes too.
  if (session.info.agent !== "hansard") return { session, ...lane };
  return {
    session,
    ...lane,
    acts: actsOnDisk(session, now),
    drivers: (signal) => driversOf(session, signal, now),
  };
}

function actsOfDriven(session: DrivenSession): SessionActs {
  return {
    async answer(approvalId, optionId, by) {
      const waiting = session.driver.approvals.find(({ id }) => id === approvalId);
      // An answer that is not offered is refused before the session has to throw at it.
      if (waiting?.options.every(({ id }) => id !== optionId) === true) return undefined;
      return session.answer(approvalId, optionId, by);
    },
    async prompt(text) {
      if (session.driver.phase === "ended") return { taken: false, why: "not-driven" };
      await session.prompt(text);
      return { taken: true };
    },
    cancel: () => session.cancel(),
  };
}

function actsOnDisk(session: Session, now: () => number): SessionActs {
  const folder = dirname(session.info.path);
  return {
    async answer(callId, option, by): Promise<Answered | undefined> {
      const answer = { option, by, at: new Date(now()).toISOString() };
      const given = await answerParked({ at: { steps: stepsFolder(folder) }, callId, answer });
      if (given.state === "taken") return { taken: true };
      return given.state === "late" ? { taken: false, by: given.answer.by } : undefined;
    },
    async prompt(text, by): Promise<Prompted> {
      // A prompt that nobody takes would wait for ever, and be taken for a sent one.
      if ((await stepPlaceOf(session.info, now)?.isDriven()) !== true)
        return { taken: false, why: "not-driven" };
      const { state } = await depositPrompt(folder, { text, by, at: now() });
      if (state === "deposited") return { taken: true };
      return { taken: false, why: state === "gone" ? "not-driven" : "full" };
    },
  };
}

async function* driversOf(
  session: Session,
  signal: AbortSignal,
  now: () => number,
): AsyncGenerator<DriverState, void> {
  let driver = restingDriver(session.info.agent);
  // An agent at rest tells nothing until its next step, and takes a prompt all the same.
  if ((await stepPlaceOf(session.info, now)?.isDriven()) === true) yield driver;
  for await (const event of followSession(session, signal)) {
    const next = foldDriver(driver, event, now());
    if (next === driver) continue;
    driver = next;
    yield driver;
  }
}
