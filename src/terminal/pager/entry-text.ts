/** The words of an entry: what is copied and what is searched. */
import { type ContentBlock, type Entry, resultsOf, type Wound } from "../../transcript/index.ts";

function blockText(block: ContentBlock): string {
  switch (block.kind) {
    case "text":
    case "thinking":
    case "other":
      return block.text;
    case "tool-use":
      return `${block.name} ${block.subject ?? block.inputSummary}`;
    case "attachment":
      return block.attachment.name ?? block.attachment.mediaType;
  }
}

function woundText(wound: Wound): string {
  return "words" in wound && wound.words !== undefined ? wound.words : wound.kind;
}

/** The entry as plain text without any decoration: for the clipboard. */
export function entryText(entry: Entry): string {
  switch (entry.kind) {
    case "delivered":
      return entry.body;
    case "model": {
      // What was said is what is wanted; thinking only where nothing else is there.
      const said = entry.blocks.filter((block) => block.kind !== "thinking");
      return (said.length > 0 ? said : entry.blocks).map(blockText).join("\n\n");
    }
    case "tool-result":
      return resultsOf(entry)
        .map((result) => result.content)
        .join("\n\n");
    case "streaming":
      return entry.text === "" ? entry.thinking : entry.text;
    case "compacted":
      return entry.summary;
    case "wounded":
      return woundText(entry.wound);
    case "raw":
      return entry.text;
  }
}

/** All words of an entry that its rows may show, joined: for finding out cheaply that something is not in it. */
export function searchedText(entry: Entry): string {
  switch (entry.kind) {
    case "model":
      return entry.blocks
        .map((block) =>
          block.kind === "tool-use"
            ? [
                block.name,
                block.subject,
                block.inputSummary,
                ...(block.changes ?? []).flatMap((change) => [
                  change.path,
                  change.oldText,
                  change.newText,
                  change.patch,
                ]),
              ].join("\n")
            : blockText(block),
        )
        .join("\n");
    case "tool-result":
      return [
        entryText(entry),
        entry.call?.name,
        entry.call?.subject,
        ...(entry.changes ?? []).flatMap((change) => [
          change.path,
          change.patch,
          change.oldText,
          change.newText,
        ]),
      ].join("\n");
    case "streaming":
      return `${entry.thinking}\n${entry.text}`;
    case "delivered":
      return `${entry.senderName ?? entry.sender}\n${entry.topic ?? ""}\n${entry.body}`;
    default:
      return entryText(entry);
  }
}
