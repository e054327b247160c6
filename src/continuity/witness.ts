/** What a ledger shows besides the protocol's own records: that a call got its receipt, and that something was evicted. */
import type { HandoffIdentity } from "./contract.ts";
import { type Fields, fieldsOf, isId } from "./values.ts";

function positionOf(entries: readonly unknown[], entryId: string): number {
  return entries.findIndex((value) => fieldsOf(value)?.["turnId"] === entryId);
}

/**
 * Whether the call that asked for a handoff got a result that is in the ledger, behind the preparation, and tells of no failure. A result
 * that names another tool is none.
 */
export function receiptOf(entries: readonly unknown[], identity: HandoffIdentity, toolName: string): boolean {
  const prepared = positionOf(entries, identity.preparedEntryId);
  return entries.some((value, position) => {
    const entry = fieldsOf(value);
    if (position <= prepared || entry?.["kind"] !== "message" || entry["role"] !== "tool_result")
      return false;
    const result = fieldsOf(entry["payload"]);
    return (
      result?.["toolCallId"] === identity.toolCallId &&
      (result["toolName"] === undefined || result["toolName"] === toolName) &&
      !isFailure(result)
    );
  });
}

function isFailure({ state, isError }: Fields): boolean {
  return isError === true || (state !== undefined && state !== "done");
}

/** The newest eviction behind a record; undefined where there is none. */
export function newestEviction(entries: readonly unknown[], behindEntryId: string): string | undefined {
  const from = positionOf(entries, behindEntryId);
  for (let position = entries.length - 1; position > from; position -= 1) {
    const entry = fieldsOf(entries[position]);
    if (entry?.["kind"] === "contextEviction" && isId(entry["turnId"])) return entry["turnId"];
  }
  return undefined;
}
