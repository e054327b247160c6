/** `hansard continue`: a session of any agent, carried on by another one. */
import { rm } from "node:fs/promises";
import { basename, dirname, resolve } from "node:path";
import { createInterface } from "node:readline/promises";
import { type Continuation, composeContinuation, importEntries, isKnownAgent } from "../agent/index.ts";
import { estimateAgentMessageTokens } from "../continuity/index.ts";
import { createLog, forkLog } from "../log/index.ts";
import { openLog, type SessionInfo } from "../sources/index.ts";
import { plainLines, sanitizeLine, sanitizeLines } from "../terminal/text/index.ts";
import { type ChosenAgent, commandAgent, drive, knownAgent, withAgentErrors } from "./drive.ts";
import { editorCommand, editText } from "./edit-text.ts";
import { CommandError } from "./errors.ts";
import { type ExitCode, exitCodes } from "./exit.ts";
import { messageAt } from "./fork.ts";
import type { Io } from "./io.ts";
import { type Kept, keepTail } from "./kept-tail.ts";
import { notesOfFork, readLedger } from "./ledger.ts";
import { ownSessions } from "./own-session.ts";
import { resolveSession } from "./resolve.ts";
import type { AgentWords } from "./run.ts";

export interface ContinueOptions {
  /** The agent that carries on. */
  readonly with?: string;
  /** The number of the last turn that is carried on from. */
  readonly from?: number;
  /** So many turns are quoted. */
  readonly tail?: number;
  /** Or as much as fits into so many tokens. */
  readonly budget?: number;
  readonly dryRun?: boolean;
  /** Sends without asking. */
  readonly yes?: boolean;
  readonly cwd?: string;
  readonly resize?: "adopt" | "reprint";
}

/** Tokens of the quotation where nothing is said of it. */
export const budgetDefault = 16_000;
/** Most tokens of a quotation. */
export const budgetMax = 500_000;
const charsPerToken = 4;

/** Between what is told and what is asked, in the text that a person edits. */
export const requestMark = "=== Below this line: the request, sent as yours. ===";

/** The agents of sessions by the names of those that can drive them. */
const drivers: Readonly<Record<string, string>> = { "claude-code": "claude" };

interface Plan {
  readonly path: string;
  readonly info: SessionInfo;
  readonly agent: ChosenAgent | undefined;
  readonly kept: Kept;
  readonly own: OwnParent | undefined;
  readonly notes: number;
  readonly told: Continuation;
}

/** A session of ours is forked, so that its notes come along. */
interface OwnParent {
  readonly sessions: string;
  readonly id: string;
  readonly leaf: string;
}

interface Sent {
  readonly context: string | undefined;
  readonly request: string | undefined;
}

/** Carries a session on: what will be sent is shown with its price, and may be edited; with `dryRun` it is printed and nothing is made. */
export async function runContinue(
  io: Io,
  version: string,
  words: AgentWords,
  options: ContinueOptions,
): Promise<ExitCode> {
  const [name = "last", ...others] = words.names;
  if (others.length > 0) throw new CommandError(exitCodes.usage, "One session is named at a time.");
  if (options.tail !== undefined && options.budget !== undefined)
    throw new CommandError(exitCodes.usage, "--tail and --budget both say how much is quoted.", [
      "Give one of them.",
    ]);
  if (options.budget !== undefined && options.budget > budgetMax)
    throw new CommandError(exitCodes.usage, `--budget is at most ${budgetMax} tokens.`);
  return await withAgentErrors(async () => {
    const plan = await makePlan(io, name, words, options);
    const { context, request } = plan.told;
    if (context === undefined && request === undefined)
      throw new CommandError(exitCodes.usage, `Nothing was said in session ${plan.info.id}.`, [
        "Begin a new one: hansard run <agent>",
      ]);
    if (options.dryRun === true) return await tellPlan(io, plan);
    const { agent } = plan;
    if (agent === undefined) throw noAgent(plan.info);
    const sent = await confirm(io, plan, agent, options);
    if (sent === undefined) return exitCodes.ok;
    const made = await makeSession(io, plan, agent);
    let isUsed = false;
    try {
      const driven = { ...plan, agent, id: made };
      return await driveOn(io, version, driven, sent, options, () => {
        isUsed = true;
      });
    } finally {
      // An agent that did not start leaves nothing behind.
      if (!isUsed) await rm(resolve(ownSessions(io), made), { recursive: true, force: true });
    }
  });
}

