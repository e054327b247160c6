/** `hansard follow`: what the agent of a session is doing, as it does it; of this computer or of another one. */
import { setTimeout as sleep } from "node:timers/promises";
import { encodeFrame, type Frame, type LaneEvent } from "../follow/index.ts";
import { followSession, readSessionOnce } from "../session/index.ts";
import { themeOf } from "../terminal/text/index.ts";
import { exitCodes } from "./exit.ts";
import { createFollowPrinter } from "./follow-printer.ts";
import { followUrl, readUrlOnce, type UrlOptions } from "./follow-url.ts";
import type { Io } from "./io.ts";
import { openSession } from "./open.ts";
import { resolveSession } from "./resolve.ts";

export interface FollowOptions {
  /** One frame a line. */
  readonly json?: boolean;
  /** What the step under way has told up to now, and no more. */
  readonly once?: boolean;
}

/** Follows until stopped by a signal; with `once` until what there is was told. Ends quietly when the reader of the output has gone. */
export async function runFollow(io: Io, name: string, options: FollowOptions): Promise<number> {
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
    const show = shower(io, options.json === true);
    if (/^https?:\/\//i.test(name)) await followThere(io, name, options, stop, show);
    else await followHere(io, name, options, stop.signal, show);
    return code;
  } finally {
    process.off("SIGINT", onInterrupt).off("SIGTERM", onTerminate).off("SIGHUP", onHangUp);
  }
}

/** Writes what is told; false once nobody reads it. */
type Show = (event: LaneEvent) => Promise<boolean>;

function shower(io: Io, isJson: boolean): Show {
  if (isJson)
    return (event) =>
      io.out.write(event.type === "frame" ? `${encodeFrame(event.frame)}\n` : '{"kind":"over","ok":true}\n');
  const printer = createFollowPrinter(themeOf(io.around.env, io.out.isTTY));
  return async (event) => {
    const text = printer.print(event);
    return text === "" || io.out.write(text);
  };
}

/** The frame, and the end of its last line. */
async function showOnce(frame: Frame, isJson: boolean, show: Show): Promise<void> {
  if ((await show({ type: "frame", frame })) && !isJson) await show({ type: "over" });
}

async function followHere(
  io: Io,
  name: string,
  options: FollowOptions,
  signal: AbortSignal,
  show: Show,
): Promise<void> {
  const session = await openSession(await resolveSession(io, name));
  try {
    if (options.once === true) {
      await showOnce(await readSessionOnce(session), options.json === true, show);
      return;
    }
    for await (const event of followSession(session, signal)) if (!(await show(event))) return;
  } finally {
    await session.close();
  }
}

async function followThere(
  io: Io,
  address: string,
  options: FollowOptions,
  stop: AbortController,
  show: Show,
): Promise<void> {
  const key = io.around.env["HANSARD_KEY"];
  const link: UrlOptions = {
    signal: stop.signal,
    wait,
    ...(key === undefined || key === "" ? {} : { key }),
    onLink: (state) => {
      const words = state === "lost" ? "the connection is lost; trying again" : "connected again";
      void io.err.write(`hansard: ${words}\n`);
    },
  };
  if (options.once === true) {
    const frame = await readUrlOnce(address, link);
    if (frame !== undefined) await showOnce(frame, options.json === true, show);
    return;
  }
  for await (const event of followUrl(address, link)) if (!(await show(event))) return;
}

async function wait(ms: number, signal: AbortSignal): Promise<void> {
  try {
    await sleep(ms, undefined, { signal });
  } catch (error) {
    if (!signal.aborted) throw error;
  }
}
