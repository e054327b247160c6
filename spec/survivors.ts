/** The changes to src/window that no test can see, each with the reason. `npm run mutate` compares what survived with this list. */

export interface Survivor {
  readonly file: string;
  /** The text that Stryker changes, as it stands in the file; and what it puts there. */
  readonly text: string;
  readonly put: string;
  readonly why: string;
}

const narrows =
  "a check that only tells the compiler the type; what follows gives the same answer without it";

export const survivors: readonly Survivor[] = [
  {
    file: "state.ts",
    text: 'typeof value === "number"',
    put: "true",
    why: `${narrows}: isSafeInteger is false of what is no number`,
  },
  {
    file: "step.ts",
    text: 'ctrlo.anchor === "tail"',
    put: "true",
    why: "scrolling older: a window anchored at the start ends at or before the oldest held block, so that its lo is never above it (X3)",
  },
  {
    file: "step.ts",
    text: "ctrlo.lo === heldFloor",
    put: "true",
    why: "Home, unsaved: a window above the oldest held block is a full one, so that its hi is not that of the first blocks either",
  },
  {
    file: "step.ts",
    text: "pending === undefined",
    put: "false",
    why: `${narrows}: without a pending read there is no answered state`,
  },
  {
    file: "step.ts",
    text: "pending.from === hi",
    put: "true",
    why: "the end of a window that waits for a newer read does not move: both scrolls wait for the answer. Kept, so that this needs no proof",
  },
  {
    file: "text.ts",
    text: 'typeof arg === "number"',
    put: "true",
    why: "words are printed as they are in either way",
  },
  {
    file: "text.ts",
    text: "word === undefined",
    put: "false",
    why: `${narrows}: the text "undefined" is no number`,
  },
  {
    file: "text.ts",
    text: "word !== undefined",
    put: "true",
    why: `${narrows}: the text "undefined" is no number`,
  },
  {
    file: "text.ts",
    text: "/^\\d+$/",
    put: "/^\\d+/",
    why: "what has more than digits is then NaN, which is no natural number",
  },
  {
    file: "text.ts",
    text: '""',
    put: '"Stryker was here!"',
    why: "the default of a group that always matches",
  },
  {
    file: "text.ts",
    text: "at < 0",
    put: "at <= 0",
    why: "a word without a name is unknown, whatever its value",
  },
  {
    file: "text.ts",
    text: "!this.words.has(name)",
    put: "false",
    why: "deleting a word that is not there says that it was not there",
  },
  {
    file: "trace.ts",
    text: "rejected === undefined",
    put: "false",
    why: "JSON leaves out a member that is undefined",
  },
];
