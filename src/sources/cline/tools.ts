/** The tools of a task's rows. A row tells the call and how it ended at once, or leaves its end to the rows after it. */
import type { ContentBlock, FileChange } from "../../transcript/index.ts";
import { callBlock, parseArguments, patchChange } from "../calls.ts";
import type { EntryDraft } from "../classifier.ts";
import { type Fields, lineCount, objectOf, stringOf, timed, wordOf } from "../fields.ts";

/** Tools whose `content` is what they found, not what they write. */
const FINDING = /^(?:list|search|webFetch|webSearch|codebaseSearch|fetchInstructions|readFile$|useSkill)/i;

/**
 * The call of a tool row, and what it found, where the row holds it. The row stands once the tool ran, so the call counts as done; one
 * that waits to be allowed cannot be told from it.
 */
export function toolEntries(
  text: string,
  id: string,
  model: (blocks: readonly ContentBlock[]) => EntryDraft,
  time: number | undefined,
): readonly EntryDraft[] {
  const fields = objectOf(parseArguments(text));
  if (fields === undefined) return [model([done(callBlock(undefined, "tool", text))])];
  const { tool, content, diff, ...input } = fields;
  const name = wordOf(tool) ?? "tool";
  const found = FINDING.test(name) && name !== "readFile" ? stringOf(content) : undefined;
  const changes = changesOf(name, fields);
  const block = callBlock(found === undefined ? undefined : id, name, input);
  const shown = { ...block, ...(changes.length > 0 ? { changes } : {}) } as ContentBlock;
  if (found === undefined) return [model([done(shown)])];
  return [
    model([shown]),
    {
      kind: "tool-result",
      toolUseId: id,
      content: found,
      isError: false,
      outcome: { state: "done", lines: lineCount(found) },
      ...timed(time),
    },
  ];
}

function done(block: ContentBlock): ContentBlock {
  return block.kind === "tool-use" ? { ...block, outcome: { state: "done" } } : block;
}

function changesOf(name: string, fields: Fields): readonly FileChange[] {
  const path = wordOf(fields["path"]);
  if (path === undefined) return [];
  const diff = wordOf(fields["diff"]);
  if (diff !== undefined) return [{ path, patch: patchChange(diff)?.patch ?? diff }];
  const content = stringOf(fields["content"]);
  if (content === undefined || FINDING.test(name)) return [];
  // An edit without a patch of its own holds it as its content.
  return name === "newFileCreated" ? [{ path, newText: content }] : [{ path, patch: content }];
}

/** A command; a partial row is still being written. */
export function commandBlock(text: string, isPartial: boolean): ContentBlock {
  const block = callBlock(undefined, "command", { command: text });
  return isPartial ? block : done(block);
}

/** A call of a server's tool. */
export function mcpBlock(text: string): ContentBlock {
  const fields = objectOf(parseArguments(text)) ?? {};
  const server = wordOf(fields["serverName"]) ?? "";
  const name = wordOf(fields["toolName"]) ?? wordOf(fields["uri"]) ?? wordOf(fields["type"]) ?? "";
  return done(callBlock(undefined, `${server}/${name}`, parseArguments(fields["arguments"])));
}

/** What is done in the browser; the launch is told by its address alone. */
export function browserBlock(text: string): ContentBlock {
  const input = parseArguments(text);
  return done(callBlock(undefined, "browser", typeof input === "string" ? { url: input } : input));
}
