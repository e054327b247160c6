/** Entries for tests: short makers, and any entry at all. */
import fc from "fast-check";
import type {
  ContentBlock,
  DeliveredEntry,
  Entry,
  EntryBase,
  ModelEntry,
  ToolResultEntry,
  Usage,
} from "../../src/transcript/index.ts";

export function delivered(name: string, body = "hello"): DeliveredEntry {
  const sender = /^\d+-(.*)\.md$/.exec(name)?.[1] ?? "user";
  return { kind: "delivered", name, sender, body };
}

/** A message of the model: a text is a text block, `(text)` a thought, `!id` a call. */
export function model(name: string, blocks: readonly string[], usage: Usage = {}): ModelEntry {
  return { kind: "model", name, modelId: "opus", blocks: blocks.map(blockOf), usage };
}

function blockOf(text: string): ContentBlock {
  if (text.startsWith("!"))
    return { kind: "tool-use", id: text.slice(1), name: "bash", inputSummary: '{"command":"ls"}' };
  if (text.startsWith("(")) return { kind: "thinking", text: text.slice(1, -1) };
  return { kind: "text", text };
}

export function result(name: string, toolUseId: string, content = "ok", isError = false): ToolResultEntry {
  return { kind: "tool-result", name, toolUseId, content, isError };
}

const word = fc.string({ maxLength: 6, unit: "grapheme" });
const count = fc.nat({ max: 1_000_000 });
/** A record without the keys that are undefined: absent, as entries have it. */
function some<T extends object>(required: { [K in keyof T]?: fc.Arbitrary<unknown> }): fc.Arbitrary<T> {
  return fc.record(required as Record<string, fc.Arbitrary<unknown>>, {
    requiredKeys: [],
  }) as fc.Arbitrary<T>;
}

const base: fc.Arbitrary<EntryBase> = fc
  .tuple(
    word,
    some<Omit<EntryBase, "name">>({
      place: fc
        .tuple(count, count, some<{ file?: string }>({ file: word }))
        .map(([start, size, file]) => ({ start, end: start + size, ...file })),
      time: count,
      subagent: word,
      offPath: fc.boolean(),
    }),
  )
  .map(([name, rest]) => ({ name, ...rest }));

const attachment = fc
  .tuple(word, some({ bytes: count, name: word }))
  .map(([mediaType, rest]) => ({ mediaType, ...rest }));
const change = fc
  .tuple(word, some({ oldText: word, newText: word, patch: word }))
  .map(([path, rest]) => ({ path, ...rest }));
const state = fc.constantFrom("running", "done", "failed", "denied", "interrupted", "unanswered");
const outcome = fc
  .tuple(state, some({ exitCode: fc.integer(), durationMs: count, lines: count, note: word }))
  .map(([s, rest]) => ({ state: s, ...rest }));
const call = fc
  .tuple(fc.record({ name: word, inputSummary: word, entry: word }), some({ subject: word }))
  .map(([c, rest]) => ({ ...c, ...rest }));
const usage = fc.dictionary(word, count, { maxKeys: 3, noNullPrototype: true });

const block = fc.oneof(
  fc.record({ kind: fc.constantFrom("text", "thinking"), text: word }),
  fc
    .tuple(
      fc.record({ id: word, name: word, inputSummary: word }),
      some({ subject: word, changes: fc.array(change, { maxLength: 2 }), outcome }),
    )
    .map(([c, rest]) => ({ kind: "tool-use", ...c, ...rest })),
  attachment.map((a) => ({ kind: "attachment", attachment: a })),
  fc.record({ kind: fc.constant("other"), type: word, text: word }),
) as fc.Arbitrary<ContentBlock>;

const wound = fc.oneof(
  fc.constantFrom({ kind: "mute" }, { kind: "output-limit" }),
  fc.tuple(word, some({ source: word })).map(([words, rest]) => ({ kind: "spoke", words, ...rest })),
  some({ words: word, authRow: word }).map((rest) => ({ kind: "refused", ...rest })),
  some({ words: word }).map((rest) => ({ kind: "interrupted", ...rest })),
);

const resultFields = { toolUseId: word, content: word, isError: fc.boolean() };
const kinds = fc.oneof(
  fc
    .tuple(
      fc.record({ sender: fc.oneof(fc.constantFrom("user", "system"), word), body: word }),
      some({
        senderName: word,
        epitaph: word,
        topic: word,
        queued: fc.boolean(),
        attachments: fc.array(attachment, { maxLength: 2 }),
      }),
    )
    .map((parts) => ({ kind: "delivered", ...parts[0], ...parts[1] })),
  fc
    .tuple(
      fc.record({ blocks: fc.array(block, { maxLength: 4 }), usage }),
      some({ modelId: word, messageId: word, requestId: word, stopReason: word }),
    )
    .map((parts) => ({ kind: "model", ...parts[0], ...parts[1] })),
  fc
    .tuple(
      fc.record(resultFields),
      some({
        attachments: fc.array(attachment, { maxLength: 2 }),
        changes: fc.array(change, { maxLength: 2 }),
        outcome,
        call,
        further: fc.array(
          fc.tuple(fc.record(resultFields), some({ outcome, call })).map(([r, rest]) => ({ ...r, ...rest })),
          { maxLength: 2 },
        ),
      }),
    )
    .map((parts) => ({ kind: "tool-result", ...parts[0], ...parts[1] })),
  fc.record({ kind: fc.constant("streaming"), thinking: word, text: word }),
  fc.record({ kind: fc.constant("wounded"), wound }),
  fc
    .tuple(
      fc.record({ summary: word }),
      some({ first: count, last: count, trigger: word, tokensBefore: count, tokensAfter: count }),
    )
    .map((parts) => ({ kind: "compacted", ...parts[0], ...parts[1] })),
  fc
    .tuple(fc.record({ reason: word, text: word }), some({ damaged: fc.boolean() }))
    .map((parts) => ({ kind: "raw", ...parts[0], ...parts[1] })),
);

/** Any entry: every kind, every field present or absent. */
export const anyEntry: fc.Arbitrary<Entry> = fc
  .tuple(base, kinds)
  .map(([b, rest]) => ({ ...b, ...rest }) as unknown as Entry);
