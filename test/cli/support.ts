/** Runs commands: over memory, or as a process of their own. */
import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import type { Io, Output } from "../../src/cli/io.ts";
import { runProgram } from "../../src/cli/program.ts";
import { HOME_NEWEST_AT, type Home, makeHome } from "../support/agents-home.ts";

export interface Told {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

export interface RunOptions {
  readonly cwd?: string;
  readonly isTTY?: boolean;
  readonly columns?: number;
  /** After this many writes the reader of the output goes. */
  readonly writesMax?: number;
  /** Called before each write to the output. */
  readonly onWrite?: (writes: number) => void;
}

type Around = Pick<Home, "around">;

/** An hour after the newest session of a test's home directory. */
export const NOW = HOME_NEWEST_AT + 3_600_000;

/** Runs one command line over memory, as `hansard` version 9.9.9. */
export async function run(
  home: Around,
  argv: readonly string[],
  options: RunOptions = {},
): Promise<Told & { readonly writes: number }> {
  const text = { out: "", err: "" };
  let writes = 0;
  const output = (name: "out" | "err"): Output => ({
    isTTY: options.isTTY === true,
    columns: options.isTTY === true ? (options.columns ?? 100) : undefined,
    write(words) {
      if (name === "out") {
        writes += 1;
        options.onWrite?.(writes);
      }
      if (name === "out" && writes > (options.writesMax ?? Number.POSITIVE_INFINITY))
        return Promise.resolve(false);
      text[name] += words;
      return Promise.resolve(true);
    },
  });
  const io: Io = {
    out: output("out"),
    err: output("err"),
    around: home.around,
    cwd: options.cwd ?? home.around.home,
    now: () => NOW,
  };
  const code = await runProgram(argv, "9.9.9", io);
  return { code, ...text, writes };
}

/** An empty folder that goes with the test. */
export async function tempFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "hansard-cli-"));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  return folder;
}

/** A home directory with every agent's sessions that goes with the test. */
export async function tempHome(): Promise<Home> {
  return makeHome(await tempFolder());
}

/** The built tool. */
export const bin: string = new URL("../../bin/hansard.js", import.meta.url).pathname;

export interface Running {
  readonly child: ChildProcessWithoutNullStreams;
  /** What was written to standard output so far. */
  readonly out: () => string;
  readonly err: () => string;
  /** Resolves when standard output holds `text`; rejects where the process ends before. */
  until(text: string): Promise<void>;
  readonly ended: Promise<{
    readonly code: number | null;
    readonly signal: NodeJS.Signals | null;
    readonly out: string;
    readonly err: string;
  }>;
}

/** Starts the built tool as a process; it is ended with the test. */
export function start(argv: readonly string[], env: Readonly<Record<string, string>>, cwd?: string): Running {
  const child = spawn(process.execPath, [bin, ...argv], {
    env: { PATH: process.env["PATH"] ?? "", ...env },
    stdio: "pipe",
    ...(cwd === undefined ? {} : { cwd }),
  });
  child.stdin.end();
  let out = "";
  let err = "";
  const waiting = new Set<() => void>();
  child.stdout.setEncoding("utf8").on("data", (chunk: string) => {
    out += chunk;
    for (const look of waiting) look();
  });
  child.stderr.setEncoding("utf8").on("data", (chunk: string) => {
    err += chunk;
  });
  const ended = new Promise<Awaited<Running["ended"]>>((resolve) => {
    child.on("close", (code, signal) => resolve({ code, signal, out, err }));
  });
  onTestFinished(async () => {
    child.kill("SIGKILL");
    await ended;
  });
  return {
    child,
    out: () => out,
    err: () => err,
    ended,
    until: (text) =>
      new Promise((resolve, reject) => {
        const look = (): void => {
          if (!out.includes(text)) return;
          waiting.delete(look);
          resolve();
        };
        waiting.add(look);
        void ended.then(() =>
          reject(new Error(`it ended before it said ${JSON.stringify(text)}: ${out}${err}`)),
        );
        look();
      }),
  };
}

/** The JSON values of an output of one a line. */
export function jsonLines(text: string): Record<string, unknown>[] {
  return text
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line) as Record<string, unknown>);
}

/** A Claude Code session of `turns` turns: prompt `n`, then answer `n`, linked as the agent links them. */
export function claudeLines(turns: number, say: (n: number) => string = (n) => `answer ${n}`): string[] {
  const lines: string[] = [];
  let parent: string | null = null;
  const put = (type: "user" | "assistant", message: object): void => {
    const uuid = `${String(lines.length).padStart(8, "0")}-0000-4000-8000-000000000000`;
    lines.push(
      JSON.stringify({
        parentUuid: parent,
        isSidechain: false,
        userType: "external",
        cwd: "/home/user/project",
        sessionId: "0b5c0000-0000-4000-8000-000000000000",
        version: "2.1.0",
        type,
        message,
        uuid,
        timestamp: new Date(Date.UTC(2026, 7, 1) + lines.length * 1000).toISOString(),
      }),
    );
    parent = uuid;
  };
  for (let n = 1; n <= turns; n += 1) {
    put("user", { role: "user", content: `prompt ${n}` });
    put("assistant", {
      id: `msg_${n}`,
      type: "message",
      role: "assistant",
      model: "claude-test",
      content: [{ type: "text", text: say(n) }],
      stop_reason: "end_turn",
      usage: { input_tokens: 10, output_tokens: 5 },
    });
  }
  return lines;
}
