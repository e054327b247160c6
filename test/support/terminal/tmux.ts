/** A private tmux server: a real terminal with its own re-wrapping, driven by typed keys and read by captures. */
import { execFile } from "node:child_process";
import { promisify } from "node:util";

const run = promisify(execFile);
let serial = 0;

export interface Tmux {
  /** Types keys by tmux's names (`C-o`, `Home`, `q`). */
  keys(...names: readonly string[]): Promise<void>;
  resize(columns: number, rows: number): Promise<void>;
  /** Rows of the screen, without blank ends. */
  screen(): Promise<readonly string[]>;
  /** Logical lines of scrollback and screen: rows that were wrapped are joined. */
  lines(): Promise<readonly string[]>;
  /** Captures again and again until `isThere` holds; throws with the last capture at the deadline. */
  until(isThere: (text: string) => boolean, deadlineMs?: number): Promise<string>;
  /** The process id of the pane's program. */
  pid(): Promise<number>;
  kill(): Promise<void>;
}

export interface TmuxOptions {
  readonly columns: number;
  readonly rows: number;
  /** A shell command. */
  readonly command: string;
  readonly env?: Readonly<Record<string, string>>;
}

/** Starts a server of its own socket, without any configuration of the person's. */
export async function startTmux({ columns, rows, command, env = {} }: TmuxOptions): Promise<Tmux> {
  const socket = `hansard-test-${process.pid}-${serial++}`;
  const tmux = async (...args: readonly string[]): Promise<string> => {
    const { stdout } = await run("tmux", ["-L", socket, "-f", "/dev/null", ...args], {
      encoding: "utf8",
      maxBuffer: 64 * 1024 * 1024,
      env: { ...process.env, TMUX: "", LC_ALL: "C.UTF-8" },
    });
    return stdout;
  };
  const vars = Object.entries(env).flatMap(([name, value]) => ["-e", `${name}=${value}`]);
  await tmux(
    "start-server",
    ";",
    "set-option",
    "-g",
    "history-limit",
    "100000",
    ";",
    "new-session",
    "-d",
    "-x",
    String(columns),
    "-y",
    String(rows),
    ...vars,
    command,
  );
  const rowsOf = (text: string): readonly string[] =>
    text
      .replace(/\n$/, "")
      .split("\n")
      .map((row) => row.trimEnd());
  const screen = async (): Promise<readonly string[]> => rowsOf(await tmux("capture-pane", "-p"));
  return {
    async keys(...names) {
      await tmux("send-keys", ...names);
    },
    async resize(width, height) {
      await tmux("resize-window", "-x", String(width), "-y", String(height));
    },
    screen,
    async lines() {
      const lines = [...rowsOf(await tmux("capture-pane", "-p", "-J", "-S", "-"))];
      while (lines.at(-1) === "") lines.pop();
      return lines;
    },
    async until(isThere, deadlineMs = 20_000) {
      const end = Date.now() + deadlineMs;
      for (;;) {
        const text = (await screen()).join("\n");
        if (isThere(text)) return text;
        if (Date.now() > end) throw new Error(`not seen within ${deadlineMs} ms:\n${text}`);
      }
    },
    async pid() {
      return Number((await tmux("display-message", "-p", "#{pane_pid}")).trim());
    },
    async kill() {
      await tmux("kill-server").catch(() => undefined);
    },
  };
}
