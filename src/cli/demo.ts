/** `hansard demo`: a made session, written to a real file as it happens, and shown like any other. */
import { mkdir, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { demoSessionId, playDemo } from "./demo/writer.ts";
import { CommandError } from "./errors.ts";
import { exitCodes } from "./exit.ts";
import type { Io } from "./io.ts";
import { type OpenOptions, openSession, showSession } from "./open.ts";

export interface DemoCommandOptions extends OpenOptions {
  readonly speed: number;
  /** A scripted agent that is talked to, instead of a session that is shown. */
  readonly live?: boolean;
}

/** The demo's agent in a folder of its own, with nothing saved. */
export async function runLiveDemo(io: Io, version: string, options: OpenOptions): Promise<number> {
  const { demoAgent } = await import("../agent/index.ts");
  const { drive, withAgentErrors } = await import("./drive.ts");
  const folder = await makeFolder();
  try {
    return await withAgentErrors(() =>
      drive(io, {
        agent: { name: "demo", command: demoAgent(process.execPath) },
        version,
        cwd: folder,
        isSaved: false,
        ...(options.resize === undefined ? {} : { resize: options.resize }),
      }),
    );
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** A private folder of the demo's own. */
async function makeFolder(): Promise<string> {
  try {
    return await mkdtemp(join(tmpdir(), "hansard-demo-"));
  } catch (error) {
    const { syscall, message } = error as NodeJS.ErrnoException;
    if (syscall === undefined) throw error;
    throw new CommandError(exitCodes.unreadable, `the demo cannot be written: ${message}`, [
      "Set TMPDIR to a folder that can be written to.",
    ]);
  }
}

/**
 * Plays the demo and shows it until the person quits. Without a terminal the whole script is written at once and printed. The file lies in a
 * private temporary folder that is removed at the end.
 */
export async function runDemo(io: Io, options: DemoCommandOptions): Promise<number> {
  const folder = await makeFolder();
  const stop = new AbortController();
  try {
    const project = join(folder, "projects", "demo");
    await mkdir(project, { recursive: true });
    const path = join(project, `${demoSessionId}.jsonl`);
    const speed = io.out.isTTY || options.plain === true ? options.speed : Number.POSITIVE_INFINITY;
    let markBegun = (): void => undefined;
    const begun = new Promise<void>((resolve) => {
      markBegun = resolve;
    });
    const playing = playDemo(path, join(folder, "project"), {
      speed,
      now: io.now,
      signal: stop.signal,
      onBegun: markBegun,
    });
    // A failure to write is told where it is awaited, at the end.
    playing.catch(() => undefined);
    await (speed === Number.POSITIVE_INFINITY ? playing : Promise.race([begun, playing]));
    const session = await openSession(path);
    try {
      return await showSession(io, session, undefined, options);
    } finally {
      stop.abort();
      await session.close();
      await playing;
    }
  } finally {
    stop.abort();
    await rm(folder, { recursive: true, force: true });
  }
}