async function driveOn(
  io: Io,
  version: string,
  { agent, id }: { readonly agent: ChosenAgent; readonly id: string },
  { context, request }: Sent,
  { cwd, resize }: ContinueOptions,
  onStarted: () => void,
): Promise<ExitCode> {
  return await drive(io, {
    agent,
    version,
    isSaved: true,
    resume: id,
    onStarted,
    // An empty text is no default.
    context: context ?? "",
    ...(request === undefined ? {} : { firstPrompt: request }),
    ...(cwd === undefined ? {} : { cwd }),
    ...(resize === undefined ? {} : { resize }),
  });
}

async function chooseNext(
  io: Io,
  words: AgentWords,
  options: ContinueOptions,
  info: SessionInfo,
): Promise<ChosenAgent | undefined> {
  if (options.with !== undefined) return await knownAgent(io, options.with, words.command);
  if (words.command !== undefined && words.command.length > 0)
    return await commandAgent(io, words.command, options.cwd);
  const name = drivers[info.agent] ?? info.agent;
  if (!isKnownAgent(name)) return undefined;
  // A dry run needs no agent; what is missing is told when it is needed.
  return options.dryRun === true ? undefined : await knownAgent(io, name);
}

function noAgent({ agent, id }: SessionInfo): CommandError {
  return new CommandError(exitCodes.usage, `Which agent is to carry on? The session is of ${agent}.`, [
    `Name one: hansard continue ${sanitizeLine(id)} --with <agent>, or give a command behind two dashes.`,
  ]);
}

async function makePlan(io: Io, name: string, words: AgentWords, options: ContinueOptions): Promise<Plan> {
  const path = await resolveSession(io, name);
  const log = await openLog(path);
  try {
    const info = await log.info();
    const agent = await chooseNext(io, words, options, info);
    const chars = (options.budget ?? budgetDefault) * charsPerToken;
    const kept = await keepTail(log, {
      ...(options.from === undefined ? {} : { from: options.from }),
      ...(options.tail === undefined ? {} : { turns: options.tail }),
      chars: options.tail === undefined ? chars : budgetMax * charsPerToken,
    });
    const own = await ownParent(io, path, options.from);
    const notes =
      own === undefined
        ? []
        : notesOfFork(await readLedger(own.sessions, own.id), own.id, own.leaf, io.now());
    const told = composeContinuation({
      agent: info.agent,
      notes,
      entries: kept.entries,
      bytesMax: options.tail === undefined ? chars : budgetMax * charsPerToken,
      ...(kept.summary === undefined ? {} : { summary: kept.summary }),
    });
    return { path, info, agent, kept, own, notes: notes.length, told };
  } finally {
    await log.close();
  }
}

async function ownParent(io: Io, path: string, from: number | undefined): Promise<OwnParent | undefined> {
  const sessions = dirname(dirname(path));
  // One of another state folder is read like any other agent's.
  if (basename(path) !== "log.jsonl" || sessions !== ownSessions(io)) return undefined;
  const id = basename(dirname(path));
  const leaf = await messageAt({ sessions, id, path }, from === undefined ? undefined : String(from));
  return { sessions, id, leaf };
}

/** Makes the session that carries on: a fork of one of ours, else an import of what is quoted. Its id. */
async function makeSession(io: Io, plan: Plan, agent: ChosenAgent): Promise<string> {
  const { own, path, info, kept } = plan;
  const sessions = ownSessions(io);
  if (own !== undefined) {
    // It lies where the parent does.
    const fork = await forkLog({
      sessions: own.sessions,
      parentId: own.id,
      parentTurnId: own.leaf,
    });
    return fork.id;
  }
  const { records } = importEntries(kept.entries);
  const cwd = info.cwd ?? io.cwd;
  const log = await createLog({
    sessions,
    cwd,
    agent: agent.name,
    link: "continuation",
    parentSession: path,
    parentSessionId: info.id,
  });
  try {
    if (info.title !== undefined)
      await log.append({ kind: "set", key: "title", value: info.title.slice(0, 200) });
    for (let at = 0; at < records.length; at += 100) await log.append(records.slice(at, at + 100));
    const { saved } = await log.flush();
    if (!saved)
      throw new CommandError(exitCodes.unreadable, "The session cannot be written now; nothing was sent.");
  } finally {
    await log.close();
  }
  return log.id;
}

// What the person is told

function plural(count: number, one: string, many = `${one}s`): string {
  return `${count} ${count === 1 ? one : many}`;
}

