/** The shell over a driven session that a test plays, a real emulator and a virtual clock. */
import type { Approval, Change, DrivenSession, DriverState } from "../../src/session/index.ts";
import { createShell, type Shell, type ShellEnd } from "../../src/terminal/shell/index.ts";
import { resizeSettleMs } from "../../src/terminal/shell/limits.ts";
import { themeOf } from "../../src/terminal/text/index.ts";
import type { Entry } from "../../src/transcript/index.ts";
import { createVirtualClock, type VirtualClock } from "../support/terminal/clock.ts";
import { createEmulator, type Emulator } from "../support/terminal/emulator.ts";
import { createFakeSession, entryOf, type FakeSession } from "../terminal-shell/fake-session.ts";

/** What was asked of the agent, in order: `prompt hello`, `cancel`, `answer 1 allow by me`, `mode plan`. */
export type Asked = string;

export interface FakeDriven extends FakeSession, Omit<DrivenSession, keyof FakeSession> {
  readonly asked: Asked[];
  /** The next prompt, answer, cancel or mode fails with this. */
  refuseNext: string | undefined;
  /** Who was first to answer. */
  answeredBy: string | undefined;
  /** Another state of the agent, told as a change. */
  stand(driver: Partial<DriverState>): void;
}

export const ready: DriverState = {
  phase: "ready",
  agent: { name: "fake-agent", version: "1" },
  approvals: [],
  plan: [],
  modes: [],
  commands: [],
  queued: 0,
};

export function createFakeDriven(log: Entry[], first: Partial<DriverState> = {}): FakeDriven {
  const session = createFakeSession(log);
  const asked: Asked[] = [];
  let driver: DriverState = { ...ready, ...first };
  const take = async (what: Asked): Promise<void> => {
    asked.push(what);
    const { refuseNext } = driven;
    driven.refuseNext = undefined;
    if (refuseNext !== undefined) throw new Error(refuseNext);
  };
  const driven: FakeDriven = Object.defineProperties(
    session,
    Object.getOwnPropertyDescriptors({
      asked,
      refuseNext: undefined as string | undefined,
      answeredBy: undefined as string | undefined,
      get driver() {
        return driver;
      },
      stand(next: Partial<DriverState>) {
        driver = { ...driver, ...next };
        session.emit({ type: "driver", driver });
      },
      prompt: (text: string) => take(`prompt ${text}`),
      cancel: () => take("cancel"),
      async answer(id: string, option: string, by: string) {
        await take(`answer ${id} ${option} by ${by}`);
        return driven.answeredBy === undefined
          ? { taken: true as const }
          : { taken: false as const, by: driven.answeredBy };
      },
      setMode: (mode: string) => take(`mode ${mode}`),
    }),
  ) as FakeDriven;
  return driven;
}

export interface TalkRig {
  readonly emulator: Emulator;
  readonly clock: VirtualClock;
  readonly session: FakeDriven;
  readonly shell: Shell;
  readonly ended: Promise<ShellEnd>;
  settle(ms?: number): Promise<void>;
  /** Bytes as they come from the keyboard; then time goes by. */
  key(text: string, ms?: number): Promise<void>;
  resize(columns: number, rows: number): Promise<void>;
  emit(...changes: readonly Change[]): void;
  finish(entry: Entry): void;
  /** The rows of the screen without blank ones at the end, the cursor shown as `▮`. */
  picture(): string;
}

export interface TalkRigOptions {
  readonly columns?: number;
  readonly rows?: number;
  readonly log?: Entry[];
  readonly driver?: Partial<DriverState>;
  readonly editText?: (text: string) => Promise<string | undefined>;
  readonly hasStrings?: boolean;
  readonly before?: string;
  readonly resizeWay?: "adopt" | "reprint";
}

export function talkRig(options: TalkRigOptions = {}): TalkRig {
  const { columns = 60, rows = 16, resizeWay = "adopt" } = options;
  const emulator = createEmulator({ columns, rows, answers: true });
  if (options.before !== undefined) emulator.write(options.before);
  const clock = createVirtualClock(() => emulator.settled());
  const session = createFakeDriven(options.log ?? [], options.driver);
  const shell = createShell({
    port: emulator,
    clock,
    now: () => clock.now(),
    session,
    theme: themeOf({}, false),
    isSynchronized: false,
    resizeWay,
    layout: { time: () => "12:00" },
    hasStrings: options.hasStrings === true,
    foot: () => [{ spans: [{ text: " hansard resume fake" }], wrap: "fit" }],
    talk: { session, by: "me", ...(options.editText === undefined ? {} : { editText: options.editText }) },
  });
  const ended = shell.run();
  ended.catch(() => undefined);
  const settle = async (ms = 300): Promise<void> => {
    await clock.advance(ms);
    await emulator.settled();
    await clock.advance(0);
    await emulator.settled();
  };
  const isCursorShown = (): boolean => {
    const written = emulator.writes.join("");
    return written.lastIndexOf("\x1b[?25h") > written.lastIndexOf("\x1b[?25l");
  };
  return {
    emulator,
    clock,
    session,
    shell,
    ended,
    settle,
    async key(text, ms = 300) {
      emulator.type(text);
      await settle(ms);
    },
    async resize(width, height) {
      await emulator.resize(width, height);
      await settle(resizeSettleMs + 300);
    },
    emit: (...changes) => {
      for (const change of changes) session.emit(change);
    },
    finish(entry) {
      const index = session.log.length;
      session.log.push(entry);
      session.emit({ type: "blockFinished", entry, start: String(index), end: String(index + 1) });
      session.emit({ type: "saved" });
    },
    picture() {
      const { cursorX, cursorY } = emulator.xterm.buffer.active;
      const lines = [...emulator.screen()];
      if (isCursorShown()) {
        const row = (lines[cursorY] ?? "").padEnd(cursorX);
        lines[cursorY] = `${row.slice(0, cursorX)}▮${row.slice(cursorX)}`;
      }
      return lines.join("\n").replace(/\s+$/, "");
    },
  };
}

export const approval: Approval = {
  id: "ask-1",
  call: { id: "call-1", name: "Edit", subject: "src/a.ts", inputSummary: '{"path":"src/a.ts"}' },
  changes: [{ path: "src/a.ts", oldText: "one\ntwo\nthree\n", newText: "one\n2\nthree\n" }],
  options: [
    { id: "allow", label: "Allow", kind: "allow-once" },
    { id: "always", label: "Always allow", kind: "allow-always" },
    { id: "reject", label: "Reject", kind: "reject-once" },
  ],
  askedAt: 0,
};

export { entryOf };
