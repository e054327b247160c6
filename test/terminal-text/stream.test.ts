import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  createStreamRenderer,
  loadHighlighter,
  type RenderOptions,
  renderEntry,
} from "../../src/terminal/render/index.ts";
import {
  blockUnitsMax,
  codePieceLinesMax,
  codePieceLinesMin,
  highlightLinesMax,
} from "../../src/terminal/render/limits.ts";
import type { Line } from "../../src/terminal/text/index.ts";
import type { Entry } from "../../src/transcript/index.ts";
import { hostile, lineFault, screen, textOf } from "./support.ts";

const seed = 20_261_204;
const highlighter = await loadHighlighter();
const options: RenderOptions = { width: 60, detail: "compact", highlighter };

function whole(text: string, thinking = ""): readonly Line[] {
  const entry: Entry = { kind: "streaming", name: "@0", thinking, text };
  return renderEntry(entry, options);
}

const fragment = fc.constantFrom(
  "A sentence of some words that goes on for a while, `code` and **bold** included. ",
  "word ",
  "\n",
  "\n\n",
  "\n\n\n",
  "- item\n",
  "- item with *emphasis\n",
  "  - nested item\n",
  "    continued text\n",
  "1. first\n",
  "2. second\n",
  "10) tenth\n",
  "* star\n",
  "+ plus\n",
  "- [ ] task\n",
  "- [x] done\n",
  "- \n",
  "# Heading\n",
  "Setext\n===\n",
  "text\n---\n",
  "---\n",
  "* * *\n",
  "> quote\n",
  "> - list in quote\n",
  "> ```\n> code\n> ```\n",
  "```ts\nconst a = 1; // x\n```\n",
  "```\nplain\n\nmore\n```\n",
  "```",
  "~~~\n",
  "````md\n```\n````\n",
  "  ```js\n  indented();\n  ```\n",
  "   ```\n",
  "    indented code\n",
  "| a | b |\n|---|--:|\n| 1 | 2 |\n",
  "| row | more |\n",
  "|--|\n",
  "<details>\n<summary>x</summary>\n",
  "</details>\n",
  "<!-- comment\n\nmore -->\n",
  "[ref]: http://x.test\n",
  "[ref] [text](http://y.test) ![image](z.png)\n",
  "\\*escaped\\* &amp; &lt; ~~gone~~\n",
  "line with two spaces  \nnext\n",
  "\ttabbed\n",
  "\u6f22\u5b57\u3002**\u592a**\n",
  "\u{1f468}\u200d\u{1f469}\n",
  "\r\n",
  "1%\r2%\r",
  "\x1b[31mred\x1b[0m",
  "\x1b]52;c;QUJD",
  "**",
  "`",
  "_",
  "[",
  "<",
);
const document = fc.array(fragment, { minLength: 1, maxLength: 30 }).map((parts) => parts.join(""));

