/** What a fold lets its owner write: the payload that a later summary carries, and a commit record that was lost. */
import { type ContinuityCheckpointPayload, HANDOFF_SCHEMA_VERSION } from "./contract.ts";
import type { ContinuityFoldResult, MissingCommitReconstruction } from "./fold-result.ts";
import { isContinuityCheckpointPayload } from "./validate.ts";

/**
 * The payload that the next compaction summary must carry; null where the transaction is disputed or has no commit yet. A paused,
 * expired, historical or acknowledged transaction is carried all the same: to carry is not to execute. Only a session's own fold may be
 * carried, folded right before the summary is written.
 */
export function continuityPayloadFromFold(fold: ContinuityFoldResult): ContinuityCheckpointPayload | null {
  const { validated, identity, accepted, policy, commit, state } = fold;
  if (!validated) return null;
  const payload = { schemaVersion: HANDOFF_SCHEMA_VERSION, identity, accepted, policy, commit, state };
  return isContinuityCheckpointPayload(payload) ? payload : null;
}

/** The commit record to write again, under its own reserved name and time; null where nothing is missing or the evidence is disputed. */
export function missingCommitFromCarry(fold: ContinuityFoldResult): MissingCommitReconstruction | null {
  return fold.validated ? fold.missingCommit : null;
}
