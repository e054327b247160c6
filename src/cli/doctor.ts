/** `hansard doctor`: judges session logs, repairs our own, and writes repaired copies of those of other programs. */
import { readdir } from "node:fs/promises";
import { basename, dirname, join, resolve, sep } from "node:path";
import { checkLog, isSessionId, type LogReport, readHolder, repairLog } from "../log/index.ts";
import { detectSource, openLog, SourceError } from "../sources/index.ts";
import { sanitizeLine } from "../terminal/text/index.ts";
import { CommandError } from "./errors.ts";
import { exitCodes } from "./exit.ts";
import type { Io } from "./io.ts";
import { ownSessions, withLogErrors } from "./own-session.ts";
import { writeRepairedCopy } from "./repair-copy.ts";
import { findSessions, resolveSession } from "./resolve.ts";

export interface DoctorOptions {
  /** Every session found, of every agent. */
  readonly all?: boolean;
  readonly repair?: boolean;
  /** The file that a repaired copy of another program's log is written to. */
  readonly out?: string;
  readonly json?: boolean;
}

interface Finding {
  readonly agent: string;
  readonly id: string;
  readonly path: string;
  readonly state: "sound" | "torn" | "damaged" | "newer" | "unreadable" | "repaired";
  /** What was found and done, in words. */
  readonly words: readonly string[];
}

/** Damaged places told one by one; past it they are counted. */
const PLACES_MAX = 20;

/** Prints a verdict a session. Exits with `damaged` where damage was found and is not repaired. */
export async function runDoctor(io: Io, name: string | undefined, options: DoctorOptions): Promise<number> {
  if (name !== undefined && options.all === true)
    throw new CommandError(exitCodes.usage, "Give a session or --all, not both.");
  if (options.out !== undefined && (options.repair !== true || name === undefined))
    throw new CommandError(exitCodes.usage, "--out goes with --repair and one session.");
  let isBad = false;
  let count = 0;
  for await (const found of patientsOf(io, name, options)) {
    count += 1;
    const finding = found.problem === undefined ? await examine(io, found, options) : problemOf(found);
    isBad ||= finding.state === "damaged" || finding.state === "unreadable";
    const text = options.json === true ? JSON.stringify(finding) : tell(finding).join("\n");
    if (!(await io.out.write(`${text}\n`))) break;
  }
  if (count === 0 && options.json !== true) await io.out.write("No sessions found to look at.\n");
  return isBad ? exitCodes.damaged : exitCodes.ok;
}

/** What is looked at. Of a session that was found, its agent and id are known. */
interface Patient {
  readonly path: string;
  readonly agent?: string;
  readonly id?: string;
  /** Why there is nothing to look into. */
  readonly problem?: string;
}

async function* patientsOf(
  io: Io,
  name: string | undefined,
  options: DoctorOptions,
): AsyncGenerator<Patient> {
  if (name !== undefined) {
    yield { path: await resolveSession(io, name) };
    return;
  }
  const problems: Patient[] = [];
  yield* await findSessions(io, options.all === true ? undefined : "hansard", (path, problem) =>
    problems.push({ path, id: basename(dirname(path)), problem }),
  );
  yield* problems;
  for (const each of await foldersWithoutLog(ownSessions(io)))
    yield {
      ...each,
      agent: "hansard",
      problem: "its log.jsonl is not there; what else the folder holds is left as it is",
    };
}

/** Session folders whose log is gone. One that a process works in right now is none: its log is on its way. */
async function foldersWithoutLog(
  sessions: string,
): Promise<readonly { readonly id: string; readonly path: string }[]> {
  const names = await readdir(sessions).catch(none);
  const out: { readonly id: string; readonly path: string }[] = [];
  for (const id of names.filter(isSessionId).sort()) {
    const inside = await readdir(join(sessions, id)).catch(none);
    if (inside.length === 0 || inside.includes("log.jsonl")) continue;
    const { state } = await readHolder({ sessions, id });
    if (state !== "held") out.push({ id, path: join(sessions, id) });
  }
  return out;
}

function none(error: NodeJS.ErrnoException): string[] {
  if (error.code === undefined) throw error;
  return [];
}

function problemOf({ agent = "", id = "", path, problem = "" }: Patient): Finding {
  return { agent, id, path, state: agent === "hansard" ? "damaged" : "unreadable", words: [problem] };
}

async function examine(io: Io, found: Patient, options: DoctorOptions): Promise<Finding> {
  const { path } = found;
  try {
    // A log of ours is judged as one, even where nothing in it says so any more.
    const isOwn = path.startsWith(`${ownSessions(io)}${sep}`) && basename(path) === "log.jsonl";
    const agent = found.agent ?? (isOwn ? "hansard" : (await detectSource(path)).agent);
    if (agent === "hansard") return await withLogErrors(() => examineOwn(path, options));
    return await examineOther(io, path, agent, options);
  } catch (error) {
    // One session that cannot be read does not keep the others from being looked at.
    const isOnlyOne = found.id === undefined;
    if (isOnlyOne || !(error instanceof SourceError || error instanceof CommandError)) throw error;
    const { agent = "", id = basename(path) } = found;
    return { agent, id, path, state: "unreadable", words: [error.message] };
  }
}

