/** One prompt and its answer as plain text, for pipes and terminals without cursor movement. */
import type { Readable } from "node:stream";
import type { Approval, Change, DrivenSession, DriverState } from "../session/index.ts";
import { woundWords } from "../terminal/render/index.ts";
import { plainLines, sanitizeLine, sanitizeLines } from "../terminal/text/index.ts";
import type { Entry } from "../transcript/index.ts";
import { CommandError } from "./errors.ts";
import { type ExitCode, exitCodes } from "./exit.ts";
import type { Io } from "./io.ts";

/** Bytes of a prompt that are read from the standard input. */
export const promptBytesMax = 4_000_000;

/** How long the turn may take to be cancelled once nobody reads what it says. */
export const readerGoneMs = 5_000;

/** The prompt on the standard input, to its end. Throws a CommandError where there is none, or too much. */
export async function readPrompt(input: Readable): Promise<string> {
  const pieces: Buffer[] = [];
  let bytes = 0;
  for await (const piece of input as AsyncIterable<Buffer | string>) {
    const buffer = Buffer.from(piece);
    bytes += buffer.length;
    if (bytes > promptBytesMax)
      throw new CommandError(exitCodes.usage, `The prompt is longer than ${promptBytesMax} bytes.`, [
        "Name the file to the agent instead.",
      ]);
    pieces.push(buffer);
  }
  const text = Buffer.concat(pieces).toString("utf8");
  if (text.trim() === "")
    throw new CommandError(exitCodes.usage, "The standard input holds no prompt.", [
      "Pipe one in: echo 'what is here?' | hansard run …",
    ]);
  return text.replace(/\n$/, "");
}

/** The text that the agent wrote, safe to show. */
function answerOf(entry: Entry): string {
  if (entry.kind !== "model" || entry.subagent !== undefined) return "";
  return entry.blocks
    .flatMap((block) => (block.kind === "text" && block.text.trim() !== "" ? [block.text.trimEnd()] : []))
    .map((text) => plainLines(sanitizeLines(text).map((spans) => ({ spans, wrap: "flow" as const }))))
    .join("\n");
}

function callsOf(entry: Entry): readonly string[] {
  if (entry.kind !== "model") return [];
  return entry.blocks.flatMap((block) => {
    if (block.kind !== "tool-use") return [];
    const state = block.outcome === undefined ? "" : ` (${block.outcome.state})`;
    return [`${block.name} ${block.subject ?? ""}`.trim() + state];
  });
}

/** What nobody can be asked is refused, by the agent's own words for it where it has some. */
async function refuse(io: Io, session: DrivenSession, approval: Approval): Promise<void> {
  const { name, subject } = approval.call;
  await io.err.write(
    `hansard: refused, since nobody can be asked: ${sanitizeLine(`${name} ${subject ?? ""}`.trim())}\n`,
  );
  const no = approval.options.find(({ kind }) => kind === "reject-once" || kind === "reject-always");
  if (no === undefined) await session.cancel();
  else await session.answer(approval.id, no.id, "hansard, since nobody can be asked");
}

function exitOf(stopReason: string | undefined): ExitCode {
  return stopReason === "end_turn" ? exitCodes.ok : exitCodes.agent;
}

/** Whether the turn is over: an agent that has died is told of before the last words of its turn are. */
function isOver(driver: DriverState, before: DriverState["lastTurn"]): boolean {
  if (driver.lastTurn === before) return false;
  return driver.phase === "ended" || (driver.phase === "ready" && driver.queued === 0);
}

/**
 * Sends one prompt and writes the answer's text to the standard output as its blocks finish; tools and problems go to the
 * error stream. The exit code says how the turn ended. An interrupt cancels the turn.
 */
export async function converse(io: Io, session: DrivenSession, text: string): Promise<ExitCode> {
  const stop = new AbortController();
  let interrupted: ExitCode | undefined;
  const onSignal = (code: ExitCode) => (): void => {
    if (interrupted !== undefined) stop.abort();
    interrupted ??= code;
    void session.cancel().catch(() => stop.abort());
  };
  const handlers = { SIGINT: onSignal(130), SIGTERM: onSignal(143), SIGHUP: onSignal(129) };
  for (const [name, handler] of Object.entries(handlers)) process.on(name, handler);
  try {
    const before = session.driver.lastTurn;
    const changes = session.changes(await session.tail(1), stop.signal);
    const refused = new Set<string>();
    let isReaderGone = false;
    // Its failure is the turn's, and is told below.
    const sent = session.prompt(text);
    sent.catch(() => stop.abort());
    for await (const change of changes) {
      if (!isReaderGone && !(await tell(io, change))) {
        // What nobody reads need not be said to its end; what was done so far is in the log.
        isReaderGone = true;
        await session.cancel();
        setTimeout(() => stop.abort(), readerGoneMs).unref();
      }
      if (change.type !== "driver") continue;
      for (const approval of change.driver.approvals) {
        if (refused.has(approval.id)) continue;
        refused.add(approval.id);
        await refuse(io, session, approval);
      }
      if (isOver(change.driver, before)) break;
    }
    if (interrupted !== undefined) return interrupted;
    if (isReaderGone) return exitCodes.ok;
    await sent;
    const { lastTurn } = session.driver;
    return exitOf(lastTurn === before ? undefined : lastTurn?.stopReason);
  } finally {
    for (const [name, handler] of Object.entries(handlers)) process.off(name, handler);
  }
}

/** Writes what of a change is for the person; false where nobody reads it any more. */
async function tell(io: Io, change: Change): Promise<boolean> {
  if (change.type === "notice") {
    await io.err.write(`hansard: ${sanitizeLine(change.text)}\n`);
    return true;
  }
  if (change.type !== "blockFinished") return true;
  if (change.entry.kind === "wounded") {
    const [title, words] = woundWords(change.entry.wound);
    await io.err.write(`hansard: ${sanitizeLine(words === undefined ? title : `${title}: ${words}`)}\n`);
    return true;
  }
  for (const call of callsOf(change.entry)) await io.err.write(`hansard: ${sanitizeLine(call)}\n`);
  const answer = answerOf(change.entry);
  return answer === "" || (await io.out.write(answer));
}
