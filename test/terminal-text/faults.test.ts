/** The field's faults against the text layer, each by its name. docs/faults.md lists them all. */
import { expect, it } from "vitest";
import { createStreamRenderer, type RenderOptions, renderEntry } from "../../src/terminal/render/index.ts";
import { thinkingRowsMax } from "../../src/terminal/render/limits.ts";
import { decodeBytes } from "../../src/terminal/text/index.ts";
import type { Entry } from "../../src/transcript/index.ts";
import { lineFault, textOf } from "./support.ts";

const options: RenderOptions = { width: 60, detail: "full" };

function answer(text: string): Entry {
  return { kind: "model", name: "@0", usage: {}, blocks: [{ kind: "text", text }] };
}

it("cc#39967, cc#42200, cc#20461: code begins in the first column and has nothing behind it, so that a here-document ends", () => {
  const code = ["cat <<EOF > a.yaml", "a:", "  b: 1", "EOF"];
  const rows = renderEntry(answer(`Do this:\n\n\`\`\`sh\n${code.join("\n")}\n\`\`\`\n`), options).map(textOf);
  expect(rows.slice(-code.length)).toEqual(code);
});

it("cc#251, codex#36017, codex#3279: a Go file is indented by columns, within its width", () => {
  const code = "func f() {\n\tif x {\n\t\tfor {\n\t\t\ty()\t// why\n";
  const output: Entry = { kind: "tool-result", name: "@0", toolUseId: "t", isError: false, content: code };
  const rowOf = (entry: Entry): string | undefined => {
    const lines = renderEntry(entry, options);
    for (const line of lines) expect(lineFault(line, options.width)).toBe("");
    return lines.map(textOf).find((row) => row.includes("y()"));
  };
  expect(rowOf(output)).toBe(`     ${" ".repeat(24)}y()     // why`);
  expect(rowOf(answer(`\`\`\`go\n${code}\`\`\``))).toBe(`${" ".repeat(12)}y() // why`);
});

it("cc#94408: 4 KB of random bytes as a tool's output are shown, and nothing of them is obeyed", () => {
  let state = 7;
  const bytes = Uint8Array.from({ length: 4_096 }, () => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) & 0x7fffffff;
    return state >> 16;
  });
  for (const content of [
    decodeBytes(bytes),
    Buffer.from(bytes).toString("latin1"),
    Buffer.from(bytes).toString(),
  ]) {
    for (const detail of ["compact", "full"] as const) {
      const entry: Entry = { kind: "tool-result", name: "@0", toolUseId: "t", isError: false, content };
      const lines = renderEntry(entry, { ...options, detail });
      expect(lines.length).toBeGreaterThan(0);
      for (const line of lines) expect(lineFault(line, options.width)).toBe("");
    }
  }
});

it("crush#3207: thinking that grows on the main screen is laid out in its folded rows alone", () => {
  const piece = "A thought of some words that goes on for a while. ";
  const stream = createStreamRenderer({ width: 80, detail: "compact" });
  let most = 0;
  for (let count = 0; count < 2_000; count++)
    most = Math.max(most, stream.pushThinking(count % 10 === 9 ? `${piece}\n\n` : piece).open.length);
  expect(most).toBeLessThanOrEqual(thinkingRowsMax + 1);
});
