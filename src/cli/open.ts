/** `hansard open`: a session in the terminal, followed while it grows. */

import { createSession, type Session } from "../session/index.ts";
import { openLog } from "../sources/index.ts";
import type { Notice } from "../terminal/render/index.ts";
import { sanitizeLine } from "../terminal/text/index.ts";
import { exitCodes } from "./exit.ts";
import { shellWord } from "./format.ts";
import type { Io } from "./io.ts";
import { runPlain } from "./plain.ts";
import { resolveSession } from "./resolve.ts";

export interface OpenOptions {
  readonly plain?: boolean;
  readonly resize?: "adopt" | "reprint";
  /** Said when it is shown. */
  readonly greeting?: Notice;
}

/** The session at a path, any agent's. Closing it closes the log. */
export async function openSession(path: string): Promise<Session> {
  const log = await openLog(path);
  try {
    return createSession(log, await log.info());
  } catch (error) {
    await log.close();
    throw error;
  }
}

function isDumb(io: Io): boolean {
  return !io.out.isTTY || io.around.env["TERM"] === "dumb";
}

/**
 * Shows an open session until the person quits (or, in linear text that nobody follows, to its end). `name` opens it again; absent where
 * nothing does.
 */
export async function showSession(
  io: Io,
  session: Session,
  name: string | undefined,
  options: OpenOptions,
): Promise<number> {
  if (options.plain === true || isDumb(io)) {
    if (options.greeting !== undefined)
      await io.err.write(`hansard: ${sanitizeLine(options.greeting.text)}\n`);
    const stop = new AbortController();
    let code: number = exitCodes.ok;
    const end = (exit: number) => (): void => {
      code = exit;
      stop.abort();
    };
    const onInterrupt = end(130);
    const onTerminate = end(143);
    const onHangUp = end(129);
    process.once("SIGINT", onInterrupt).once("SIGTERM", onTerminate).once("SIGHUP", onHangUp);
    try {
      await runPlain(io, session, {
        follow: options.plain === true || io.out.isTTY,
        signal: stop.signal,
        name,
      });
    } finally {
      process.off("SIGINT", onInterrupt).off("SIGTERM", onTerminate).off("SIGHUP", onHangUp);
    }
    return code;
  }
  const { runInTerminal } = await import("./terminal-run.ts");
  return runInTerminal(io, session, {
    ...(options.resize === undefined ? {} : { resize: options.resize }),
    ...(options.greeting === undefined ? {} : { greeting: options.greeting }),
    ...(name === undefined ? {} : { wayBack: `hansard open ${shellWord(name)}` }),
  });
}

export async function runOpenCommand(io: Io, name: string, options: OpenOptions): Promise<number> {
  const path = await resolveSession(io, name);
  const session = await openSession(path);
  try {
    return await showSession(io, session, name === "last" ? session.info.id : name, options);
  } finally {
    await session.close();
  }
}
