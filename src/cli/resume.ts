/** `hansard resume`: a session of ours is carried on; one that another process carries on is followed. */
import { type AgentCommand, AgentError, commandOf, isKnownAgent } from "../agent/index.ts";
import { openLogForRead, readHolder, writeRefusal } from "../log/index.ts";
import { sanitizeLine } from "../terminal/text/index.ts";
import { type ChosenAgent, commandAgent, drive, isProgram, knownAgent, withAgentErrors } from "./drive.ts";
import { CommandError } from "./errors.ts";
import { type ExitCode, exitCodes } from "./exit.ts";
import type { Io } from "./io.ts";
import { openSession, showSession } from "./open.ts";
import { type OwnSession, resolveOwn } from "./own-session.ts";
import type { AgentWords } from "./run.ts";
import { tellWhenFree } from "./writer-watch.ts";

export interface ResumeOptions {
  readonly cwd?: string;
  /** Takes the session from the process that has it. */
  readonly steal?: boolean;
  readonly resize?: "adopt" | "reprint";
  /** Goes on with a handoff that was paused or failed too. */
  readonly recover?: "all";
}

interface LastAgent {
  readonly name: string;
  readonly command: AgentCommand | undefined;
}

/** The agent that the session was with last, as it was named and started. */
async function agentOf({ sessions, id }: OwnSession): Promise<LastAgent> {
  const reader = await openLogForRead({ sessions, id });
  try {
    const inspection = await reader.inspect();
    const refusal = writeRefusal(id, inspection);
    if (refusal !== undefined) throw refusal;
    const { tail, session } = inspection;
    const set = tail.settings["agent"];
    return { name: typeof set === "string" ? set : (session?.agent ?? ""), command: commandOf(tail) };
  } finally {
    await reader.close();
  }
}

/** Who writes the session now, in words; undefined where nobody does, or it is not sure. */
async function writerOf({ sessions, id }: OwnSession): Promise<string | undefined> {
  const holder = await readHolder({ sessions, id });
  return holder.state === "held"
    ? `session ${id} is being written by process ${holder.owner.pid}`
    : undefined;
}

async function chooseAgain(
  io: Io,
  session: OwnSession,
  words: AgentWords,
  cwd: string | undefined,
): Promise<ChosenAgent> {
  if (words.command !== undefined && words.command.length > 0)
    return await commandAgent(io, words.command, cwd);
  const { name, command } = await agentOf(session);
  if (command !== undefined) return await sameAgent(io, name, command);
  if (isKnownAgent(name)) return await knownAgent(io, name);
  throw new CommandError(
    exitCodes.usage,
    `The session was with "${sanitizeLine(name)}", whose command is not known.`,
    [`Give it: hansard resume ${session.id} -- <command> <arguments>`],
  );
}

/** The agent as it was started before; a known one that has moved is looked for again. */
async function sameAgent(io: Io, name: string, command: AgentCommand): Promise<ChosenAgent> {
  if (await isProgram(command.program)) return { name, command };
  if (isKnownAgent(name)) return await knownAgent(io, name);
  throw new AgentError("agent-missing", `the command ${command.program} is not there any more`, {
    next: "Give another behind two dashes: hansard resume <session> -- <command> <arguments>",
  });
}

/** Carries the session on, or follows it and says who writes it. */
export async function runResume(
  io: Io,
  version: string,
  words: AgentWords,
  options: ResumeOptions,
): Promise<ExitCode> {
  const [name = "last", ...others] = words.names;
  if (others.length > 0) throw new CommandError(exitCodes.usage, "One session is named at a time.");
  return await withAgentErrors(async () => {
    const session = await resolveOwn(io, name);
    const busy = options.steal === true ? undefined : await writerOf(session);
    if (busy !== undefined) return await followInstead(io, session, busy, options);
    const agent = await chooseAgain(io, session, words, options.cwd);
    try {
      return await drive(io, {
        agent,
        version,
        isSaved: true,
        resume: session.id,
        ...(options.cwd === undefined ? {} : { cwd: options.cwd }),
        ...(options.steal === undefined ? {} : { steal: options.steal }),
        ...(options.resize === undefined ? {} : { resize: options.resize }),
        ...(options.recover === undefined ? {} : { recover: options.recover }),
      });
    } catch (error) {
      if (!(error instanceof AgentError) || error.code !== "session-busy") throw error;
      return await followInstead(io, session, error.message, options);
    }
  });
}

async function followInstead(
  io: Io,
  own: OwnSession,
  who: string,
  { resize }: ResumeOptions,
): Promise<ExitCode> {
  const sentence = `${who.charAt(0).toUpperCase()}${who.slice(1)}`;
  if (!process.stdin.isTTY)
    throw new CommandError(exitCodes.unreadable, `${sentence}; the prompt was not sent.`, [
      `\`hansard follow ${own.id}\` shows what it does; it takes a prompt again once that process has ended.`,
    ]);
  const text = `${sentence}. You follow it; what it does is shown as it comes.`;
  const session = await openSession(own.path);
  const isWritten = async (): Promise<boolean> => (await readHolder(own)).state !== "free";
  const followed = tellWhenFree(session, isWritten, {
    type: "notice",
    tone: "information",
    text: `Nobody writes this session any more: leave (q), and hansard resume ${own.id} carries it on.`,
  });
  try {
    return await showSession(io, followed, own.id, {
      greeting: { tone: "information", text },
      ...(resize === undefined ? {} : { resize }),
    });
  } finally {
    await session.close();
  }
}
