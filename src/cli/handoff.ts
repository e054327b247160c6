/** `hansard handoff list` and `show`: the handoffs of a session that Hansard keeps, and how the newest one stands. */
import type { ContinuityFoldResult } from "../continuity/index.ts";
import { plainLines, sanitizeLine, sanitizeLines } from "../terminal/text/index.ts";
import { CommandError } from "./errors.ts";
import { type ExitCode, exitCodes } from "./exit.ts";
import {
  actionWords,
  anomaliesOf,
  type HandoffReport,
  type HandoffRow,
  readHandoffs,
  stopReason,
} from "./handoff-report.ts";
import type { Io } from "./io.ts";
import { resolveOwn, withLogErrors } from "./own-session.ts";

export interface HandoffOptions {
  readonly json?: boolean;
}

/** Characters of a note in a list. */
const noteCharsMax = 60;
/** Anomalies told one by one; past it they are counted. `--json` has them all. */
const anomalyLinesMax = 50;

const owners: Readonly<Record<HandoffRow["owner"], string>> = {
  own: "its own",
  prior: "its own, earlier",
  inherited: "inherited, to read only",
};

/** Prints one line for each handoff of a session, the newest last. */
export async function runHandoffList(io: Io, name: string, options: HandoffOptions): Promise<ExitCode> {
  return await withLogErrors(async () => {
    const { rows } = await readHandoffs(await resolveOwn(io, name), io.now());
    if (options.json === true) {
      for (const row of rows) if (!(await io.out.write(`${JSON.stringify(row)}\n`))) break;
      return exitCodes.ok;
    }
    if (rows.length === 0) await io.err.write("hansard: the session has no handoff\n");
    for (const row of rows) if (!(await io.out.write(`${rowLine(row)}\n`))) break;
    return exitCodes.ok;
  });
}

function rowLine({ handoffId, phase, owner, note, isValid }: HandoffRow): string {
  const head = sanitizeLine(note ?? "").slice(0, noteCharsMax);
  const doubt = isValid === false ? "  (disputed)" : "";
  const words = note === undefined ? "" : `  ${head}${note.length > noteCharsMax ? "…" : ""}`;
  return `${sanitizeLine(handoffId)}  ${phase.padEnd(12)}  ${owners[owner]}${doubt}${words}`;
}

/** Prints how one handoff stands, the session's newest where none is named, and its note as it is. */
export async function runHandoffShow(
  io: Io,
  name: string,
  handoff: string | undefined,
  options: HandoffOptions,
): Promise<ExitCode> {
  return await withLogErrors(async () => {
    const report = await readHandoffs(await resolveOwn(io, name), io.now());
    const row = findRow(report, handoff);
    const lines =
      options.json === true
        ? `${JSON.stringify(reportValue(report, row))}\n`
        : `${[...standLines(report, row), ...noteLines(row)].join("\n")}\n`;
    await io.out.write(lines);
    return exitCodes.ok;
  });
}

function findRow({ rows, sessionId }: HandoffReport, handoff: string | undefined): HandoffRow {
  const found =
    handoff === undefined
      ? [rows.findLast(({ owner }) => owner === "own") ?? rows.at(-1)].filter((row) => row !== undefined)
      : rows.filter(({ handoffId }) => handoffId.startsWith(handoff));
  const exact = found.find(({ handoffId }) => handoffId === handoff) ?? found[0];
  if (exact === undefined)
    throw new CommandError(
      exitCodes.notFound,
      handoff === undefined
        ? `Session ${sessionId} has no handoff.`
        : `Session ${sessionId} has no handoff ${sanitizeLine(handoff)}.`,
    );
  if (found.length > 1 && exact.handoffId !== handoff)
    throw new CommandError(
      exitCodes.ambiguous,
      `${found.length} handoffs begin so.`,
      found.slice(0, 10).map(({ handoffId }) => sanitizeLine(handoffId)),
    );
  return exact;
}

/** The session's own fold, where the row is the one it is of. */
function foldOf({ projection }: HandoffReport, row: HandoffRow): ContinuityFoldResult | undefined {
  return row.owner === "own" ? (projection.current ?? undefined) : undefined;
}

function reportValue(report: HandoffReport, row: HandoffRow): unknown {
  const { projection, unreadableRecords, sessionId } = report;
  const fold = foldOf(report, row);
  return {
    sessionId,
    ...row,
    ...(fold === undefined
      ? {}
      : {
          action: fold.action,
          attemptsSpent: fold.attemptsSpent,
          policy: fold.policy,
          identity: fold.identity,
          effectiveDeadlineAtMs: fold.effectiveDeadlineAtMs,
          unacknowledgedResponseEntryId: fold.unacknowledgedResponseEntryId,
          stopReason: stopReason(fold),
        }),
    authoritySuppressed: projection.authoritySuppressed,
    anomalies: anomaliesOf(projection),
    unreadableRecords,
  };
}

function standLines(report: HandoffReport, row: HandoffRow): string[] {
  const lines = [`handoff    ${sanitizeLine(row.handoffId)}`, `whose      ${owners[row.owner]}`];
  const tell = (label: string, words: string | undefined): void => {
    if (words !== undefined) lines.push(`${label.padEnd(10)} ${sanitizeLine(words)}`);
  };
  const fold = foldOf(report, row);
  const { projection, unreadableRecords } = report;
  tell("of", row.originSessionId);
  const why = fold === undefined ? undefined : stopReason(fold);
  tell("phase", why === undefined ? row.phase : `${row.phase} (${why})`);
  tell("outcome", row.outcome);
  if (row.isValid === false) tell("validity", "disputed");
  if (fold !== undefined) {
    const { authority, attemptsSpent, policy, effectiveDeadlineAtMs: deadline } = fold;
    const isTaken = projection.authoritySuppressed && authority === "execution";
    tell("authority", isTaken ? "none (suppressed: see the anomalies)" : authority);
    tell("action", actionWords(fold));
    tell("attempts", `${attemptsSpent}${policy === null ? "" : ` of ${policy.maxAttempts}`}`);
    if (deadline !== null) tell("deadline", new Date(deadline).toISOString());
  }
  if (unreadableRecords > 0) tell("unreadable", `${unreadableRecords} records`);
  return [...lines, ...anomalyLines(report)];
}

/** What is wrong, one thing a line; empty where nothing is. */
export function anomalyLines({ projection }: HandoffReport): string[] {
  const all = anomaliesOf(projection);
  if (all.length === 0) return [];
  const lines = all
    .slice(0, anomalyLinesMax)
    .map(
      ({ kind, entryId, detail }) =>
        `  ${kind}${entryId === null ? "" : ` at ${sanitizeLine(entryId)}`}: ${sanitizeLine(detail)}`,
    );
  const left = all.length - lines.length;
  return [`anomalies  ${all.length}`, ...lines, ...(left > 0 ? [`  … ${left} more (--json lists all)`] : [])];
}

function noteLines({ note }: HandoffRow): string[] {
  if (note === undefined) return [];
  const text = plainLines(sanitizeLines(note).map((spans) => ({ spans, wrap: "flow" as const })));
  return ["", "The agent's note, recalled (no prompt of a person):", "", text.replace(/\n$/, "")];
}
