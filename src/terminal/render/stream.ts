/** A text that is still being written: what is settled is given once and never changes. */

import type { Line } from "../text/index.ts";
import { blankLine } from "./layout.ts";
import { ProseStream } from "./markdown.ts";
import type { RenderOptions } from "./options.ts";
import { proseIndent, thinkingLines } from "./parts.ts";

/** What has become of a growing text. */
export interface StreamLines {
  /** Lines that became settled by this step: to be printed after those of earlier steps, once. */
  readonly settled: readonly Line[];
  /** The lines below them as they stand; they replace the open ones of the step before. */
  readonly open: readonly Line[];
}

/**
 * Draws a growing answer. The settled lines of all steps followed by the open ones are always what `renderEntry` gives for a streaming
 * entry of the text so far. A step costs what it adds and the block under work, which is bounded.
 */
export interface StreamRenderer {
  /** More of the answer's thinking; it comes before the text, and is settled when the text begins. */
  pushThinking(delta: string): StreamLines;
  pushText(delta: string): StreamLines;
  /** The text is complete. */
  end(): StreamLines;
}

export function createStreamRenderer(options: RenderOptions): StreamRenderer {
  const prose = new ProseStream({
    width: Math.max(1, Math.floor(options.width)),
    indent: proseIndent,
    ...(options.highlighter === undefined ? {} : { highlighter: options.highlighter }),
  });
  let thinking = "";
  let isTextBegun = false;
  // The blank row under the thinking comes with the first row of the text: a text of blanks alone has none.
  let isGapDue = false;
  const begin = (): readonly Line[] => {
    if (isTextBegun) return [];
    isTextBegun = true;
    const lines = thinkingLines(thinking, options);
    isGapDue = lines.length > 0;
    return lines;
  };
  const parted = (lines: readonly Line[]): readonly Line[] =>
    isGapDue && lines.length > 0 ? [blankLine, ...lines] : lines;
  const settle = (lines: readonly Line[]): readonly Line[] => {
    const settled = parted(lines);
    if (lines.length > 0) isGapDue = false;
    return settled;
  };
  const open = (): readonly Line[] => (isTextBegun ? parted(prose.open()) : thinkingLines(thinking, options));
  return {
    pushThinking(delta) {
      thinking += delta;
      return { settled: [], open: open() };
    },
    pushText(delta) {
      if (delta === "") return { settled: [], open: open() };
      const lead = begin();
      return { settled: [...lead, ...settle(prose.push(delta))], open: open() };
    },
    end() {
      const lead = begin();
      return { settled: [...lead, ...settle(prose.end())], open: [] };
    },
  };
}