describe("a growing text", () => {
  it("is at every step what the whole text so far looks like, and settled lines stay", () => {
    fc.assert(
      fc.property(
        document,
        fc.array(fc.integer({ min: 1, max: 40 }), { minLength: 1, maxLength: 12 }),
        (text, steps) => {
          const stream = createStreamRenderer(options);
          const settled: Line[] = [];
          let at = 0;
          for (let step = 0; at < text.length; step++) {
            const size = steps[step % steps.length]!;
            const delta = text.slice(at, at + size);
            at += size;
            const lines = stream.pushText(delta);
            settled.push(...lines.settled);
            expect(screen([...settled, ...lines.open])).toBe(screen(whole(text.slice(0, at))));
            expect([...settled, ...lines.open]).toEqual(whole(text.slice(0, at)));
          }
          settled.push(...stream.end().settled);
          expect(settled).toEqual(whole(text));
          for (const line of settled) expect(lineFault(line, options.width)).toBe("");
        },
      ),
      { seed, numRuns: 150 },
    );
  });

  it("has the same lines in the model's finished entry", () => {
    const text = "Some *text*.\n\n- a\n- b\n\n```ts\nlet a = 1;\n```\nend";
    const model: Entry = {
      kind: "model",
      name: "@1",
      usage: {},
      blocks: [
        { kind: "thinking", text: "hmm" },
        { kind: "text", text },
      ],
    };
    expect(renderEntry(model, options)).toEqual(whole(text, "hmm"));
  });

  it("gives thinking first, and settles it when the text begins", () => {
    const stream = createStreamRenderer(options);
    expect(screen(stream.pushThinking("one two").open)).toBe(" \u2234 one two");
    expect(stream.pushText("").settled).toEqual([]);
    const first = stream.pushText("answer");
    expect(screen(first.settled)).toBe(" \u2234 one two");
    expect(screen(first.open)).toBe("\n   answer");
    expect(screen(stream.end().settled)).toBe("\n   answer");
  });

  it("pi#4204, pi#7718: a list whose indent changes does not alter settled rows", () => {
    const stream = createStreamRenderer(options);
    const settled: Line[] = [];
    for (let item = 1; item <= 100; item++) settled.push(...stream.pushText(`- item ${item}\n`).settled);
    expect(settled.map(textOf)).toEqual(
      Array.from({ length: 99 }, (_, index) => `   \u2022 item ${index + 1}`),
    );
    const before = [...settled];
    const changed = stream.pushText("  - deeper\n\n    loose now\n- last\n");
    expect(screen(changed.settled)).toBe("   \u2022 item 100\n     \u25e6 deeper\n\n       loose now");
    expect(settled).toEqual(before);
    settled.push(...changed.settled, ...stream.end().settled);
    expect(settled.slice(0, 99)).toEqual(before);
  });

  it("pi#4204, pi#7718: a fence that opens does not alter settled rows", () => {
    const stream = createStreamRenderer(options);
    const first = stream.pushText("One.\n\nTwo ");
    expect(screen(first.settled)).toBe("   One.");
    const second = stream.pushText("more\n```\ncode **not bold**\n");
    expect(screen(second.settled)).toBe("\n   Two more");
    expect(screen(second.open)).toBe("\ncode **not bold**");
  });

  it("settles the lines of a long fence while it is open", () => {
    const stream = createStreamRenderer(options);
    const settled: Line[] = [...stream.pushText("```\n").settled];
    for (let line = 0; line < codePieceLinesMax; line++)
      settled.push(...stream.pushText(`line ${line}\n`).settled);
    expect(settled).toHaveLength(codePieceLinesMax);
    for (let line = 0; line < codePieceLinesMin - 1; line++) stream.pushText("x\n");
    expect(stream.pushText("\n").settled).toHaveLength(codePieceLinesMin);
  });

  it("colours code up to a limit of lines", () => {
    const lines = (count: number): string => `\`\`\`ts\n${"const a = 1;\n".repeat(count)}\`\`\`\n`;
    const colored = whole(lines(highlightLinesMax + codePieceLinesMax)).filter((line) =>
      line.spans.some((span) => span.tone === "keyword"),
    );
    const pieces = Math.ceil(highlightLinesMax / codePieceLinesMax);
    expect(colored).toHaveLength(pieces * codePieceLinesMax);
  });

  it("cuts a block that is too long, and still gives the same lines in any pieces", () => {
    const text = "word ".repeat(blockUnitsMax / 2);
    const stream = createStreamRenderer(options);
    const settled: Line[] = [];
    for (let at = 0; at < text.length; at += 1000)
      settled.push(...stream.pushText(text.slice(at, at + 1000)).settled);
    expect(settled.length).toBeGreaterThan(0);
    settled.push(...stream.end().settled);
    expect(settled).toEqual(whole(text));
    expect(settled.map(textOf).join("").replaceAll(" ", "")).toBe(text.replaceAll(" ", ""));
  });

  it("field faults case 4, cc#39593: Chinese with marks, one unit at a time, loses nothing", () => {
    const text =
      "\u5927\u5bb6**\u597d**\u3002`\u4ee3\u7801`\u3002\u{1f600}\u{1f468}\u200d\u{1f469}\u200d\u{1f466} ".repeat(
        20,
      );
    const stream = createStreamRenderer(options);
    const settled: Line[] = [];
    for (const unit of text.split("")) settled.push(...stream.pushText(unit).settled);
    settled.push(...stream.end().settled);
    expect(settled).toEqual(whole(text));
    expect(screen(settled)).not.toContain("\ufffd");
    expect(screen(settled)).not.toContain("\u2039");
  });

  it("crush#3207: costs what is added, not what is there", () => {
    const paragraph = "A sentence of some words that goes on for a while, with `code`. ".repeat(6);
    // What is laid out anew with each piece is the block under work, however much stands above it.
    const openMost = (paragraphs: number): number => {
      const stream = createStreamRenderer(options);
      const text = `${paragraph}\n\n- item\n- item\n\n`.repeat(paragraphs);
      let most = 0;
      for (let at = 0; at < text.length; at += 64)
        most = Math.max(most, stream.pushText(text.slice(at, at + 64)).open.length);
      return most;
    };
    expect(openMost(800)).toBe(openMost(10));
  });

  it.each(Object.entries(hostile))("stays within bounds for %s without end", (_name, value) => {
    const stream = createStreamRenderer(options);
    const text = value.repeat(Math.ceil(40_000 / Math.max(1, value.length))).slice(0, 40_000);
    for (let at = 0; at < text.length; at += 2_000) stream.pushText(text.slice(at, at + 2_000));
    const lines = stream.end().settled;
    for (const line of lines) expect(lineFault(line, options.width)).toBe("");
  });
});
