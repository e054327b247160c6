/** The session log: records a second by group commit beside a sync a record, and what opening costs at any age. */
import { mkdtemp, open, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createLog, openLogForRead, openLogForWrite, type RecordSpec } from "../src/log/index.ts";
import { row } from "./measure.ts";

const message: RecordSpec = { kind: "message", role: "assistant", payload: { text: "a small record" } };
const seconds = 3;
/** Callers that wait for their records at once. */
const callers = 256;
const youngTurns = 10;
const oldTurns = 10_000;
const opens = 41;

/** Prints what was measured. Wanted: 20,000 records a second in groups; the old log within 1.2x of the young one. */
export async function benchLog(): Promise<void> {
  const sessions = await mkdtemp(join(tmpdir(), "hansard-bench-log-"));
  // The timers of the log keep no process alive.
  const alive = setInterval(() => {}, 1000);
  try {
    await compareCommits(sessions);
    await compareAges(sessions);
  } finally {
    clearInterval(alive);
    await rm(sessions, { recursive: true, force: true });
  }
}

async function compareCommits(sessions: string): Promise<void> {
  const grouped = await recordsASecond(sessions, callers);
  const single = await recordsASecond(sessions, 1);
  const bare = await syncedWritesASecond(join(sessions, "bare"));
  row("", "records/s", "beside alone");
  const tell = (name: string, rate: number): void =>
    row(name, Math.round(rate).toLocaleString("en-US"), `${(rate / single).toFixed(1)}x`);
  tell(`${callers} callers, a sync a group`, grouped);
  tell("one caller, a sync a record", single);
  tell("bare file, a sync a write", bare);
}

/** Records that callers saw on stable storage a second, each caller waiting for its own before the next. */
async function recordsASecond(sessions: string, many: number): Promise<number> {
  const log = await createLog({ sessions, durability: "record" });
  const until = performance.now() + seconds * 1000;
  let records = 0;
  const call = async (): Promise<void> => {
    while (performance.now() < until) {
      if ((await log.append(message)).state !== "saved") throw new Error("a record was not saved");
      records += 1;
    }
  };
  const started = performance.now();
  await Promise.all(Array.from({ length: many }, call));
  const rate = (records * 1000) / (performance.now() - started);
  await log.close();
  return rate;
}

async function syncedWritesASecond(path: string): Promise<number> {
  const file = await open(path, "a");
  const line = Buffer.from(`${JSON.stringify(message)}\n`);
  const started = performance.now();
  let writes = 0;
  for (; performance.now() < started + seconds * 1000; writes += 1) {
    await file.write(line);
    await file.datasync();
  }
  const rate = (writes * 1000) / (performance.now() - started);
  await file.close();
  return rate;
}

async function makeTurns(sessions: string, id: string, turns: number): Promise<void> {
  const log = await createLog({ sessions, id });
  for (let turn = 0; turn < turns; turn += 1) {
    const said: RecordSpec = { kind: "message", role: "user", payload: { text: "x".repeat(500) } };
    const last: RecordSpec[] = turn % 500 === 499 ? [compaction] : [];
    const done = log.append([{ kind: "turnStarted" }, said, message, { kind: "turnCommitted" }, ...last]);
    if (turn % 100 === 99) await done;
  }
  await log.close();
}
const compaction: RecordSpec = {
  kind: "compactionSummary",
  summary: "so far",
  tokensBefore: 100_000,
  firstKeptTurnId: "",
};

interface Age {
  readonly read: number[];
  readonly resume: number[];
  readonly append: number[];
}

/** One opening of each kind, in milliseconds. */
async function openOnce(sessions: string, id: string, age: Age): Promise<void> {
  const t0 = performance.now();
  const reader = await openLogForRead({ sessions, id });
  await reader.tail(50);
  await reader.close();
  const t1 = performance.now();
  const log = await openLogForWrite({ sessions, id });
  const t2 = performance.now();
  await log.append(message);
  await log.flush();
  const t3 = performance.now();
  await log.close();
  age.read.push(t1 - t0);
  age.resume.push(t2 - t1);
  age.append.push(t3 - t2);
}

function median(values: readonly number[]): number {
  return [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;
}

async function compareAges(sessions: string): Promise<void> {
  await makeTurns(sessions, "young", youngTurns);
  await makeTurns(sessions, "old", oldTurns);
  const young: Age = { read: [], resume: [], append: [] };
  const old: Age = { read: [], resume: [], append: [] };
  // In turns, so that what else the machine does falls on both alike; the first round warms up.
  for (let round = 0; round <= opens; round += 1) {
    const isWarm = round > 0;
    const aside = (): Age => ({ read: [], resume: [], append: [] });
    await openOnce(sessions, "young", isWarm ? young : aside());
    await openOnce(sessions, "old", isWarm ? old : aside());
  }
  row("", `${youngTurns} turns`, `${oldTurns.toLocaleString("en-US")} turns`, "old by young");
  for (const what of ["read", "resume", "append"] as const) {
    const [a, b] = [median(young[what]), median(old[what])];
    row(what, `${a.toFixed(2)} ms`, `${b.toFixed(2)} ms`, `${(b / a).toFixed(2)}x`);
  }
}
