/** A pager over a log that is read as the shell reads it: by steps, into a window of limited size. */
import type { Key } from "../../src/terminal/input/index.ts";
import { createPager, type PagerRequest } from "../../src/terminal/pager/index.ts";
import { createClock, renderEntry } from "../../src/terminal/render/index.ts";
import { roomOf } from "../../src/terminal/screen/index.ts";
import { type Line, splitRows } from "../../src/terminal/text/index.ts";
import type { Entry } from "../../src/transcript/index.ts";

export const time = createClock("UTC");

export function promptEntry(index: number, body: string): Entry {
  return {
    kind: "delivered",
    name: `@${index}`,
    sender: "user",
    body,
    time: Date.UTC(2026, 0, 1, 12, index),
    place: { start: index, end: index + 1 },
  };
}

export function answerEntry(index: number, text: string): Entry {
  return {
    kind: "model",
    name: `@${index}`,
    blocks: [{ kind: "text", text }],
    usage: {},
    place: { start: index, end: index + 1 },
  };
}

export function outputEntry(index: number, content: string): Entry {
  return {
    kind: "tool-result",
    name: `@${index}`,
    toolUseId: `call-${index}`,
    content,
    isError: false,
    place: { start: index, end: index + 1 },
  };
}

const characterKeys: Readonly<Record<string, Key>> = { space: { name: "space", text: " " } };

/** `q`, `G`, `ctrl+u`, `alt+up`, `pagedown`. */
export function keyOf(name: string): Key {
  if (characterKeys[name] !== undefined) return characterKeys[name];
  const parts = name.length === 1 ? [name] : name.split("+");
  const base = parts.at(-1)!;
  return {
    name: base.toLowerCase(),
    ...(parts.includes("ctrl") && parts.length > 1 ? { ctrl: true as const } : {}),
    ...(parts.includes("alt") ? { alt: true as const } : {}),
    ...(name.length === 1 ? { text: base } : {}),
  };
}

export function textOf(line: Line): string {
  return line.spans.map((span) => span.text).join("");
}

/** The text of a row without its mark of the current block, and without blanks at its end. */
export function unmarked(line: Line): string {
  return textOf(line).replace(/^▏/, " ").trimEnd();
}

/** All rows of a log at a width, as one page. */
export function allRows(log: readonly Entry[], columns: number): readonly string[] {
  const width = roomOf(columns);
  return log.flatMap((entry, index) => {
    const previous = log[index - 1];
    const lines = renderEntry(entry, {
      width,
      detail: "full",
      time,
      ...(previous === undefined ? {} : { previous }),
    });
    return lines.flatMap((line) => splitRows(line, width)).map((line) => textOf(line).trimEnd());
  });
}

export interface RigOptions {
  readonly columns?: number;
  readonly rows?: number;
  readonly window?: number;
  readonly step?: number;
  /** Whether requests wait for `answer`. Default false: they are answered at once. */
  readonly isSlow?: boolean;
}

export interface Rig {
  readonly pager: ReturnType<typeof createPager>;
  readonly log: Entry[];
  /** Everything that was requested, in order. */
  readonly requests: readonly PagerRequest[];
  /** Keys by name, separated by blanks. */
  press(names: string): void;
  type(text: string): void;
  /** Answers the request that waits; false where none does. */
  answer(): boolean;
  append(entry: Entry): void;
  /** Shows the log's blocks anew, also those that were replaced in it. */
  refresh(): void;
  resize(columns: number, rows: number): void;
  /** All rows, without blanks at their ends. */
  screen(): readonly string[];
  /** The rows above the status row, unmarked. */
  body(): readonly string[];
  status(): string;
  readonly shown: { readonly lo: number; readonly hi: number };
}

export function createRig(entries: readonly Entry[], options: RigOptions = {}): Rig {
  const { columns = 40, rows = 10, window = 40, step = 10, isSlow = false } = options;
  const log = [...entries];
  const pager = createPager({ layout: { time }, reach: { blocksMax: window, stepMax: step } });
  const requests: PagerRequest[] = [];
  let lo = Math.max(0, log.length - window);
  let hi = log.length;
  let isStartKnown = log.length === 0;
  let pending: "older" | "newer" | "start" | undefined;
  const show = (): void => {
    take(
      pager.show({
        blocks: log.slice(lo, hi).map((entry) => ({ entry })),
        atStart: isStartKnown && lo === 0,
        atEnd: hi === log.length,
        loading: pending !== undefined,
        newBlocks: log.length - hi,
      }),
    );
  };
  const move = (): boolean => {
    if (pending === undefined) return false;
    const request = pending;
    pending = undefined;
    if (request === "older") {
      isStartKnown ||= lo === 0;
      lo = Math.max(0, lo - step);
      hi = Math.min(hi, lo + window);
    } else if (request === "newer") {
      hi = Math.min(log.length, hi + step);
      lo = Math.max(lo, hi - window);
    } else {
      lo = 0;
      hi = Math.min(step, log.length);
      isStartKnown = true;
    }
    show();
    return true;
  };
  const take = (wanted: readonly PagerRequest[]): void => {
    for (const request of wanted) {
      requests.push(request);
      if (request.type === "end") {
        hi = log.length;
        lo = Math.max(0, hi - window);
        pending = undefined;
        show();
      } else if (request.type === "older" || request.type === "newer" || request.type === "start") {
        pending = request.type;
        if (isSlow) show();
        else move();
      }
    }
  };
  pager.resize(columns, rows);
  show();
  return {
    pager,
    log,
    requests,
    press(names) {
      for (const name of names.split(" ")) take(pager.key(keyOf(name)));
    },
    type(text) {
      for (const character of text) take(pager.key(keyOf(character === " " ? "space" : character)));
    },
    answer: move,
    append(entry) {
      const isAtEnd = hi === log.length;
      log.push(entry);
      if (isAtEnd) {
        hi += 1;
        lo = Math.max(lo, hi - window);
      }
      show();
    },
    refresh: show,
    resize: (width, height) => take(pager.resize(width, height)),
    screen: () => pager.rows().map((line) => textOf(line).trimEnd()),
    body: () => pager.rows().slice(0, -1).map(unmarked),
    status: () => textOf(pager.rows().at(-1)!).trim(),
    get shown() {
      return { lo, hi };
    },
  };
}
