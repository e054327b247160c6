/** A real terminal emulator (xterm, headless) behind the terminal port. */
import { Terminal } from "@xterm/headless";
import type { TerminalPort, TerminalSize } from "../../../src/terminal/port.ts";

// The addon reads its tables from the whole memory block of a Buffer, which is only its own where Buffers are not pooled.
Buffer.poolSize = 0;
const { UnicodeGraphemesAddon } = await import("@xterm/addon-unicode-graphemes");

export interface EmulatorOptions extends TerminalSize {
  /** Rows of the scrollback. Default 100,000. */
  readonly scrollback?: number;
  /** Whether queries are answered. Default true. */
  readonly answers?: boolean;
}

export interface Emulator extends TerminalPort {
  readonly xterm: Terminal;
  /** Everything written, in order, one element a write. */
  readonly writes: readonly string[];
  /** Units written since the last call. */
  takeWritten(): number;
  /** Resolves when all that was written is on the screen, and what it caused has happened. */
  settled(): Promise<void>;
  /** Logical lines of scrollback and screen (rows that were wrapped are joined), without blank ends; no trailing blank lines. */
  lines(): readonly string[];
  /** Rows of the screen. */
  screen(): readonly string[];
  type(text: string): void;
  resize(columns: number, rows: number): Promise<void>;
  hangUp(): void;
  /** While slow, `write` says false and `drained` waits. */
  setSlow(isSlow: boolean): void;
  readonly isRaw: boolean;
}

export function createEmulator(options: EmulatorOptions): Emulator {
  const terminal = new Terminal({
    cols: options.columns,
    rows: options.rows,
    scrollback: options.scrollback ?? 100_000,
    allowProposedApi: true,
  });
  terminal.loadAddon(new UnicodeGraphemesAddon());
  const writes: string[] = [];
  let counted = 0;
  let unparsed = 0;
  let isGone = false;
  let isSlow = false;
  let isRaw = false;
  const drainers: (() => void)[] = [];
  const parsedWaiters: (() => void)[] = [];
  const inputListeners = new Set<(text: string) => void>();
  const resizeListeners = new Set<() => void>();
  const goneListeners = new Set<() => void>();
  const send = (text: string): void => {
    for (const listener of inputListeners) listener(text);
  };
  terminal.onData((text) => {
    if (options.answers !== false) send(text);
  });
  const put = (text: string): void => {
    writes.push(text);
    unparsed += 1;
    terminal.write(text, () => {
      unparsed -= 1;
      if (unparsed === 0) for (const resolve of parsedWaiters.splice(0)) resolve();
    });
  };
  const rowText = (at: number): string => terminal.buffer.active.getLine(at)?.translateToString(true) ?? "";
  return {
    xterm: terminal,
    writes,
    takeWritten() {
      const all = writes.reduce((sum, text) => sum + text.length, 0);
      const since = all - counted;
      counted = all;
      return since;
    },
    async settled() {
      do {
        await new Promise<void>((resolve) => {
          if (unparsed === 0) resolve();
          else parsedWaiters.push(resolve);
        });
        for (let turn = 0; turn < 8; turn++) await Promise.resolve();
      } while (unparsed > 0);
    },
    lines() {
      const buffer = terminal.buffer.active;
      const lines: string[] = [];
      for (let at = 0; at < buffer.length; at++) {
        const line = buffer.getLine(at);
        // Rows that go on in the next one are taken whole, blanks included.
        const goesOn = buffer.getLine(at + 1)?.isWrapped === true;
        const text = line?.translateToString(!goesOn) ?? "";
        if (line?.isWrapped === true && lines.length > 0) lines[lines.length - 1] += text;
        else lines.push(text);
      }
      const trimmed = lines.map((line) => line.trimEnd());
      while (trimmed.at(-1) === "") trimmed.pop();
      return trimmed;
    },
    screen() {
      const { baseY } = terminal.buffer.active;
      return Array.from({ length: terminal.rows }, (_, row) => rowText(baseY + row));
    },
    type: send,
    async resize(columns, rows) {
      await this.settled();
      terminal.resize(columns, rows);
      for (const listener of resizeListeners) listener();
    },
    hangUp() {
      isGone = true;
      for (const resolve of drainers.splice(0)) resolve();
      for (const listener of goneListeners) listener();
    },
    setSlow(slow) {
      isSlow = slow;
      if (!slow) for (const resolve of drainers.splice(0)) resolve();
    },
    get isRaw() {
      return isRaw;
    },
    size: () => ({ columns: terminal.cols, rows: terminal.rows }),
    write(text) {
      if (isGone) return true;
      put(text);
      return !isSlow;
    },
    drained: () =>
      new Promise((resolve) => {
        if (isSlow && !isGone) drainers.push(resolve);
        else resolve();
      }),
    writeNow: put,
    setRaw(raw) {
      isRaw = raw;
    },
    onInput(listener) {
      inputListeners.add(listener);
      return () => void inputListeners.delete(listener);
    },
    onResize(listener) {
      resizeListeners.add(listener);
      return () => void resizeListeners.delete(listener);
    },
    onGone(listener) {
      goneListeners.add(listener);
      return () => void goneListeners.delete(listener);
    },
  };
}
