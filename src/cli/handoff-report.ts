/** What a session's ledger says of its handoffs, as values: the rows of `handoff list`, the whole of `handoff show`, what `check` objects to. */
import { basename, dirname } from "node:path";
import {
  type ContinuityAnomaly,
  type ContinuityFoldResult,
  type ContinuityProjection,
  resolveContinuityProjection,
} from "../continuity/index.ts";
import { readContinuityLedger } from "../log/index.ts";
import type { OwnSession } from "./own-session.ts";

/** Whose a handoff is: the newest of the session itself, an earlier one of it, or one that a fork inherited, for reading only. */
export type HandoffOwner = "own" | "prior" | "inherited";

export interface HandoffRow {
  readonly handoffId: string;
  readonly owner: HandoffOwner;
  readonly phase: string;
  /** Absent: nothing of it may be acted on; it is read. */
  readonly authority?: string;
  readonly originSessionId: string;
  readonly note?: string;
  readonly outcome?: string;
  /** False where its records contradict each other. Absent: not judged. */
  readonly isValid?: boolean;
}

export interface HandoffReport {
  readonly sessionId: string;
  readonly projection: ContinuityProjection;
  readonly unreadableRecords: number;
  /** Oldest first; what was inherited stands before what is the session's own. */
  readonly rows: readonly HandoffRow[];
}

/** The session whose log is at a path; undefined where the path is none of a session's own log. */
export function ownSessionAt(path: string): OwnSession | undefined {
  const folder = dirname(path);
  if (basename(path) !== "log.jsonl") return undefined;
  return { sessions: dirname(folder), id: basename(folder), path };
}

/** Reads a session's ledger and folds it. Memory and cost grow with the log. */
export async function readHandoffs({ sessions, id }: OwnSession, nowMs: number): Promise<HandoffReport> {
  const { entries, unreadableRecords, fork } = await readContinuityLedger({ sessions, id });
  const projection = resolveContinuityProjection({ entries, unreadableRecords, sessionId: id, nowMs, fork });
  return { sessionId: id, projection, unreadableRecords, rows: rowsOf(projection, id) };
}

function rowsOf({ inherited, current }: ContinuityProjection, id: string): HandoffRow[] {
  // Of each origin the newest comes first, then its earlier ones.
  const origins = [...new Set(inherited.map(({ originSessionId }) => originSessionId))];
  const ordered = origins.flatMap((origin) => {
    const own = inherited.filter(({ originSessionId }) => originSessionId === origin);
    const isPrior = ({ provenance }: { readonly provenance: string }): boolean =>
      provenance === "inherited_prior";
    return [...own.filter(isPrior), ...own.filter((note) => !isPrior(note))];
  });
  const rows: HandoffRow[] = ordered.map(({ handoffId, phase, originSessionId, note, validated }) => ({
    handoffId,
    owner: "inherited",
    phase,
    originSessionId,
    note,
    isValid: validated,
  }));
  for (const prior of current?.priorHandoffs ?? [])
    rows.push({
      handoffId: prior.handoffId,
      owner: "prior",
      phase: prior.phase,
      originSessionId: id,
      ...(prior.accepted === null ? {} : { note: prior.accepted.note }),
      ...(prior.outcome === null ? {} : { outcome: prior.outcome }),
    });
  if (current?.identity)
    rows.push({
      handoffId: current.identity.handoffId,
      owner: "own",
      phase: current.phase,
      authority: current.authority,
      originSessionId: id,
      ...(current.accepted === null ? {} : { note: current.accepted.note }),
      ...(current.commit === null ? {} : { outcome: current.commit.outcome }),
      isValid: current.validated,
    });
  return rows;
}

/** All that is wrong: with the session's own transaction, and between the origins of a fork. */
export function anomaliesOf({ anomalies, current }: ContinuityProjection): readonly ContinuityAnomaly[] {
  return [...anomalies, ...(current?.anomalies ?? [])];
}

const reasons: Readonly<Record<string, string>> = {
  historical_fork: "it is looked at from an earlier moment",
  conflicting_evidence: "its records contradict each other",
  attempts_exhausted: "all attempts are spent",
  clock_ambiguous: "the clock stands before the handoff's own times",
  paused: "it was paused",
  failed: "it failed",
  operator_cancelled: "the person cancelled it",
  origin_changed: "the session was left for another one",
  delivery_uncertain: "whether the agent got the note is not certain",
  deadline_exceeded: "its time is over",
  provider_failed: "the context could not be reduced",
  note_exceeds_replay_budget: "the note does not fit what can be replayed",
};

function because(reason: string): string {
  const words = reasons[reason];
  return words === undefined ? reason : `${reason}: ${words}`;
}

/** What should happen next, in a sentence's end. */
export function actionWords(fold: ContinuityFoldResult): string {
  const { action } = fold;
  switch (action.kind) {
    case "none":
      if (fold.unacknowledgedResponseEntryId !== null)
        return "acknowledge (the answer is there; nothing is delivered again)";
      return fold.authority === "execution" ? "none (it is under way)" : "none";
    case "recall_only":
      return `read only (${because(action.reason)})`;
    case "reconstruct_commit":
      return "reconstruct commit (its record is lost; a summary carries it)";
    case "pause":
      return `pause (${because(action.reason)})`;
    case "fail":
      return `fail (${because(action.reason)})`;
  }
}

/** Why it stopped, where it did. */
export function stopReason({ state }: ContinuityFoldResult): string | undefined {
  const event = state?.event;
  return event?.phase === "paused" || event?.phase === "failed" ? because(event.reason) : undefined;
}
