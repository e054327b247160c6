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
  let hasText = false;
  const begin = (): readonly Line[] => {
    if (hasText) return [];
    hasText = true;
    const lines = thinkingLines(thinking, options);
    return lines.length > 0 ? [...lines, blankLine] : [];
  };
  return {
    pushThinking(delta) {
      thinking += delta;
      return { settled: [], open: hasText ? prose.open() : thinkingLines(thinking, options) };
    },
    pushText(delta) {
      if (delta === "")
        return { settled: [], open: hasText ? prose.open() : thinkingLines(thinking, options) };
      const lead = begin();
      return { settled: [...lead, ...prose.push(delta)], open: prose.open() };
    },
    end() {
      const lead = hasText ? [] : thinkingLines(thinking, options);
      return { settled: [...lead, ...prose.end()], open: [] };
    },
  };
}
