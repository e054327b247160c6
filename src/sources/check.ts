/** Checking a line log: one pass over all of it, in memory that grows with distinct ids only. */
import { forwardBatches } from "../lines/index.ts";
import { Census } from "./census.ts";
import type { LogReader } from "./reader.ts";
import type { AgentName, CheckReport, DamageNote } from "./types.ts";
import { judged } from "./unit.ts";
import { joinNotes } from "./window.ts";

/** Sessions that a report names. */
export const SESSIONS_MAX = 100;

/** Reads the log from its first byte to its last and counts what is in it. */
export async function checkLog(
  reader: LogReader,
  about: { readonly agent: AgentName; readonly path: string },
  signal?: AbortSignal,
): Promise<CheckReport> {
  const bytes = await reader.source.size();
  const census = new Census();
  const damaged: DamageNote[] = [];
  const sessions = new Set<string>();
  const options = { end: bytes, ...(signal === undefined ? {} : { signal }) };
  for await (const batch of forwardBatches(reader.source, options)) {
    for (const found of batch) {
      const item = reader.decoder === undefined ? found : await judged(found, reader);
      const { start, end } = item;
      if (item.type === "damage") {
        damaged.push({ start, end, reason: item.reason });
        continue;
      }
      if (item.recovered !== undefined) {
        census.recovered += 1;
        damaged.push({ start, end, reason: item.recovered });
      }
      const said = reader.classifier.classify(item);
      census.add(said);
      const { session } = said;
      if (session !== undefined && sessions.size < SESSIONS_MAX) sessions.add(session);
    }
  }
  const report = census.report({ ...about, bytes, damaged: joinNotes(damaged) });
  return sessions.size > 1 ? { ...report, sessions: [...sessions] } : report;
}
