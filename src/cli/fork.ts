/** `hansard fork`: a new session with the path that leads to a message of another one. */
import { forkLog, type LogItem, type LogRecord, openLogForRead, writeRefusal } from "../log/index.ts";
import { sanitizeLine } from "../terminal/text/index.ts";
import { CommandError } from "./errors.ts";
import { exitCodes } from "./exit.ts";
import type { Io } from "./io.ts";
import { type OwnSession, resolveOwn, withLogErrors } from "./own-session.ts";

export interface ForkCommandOptions {
  /** The number of a turn, or the id of a message. Absent: the newest message. */
  readonly at?: string;
  readonly json?: boolean;
}

/** Makes the fork and says its id once it was read back and is on stable storage. The parent is only read. */
export async function runFork(io: Io, name: string, options: ForkCommandOptions): Promise<number> {
  return await withLogErrors(async () => {
    const session = await resolveOwn(io, name);
    const parentTurnId = await messageAt(session, options.at);
    const { sessions, id: parentId } = session;
    const fork = await forkLog({ sessions, parentId, parentTurnId });
    if (options.json === true) {
      const { id, path, entries } = fork;
      await io.out.write(`${JSON.stringify({ id, path, entries, parentId, parentTurnId })}\n`);
      return exitCodes.ok;
    }
    const entries = `${fork.entries} ${fork.entries === 1 ? "entry" : "entries"}`;
    await io.out.write(`${fork.id}\n`);
    await io.err.write(
      `hansard: forked ${sanitizeLine(parentId)} at ${sanitizeLine(parentTurnId)}: ${entries}, read back and saved\n`,
    );
    return exitCodes.ok;
  });
}

/** The id of the message to fork at. Reads the log only where a turn is named by its number. */
export async function messageAt({ sessions, id }: OwnSession, at: string | undefined): Promise<string> {
  const reader = await openLogForRead({ sessions, id });
  try {
    if (at === undefined) {
      const inspection = await reader.inspect();
      const { leafTurnId } = inspection.tail;
      if (leafTurnId !== undefined) return leafTurnId;
      const refusal = writeRefusal(id, inspection);
      if (refusal !== undefined) throw refusal;
      throw new CommandError(exitCodes.usage, `Session ${id} holds no message to fork at.`);
    }
    if (!/^[1-9]\d{0,8}$/.test(at)) return at;
    return await lastMessageOf(reader.items(), Number(at), id);
  } finally {
    await reader.close();
  }
}

/** The last message of a turn. */
async function lastMessageOf(items: AsyncIterable<LogItem>, turn: number, id: string): Promise<string> {
  let inTurn = 0;
  let turns = 0;
  let last: string | undefined;
  for await (const item of items) {
    if (item.type !== "record") continue;
    const record = item.record as LogRecord;
    if (record.kind === "turnStarted") {
      inTurn = record.turn;
      turns = Math.max(turns, record.turn);
      if (inTurn > turn) break;
    } else if (record.kind === "turnCommitted" || record.kind === "turnInterrupted") inTurn = 0;
    else if (record.kind === "message" && inTurn === turn) last = record.turnId;
  }
  if (last !== undefined) return last;
  throw new CommandError(exitCodes.usage, `Session ${id} has no message in a turn ${turn}.`, [
    turns === 0 ? "It has no turns." : `Its last turn is ${turns}. A message's id is taken too.`,
  ]);
}
