/**
 * The server as people start it: from an append to a client's event, for one client and for 1,000 watchers of 50 sessions, beside a bare
 * copy from the same files to as many sockets.
 */
import { type ChildProcess, fork, spawn } from "node:child_process";
import { appendFile, mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { request } from "node:http";
import { createConnection } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { performance } from "node:perf_hooks";
import { createInterface } from "node:readline";
import { row } from "./measure.ts";

const appends = 60;
const sessions = 50;
const watchers = 1_000;
const rounds = 40;
/** Rounds that are not counted: no server is measured while its code is still being compiled. */
const warmRounds = 10;

let serial = 0;

export function line(mark: string): string {
  const at = serial++;
  const message = { role: "user", content: mark };
  const head = { uuid: `u${at}`, parentUuid: null, isSidechain: false, sessionId: "s" };
  return `${JSON.stringify({ ...head, timestamp: new Date().toISOString(), type: "user", message })}\n`;
}

export function percentile(values: readonly number[], part: number): string {
  const sorted = [...values].sort((a, b) => a - b);
  return `${(sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] ?? 0).toFixed(1)} ms`;
}

/** Opens a line that tells what is appended to the file of a number; resolves, once it stands, with what closes it. */
export type Open = (file: number, onText: (text: string) => void) => Promise<() => void>;

/** Milliseconds from each append until its mark arrived. */
export async function one(open: Open, path: string, warm = 0): Promise<readonly number[]> {
  let text = "";
  let wanted = "";
  let arrive: () => void = () => undefined;
  const close = await open(0, (more) => {
    text = (text + more).slice(-100_000);
    if (text.includes(wanted)) arrive();
  });
  const times: number[] = [];
  for (let at = 0; at < warm + appends; at += 1) {
    wanted = `MARK-${at}-END`;
    const arrived = new Promise<void>((resolve) => {
      arrive = resolve;
    });
    const started = performance.now();
    await appendFile(path, line(wanted));
    await arrived;
    if (at >= warm) times.push(performance.now() - started);
  }
  close();
  return times;
}

/** Milliseconds from each append until each watcher of its file had it; all files are appended to at once. */
async function many(
  open: Open,
  paths: readonly string[],
  pid: number | undefined,
): Promise<{ readonly times: readonly number[]; readonly cpuMs: number | undefined }> {
  let cpuMs: number | undefined;
  let times: number[] = [];
  const started = new Map<string, number>();
  let left = 0;
  let done: () => void = () => undefined;
  const closers: (() => void)[] = [];
  const onText = (text: string): void => {
    for (const [mark] of text.matchAll(/MANY-\d+-\d+-END/g)) {
      times.push(performance.now() - (started.get(mark) ?? 0));
      left -= 1;
      if (left === 0) done();
    }
  };
  for (let at = 0; at < watchers; at += 1) closers.push(await open(at % sessions, onText));
  for (let round = 0; round < warmRounds + rounds; round += 1) {
    if (round === warmRounds) {
      times = [];
      cpuMs = await processorMs(pid);
    }
    left = watchers;
    const all = new Promise<void>((resolve) => {
      done = resolve;
    });
    for (const [at, path] of paths.entries()) {
      const mark = `MANY-${round}-${at}-END`;
      started.set(mark, performance.now());
      await appendFile(path, line(mark));
    }
    await all;
  }
  const end = await processorMs(pid);
  for (const close of closers) close();
  return { times, cpuMs: cpuMs === undefined || end === undefined ? undefined : (end - cpuMs) / rounds };
}

/** Milliseconds of processor that a process has used, where the system tells it. */
async function processorMs(pid: number | undefined): Promise<number | undefined> {
  const stat = await readFile(`/proc/${pid}/stat`, "utf8").catch(() => "");
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  // Hundredths of a second, in user and in system code.
  return stat === "" ? undefined : (Number(fields[11]) + Number(fields[12])) * 10;
}

/** The bare copy. */
export async function startCopy(
  paths: readonly string[],
): Promise<{ readonly child: ChildProcess; readonly open: Open }> {
  const child = fork(new URL("./serve-child.ts", import.meta.url), paths);
  const port = await new Promise<number>((resolve) =>
    child.once("message", (value) => resolve(value as number)),
  );
  const open: Open = (file, onText) =>
    new Promise((resolve, reject) => {
      const socket = createConnection({ port, host: "127.0.0.1" }, () => socket.write(String(file)));
      socket.setEncoding("utf8").on("error", reject);
      socket.on("data", (text: string) => {
        resolve(() => socket.destroy());
        onText(text);
      });
    });
  return { child, open };
}

export interface Serving {
  readonly child: ChildProcess;
  readonly origin: string;
  readonly secret: string;
}

/** `hansard serve` over a home folder with the sessions in it, and its first key. */
export async function startServe(home: string): Promise<Serving> {
  const child = spawn(process.execPath, ["bin/hansard.js", "serve", "--port", "0"], {
    env: { PATH: process.env["PATH"] ?? "", HOME: home, HANSARD_HOME: join(home, "state") },
    stdio: ["ignore", "pipe", "pipe"],
  });
  const secret = new Promise<string>((resolve) => {
    createInterface(child.stderr).on("line", (text) => {
      if (text.startsWith("hansard_")) resolve(text.trim());
    });
  });
  const origin = new Promise<string>((resolve) => {
    createInterface(child.stdout).on("line", (text) => {
      const found = /^(http:\S+)\/#code=/.exec(text)?.[1];
      if (found !== undefined) resolve(found);
    });
  });
  return { child, origin: await origin, secret: await secret };
}

function openerOf({ origin, secret }: Serving, ids: readonly string[]): Open {
  const { hostname, port } = new URL(origin);
  return (file, onText) =>
    new Promise((resolve, reject) => {
      const asking = request(
        {
          host: hostname,
          port,
          path: `/api/sessions/${ids[file]}/changes?live=events&offset=now`,
          agent: false,
          headers: { authorization: `Bearer ${secret}` },
        },
        (answer) => {
          answer.setEncoding("utf8").on("error", () => undefined);
          answer.on("data", (text: string) => {
            resolve(() => asking.destroy());
            onText(text);
          });
        },
      );
      asking.on("error", reject);
      asking.end();
    });
}

/** The ids under which the server knows the sessions, in the order of their paths: their own ids are their numbers. */
export async function idsOf({ origin, secret }: Serving): Promise<readonly string[]> {
  const answer = await fetch(`${origin}/api/sessions?limit=${sessions}`, {
    headers: { authorization: `Bearer ${secret}` },
  });
  const told = (await answer.json()) as { readonly sessions: readonly { id: string; title?: string }[] };
  const ids: string[] = [];
  for (const { id, title = "" } of told.sessions) ids[Number(/\d+/.exec(title)?.[0])] = id;
  return ids;
}

/** Most memory that a process has had, where the system tells it. */
async function peakMemory(pid: number): Promise<string> {
  const status = await readFile(`/proc/${pid}/status`, "utf8").catch(() => "");
  const kilobytes = /^VmHWM:\s*(\d+) kB/m.exec(status)?.[1];
  return kilobytes === undefined ? "not told here" : `${(Number(kilobytes) / 1000).toFixed(0)} MB`;
}

export async function benchServe(): Promise<void> {
  const home = await mkdtemp(join(tmpdir(), "hansard-bench-serve-"));
  const folder = join(home, ".claude", "projects", "-work");
  await mkdir(folder, { recursive: true });
  const paths = Array.from({ length: sessions }, (_, at) =>
    join(folder, `${String(at).padStart(8, "0")}-0000-4000-8000-000000000000.jsonl`),
  );
  for (const [at, path] of paths.entries()) await writeFile(path, line(`session ${at}`));
  const burst = `${sessions} appends to ${watchers} watchers`;
  const both = ({ times, cpuMs }: Awaited<ReturnType<typeof many>>): string =>
    `${percentile(times, 0.5)}, ${percentile(times, 0.99)}, ${cpuMs?.toFixed(0) ?? "?"} ms`;
  const copy = await startCopy(paths);
  try {
    row("append to a bare socket, p95", percentile(await one(copy.open, paths[0] ?? ""), 0.95));
    row(`${burst}, bare: p50, p99, processor a round`, both(await many(copy.open, paths, copy.child.pid)));
  } finally {
    copy.child.kill();
  }
  const serving = await startServe(home);
  try {
    const open = openerOf(serving, await idsOf(serving));
    row("append to an event of the server, p95", percentile(await one(open, paths[0] ?? ""), 0.95));
    row(`${burst}: p50, p99, processor a round`, both(await many(open, paths, serving.child.pid)));
    row("most memory of the server", await peakMemory(serving.child.pid ?? 0));
  } finally {
    serving.child.kill();
    await rm(home, { recursive: true, force: true });
  }
}