function summaryLines({ info, kept, notes, told }: Plan): readonly string[] {
  const title = info.title === undefined ? "" : `, "${sanitizeLine(info.title)}"`;
  const left = told.left === 0 ? "" : `; ${plural(told.left, "entry", "entries")} before them did not fit`;
  const lines = [
    `of     ${info.agent} session ${sanitizeLine(info.id)}${title}`,
    `told   ${plural(told.quoted, "entry", "entries")} of ${plural(kept.turns, "turn")}${kept.isWhole ? ", the whole session" : ""}${left}`,
  ];
  if (kept.summary !== undefined) lines.push("       with the newest compaction's summary");
  if (notes > 0) lines.push(`       ${plural(notes, "handoff note")} before them, for recall only`);
  lines.push(
    told.request === undefined
      ? "asked  nothing yet: the newest request was answered, and your next prompt goes with it"
      : `asked  ${sanitizeLine(told.request).slice(0, 200)}`,
    `price  about ${told.tokens} tokens`,
  );
  if (kept.isRunning)
    lines.push(
      "note   its log says that its last turn is still under way: another process may be at work on it",
    );
  return lines;
}

/** The exact text; what leaves no trace in a pipe is shown safely in a terminal. */
async function tellText(io: Io, text: string): Promise<void> {
  const shown = io.out.isTTY
    ? plainLines(sanitizeLines(text).map((spans) => ({ spans, wrap: "flow" as const })))
    : text;
  await io.out.write(shown.endsWith("\n") ? shown : `${shown}\n`);
}

async function tellPlan(io: Io, plan: Plan): Promise<ExitCode> {
  const { context, request } = plan.told;
  await tellText(io, [context, request].filter((part) => part !== undefined).join("\n\n"));
  for (const line of summaryLines(plan)) await io.err.write(`hansard: ${line}\n`);
  return exitCodes.ok;
}

/** Shows what will be sent and asks; undefined where the person says no. Without a terminal, or with `yes`, nobody is asked. */
async function confirm(
  io: Io,
  plan: Plan,
  agent: ChosenAgent,
  options: ContinueOptions,
): Promise<Sent | undefined> {
  let sent: Sent = { context: plan.told.context, request: plan.told.request };
  await io.err.write(`hansard: carrying on with ${sanitizeLine(agent.name)}\n`);
  for (const line of summaryLines(plan)) await io.err.write(`hansard: ${line}\n`);
  if (options.yes === true || !io.out.isTTY || !process.stdin.isTTY) return sent;
  const asked = createInterface({ input: process.stdin, output: process.stderr });
  try {
    for (;;) {
      const answer = (await asked.question("Send it? [Y]es, [v]iew, [e]dit, [n]o: ")).trim().toLowerCase();
      if (answer === "" || answer === "y" || answer === "yes") return sent;
      if (answer === "n" || answer === "no" || answer === "q") return undefined;
      if (answer === "v") await tellText(io, joined(sent));
      if (answer === "e") {
        asked.pause();
        sent = await edit(io, sent);
        asked.resume();
      }
    }
  } catch (error) {
    // Ctrl+C or Ctrl+D at the question.
    if ((error as { readonly code?: unknown }).code === "ABORT_ERR") return undefined;
    throw error;
  } finally {
    asked.close();
  }
}

function joined({ context = "", request = "" }: Sent): string {
  return `${context}\n${requestMark}\n${request}`;
}

/** Parts an edited text again. Undefined where the mark is gone. */
export function partEdited(text: string): Sent | undefined {
  const at = text.lastIndexOf(requestMark);
  if (at < 0) return undefined;
  const context = text.slice(0, at).trimEnd();
  const request = text.slice(at + requestMark.length).trim();
  return {
    context: context === "" ? undefined : context,
    request: request === "" ? undefined : request,
  };
}

async function edit(io: Io, sent: Sent): Promise<Sent> {
  const command = editorCommand(io.around.env);
  if (command === undefined) {
    await io.err.write("hansard: no editor is known: set VISUAL or EDITOR\n");
    return sent;
  }
  const text = await editText(command, joined(sent));
  const edited = text === undefined ? undefined : partEdited(text);
  if (edited === undefined) {
    await io.err.write(
      "hansard: the text stays as it was: the editor failed, or the line before the request is gone\n",
    );
    return sent;
  }
  const whole = [edited.context ?? "", edited.request ?? ""].join("\n\n");
  const tokens = estimateAgentMessageTokens({ role: "user", payload: { text: whole } });
  await io.err.write(`hansard: edited; about ${tokens} tokens\n`);
  return edited;
}
