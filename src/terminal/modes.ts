/** Modes of the terminal that are entered and must be left again. */

const modes = {
  alternateScreen: ["\x1b[?1049h", "\x1b[?1049l"],
  hiddenCursor: ["\x1b[?25l", "\x1b[?25h"],
  bracketedPaste: ["\x1b[?2004h", "\x1b[?2004l"],
  /** The wheel scrolls by arrow keys on the alternate screen. */
  wheelArrows: ["\x1b[?1007h", "\x1b[?1007l"],
  /** Keys with modifiers are told apart (Shift+Enter): the protocol of kitty, and that of xterm. */
  keyboard: ["\x1b[>1u", "\x1b[<u"],
  otherKeys: ["\x1b[>4;1m", "\x1b[>4m"],
  /** The window's title is ours; the one it had comes back. */
  title: ["\x1b[22;2t", "\x1b[23;2t"],
} as const;

export type ModeName = keyof typeof modes;

/** Knows which modes are on. Each method gives the bytes to write, "" where nothing is to be done. */
export interface Modes {
  enter(name: ModeName): string;
  leave(name: ModeName): string;
  /** Undoes all modes that are on, the last one first. */
  undoAll(): string;
}

export function createModes(): Modes {
  const on: ModeName[] = [];
  return {
    enter(name) {
      if (on.includes(name)) return "";
      on.push(name);
      return modes[name][0];
    },
    leave(name) {
      const at = on.indexOf(name);
      if (at < 0) return "";
      on.splice(at, 1);
      return modes[name][1];
    },
    undoAll: () =>
      on
        .splice(0)
        .reverse()
        .map((name) => modes[name][1])
        .join(""),
  };
}
