/** What of an entry is looked through, and the piece of it that a hit shows. Pure. */
import type { ContentBlock, Entry } from "../transcript/index.ts";
import { EXCERPT_UNITS_MAX } from "./limits.ts";
import { foldCase, placeOfFirst, type Query } from "./query.ts";

/** All that an entry says: prompts, answers, thinking, calls with their inputs, results, summaries, damaged records. */
export function textOf(entry: Entry): string {
  switch (entry.kind) {
    case "delivered":
      return entry.body;
    case "model":
      return entry.blocks.flatMap(textsOf).join("\n");
    case "tool-result":
      return [entry.content, ...(entry.further ?? []).map(({ content }) => content)].join("\n");
    case "compacted":
      return entry.summary;
    case "wounded":
      return "words" in entry.wound ? (entry.wound.words ?? "") : "";
    case "streaming":
      return `${entry.thinking}\n${entry.text}`;
    case "raw":
      // A record that says nothing to anybody; of a damaged one the words may be all that is left.
      return entry.damaged === true ? entry.text : "";
  }
}

function textsOf(block: ContentBlock): readonly string[] {
  switch (block.kind) {
    case "text":
    case "thinking":
    case "other":
      return [block.text];
    case "tool-use":
      return [
        [block.name, block.subject ?? "", block.inputSummary].filter((part) => part !== "").join(" "),
        ...(block.changes ?? []).flatMap(({ path, newText, patch }) => [path, newText ?? patch ?? ""]),
      ];
    case "attachment":
      return [block.attachment.name ?? ""];
  }
}

/** One line around the first term: at most `EXCERPT_UNITS_MAX` units, with ellipses where something is left out. */
export function excerptOf(text: string, query: Query): string {
  // Folding may change lengths; near enough is near enough to show the place.
  const at = Math.max(0, placeOfFirst(query, foldCase(text)));
  const start = Math.max(0, at - Math.floor(EXCERPT_UNITS_MAX / 3));
  const end = Math.min(text.length, start + EXCERPT_UNITS_MAX);
  // No half of a pair at either end.
  const piece = text
    .slice(start, end)
    .replace(/^[\uDC00-\uDFFF]|[\uD800-\uDBFF]$/g, "")
    .replace(/\s+/g, " ")
    .trim();
  return `${start > 0 ? "…" : ""}${piece}${end < text.length ? "…" : ""}`;
}
