import { describe, expect, it } from "vitest";
import {
  createStreamRenderer,
  type Detail,
  loadHighlighter,
  type RenderOptions,
  renderEntry,
  renderNotice,
  renderStatus,
} from "../../src/terminal/render/index.ts";
import type { Line } from "../../src/terminal/text/index.ts";
import type { CallState, ContentBlock, Entry, Wound } from "../../src/transcript/index.ts";
import { hostile, lineFault } from "./support.ts";

const widths = [1, 2, 3, 10, 24, 80, 200] as const;
const details: readonly Detail[] = ["compact", "full", "raw"];
const states: readonly CallState[] = ["running", "done", "failed", "denied", "interrupted", "unanswered"];

/** Every kind of entry with `text` in every field that holds text. */
function entriesWith(text: string): readonly Entry[] {
  const base = { name: text, subagent: text, offPath: true, place: { start: 1, end: 9, file: text } };
  const outcome = { exitCode: 1, durationMs: 100, lines: 3, note: text };
  const attachments = [{ mediaType: text, name: text, bytes: 4 }];
  const changes = [
    { path: text, oldText: `a\n${text}\nb`, newText: `a\nc ${text}\n` },
    { path: text, newText: text },
    { path: text, oldText: text },
    { path: text, patch: `--- a\n+++ b\n@@ -1,2 +1,2 @@ ${text}\n-${text}\n+${text}x\n ${text}` },
    { path: text, patch: text },
  ];
  const uses = states.map(
    (state): ContentBlock => ({
      kind: "tool-use",
      id: text,
      name: text,
      inputSummary: text,
      subject: text,
      changes,
      outcome: state === "failed" ? { ...outcome, state } : { state, note: text },
    }),
  );
  const blocks: readonly ContentBlock[] = [
    { kind: "text", text },
    {
      kind: "text",
      text: `# ${text}\n\n- ${text}\n  1. ${text}\n\n> ${text}\n\n| ${text} | b |\n|--|--|\n| ${text} | c |\n`,
    },
    {
      kind: "text",
      text: `\`\`\`ts\nconst a = "${text}";\n\`\`\`\n\n\`\`\`${text}\n${text}\n\`\`\`\n[${text}](${text} "${text}") \`${text}\``,
    },
    { kind: "thinking", text },
    ...uses,
    { kind: "tool-use", id: "x", name: "Read", inputSummary: text, subject: text },
    { kind: "attachment", attachment: { mediaType: text, name: text } },
    { kind: "other", type: text, text },
  ];
  const wounds: readonly Wound[] = [
    { kind: "mute" },
    { kind: "output-limit" },
    { kind: "spoke", words: text },
    { kind: "refused", words: text, authRow: text },
    { kind: "interrupted", words: text },
  ];
  return [
    { ...base, kind: "delivered", sender: "user", body: text, queued: true, attachments, time: 0 },
    { ...base, kind: "delivered", sender: "system", topic: text, body: text, attachments },
    { ...base, kind: "delivered", sender: text, senderName: text, epitaph: text, body: text },
    {
      name: text,
      kind: "model",
      modelId: text,
      blocks,
      usage: { [text]: 12 },
      stopReason: text,
      messageId: text,
    },
    { ...base, kind: "model", blocks: [], usage: {} },
    { ...base, kind: "tool-result", toolUseId: text, content: text, isError: false, attachments, changes },
    {
      ...base,
      kind: "tool-result",
      toolUseId: text,
      content: `${text}\n${`${text}\n`.repeat(12)}`,
      isError: true,
      outcome: { ...outcome, state: "failed" },
      call: { name: text, subject: text, inputSummary: text, entry: text },
    },
    { ...base, kind: "streaming", thinking: text, text },
    ...wounds.map((wound): Entry => ({ ...base, kind: "wounded", wound, time: 1e18 })),
    { ...base, kind: "compacted", summary: text, trigger: text, tokensBefore: 5, first: 1, last: 2 },
    { ...base, kind: "raw", reason: text, text, damaged: true },
  ];
}

function check(lines: readonly Line[], width: number, what: string): void {
  for (const line of lines) {
    const fault = lineFault(line, width);
    if (fault !== "") expect.fail(`${what} at width ${width}: ${fault}`);
  }
}

describe("field faults case 5, ai#20052, open-code-review#143: hostile text in every field of every entry", async () => {
  const highlighter = await loadHighlighter();
  it.each(Object.entries(hostile))("%s", (_name, text) => {
    const entries = entriesWith(text);
    const bytes = new TextEncoder().encode(`{"a":"${text}"}\n`);
    for (const width of widths) {
      for (const detail of details) {
        let previous: Entry | undefined;
        for (const entry of entries) {
          const options: RenderOptions = {
            width,
            detail,
            highlighter,
            moreKey: text,
            time: () => text,
            now: 5,
            spinnerFrame: 3,
            ...(detail === "raw" ? { bytes } : {}),
            ...(previous === undefined ? {} : { previous }),
          };
          check(renderEntry(entry, options), width, `${entry.kind} in ${detail}`);
          previous = entry;
        }
      }
      const status = renderStatus(
        {
          agent: text,
          model: text,
          title: text,
          tokens: 5,
          state: "running",
          elapsedMs: 5,
          keys: [text, text],
        },
        width,
      );
      check([status], width, "status");
      check(renderNotice({ tone: "error", text }, width), width, "notice");
    }
  });

  it("the next block is undisturbed", () => {
    const clean: Entry = { name: "@1", kind: "delivered", sender: "user", body: "clean" };
    const options: RenderOptions = { width: 80, detail: "compact" };
    const alone = renderEntry(clean, options);
    for (const text of Object.values(hostile)) {
      for (const entry of entriesWith(text)) renderEntry(entry, options);
      expect(renderEntry(clean, options)).toEqual(alone);
    }
  });

  it.each(Object.entries(hostile))("streamed and cut at every offset: %s", (_name, text) => {
    const whole = `before ${text.slice(0, 120)} after\n\nnext`;
    const expected = renderEntry(
      { kind: "streaming", name: "@0", thinking: "", text: whole },
      { width: 40, detail: "compact" },
    );
    for (let cut = 0; cut <= whole.length; cut++) {
      const stream = createStreamRenderer({ width: 40, detail: "compact" });
      const lines = [
        ...stream.pushText(whole.slice(0, cut)).settled,
        ...stream.pushText(whole.slice(cut)).settled,
        ...stream.end().settled,
      ];
      expect(lines).toEqual(expected);
    }
    check(expected, 40, "stream");
  });
});
