/** The process's own terminal. */
import { fstatSync, writeSync } from "node:fs";
import { StringDecoder } from "node:string_decoder";
import type { Clock, TerminalPort } from "./port.ts";

/** How often a write of last words finds the terminal full before the rest is given up, and the pause before each new try. */
const writeNowTriesMax = 200;
const writeNowPauseMs = 5;

function pause(ms: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
}

/** Codes that say that the terminal is gone. */
const goneCodes: ReadonlySet<string | undefined> = new Set([
  "EIO",
  "EPIPE",
  "ENXIO",
  "EBADF",
  "ERR_STREAM_DESTROYED",
]);

function codeOf(error: unknown): string | undefined {
  return error instanceof Error && "code" in error ? String(error.code) : undefined;
}

/**
 * The terminal behind a pair of streams. A terminal that hangs up is told through `onGone`, never thrown. Input is read only while there is
 * a listener, so that the process can end. The size is the one of the last signal: a multiplexer may show another for a moment.
 */
export function createNodeTerminal(
  input: NodeJS.ReadStream & { readonly fd: number },
  output: NodeJS.WriteStream & { readonly fd: number },
): TerminalPort {
  const goneListeners = new Set<() => void>();
  const inputListeners = new Set<(text: string) => void>();
  let decoder = new StringDecoder("utf8");
  let isGone = false;
  const lose = (): void => {
    if (isGone) return;
    isGone = true;
    for (const listener of goneListeners) listener();
  };
  const onError = (error: unknown): void => {
    if (!goneCodes.has(codeOf(error))) throw error;
    lose();
  };
  // Also while nothing is listened to: a read that is under way fails when the terminal hangs up.
  input.on("error", onError);
  output.on("error", onError);
  const onData = (bytes: Buffer): void => {
    const text = decoder.write(bytes);
    if (text !== "") for (const listener of inputListeners) listener(text);
  };
  const startInput = (): void => {
    decoder = new StringDecoder("utf8");
    input.on("data", onData).on("end", lose);
    input.resume();
  };
  const stopInput = (): void => {
    input.off("data", onData).off("end", lose);
    input.pause();
  };
  return {
    size: () => ({ columns: Math.max(1, output.columns || 80), rows: Math.max(1, output.rows || 24) }),
    write: (text) => isGone || output.write(text),
    drained: () =>
      new Promise((resolve) => {
        if (isGone) {
          resolve();
          return;
        }
        if (!output.writableNeedDrain) {
          // What was written before is taken when this empty write is.
          output.write("", () => resolve());
          return;
        }
        const done = (): void => {
          output.off("drain", done);
          goneListeners.delete(done);
          resolve();
        };
        output.on("drain", done);
        goneListeners.add(done);
      }),
    writeNow(text) {
      let bytes = Buffer.from(text);
      let tries = 0;
      while (bytes.length > 0 && !isGone) {
        try {
          bytes = bytes.subarray(writeSync(output.fd, bytes));
        } catch (error) {
          tries += 1;
          if (codeOf(error) !== "EAGAIN" || tries >= writeNowTriesMax) return;
          pause(writeNowPauseMs);
        }
      }
    },
    setRaw(raw) {
      // A terminal that went away cannot be set, and need not be.
      if (isGone || input.destroyed) return;
      try {
        fstatSync(input.fd);
        input.setRawMode(raw);
      } catch (error) {
        if (!goneCodes.has(codeOf(error))) throw error;
        lose();
      }
    },
    onInput(listener) {
      if (inputListeners.size === 0) startInput();
      inputListeners.add(listener);
      return () => {
        if (inputListeners.delete(listener) && inputListeners.size === 0) stopInput();
      };
    },
    onResize(listener) {
      output.on("resize", listener);
      return () => void output.off("resize", listener);
    },
    onGone(listener) {
      goneListeners.add(listener);
      return () => void goneListeners.delete(listener);
    },
  };
}

/** The process's monotonic clock. Its alarms keep the process alive. */
export function monotonicClock(): Clock {
  return {
    now: () => performance.now(),
    after(ms, call) {
      const timer = setTimeout(call, ms);
      return () => clearTimeout(timer);
    },
  };
}
