import { createScreen, roomOf, type Screen } from "../../src/terminal/screen/index.ts";
import { type Line, themeOf, wrapWords } from "../../src/terminal/text/index.ts";
import { createVirtualClock, type VirtualClock } from "../support/terminal/clock.ts";
import { createEmulator, type Emulator, type EmulatorOptions } from "../support/terminal/emulator.ts";

export function fitRow(text: string): Line {
  return { spans: text === "" ? [] : [{ text }], wrap: "fit" };
}

export function flowRow(text: string): Line {
  return { spans: text === "" ? [] : [{ text }], wrap: "flow" };
}

export interface Bench {
  readonly emulator: Emulator;
  readonly clock: VirtualClock;
  readonly screen: Screen;
  /** Lets frames happen and the emulator take them. */
  settle(): Promise<void>;
  /** A settled change of size. */
  resize(columns: number, rows: number, way?: "adopt" | "reprint"): Promise<void>;
}

/** Asks the emulator where its cursor is, through the bytes of the query and its answer. */
export function askThrough(emulator: Emulator): () => Promise<{ row: number; column: number } | undefined> {
  return async () => {
    let answer: { row: number; column: number } | undefined;
    const undo = emulator.onInput((text) => {
      const match = /^\x1b\[(\d+);(\d+)R$/.exec(text);
      if (match !== null) answer = { row: Number(match[1]), column: Number(match[2]) };
    });
    emulator.write("\x1b[6n");
    await emulator.settled();
    undo();
    return answer;
  };
}

export function createBench(options: EmulatorOptions & { readonly isSynchronized?: boolean }): Bench {
  const emulator = createEmulator(options);
  const clock = createVirtualClock(() => emulator.settled());
  const screen = createScreen(emulator, clock, {
    theme: themeOf({}, false),
    isSynchronized: options.isSynchronized ?? false,
    askCursor: askThrough(emulator),
  });
  const settle = async (): Promise<void> => {
    await clock.advance(100);
    await emulator.settled();
  };
  return {
    emulator,
    clock,
    screen,
    settle,
    async resize(columns, rows, way = "adopt") {
      await emulator.resize(columns, rows);
      await screen.resized(way);
      await settle();
    },
  };
}

/** Words wrapped for a terminal of `columns`, as prose is. */
export function prose(text: string, columns: number): readonly Line[] {
  return wrapWords([{ text }], roomOf(columns)).map((spans) => ({ spans, wrap: "fit" }));
}
