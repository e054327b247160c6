import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { renderEntry } from "../../src/terminal/render/index.ts";
import { GrowingBlock, type Printing } from "../../src/terminal/shell/growing-block.ts";
import type { Line } from "../../src/terminal/text/index.ts";
import type { Entry, StreamingEntry } from "../../src/transcript/index.ts";

const prompt: Entry = { kind: "delivered", name: "p", sender: "user", body: "go", time: 0 };
const options = { detail: "compact", previous: prompt, time: () => "12:00" } as const;

function streaming(text: string, thinking = ""): StreamingEntry {
  return { kind: "streaming", name: "s", thinking, text };
}

function model(text: string, thinking = ""): Entry {
  const blocks = [
    ...(thinking === "" ? [] : [{ kind: "thinking", text: thinking } as const]),
    { kind: "text", text } as const,
  ];
  return { kind: "model", name: "s", blocks, usage: {} };
}

function words(lines: readonly Line[]): readonly string[] {
  return lines.map((line) => line.spans.map((span) => span.text).join(""));
}

/** Grows a block through versions of a text; gives all that was printed. */
function print(versions: readonly Entry[], last: Entry, width: number): readonly Printing[] {
  const block = new GrowingBlock(options, width);
  const printings: Printing[] = [];
  for (const version of versions) {
    const printing = block.grow(version);
    if (printing !== undefined && printing !== "rewritten") printings.push(printing);
  }
  printings.push(block.finish(last));
  return printings;
}

const pieces = fc.array(
  fc.oneof(
    fc.constantFrom(
      "\n",
      "\n\n",
      "- item ",
      "# head\n",
      "```ts\n",
      "```\n",
      "| a | b |\n",
      "> said ",
      "**bold** ",
    ),
    fc.string({ maxLength: 12 }),
    fc.constantFrom("a long run of words that must be wrapped somewhere ", "日本語の文字 ", "x".repeat(50)),
  ),
  { maxLength: 20 },
);

describe("a growing block", () => {
  test("the blank row that parts it from the prompt comes once", () => {
    const printings = print([streaming("One.\n\nTw"), streaming("One.\n\nTwo.")], model("One.\n\nTwo."), 40);
    expect(words(printings.flatMap((p) => p.lines))).toEqual(["", "   One.", "", "   Two."]);
  });

  test("settled lines are printed while the rest stays open", () => {
    const block = new GrowingBlock(options, 40);
    const printing = block.grow(streaming("First paragraph.\n\nSecond par"));
    expect(printing).toMatchObject({ lines: expect.anything() });
    expect(block.isStarted).toBe(true);
    expect(words(block.open).at(-1)).toBe("   Second par");
  });

  test("what was printed stays where the text is rewritten, and the new end follows", () => {
    const block = new GrowingBlock(options, 40);
    block.grow(streaming("Kept.\n\nOld end.\n\nx"));
    expect(block.grow(streaming("Kept.\n\nNew end."))).toBe("rewritten");
    const rest = words(block.finish(model("Kept.\n\nNew end.")).lines);
    expect(rest).toEqual(["   New end."]);
  });

  test("printed in pieces it is the block as a whole, at its own width and any other", () => {
    fc.assert(
      fc.property(
        pieces,
        fc.string({ maxLength: 40 }),
        fc.integer({ min: 1, max: 90 }),
        fc.integer({ min: 1, max: 90 }),
        (parts, thinking, width, other) => {
          const versions = parts.map((_, index) => streaming(parts.slice(0, index + 1).join(""), thinking));
          const last = streaming(parts.join(""), thinking);
          const printings = print(versions, last, width);
          expect(printings.flatMap((p) => p.lines)).toEqual(renderEntry(last, { ...options, width }));
          expect(printings.flatMap((p) => p.relayout(other))).toEqual(
            renderEntry(last, { ...options, width: other }),
          );
        },
      ),
    );
  });

  test("a model entry that is told again as it grows is printed like a stream", () => {
    fc.assert(
      fc.property(
        pieces,
        fc.string({ maxLength: 40 }),
        fc.integer({ min: 4, max: 90 }),
        (parts, thinking, width) => {
          const versions = parts.map((_, index) => model(parts.slice(0, index + 1).join(""), thinking));
          const last = model(parts.join(""), thinking);
          expect(print(versions, last, width).flatMap((p) => p.lines)).toEqual(
            renderEntry(last, { ...options, width }),
          );
        },
      ),
    );
  });

  test("a change of the width in the middle loses and repeats nothing", () => {
    fc.assert(
      fc.property(
        pieces,
        fc.nat(20),
        fc.integer({ min: 2, max: 90 }),
        fc.integer({ min: 2, max: 90 }),
        (parts, at, width, other) => {
          const block = new GrowingBlock(options, width);
          const printings: Printing[] = [];
          for (const [index] of parts.entries()) {
            if (index === at) block.rebase(other);
            const printing = block.grow(streaming(parts.slice(0, index + 1).join("")));
            if (printing !== undefined && printing !== "rewritten") printings.push(printing);
          }
          const last = streaming(parts.join(""));
          printings.push(block.finish(last));
          // Laid out for one width, all printings together are the block, whatever width each was printed at.
          expect(printings.flatMap((p) => p.relayout(60))).toEqual(
            renderEntry(last, { ...options, width: 60 }),
          );
        },
      ),
    );
  });
});
