/** Blocks with numbered words, printed in each of the ways that lines have. */
import { type Line, splitRows, wrapWords } from "../../../src/terminal/text/index.ts";

export const printedWays = ["prose", "flow", "wide", "emoji"] as const;

export type PrintedWay = (typeof printedWays)[number];

export function wordsOf(block: number, count: number): readonly string[] {
  return Array.from({ length: count }, (_, index) => `#${block}.${index};`);
}

/** The words of `wordsOf` in what a terminal shows, in order, whatever rows they stand in. */
export function findWords(lines: readonly string[]): readonly string[] {
  return (
    lines
      .join("")
      .replaceAll(" ", "")
      .match(/#\d+\.\d+;/g) ?? []
  );
}

/** The words as lines of at most `width` cells, or as lines that the terminal wraps. */
export function linesOf(words: readonly string[], way: PrintedWay, width: number): readonly Line[] {
  const flow = (separator: string): Line => ({ spans: [{ text: words.join(separator) }], wrap: "flow" });
  switch (way) {
    case "prose":
      return wrapWords([{ text: words.join(" ") }], width).map((spans) => ({ spans, wrap: "fit" }));
    case "flow":
      return [flow(" ")];
    case "wide":
      return [flow("漢字")];
    case "emoji":
      return splitRows(flow(" 👩‍💻❤️ "), width);
  }
}

/** A block of a fixed course of blocks: its length and way go by its number. */
export function contentOf(block: number): readonly string[] {
  return wordsOf(block, (block * 7) % 23);
}

export function wayOf(block: number): PrintedWay {
  return printedWays[block % printedWays.length] ?? "prose";
}
