/** Entries and what records say, each in one line, for tables. */
import type { Classified, Mark } from "../../src/sources/classifier.ts";
import type { ContentBlock, Entry } from "../../src/transcript/index.ts";

type WithoutName<T> = T extends Entry ? Omit<T, "name" | "place"> : never;

/** `user: text`, `system/context: …`, `model m1: "text" think(…) call(name id subject → done 0)`, `result id failed 2: …`. */
export function entryLine(entry: WithoutName<Entry>): string {
  const off = entry.offPath === true ? "(left) " : "";
  return off + contentLine(entry);
}

function contentLine(entry: WithoutName<Entry>): string {
  switch (entry.kind) {
    case "delivered": {
      const who = entry.topic === undefined ? entry.sender : `${entry.sender}/${entry.topic}`;
      const name = entry.senderName === undefined ? "" : ` (${entry.senderName})`;
      const end = entry.epitaph === undefined ? "" : ` ended ${entry.epitaph}`;
      return `${who}${name}${end}: ${entry.body}${files(entry.attachments)}`;
    }
    case "model": {
      const id = entry.modelId === undefined ? "" : ` ${entry.modelId}`;
      const usage = Object.keys(entry.usage).length === 0 ? "" : ` ${JSON.stringify(entry.usage)}`;
      return `model${id}:${entry.blocks.map((b) => ` ${blockText(b)}`).join("")}${usage}`;
    }
    case "tool-result": {
      const outcome = entry.outcome;
      const end = [outcome?.state ?? (entry.isError ? "failed" : "done"), outcome?.exitCode].filter(
        (x) => x !== undefined,
      );
      const time = outcome?.durationMs === undefined ? "" : ` ${outcome.durationMs}ms`;
      const note = outcome?.note === undefined ? "" : ` (${outcome.note})`;
      return `result ${entry.toolUseId} ${end.join(" ")}${time}${note}: ${entry.content}${files(entry.attachments)}`;
    }
    case "streaming":
      return `streaming: think(${entry.thinking}) "${entry.text}"`;
    case "wounded":
      return `wounded ${entry.wound.kind}${"words" in entry.wound ? `: ${entry.wound.words}` : ""}`;
    case "compacted": {
      const span = entry.first === undefined ? "" : ` ${entry.first}-${entry.last}`;
      const tokens = entry.tokensBefore === undefined ? "" : ` from ${entry.tokensBefore} tokens`;
      const trigger = entry.trigger === undefined ? "" : ` by ${entry.trigger}`;
      return `compacted${span}${tokens}${trigger}: ${entry.summary}`;
    }
    case "raw":
      return `raw (${entry.reason}): ${entry.text}`;
  }
}

function files(
  attachments: readonly { mediaType: string; bytes?: number; name?: string }[] | undefined,
): string {
  return (attachments ?? [])
    .map((a) => ` [${[a.mediaType, a.bytes, a.name].filter((x) => x !== undefined).join(" ")}]`)
    .join("");
}

function blockText(block: ContentBlock): string {
  switch (block.kind) {
    case "text":
      return `"${block.text}"`;
    case "thinking":
      return `think(${block.text})`;
    case "tool-use": {
      const changes = (block.changes ?? []).map(
        (c) => ` ${c.patch === undefined ? (c.oldText === undefined ? "+" : "±") : "~"}${c.path}`,
      );
      const outcome =
        block.outcome === undefined
          ? ""
          : ` → ${[block.outcome.state, block.outcome.exitCode].filter((x) => x !== undefined).join(" ")}`;
      return `call(${[block.name, block.id, block.subject].filter((x) => x !== undefined && x !== "").join(" ")}${changes.join("")}${outcome})`;
    }
    case "attachment":
      return files([block.attachment]).trim();
    case "other":
      return `other ${block.type}(${block.text})`;
  }
}

export function markWord(mark: Mark): string {
  switch (mark.type) {
    case "turnStarted":
      return ["start", mark.implied && "implied", mark.automatic && "automatic"].filter(Boolean).join(" ");
    case "turnEnded":
      return mark.implied ? "end implied" : "end";
    case "compacted":
      return "compacted";
    case "rolledBack":
      return `back ${mark.turns}`;
  }
}

/** What a record says: its kind (a question mark behind an unknown one), marks in brackets, facts, then its entries. */
export function saidLines(said: Classified): string[] {
  const marks = (said.marks ?? []).map((m) => ` [${markWord(m)}]`).join("");
  const info = said.info === undefined ? "" : ` ${JSON.stringify(said.info)}`;
  const usage = said.usage === undefined ? "" : ` ${said.usage.scope}=${said.usage.outputTokens}`;
  return [
    `${said.kind}${said.known ? "" : "?"}${marks}${info}${usage}`,
    ...said.entries.map((e) => `  ${entryLine(e)}`),
  ];
}
