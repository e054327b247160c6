/** Keeps every text of an entry within its cap, whatever the record held. */
import type { ContentBlock, FileChange } from "../transcript/index.ts";
import type { EntryDraft } from "./classifier.ts";
import { cutText, lineCount, RAW_TEXT_MAX } from "./fields.ts";
import { ENTRY_PARTS_MAX, ENTRY_TEXT_MAX } from "./limits.ts";

/** Most UTF-16 units of a name, an id or another word that is shown in a line. */
const WORD_MAX = 4096;

/** A copy that shares no memory with the text it was cut from: a slice would keep a record of many megabytes alive. */
function detached(text: string): string {
  return Buffer.from(text, "utf16le").toString("utf16le");
}

/** The text within the cap, cut between code points and saying how much was left out. */
export function capText(text: string, max: number = ENTRY_TEXT_MAX): string {
  if (text.length <= max) return text;
  let end = max;
  const last = text.charCodeAt(end - 1);
  if (last >= 0xd800 && last <= 0xdbff) end -= 1;
  return `${detached(text.slice(0, end))}\n… [${text.length - end} more characters are in the log]`;
}

function capWord(text: string, max: number = WORD_MAX): string {
  return text.length <= max ? text : detached(cutText(text.slice(0, max), max - 1));
}

function capChange(change: FileChange): FileChange {
  return {
    ...change,
    path: capWord(change.path),
    ...(change.oldText === undefined ? {} : { oldText: capText(change.oldText) }),
    ...(change.newText === undefined ? {} : { newText: capText(change.newText) }),
    ...(change.patch === undefined ? {} : { patch: capText(change.patch) }),
  };
}

function capList<T>(list: readonly T[]): readonly T[] {
  return list.length <= ENTRY_PARTS_MAX ? list : list.slice(0, ENTRY_PARTS_MAX);
}

function capBlock(block: ContentBlock): ContentBlock {
  switch (block.kind) {
    case "text":
    case "thinking":
      return block.text.length <= ENTRY_TEXT_MAX ? block : { ...block, text: capText(block.text) };
    case "other":
      return { ...block, type: capWord(block.type), text: capText(block.text, RAW_TEXT_MAX * 2) };
    case "tool-use":
      return {
        ...block,
        name: capWord(block.name),
        ...(block.subject === undefined ? {} : { subject: detached(block.subject) }),
        ...(block.changes === undefined ? {} : { changes: capList(block.changes).map(capChange) }),
      };
    case "attachment":
      return block;
  }
}

function capBlocks(blocks: readonly ContentBlock[]): readonly ContentBlock[] {
  const capped = capList(blocks).map(capBlock);
  const left = blocks.length - capped.length;
  return left === 0
    ? capped
    : [...capped, { kind: "other", type: "cut", text: `${left} more blocks are in the log` }];
}

/** No result is left out, for it ends its call; but of those past the cap only the size is told. */
function roomOf(furtherAt: number): number {
  return furtherAt < ENTRY_PARTS_MAX ? ENTRY_TEXT_MAX : 0;
}

/** The draft with each text, list and change within its cap. The lines of a result are counted before it is cut. */
export function capDraft(draft: EntryDraft): EntryDraft {
  switch (draft.kind) {
    case "delivered":
      return {
        ...draft,
        sender: capWord(draft.sender),
        body: capText(draft.body),
        ...(draft.attachments === undefined ? {} : { attachments: capList(draft.attachments) }),
      };
    case "model":
      return { ...draft, blocks: capBlocks(draft.blocks) };
    case "tool-result": {
      const isCut = draft.content.length > ENTRY_TEXT_MAX;
      const lines = draft.outcome?.lines ?? (isCut ? lineCount(draft.content) : undefined);
      const state = draft.outcome?.state ?? (draft.isError ? "failed" : "done");
      return {
        ...draft,
        content: capText(draft.content),
        ...(draft.attachments === undefined ? {} : { attachments: capList(draft.attachments) }),
        ...(draft.changes === undefined ? {} : { changes: capList(draft.changes).map(capChange) }),
        ...(draft.further === undefined
          ? {}
          : { further: draft.further.map((r, at) => ({ ...r, content: capText(r.content, roomOf(at)) })) }),
        ...(lines === undefined ? {} : { outcome: { ...draft.outcome, state, lines } }),
      };
    }
    case "streaming":
      return { ...draft, thinking: capText(draft.thinking), text: capText(draft.text) };
    case "compacted":
      return { ...draft, summary: capText(draft.summary) };
    case "raw":
      return { ...draft, reason: capWord(draft.reason), text: capText(draft.text, RAW_TEXT_MAX * 2) };
    case "wounded":
      return draft;
  }
}
