/** Counts a messages directory. */
import { callsOf, type Entry, resultsOf } from "../../transcript/index.ts";
import type { CheckReport, DamageNote } from "../types.ts";
import { listRows } from "./listing.ts";
import { parseMessageName } from "./name.ts";

/** Most damaged files that are named one by one. */
const DAMAGED_FILES_MAX = 10_000;

/** Reads every file once, in order. A file that is no message is a record of an unknown kind; one that is not JSON is damaged. */
export async function checkMessages(
  path: string,
  entryOf: (name: string) => Promise<Entry>,
  signal?: AbortSignal,
): Promise<CheckReport> {
  const recordKinds: Record<string, number> = {};
  const unknownKinds = new Set<string>();
  const calls = new Set<string>();
  const results = new Set<string>();
  const damaged: DamageNote[] = [];
  let bytes = 0;
  let records = 0;
  let compactions = 0;
  let modelMessages = 0;
  let outputTokens: number | undefined;
  let turns = 0;
  for (const row of await listRows(path)) {
    signal?.throwIfAborted();
    if (row.gap) {
      compactions += 1;
      continue;
    }
    const entry = await entryOf(row.name);
    const start = bytes;
    bytes += entry.place?.end ?? 0;
    const kind = entry.kind === "raw" ? (parseMessageName(row.name)?.extension ?? "raw") : entry.kind;
    recordKinds[kind] = (recordKinds[kind] ?? 0) + 1;
    switch (entry.kind) {
      case "delivered":
        if (entry.sender === "user") turns += 1;
        break;
      case "model":
        modelMessages += 1;
        for (const [at, call] of callsOf(entry).entries()) calls.add(call.id || `${row.name}#${at}`);
        if (entry.usage["output_tokens"] !== undefined)
          outputTokens = (outputTokens ?? 0) + entry.usage["output_tokens"];
        break;
      case "tool-result":
        for (const [at, { toolUseId }] of resultsOf(entry).entries())
          results.add(toolUseId || `${row.name}#${at}`);
        break;
      default:
        if (entry.kind === "raw" && entry.damaged) {
          const reason = entry.reason.startsWith("not JSON") ? "not-json" : "too-large";
          if (damaged.length < DAMAGED_FILES_MAX) damaged.push({ start, end: bytes, reason });
          continue;
        }
        unknownKinds.add(kind);
    }
    records += 1;
  }
  return {
    agent: "messages",
    path,
    bytes,
    records,
    recovered: 0,
    damaged,
    recordKinds,
    unknownKinds: [...unknownKinds].sort(),
    toolCalls: calls.size,
    toolResults: results.size,
    unansweredCalls: [...calls].filter((id) => !results.has(id)).length,
    orphanResults: [...results].filter((id) => !calls.has(id)).length,
    compactions,
    modelMessages,
    ...(outputTokens === undefined ? {} : { outputTokens }),
    turns,
  };
}
