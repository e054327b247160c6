import { execFileSync } from "node:child_process";
import { closeSync, constants, existsSync, mkdtempSync, openSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { PassThrough, Writable } from "node:stream";
import { type IPty, spawn } from "@lydell/node-pty";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { createNodeTerminal, monotonicClock } from "../../src/terminal/node-terminal.ts";
import type { TerminalPort } from "../../src/terminal/port.ts";

interface Driven {
  readonly pty: IPty;
  /** Resolves when the terminal has shown `text`. */
  seen(text: string): Promise<void>;
  readonly exitCode: Promise<number>;
}

let folder = "";
let running: IPty | undefined;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "hansard-port-"));
});

afterEach(() => {
  running?.kill("SIGKILL");
  running = undefined;
  rmSync(folder, { recursive: true, force: true });
});

function drive(): Driven {
  const args = ["--import", "./scripts/ts-hook.js", "test/support/terminal-driver.ts", "port", gonePath()];
  const pty = spawn(process.execPath, args, { cols: 72, rows: 20 });
  running = pty;
  let shown = "";
  const waiting: { readonly text: string; readonly resolve: () => void }[] = [];
  const check = (): void => {
    for (const { text, resolve } of waiting) if (shown.includes(text)) resolve();
  };
  pty.onData((text) => {
    shown += text;
    check();
  });
  return {
    pty,
    seen: (text) =>
      new Promise((resolve) => {
        waiting.push({ text, resolve });
        check();
      }),
    exitCode: new Promise((resolve) => {
      pty.onExit(({ exitCode }) => {
        running = undefined;
        resolve(exitCode);
      });
    }),
  };
}

function gonePath(): string {
  return join(folder, "gone");
}

describe("the process's own terminal", () => {
  test("input is raw, sizes are told, writes are whole; without a listener the process ends", async () => {
    const { pty, seen, exitCode } = drive();
    await seen("size 72x20;");
    pty.write("\x03");
    await seen(String.raw`in "\u0003";`);
    pty.write("漢");
    await seen('in "漢";');
    pty.resize(41, 9);
    await seen("size 41x9;");
    pty.write("n");
    await seen(`${"x".repeat(100)} over;`);
    pty.write("d");
    await seen(`${"y".repeat(100)} drained;`);
    pty.write("q");
    expect(await exitCode).toBe(0);
    expect(existsSync(gonePath())).toBe(false);
  });

  test("a terminal that hangs up is told, and nothing is thrown", async () => {
    const { pty, seen, exitCode } = drive();
    await seen("size 72x20;");
    // Closes the terminal's other end.
    (pty as IPty & { destroy(): void }).destroy();
    await exitCode;
    expect(readFileSync(gonePath(), "utf8")).toBe("gone");
  });
});

/** Streams with a size in the place of a terminal. */
function makeStreams(): {
  readonly input: PassThrough;
  readonly output: Writable & { columns?: number; rows?: number };
  readonly port: TerminalPort;
  /** Lets the output take what it was given. */
  take(): void;
} {
  const input = new PassThrough();
  let taken: (() => void) | undefined;
  const output = new Writable({
    highWaterMark: 8,
    write: (_chunk, _encoding, done) => {
      taken = () => done();
    },
  });
  const port = createNodeTerminal(
    input as unknown as Parameters<typeof createNodeTerminal>[0],
    output as unknown as Parameters<typeof createNodeTerminal>[1],
  );
  return { input, output, port, take: () => taken?.() };
}

function failure(code: string): Error {
  return Object.assign(new Error(code), { code });
}

describe("the port over streams", () => {
  test("a character in two reads is put together", async () => {
    const { input, port } = makeStreams();
    const bytes = Buffer.from("a漢b");
    const got: string[] = [];
    await new Promise<void>((resolve) => {
      port.onInput((text) => {
        got.push(text);
        if (text.includes("b")) resolve();
      });
      input.write(bytes.subarray(0, 2));
      input.write(bytes.subarray(2));
    });
    expect(got).toEqual(["a", "漢b"]);
  });

  test("no size is none of nothing", () => {
    const { output, port } = makeStreams();
    expect(port.size()).toEqual({ columns: 80, rows: 24 });
    output.columns = 0;
    output.rows = 0;
    expect(port.size()).toEqual({ columns: 80, rows: 24 });
    output.columns = 1;
    output.rows = 1;
    expect(port.size()).toEqual({ columns: 1, rows: 1 });
  });

  test("a slow terminal says so, and when it has taken everything", async () => {
    const { port, take } = makeStreams();
    expect(port.write("1234")).toBe(true);
    expect(port.write("567890")).toBe(false);
    let isDrained = false;
    const drained = port.drained().then(() => {
      isDrained = true;
    });
    take();
    expect(isDrained).toBe(false);
    await new Promise<void>((resolve) => setImmediate(resolve));
    take();
    await drained;
  });

  test.each(["EIO", "EPIPE"])(
    "%s is a hang-up: told once, whoever waits goes on, nothing is written",
    async (code) => {
      const { input, output, port } = makeStreams();
      let told = 0;
      port.onGone(() => {
        told += 1;
      });
      port.write("0123456789");
      const drained = port.drained();
      output.emit("error", failure(code));
      input.emit("error", failure(code));
      await drained;
      await port.drained();
      expect(told).toBe(1);
      expect(port.write("more")).toBe(true);
      expect(output.writableLength).toBe(10);
    },
  );

  test("another error is not swallowed", () => {
    const { input, output } = makeStreams();
    expect(() => output.emit("error", failure("EFBIG"))).toThrow("EFBIG");
    expect(() => input.emit("error", failure("EFBIG"))).toThrow("EFBIG");
  });

  test("last words to a terminal that takes nothing are tried to a limit", () => {
    // A pipe that nobody reads takes its buffer full and refuses the rest.
    const { reader, writer } = openPipe(folder);
    const { output, port } = makeStreams();
    Object.assign(output, { fd: writer });
    port.writeNow("x".repeat(1 << 22));
    closeSync(writer);
    closeSync(reader);
  });
});

/** A pipe in the file system, both ends open and not waiting. */
function openPipe(home: string): { readonly reader: number; readonly writer: number } {
  const path = join(home, "pipe");
  execFileSync("mkfifo", [path]);
  const { O_NONBLOCK, O_RDONLY, O_WRONLY } = constants;
  const reader = openSync(path, O_RDONLY | O_NONBLOCK);
  return { reader, writer: openSync(path, O_WRONLY | O_NONBLOCK) };
}

describe("the process's clock", () => {
  test("goes forward, calls back once, and not when undone", async () => {
    const clock = monotonicClock();
    const start = clock.now();
    const calls: string[] = [];
    clock.after(0, () => calls.push("undone"))();
    await new Promise<void>((resolve) =>
      clock.after(2, () => {
        calls.push("called");
        resolve();
      }),
    );
    expect(calls).toEqual(["called"]);
    expect(clock.now()).toBeGreaterThan(start);
  });
});
