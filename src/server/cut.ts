/** Entries for a narrow line: long texts cut, so that a page of any session has a bounded size. Pure. */
import type { ContentBlock, Entry, FileChange } from "../transcript/index.ts";

/** An entry whose texts may be cut: `cut` tells how many UTF-16 units are missing, absent where none are. */
export type CutEntry = Entry & { readonly cut?: number };

/**
 * The entry with each text of at most `textMax` UTF-16 units, and the count of what is missing. With `isGrowing` texts that may be
 * appended to are left whole: what comes at their end has to fit.
 */
export function cutEntry(entry: Entry, textMax: number, isGrowing: boolean = false): CutEntry {
  let missing = 0;
  if (isGrowing && entry.kind === "streaming") return entry;
  const text = (whole: string): string => {
    if (whole.length <= textMax) return whole;
    const last = whole.charCodeAt(textMax - 1);
    const end = last >= 0xd800 && last <= 0xdbff ? textMax - 1 : textMax;
    missing += whole.length - end;
    return whole.slice(0, end);
  };
  const shorter = cutTexts(entry, text, isGrowing);
  return missing === 0 ? entry : { ...shorter, cut: missing };
}

type Cut = (whole: string) => string;

function cutTexts(entry: Entry, text: Cut, isGrowing: boolean): Entry {
  switch (entry.kind) {
    case "delivered":
      return { ...entry, body: text(entry.body) };
    case "model":
      return {
        ...entry,
        blocks: entry.blocks.map((block) => (isGrowing && isProse(block) ? block : cutBlock(block, text))),
      };
    case "tool-result":
      return {
        ...entry,
        content: text(entry.content),
        ...(entry.changes === undefined
          ? {}
          : { changes: entry.changes.map((each) => cutChange(each, text)) }),
      };
    case "streaming":
      return { ...entry, thinking: text(entry.thinking), text: text(entry.text) };
    case "compacted":
      return { ...entry, summary: text(entry.summary) };
    case "raw":
      return { ...entry, text: text(entry.text) };
    case "wounded":
      return entry;
  }
}

function isProse({ kind }: ContentBlock): boolean {
  return kind === "text" || kind === "thinking";
}

function cutBlock(block: ContentBlock, text: Cut): ContentBlock {
  switch (block.kind) {
    case "text":
    case "thinking":
    case "other":
      return { ...block, text: text(block.text) };
    case "tool-use":
      return block.changes === undefined
        ? block
        : { ...block, changes: block.changes.map((each) => cutChange(each, text)) };
    case "attachment":
      return block;
  }
}

function cutChange(change: FileChange, text: Cut): FileChange {
  return {
    ...change,
    ...(change.oldText === undefined ? {} : { oldText: text(change.oldText) }),
    ...(change.newText === undefined ? {} : { newText: text(change.newText) }),
    ...(change.patch === undefined ? {} : { patch: text(change.patch) }),
  };
}
