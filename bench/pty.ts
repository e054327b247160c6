/** Runs the tool in a pseudo terminal, with an emulator that tells what is on the screen. */
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { performance } from "node:perf_hooks";
import { spawn } from "@lydell/node-pty";
import xterm from "@xterm/headless";

const columns = 100;
const rows = 30;
/** Longest wait for a text, and for the end of the process. */
const WAIT_MS = 60_000;

export interface Watched {
  /** Milliseconds from now (or from the start, for the first call) until `text` stands on the screen. */
  until(text: string): Promise<number>;
  type(keys: string): void;
  /** Sets the start from which the next `until` counts. */
  mark(): void;
  /** Bytes the program wrote since the last call. */
  takeBytes(): number;
  /** Ends the process as a closing session would; answers its greatest memory. */
  end(): Promise<{ readonly maxRssMB: number }>;
}

const reporter = new URL("./report-rss.js", import.meta.url).href;

function within<T>(what: string, work: Promise<T>, screen: () => string): Promise<T> {
  return new Promise((resolve, reject) => {
    const alarm = setTimeout(() => {
      reject(new Error(`waited ${WAIT_MS / 1000} s for ${what}; the screen was:\n${screen()}`));
    }, WAIT_MS);
    work.then(resolve, reject).finally(() => clearTimeout(alarm));
  });
}

/** Starts `node <args>` in a terminal of 100 columns and 30 rows. */
export async function watchNode(
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Promise<Watched> {
  const folder = await mkdtemp(join(tmpdir(), "hansard-bench-"));
  const report = join(folder, "rss");
  const terminal = new xterm.Terminal({ cols: columns, rows, scrollback: 10_000, allowProposedApi: true });
  const screen = (): string => {
    const { active } = terminal.buffer;
    const text = (row: number): string => active.getLine(active.baseY + row)?.translateToString(true) ?? "";
    return Array.from({ length: rows }, (_, row) => text(row)).join("\n");
  };
  let startedAt = performance.now();
  const child = spawn(process.execPath, ["--import", reporter, ...args], {
    name: "xterm-256color",
    cols: columns,
    rows,
    env: { ...process.env, ...env, TERM: "xterm-256color", HANSARD_BENCH_RSS: report },
  });
  let check = (): void => undefined;
  terminal.onData((answer) => child.write(answer));
  let bytes = 0;
  child.onData((data) => {
    bytes += Buffer.byteLength(data);
    terminal.write(data, () => check());
  });
  let isOver = false;
  const over = new Promise<void>((resolve) => {
    child.onExit(() => {
      isOver = true;
      resolve();
    });
  });
  return {
    async until(text) {
      const seen = new Promise<void>((resolve, reject) => {
        check = (): void => {
          if (screen().includes(text)) resolve();
        };
        void over.then(() => reject(new Error(`it ended before it showed "${text}":\n${screen()}`)));
        check();
      });
      await within(`"${text}"`, seen, screen);
      check = (): void => undefined;
      return performance.now() - startedAt;
    },
    type(keys) {
      startedAt = performance.now();
      child.write(keys);
    },
    mark() {
      startedAt = performance.now();
    },
    takeBytes() {
      const taken = bytes;
      bytes = 0;
      return taken;
    },
    async end() {
      try {
        if (!isOver) child.kill("SIGTERM");
        await within("its end", over, screen);
        return { maxRssMB: Number(await readFile(report, "utf8")) / 1024 };
      } finally {
        if (!isOver) child.kill("SIGKILL");
        terminal.dispose();
        await rm(folder, { recursive: true, force: true });
      }
    },
  };
}
