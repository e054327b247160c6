/** What entries look like at their edges: decides where a blank row parts two of them. */
import type { Entry } from "../../transcript/index.ts";

type Shape = "prompt" | "prose" | "tool" | "note" | "rule";

function headShape(entry: Entry): Shape {
  switch (entry.kind) {
    case "delivered":
      return entry.sender === "system" ? "note" : "prompt";
    case "model": {
      const first = entry.blocks[0];
      if (first === undefined) return "note";
      return first.kind === "tool-use"
        ? "tool"
        : first.kind === "attachment" || first.kind === "other"
          ? "note"
          : "prose";
    }
    case "tool-result":
      return "tool";
    case "streaming":
      return "prose";
    case "compacted":
    case "wounded":
      return "rule";
    case "raw":
      return "note";
  }
}

function tailShape(entry: Entry): Shape {
  if (entry.kind !== "model") return headShape(entry);
  const last = entry.blocks.at(-1);
  if (last === undefined) return "note";
  return last.kind === "tool-use"
    ? "tool"
    : last.kind === "attachment" || last.kind === "other"
      ? "note"
      : "prose";
}

/** Whether a blank row stands between two neighbours: always, but between calls and their results, and between notes. */
export function isParted(previous: Entry | undefined, entry: Entry): boolean {
  if (previous === undefined) return false;
  const above = tailShape(previous);
  const below = headShape(entry);
  return !(above === below && (above === "tool" || above === "note"));
}

/** Whether a tool result stands right under its call, with nothing between that could be meant instead. */
export function isUnderCall(previous: Entry | undefined, entry: Entry): boolean {
  if (entry.kind !== "tool-result" || previous?.kind !== "model") return false;
  const last = previous.blocks.at(-1);
  return last?.kind === "tool-use" && last.id === entry.toolUseId;
}
