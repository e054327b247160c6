/** Shows a session in the process's own terminal, and leaves that terminal as it was. */
import { closeSync, openSync, writeSync } from "node:fs";
import type { Session } from "../session/index.ts";
import { createNodeTerminal, monotonicClock } from "../terminal/node-terminal.ts";
import { loadHighlighter, type Notice } from "../terminal/render/index.ts";
import { hasSynchronizedOutput, reflows } from "../terminal/screen/index.ts";
import { createShell, type Shell, type ShellEnd, type TalkSpec } from "../terminal/shell/index.ts";
import { cellsOf, cutCells, type Line, safeSpans, themeOf } from "../terminal/text/index.ts";
import { CommandError } from "./errors.ts";
import { exitCodes } from "./exit.ts";
import { formatFolder } from "./format.ts";
import { isHungUp } from "./hang-up.ts";
import type { Io } from "./io.ts";

const exitOf: Readonly<Record<ShellEnd, number>> = {
  quit: exitCodes.ok,
  interrupted: 130,
  terminated: 143,
  "hung-up": 129,
};

function cutTo(text: string, cells: number): string {
  return cellsOf(text) > cells ? cutCells(text, cells) : text;
}

/** What is shown, in one row: the title, then whose it is and where. */
function headLines(io: Io, session: Session, width: number): readonly Line[] {
  const { title, agent, cwd } = session.info;
  const facts = [agent, ...(cwd === undefined ? [] : [formatFolder(cwd, io.around.home)])].join(" · ");
  const room = Math.max(1, width - 2);
  const lines: Line[] = [];
  if (title !== undefined)
    lines.push({ spans: [{ text: " " }, ...safeSpans(cutTo(title, room), { bold: true })], wrap: "fit" });
  lines.push({ spans: [{ text: " " }, ...safeSpans(cutTo(facts, room), { tone: "dim" })], wrap: "fit" });
  return [...lines, { spans: [], wrap: "fit" }];
}

/** How to come back, under the transcript. */
function footLines(wayBack: string): readonly Line[] {
  // The terminal breaks it, so that a narrow one still gives the whole of it to who copies it.
  return [
    { spans: [], wrap: "fit" },
    { spans: safeSpans(wayBack, { tone: "dim" }), wrap: "flow" },
  ];
}

/** Opens the trace that `HANSARD_TRACE` names; undefined where it names none. */
function openTrace(io: Io): { write(line: string): void; close(): void } | undefined {
  const path = io.around.env["HANSARD_TRACE"];
  if (path === undefined || path === "") return undefined;
  let file: number;
  try {
    file = openSync(path, "a", 0o600);
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new CommandError(exitCodes.unreadable, `the trace cannot be written: ${why}`, [
      "HANSARD_TRACE names the file; unset it to run without a trace.",
    ]);
  }
  return { write: (line) => void writeSync(file, line), close: () => closeSync(file) };
}

/** Stops the whole job, as the terminal's own Ctrl+Z would; resolves when it goes on. */
function stopProcess(): Promise<void> {
  return new Promise((resolve) => {
    process.once("SIGCONT", () => resolve());
    process.kill(0, "SIGTSTP");
  });
}

/** Ends the shell at the process's signals; `onSignal` is told the exit code that the signal asks for. */
function listen(shell: Shell, onSignal: (code: number) => void): () => void {
  const ends = (why: () => ShellEnd, code: number) => (): void => {
    onSignal(code);
    shell.end(why());
  };
  const handlers = {
    SIGINT: ends(() => "interrupted", exitOf.interrupted),
    SIGTERM: ends(() => "terminated", exitOf.terminated),
    // Sent by hand while the terminal stands, it must not leave that terminal as it is.
    SIGHUP: ends(() => (isHungUp() ? "hung-up" : "terminated"), exitOf["hung-up"]),
  };
  const die = (error: unknown): void => {
    shell.rescue();
    process.stderr.write(
      `hansard: a bug: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}\n`,
    );
    process.exit(exitCodes.internal);
  };
  for (const [signal, handler] of Object.entries(handlers)) process.on(signal, handler);
  process.on("uncaughtException", die);
  return () => {
    for (const [signal, handler] of Object.entries(handlers)) process.off(signal, handler);
    process.off("uncaughtException", die);
  };
}

export interface TerminalRunOptions {
  readonly resize?: "adopt" | "reprint";
  /** The command that brings the session back; absent where none does. */
  readonly wayBack?: string;
  readonly greeting?: Notice;
  readonly talk?: TalkSpec;
}

/** Runs the shell over the process's terminal until the person ends it; the exit code says how it ended. */
export async function runInTerminal(io: Io, session: Session, options: TerminalRunOptions): Promise<number> {
  const { wayBack, greeting, talk } = options;
  if (!process.stdin.isTTY) {
    throw new CommandError(
      exitCodes.terminal,
      "the keyboard is not there: standard input is not a terminal",
      ["`hansard open --plain` follows without keys; `hansard show` prints once."],
    );
  }
  const { env } = io.around;
  const highlighter = await loadHighlighter();
  const trace = openTrace(io);
  const shell = createShell({
    port: createNodeTerminal(process.stdin, process.stdout),
    clock: monotonicClock(),
    now: io.now,
    session,
    theme: themeOf(env, true),
    isSynchronized: hasSynchronizedOutput(env),
    resizeWay: options.resize ?? (reflows(env) ? "adopt" : "reprint"),
    // The Linux console would print them among the text.
    hasStrings: !/^(?:linux|vt|cons)/.test(env["TERM"] ?? ""),
    layout: { highlighter },
    head: (width) => headLines(io, session, width),
    ...(wayBack === undefined ? {} : { foot: () => footLines(wayBack) }),
    ...(greeting === undefined ? {} : { greeting }),
    ...(talk === undefined ? {} : { talk }),
    ...(process.platform === "win32" ? {} : { stopProcess }),
    ...(trace === undefined ? {} : { trace: trace.write }),
  });
  let signalled: number | undefined;
  const unlisten = listen(shell, (code) => {
    signalled ??= code;
  });
  try {
    const why = await shell.run();
    return why === "quit" ? exitOf.quit : (signalled ?? exitOf[why]);
  } finally {
    unlisten();
    trace?.close();
  }
}
