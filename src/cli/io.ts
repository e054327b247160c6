/** The outside world of a command: streams, environment, clock. Injected, so that tests run commands without a process. */
import type { Surroundings } from "../sources/index.ts";

/** Where a command writes. */
export interface Output {
  readonly isTTY: boolean;
  /** Columns of the terminal, or undefined where there is none. */
  readonly columns: number | undefined;
  /** Resolves once the text may be forgotten (backpressure); false when the reader has gone and writing should stop. */
  write(text: string): Promise<boolean>;
}

export interface Io {
  readonly out: Output;
  readonly err: Output;
  readonly around: Surroundings;
  readonly cwd: string;
  now(): number;
}

/** An output over a Node stream. A closed pipe is remembered, not thrown. */
export function createOutput(stream: NodeJS.WriteStream): Output {
  let closed = false;
  stream.on("error", (error: NodeJS.ErrnoException) => {
    if (error.code !== "EPIPE" && error.code !== "ERR_STREAM_DESTROYED") throw error;
    closed = true;
  });
  return {
    get isTTY() {
      return stream.isTTY === true;
    },
    get columns() {
      return stream.isTTY ? stream.columns : undefined;
    },
    write(text) {
      if (closed || stream.destroyed) return Promise.resolve(false);
      return new Promise((resolve) => stream.write(text, (error) => resolve(!error && !closed)));
    },
  };
}

/** The process's own surroundings. */
export function processIo(): Io {
  return {
    out: createOutput(process.stdout),
    err: createOutput(process.stderr),
    around: {
      env: process.env,
      home: process.env["HOME"] ?? process.env["USERPROFILE"] ?? "",
      platform: process.platform,
    },
    cwd: process.cwd(),
    now: () => Date.now(),
  };
}
