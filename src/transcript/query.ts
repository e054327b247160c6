/** Questions to a transcript that are answered from its entries and never stored. Pure. */
import type { Entry, ToolResultEntry } from "./entry.ts";

/** A result as a row and a call need it; an entry of a file with several results has one for each. */
export type ToolResultPart = Omit<ToolResultEntry, "further">;

/** The results of an entry, in order, each as if it had an entry of its own. */
export function resultsOf(entry: ToolResultEntry): readonly ToolResultPart[] {
  if (entry.further === undefined) return [entry];
  const { further, attachments: _, changes: __, outcome: ___, call: ____, ...shared } = entry;
  return [entry, ...further.map((part) => ({ ...shared, ...part }))];
}

/** The ids that the entries hold a result for. */
export function answeredIds(entries: readonly Entry[]): ReadonlySet<string> {
  const ids = new Set<string>();
  for (const entry of entries)
    if (entry.kind === "tool-result") for (const result of resultsOf(entry)) ids.add(result.toolUseId);
  return ids;
}

/**
 * Whether a call has no result among the entries. Ids are opaque and equal by their code units; the answer for an id that was never
 * called is true. Linear in the entries.
 */
export function isToolInProgress(entries: readonly Entry[], toolUseId: string): boolean {
  return !answeredIds(entries).has(toolUseId);
}
