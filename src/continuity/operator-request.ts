/** The operator's recovery request: a control record of its own type. No text of a turn, a tool or a note can stand in for it. */
import type { HandoffRecoveryRequestData, HandoffRecoveryRequestEntry } from "./entries.ts";
import { hasEntryEnvelope, isResumeAction } from "./validate.ts";
import { fieldsOf, isId, isNullableId } from "./values.ts";

/** The reserved type; a custom entry under this name that is not a whole request is an invalid entry. */
export const HANDOFF_RECOVERY_REQUEST_TYPE = "contextHandoffRecoveryRequest";

/** True for the data of a whole request. The two nullable fields must be there, as null or an id. */
export function isHandoffRecoveryRequestData(value: unknown): value is HandoffRecoveryRequestData {
  const data = fieldsOf(value);
  return (
    data !== undefined &&
    data["version"] === 1 &&
    data["requestKind"] === "handoff_recovery" &&
    isId(data["handoffId"]) &&
    isResumeAction(data["action"]) &&
    isId(data["sessionId"]) &&
    Object.hasOwn(data, "branchAnchorTurnId") &&
    isNullableId(data["branchAnchorTurnId"]) &&
    Object.hasOwn(data, "selectedLeafTurnId") &&
    isNullableId(data["selectedLeafTurnId"]) &&
    isId(data["pausedOrFailedEntryId"])
  );
}

/** True for a request record as the operator's command writes it: never displayed as a turn. */
export function isHandoffRecoveryRequestEntry(value: unknown): value is HandoffRecoveryRequestEntry {
  const entry = fieldsOf(value);
  return (
    entry?.["kind"] === "custom" &&
    entry["customType"] === HANDOFF_RECOVERY_REQUEST_TYPE &&
    entry["display"] === false &&
    hasEntryEnvelope(entry) &&
    isHandoffRecoveryRequestData(entry["data"])
  );
}
