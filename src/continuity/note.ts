/** Admission of a note, and the check that a stored note is still the one admitted. */
import { type AcceptedNote, HANDOFF_NOTE_MAX_BYTES } from "./contract.ts";
import { isWellFormed, sha256Hex, utf8Bytes, utf8Length } from "./sha256.ts";

export type NoteRejectionReason =
  | "not_a_string"
  | "blank"
  | "contains_nul"
  | "not_utf8_round_trip"
  | "exceeds_max_bytes";

export type NoteVerificationReason =
  | NoteRejectionReason
  | "decoded_text_mismatch"
  | "byte_count_mismatch"
  | "hash_mismatch";

export type NoteValidation =
  | { readonly ok: true; readonly accepted: AcceptedNote }
  | {
      readonly ok: false;
      readonly reason: NoteRejectionReason;
      /** The size of the refused text, where it was measured. */
      readonly noteBytes: number | null;
    };

export type NoteVerification =
  | { readonly ok: true }
  | { readonly ok: false; readonly reason: NoteVerificationReason };

/**
 * Admits a note, or says the first reason why not. An admitted note is the submitted text itself: never trimmed, normalised or cut.
 * Takes no lock and writes nothing.
 */
export function validateContinuityNote(value: unknown): NoteValidation {
  if (typeof value !== "string") return refused("not_a_string", null);
  if (value.trim() === "") return refused("blank", null);
  if (value.includes("\0")) return refused("contains_nul", null);
  const noteBytes = utf8Length(value);
  if (!isWellFormed(value)) return refused("not_utf8_round_trip", noteBytes);
  if (noteBytes > HANDOFF_NOTE_MAX_BYTES) return refused("exceeds_max_bytes", noteBytes);
  return { ok: true, accepted: { note: value, noteBytes, noteSha256: sha256Hex(utf8Bytes(value)) } };
}

function refused(reason: NoteRejectionReason, noteBytes: number | null): NoteValidation {
  return { ok: false, reason, noteBytes };
}

/**
 * Checks that a stored note still admits and has the size and digest stored with it, and, where `expected` is given, that it is that
 * same note. The size is compared before the digest, so that a truncated text is called that.
 */
export function verifyAcceptedNote(accepted: AcceptedNote, expected?: AcceptedNote): NoteVerification {
  const admitted = validateContinuityNote(accepted.note);
  if (!admitted.ok) return { ok: false, reason: admitted.reason };
  if (expected !== undefined && accepted.note !== expected.note) {
    return { ok: false, reason: "decoded_text_mismatch" };
  }
  for (const truth of expected === undefined ? [admitted.accepted] : [admitted.accepted, expected]) {
    if (accepted.noteBytes !== truth.noteBytes) return { ok: false, reason: "byte_count_mismatch" };
    if (accepted.noteSha256 !== truth.noteSha256) return { ok: false, reason: "hash_mismatch" };
  }
  return { ok: true };
}
