/** The server: from an append to a client's event, beside a bare copy from the file to a socket; 1,000 watchers of 50 sessions. */
import { type ChildProcess, fork } from "node:child_process";
import { type FSWatcher, watch } from "node:fs";
import { appendFile, mkdtemp, open, rm, writeFile } from "node:fs/promises";
import { request } from "node:http";
import { createConnection, createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { performance } from "node:perf_hooks";
import { row } from "./measure.ts";

const appends = 60;
const sessions = 50;
const watchers = 1_000;
const rounds = 10;

let serial = 0;

function line(mark: string): string {
  const at = serial++;
  const message = { role: "user", content: mark };
  const head = { uuid: `u${at}`, parentUuid: null, isSidechain: false, sessionId: "s" };
  return `${JSON.stringify({ ...head, timestamp: new Date().toISOString(), type: "user", message })}\n`;
}

function percentile(values: readonly number[], part: number): string {
  const sorted = [...values].sort((a, b) => a - b);
  return `${(sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] ?? 0).toFixed(1)} ms`;
}

/** Milliseconds from each append until `next` says that its mark arrived. */
async function time(path: string, next: (mark: string) => Promise<void>): Promise<readonly number[]> {
  const times: number[] = [];
  for (let at = 0; at < appends; at += 1) {
    const mark = `MARK-${at}-END`;
    const arrived = next(mark);
    const started = performance.now();
    await appendFile(path, line(mark));
    await arrived;
    times.push(performance.now() - started);
  }
  return times;
}

type Listen = (onText: (text: string) => void) => void;

/** Resolves for a mark once it was in the text that arrived. */
function marksOf(listen: Listen): (mark: string) => Promise<void> {
  let text = "";
  let wanted = "";
  let arrive: () => void = () => undefined;
  listen((more) => {
    text = (text + more).slice(-100_000);
    if (wanted !== "" && text.includes(wanted)) arrive();
  });
  return (mark) => {
    wanted = mark;
    return new Promise((resolve) => {
      arrive = resolve;
    });
  };
}

/** What no server can be faster than: a watcher that writes what was appended to a socket. */
async function bareCopy(path: string): Promise<readonly number[]> {
  await writeFile(path, "");
  const file = await open(path, "r");
  const watching: FSWatcher[] = [];
  const server = createServer((socket) => {
    let offset = 0;
    const watcher = watch(path, () => {
      void file.read({ position: offset, buffer: Buffer.alloc(65_536) }).then(({ bytesRead, buffer }) => {
        offset += bytesRead;
        socket.write(buffer.subarray(0, bytesRead));
      });
    });
    watching.push(watcher);
  });
  const port = await new Promise<number>((resolve) => {
    server.listen(0, "127.0.0.1", () => resolve((server.address() as { port: number }).port));
  });
  const client = createConnection({ port, host: "127.0.0.1" });
  await new Promise((resolve) => client.once("connect", resolve));
  const times = await time(
    path,
    marksOf((onText) => client.on("data", (bytes) => onText(bytes.toString()))),
  );
  for (const watcher of watching) watcher.close();
  client.destroy();
  server.close();
  await file.close();
  return times;
}

interface Child {
  readonly process: ChildProcess;
  readonly port: number;
  readonly secret: string;
}

function heard<T>(child: ChildProcess): Promise<T> {
  return new Promise((resolve) => child.once("message", (value) => resolve(value as T)));
}

async function startChild(folder: string, paths: readonly string[]): Promise<Child> {
  const child = fork(new URL("./serve-child.ts", import.meta.url), [folder, ...paths]);
  return { process: child, ...(await heard<{ port: number; secret: string }>(child)) };
}

/** An open lane at the session's end. Resolves once the first event has come. */
function openLane({ port, secret }: Child, id: string, onText: (text: string) => void): Promise<() => void> {
  return new Promise((resolve, reject) => {
    const asking = request(
      {
        host: "127.0.0.1",
        port,
        path: `/api/sessions/${id}/changes?live=events&offset=now`,
        agent: false,
        headers: { authorization: `Bearer ${secret}` },
      },
      (answer) => {
        answer.setEncoding("utf8");
        answer.on("data", (text: string) => {
          resolve(() => asking.destroy());
          onText(text);
        });
        answer.on("error", () => undefined);
      },
    );
    asking.on("error", reject);
    asking.end();
  });
}

async function many(child: Child, paths: readonly string[]): Promise<readonly number[]> {
  const times: number[] = [];
  const started = new Map<string, number>();
  let left = 0;
  let done: () => void = () => undefined;
  const closers: (() => void)[] = [];
  for (let at = 0; at < watchers; at += 1)
    closers.push(
      await openLane(child, `s${at % sessions}`, (text) => {
        for (const [mark] of text.matchAll(/MANY-\d+-\d+-END/g)) {
          times.push(performance.now() - (started.get(mark) ?? 0));
          left -= 1;
          if (left === 0) done();
        }
      }),
    );
  for (let round = 0; round < rounds; round += 1) {
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
  for (const close of closers) close();
  return times;
}

export async function benchServe(): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), "hansard-bench-serve-"));
  const paths = Array.from({ length: sessions }, (_, at) => join(folder, `s${at}.jsonl`));
  for (const path of paths) await writeFile(path, line("first"));
  const bare = await bareCopy(join(folder, "bare"));
  const child = await startChild(folder, paths);
  try {
    let onText: (text: string) => void = () => undefined;
    const close = await openLane(child, "s0", (text) => onText(text));
    const served = await time(
      paths[0] ?? "",
      marksOf((listen) => {
        onText = listen;
      }),
    );
    close();
    row("append to a bare socket, p95", percentile(bare, 0.95));
    row("append to an event of the server, p95", percentile(served, 0.95));
    const times = await many(child, paths);
    row(`append to each of ${watchers} watchers of ${sessions} sessions, p99`, percentile(times, 0.99));
    const told = heard<{ rssMB: number }>(child.process);
    child.process.send("memory");
    row("memory of the server", `${(await told).rssMB.toFixed(0)} MB`);
  } finally {
    child.process.kill();
    await rm(folder, { recursive: true, force: true });
  }
}
