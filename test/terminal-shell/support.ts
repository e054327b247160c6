/** The shell over a fake session, a real emulator and a virtual clock. */
import type { Change } from "../../src/session/index.ts";
import { createShell, type ResizeWay, type Shell, type ShellEnd } from "../../src/terminal/shell/index.ts";
import { resizeSettleMs } from "../../src/terminal/shell/limits.ts";
import { themeOf } from "../../src/terminal/text/index.ts";
import type { Entry } from "../../src/transcript/index.ts";
import { createVirtualClock, type VirtualClock } from "../support/terminal/clock.ts";
import { createEmulator, type Emulator } from "../support/terminal/emulator.ts";
import { createFakeSession, entryOf, type FakeSession } from "./fake-session.ts";

export interface Rig {
  readonly emulator: Emulator;
  readonly clock: VirtualClock;
  readonly session: FakeSession;
  readonly shell: Shell;
  readonly ended: Promise<ShellEnd>;
  readonly trace: string[];
  settle(ms?: number): Promise<void>;
  key(text: string): Promise<void>;
  resize(columns: number, rows: number): Promise<void>;
  finish(entry: Entry): void;
  emit(...changes: readonly Change[]): void;
}

export interface RigOptions {
  readonly columns?: number;
  readonly rows?: number;
  readonly answers?: boolean;
  readonly resizeWay?: ResizeWay;
  readonly log?: Entry[];
  readonly tail?: Parameters<typeof createFakeSession>[1];
  readonly stopProcess?: () => Promise<void>;
  /** The first read of the log fails with this. */
  readonly failure?: string;
  readonly hasStrings?: boolean;
  readonly isSynchronized?: boolean;
  /** Printed on the terminal before the shell begins. */
  readonly before?: string;
}

export function rig(options: RigOptions = {}): Rig {
  const { columns = 50, rows = 12, answers = true, resizeWay = "adopt" } = options;
  const emulator = createEmulator({ columns, rows, answers });
  if (options.before !== undefined) emulator.write(options.before);
  const clock = createVirtualClock(() => emulator.settled());
  const session = createFakeSession(options.log ?? [], options.tail);
  session.failNext = options.failure;
  const trace: string[] = [];
  const shell = createShell({
    port: emulator,
    clock,
    now: () => clock.now(),
    session,
    theme: themeOf({}, false),
    isSynchronized: options.isSynchronized === true,
    resizeWay,
    layout: { time: () => "12:00" },
    foot: () => [{ spans: [{ text: " hansard open fake" }], wrap: "fit" }],
    hasStrings: options.hasStrings === true,
    trace: (line) => trace.push(line),
    ...(options.stopProcess === undefined ? {} : { stopProcess: options.stopProcess }),
  });
  const ended = shell.run();
  // A test that expects an error looks at it itself.
  ended.catch(() => undefined);
  const settle = async (ms = 300): Promise<void> => {
    await clock.advance(ms);
    await emulator.settled();
    await clock.advance(0);
    await emulator.settled();
  };
  return {
    emulator,
    clock,
    session,
    shell,
    ended,
    trace,
    settle,
    async key(text) {
      emulator.type(text);
      await settle();
    },
    async resize(width, height) {
      await emulator.resize(width, height);
      await settle(resizeSettleMs + 300);
    },
    finish(entry) {
      const index = session.log.length;
      session.log.push(entry);
      session.emit({ type: "blockFinished", entry, start: String(index), end: String(index + 1) });
      session.emit({ type: "saved" });
    },
    emit: (...changes) => {
      for (const change of changes) session.emit(change);
    },
  };
}

export function streaming(text: string, name = "s"): Entry {
  return { kind: "streaming", name, thinking: "", text };
}

export function call(state: "running" | "done", name = "c"): Entry {
  return {
    kind: "model",
    name,
    usage: {},
    blocks: [
      {
        kind: "tool-use",
        id: "1",
        name: "Bash",
        inputSummary: "{}",
        subject: "npm test",
        outcome: { state },
      },
    ],
  };
}

export function said(text: string, name: string): Entry {
  return { kind: "model", name, usage: {}, blocks: [{ kind: "text", text }] };
}

/** The text of the terminal, without what is there for looks. */
export function words(lines: readonly string[]): string {
  return lines.join(" ").replaceAll(/\s+/g, " ").trim();
}

export function entries(count: number): Entry[] {
  return Array.from({ length: count }, (_, index) => entryOf(index));
}
