/** From what a person typed to one session: an id, a unique prefix of one, a title, a path, or `last`. */
import { existsSync } from "node:fs";
import { isAbsolute, resolve } from "node:path";
import { describeSession, discoverAll, type FoundSession } from "../sources/index.ts";
import { sanitizeLine } from "../terminal/text/index.ts";
import { describeAll } from "./describe-all.ts";
import { CommandError } from "./errors.ts";
import { exitCodes } from "./exit.ts";
import { formatAge, shellWord } from "./format.ts";
import type { Io } from "./io.ts";

/** Most candidates an ambiguous name lists. */
export const CANDIDATES_MAX = 12;

async function findAll(
  io: Io,
  agent?: string,
  onProblem: (path: string, message: string) => void = () => {},
): Promise<FoundSession[]> {
  const found: FoundSession[] = [];
  for await (const session of discoverAll(io.around, {
    ...(agent === undefined ? {} : { agent }),
    onProblem,
  })) {
    found.push(session);
  }
  return found.sort((a, b) => b.modifiedAt - a.modifiedAt || (a.path < b.path ? -1 : 1));
}

/** All top-level sessions found, newest first. Folders that cannot be read are told to `onProblem`. */
export async function findSessions(
  io: Io,
  agent?: string,
  onProblem?: (path: string, message: string) => void,
): Promise<FoundSession[]> {
  return (await findAll(io, agent, onProblem)).filter((session) => session.parentId === undefined);
}

function looksLikePath(name: string): boolean {
  return name.includes("/") || name.includes("\\") || isAbsolute(name) || name === "." || name === "..";
}

function tellCandidate(io: Io, found: FoundSession, title: string | undefined, isIdShared: boolean): string {
  const parts = [
    // An id that several files have names none of them.
    isIdShared ? shellWord(found.path) : found.id,
    found.agent,
    formatAge(found.modifiedAt, io.now()),
    title === undefined ? undefined : sanitizeLine(title),
  ];
  return `  ${parts.filter((p) => p !== undefined).join("  ")}`;
}

function doubles(words: readonly string[]): ReadonlySet<string> {
  const seen = new Set<string>();
  return new Set(words.filter((word) => seen.size === seen.add(word).size));
}

async function ambiguous(io: Io, name: string, found: readonly FoundSession[]): Promise<CommandError> {
  const shared = doubles(found.map((f) => f.id.toLowerCase()));
  const shown = await Promise.all(
    found
      .slice(0, CANDIDATES_MAX)
      .map(async (f) =>
        tellCandidate(
          io,
          f,
          (await describeSession(f).catch(() => undefined))?.title,
          shared.has(f.id.toLowerCase()),
        ),
      ),
  );
  const more = found.length > CANDIDATES_MAX ? [`  … ${found.length - CANDIDATES_MAX} more`] : [];
  return new CommandError(
    exitCodes.ambiguous,
    `"${sanitizeLine(name)}" fits ${found.length} sessions; name one of them:`,
    [...shown, ...more],
  );
}

async function byTitle(
  name: string,
  sessions: readonly FoundSession[],
): Promise<{ exact: FoundSession[]; part: FoundSession[] }> {
  const wanted = name.toLowerCase();
  const exact: FoundSession[] = [];
  const part: FoundSession[] = [];
  const infos = await describeAll(sessions);
  for (const [at, session] of sessions.entries()) {
    const title = infos[at]?.title?.toLowerCase();
    if (title === undefined) continue;
    if (title === wanted) exact.push(session);
    else if (title.includes(wanted)) part.push(session);
  }
  return { exact, part };
}

/**
 * The path of the session that `name` means. Ids before prefixes, prefixes before titles; a subagent's id where no other session has it, the
 * start of one where nothing else fits; a name with a separator is a path. Throws a CommandError that lists the candidates where several fit,
 * and says where it looked where none does. With `agent`, only among the sessions of that one; a path is taken as it is.
 */
export async function resolveSession(io: Io, name: string, agent?: string): Promise<string> {
  if (name.trim() === "")
    throw new CommandError(exitCodes.usage, "The name of the session is empty.", [
      "Give an id, a unique start of one, a title, a path, or `last`.",
    ]);
  if (looksLikePath(name)) return resolve(io.cwd, name);
  const all = await findAll(io, agent);
  const sessions = all.filter((session) => session.parentId === undefined);
  if (name === "last") {
    for (const session of sessions) {
      // A subagent's session may be known as such by its records alone.
      const info = await describeSession(session).catch(() => undefined);
      if (info?.parentId === undefined) return session.path;
    }
    throw new CommandError(exitCodes.notFound, "No session was found on this computer.", [
      "Try `hansard demo`, or give the path of a session file.",
    ]);
  }
  const pick = async (fits: readonly FoundSession[]): Promise<string | undefined> => {
    if (fits.length > 1) throw await ambiguous(io, name, fits);
    return fits[0]?.path;
  };
  const lower = name.toLowerCase();
  const subagents = all.filter((session) => session.parentId !== undefined);
  const byId =
    (await pick(sessions.filter((s) => s.id.toLowerCase() === lower))) ??
    (await pick(subagents.filter((s) => s.id.toLowerCase() === lower)));
  if (byId !== undefined) return byId;
  if (existsSync(resolve(io.cwd, name))) return resolve(io.cwd, name);
  const byPrefix = await pick(sessions.filter((s) => s.id.toLowerCase().startsWith(lower)));
  if (byPrefix !== undefined) return byPrefix;
  const titled = await byTitle(name, sessions);
  const byName = (await pick(titled.exact)) ?? (await pick(titled.part));
  if (byName !== undefined) return byName;
  const bySubagent = await pick(subagents.filter((s) => s.id.toLowerCase().startsWith(lower)));
  if (bySubagent !== undefined) return bySubagent;
  throw new CommandError(
    exitCodes.notFound,
    `No session is named "${sanitizeLine(name)}", and no file of that name is here.`,
    [
      `Looked at ${sessions.length} ${sessions.length === 1 ? "session" : "sessions"} by id, id prefix and title. \`hansard list\` shows them.`,
    ],
  );
}