function plural(count: number, one: string, many = `${one}s`): string {
  return `${count} ${count === 1 ? one : many}`;
}

async function examineOwn(path: string, options: DoctorOptions): Promise<Finding> {
  const report = await checkLog(path);
  const id = basename(dirname(path));
  const finding = judge(report, id);
  if (options.repair !== true || finding.state !== "damaged") return finding;
  const repaired = await repairLog({ sessions: dirname(dirname(path)), id });
  if (repaired.state === "sound") return finding;
  const again = judge(await checkLog(path), id);
  return {
    ...again,
    state: again.state === "sound" ? "repaired" : again.state,
    words: [
      ...finding.words,
      `repaired: ${plural(repaired.records, "record")} kept, ${plural(repaired.gaps, "gap")} told in the log`,
      `the log as it was: ${repaired.keptAs}`,
      ...again.words,
    ],
  };
}

function judge(report: LogReport, id: string): Finding {
  const { verdict, damage, damageCount, invalid, invalidCount, blobs, holder, kept } = report;
  const isTorn = verdict.state === "torn";
  const torn = isTorn ? damage.filter(({ start }) => start >= verdict.start).length : 0;
  const words: string[] = [];
  const about = { agent: "hansard", id, path: report.path };
  if (verdict.state === "torn")
    words.push(
      `torn: the last ${verdict.end - verdict.start} bytes are no record; they are cut, and kept beside the log, when it is written again`,
    );
  for (const { start, end, fault } of damage.slice(0, PLACES_MAX))
    words.push(`bytes ${start}-${end}: ${fault}`);
  if (verdict.state === "damaged" && damageCount === 0)
    for (const { start, end, fault } of verdict.damage) words.push(`bytes ${start}-${end}: ${fault}`);
  if (damageCount > PLACES_MAX) words.push(`… ${damageCount - PLACES_MAX} more places`);
  for (const { seq, problem } of invalid.slice(0, PLACES_MAX)) words.push(`record ${seq}: ${problem}`);
  if (invalidCount > PLACES_MAX) words.push(`… ${invalidCount - PLACES_MAX} more records`);
  for (const name of blobs.missing) words.push(`blob ${name} is not there`);
  for (const name of blobs.damaged) words.push(`blob ${name} is not what was stored`);
  if (kept.length > 0) words.push(`kept beside it: ${kept.join(", ")}`);
  if (holder.state === "held") words.push(`is written now by process ${holder.owner.pid}`);
  if (verdict.state === "newer")
    return {
      ...about,
      state: "newer",
      words: [`written by a newer Hansard (format ${verdict.version})`, ...words],
    };
  const isDamaged =
    verdict.state === "damaged" ||
    damageCount > torn ||
    invalidCount > 0 ||
    blobs.missing.length > 0 ||
    blobs.damaged.length > 0;
  if (isDamaged) return { ...about, state: "damaged", words };
  return { ...about, state: isTorn ? "torn" : "sound", words };
}

async function examineOther(io: Io, path: string, agent: string, options: DoctorOptions): Promise<Finding> {
  const log = await openLog(path);
  try {
    const report = await log.check();
    const { id } = await log.info();
    const words = report.damaged
      .slice(0, PLACES_MAX)
      .map(({ start, end, reason }) => `bytes ${start}-${end}: ${reason}`);
    if (report.damaged.length > PLACES_MAX) words.push(`… ${report.damaged.length - PLACES_MAX} more places`);
    const finding: Finding = {
      agent,
      id,
      path,
      state: report.damaged.length === 0 ? "sound" : "damaged",
      words,
    };
    if (options.repair !== true || finding.state === "sound") return finding;
    return await copyRepaired(io, finding, options.out);
  } finally {
    await log.close();
  }
}

/** Other programs' files are only read: what can be saved goes into a new file. */
async function copyRepaired(io: Io, finding: Finding, out: string | undefined): Promise<Finding> {
  if (out === undefined)
    return {
      ...finding,
      words: [...finding.words, "its own program's file is never written: --out FILE writes a repaired copy"],
    };
  if (!finding.path.endsWith(".jsonl"))
    throw new CommandError(
      exitCodes.usage,
      `${finding.path} is no log of lines; a copy of it cannot be repaired.`,
    );
  const to = resolve(io.cwd, out);
  const { records, recovered, bytesLeft } = await writeRepairedCopy(finding.path, to);
  const words = [
    ...finding.words,
    `repaired copy: ${to}`,
    `${plural(records, "record")}, ${recovered} of them saved from bad lines; ${plural(bytesLeft, "byte")} of no record left out`,
  ];
  return { ...finding, state: "repaired", words };
}

function tell({ agent, id, path, state, words }: Finding): readonly string[] {
  const head = `${state.padEnd(10)}  ${agent.padEnd(11)}  ${id}`.trimEnd();
  const lines = state === "sound" ? words : [path, ...words];
  return [head, ...lines.map((line) => `            ${line}`)].map(sanitizeLine);
}
