import { createHash } from "node:crypto";
import { describe, expect, test } from "vitest";
import {
  HANDOFF_MAX_FLUSH_RETRIES,
  HANDOFF_NOTE_MAX_BYTES,
  HANDOFF_POLICY_LIMITS,
  validateContinuityNote,
  verifyAcceptedNote,
} from "../../src/continuity/index.ts";
import { acceptedNote } from "../support/handoffs.ts";

const sha = (text: string): string => createHash("sha256").update(text).digest("hex");

test.each([
  ["spaces and tabs at both ends", "  \tkeep me \n\n"],
  ["CRLF", "one\r\ntwo\r\n"],
  ["emoji", "ship it 🚀 👩‍👩‍👧"],
  ["right to left with marks", "שלום \u202eolleh\u202c"],
  ["markup and escapes", "<script>alert(1)</script> \u001b[31mred\u001b[0m **bold**"],
  ["one letter", "x"],
  ["a byte order mark within", "a\ufeffb"],
])("I1 stores submitted bytes exactly: %s", (_name, note) => {
  expect(validateContinuityNote(note)).toEqual({
    ok: true,
    accepted: { note, noteBytes: Buffer.byteLength(note), noteSha256: sha(note) },
  });
});

test("I2 composed and combining form stay two notes", () => {
  const composed = acceptedNote("caf\u00e9");
  const combining = acceptedNote("cafe\u0301");
  expect(composed.note).not.toBe(combining.note);
  expect(composed.noteSha256).not.toBe(combining.noteSha256);
  expect([composed.noteBytes, combining.noteBytes]).toEqual([5, 6]);
});

describe("I3 each refusal has its reason", () => {
  test.each([
    ["undefined", undefined, "not_a_string", null],
    ["a number", 7, "not_a_string", null],
    ["a string object", Object("note"), "not_a_string", null],
    ["empty", "", "blank", null],
    ["white space", " \t\r\n\u00a0\ufeff\u2028", "blank", null],
    ["a NUL", "a\0b", "contains_nul", null],
    ["a lone high surrogate", "a\ud800b", "not_utf8_round_trip", 5],
    ["a lone low surrogate", "\udc00", "not_utf8_round_trip", 3],
    ["a pair the wrong way round", "\udc00\ud800", "not_utf8_round_trip", 6],
  ])("%s", (_name, value, reason, noteBytes) => {
    expect(validateContinuityNote(value)).toEqual({ ok: false, reason, noteBytes });
  });

  test("the first failing check wins", () => {
    expect(validateContinuityNote("\0\ud800")).toMatchObject({ reason: "contains_nul" });
    expect(validateContinuityNote(`\ud800${"x".repeat(9000)}`)).toMatchObject({
      reason: "not_utf8_round_trip",
      noteBytes: 9003,
    });
  });
});

describe("I4 the byte bound", () => {
  test.each([
    ["ASCII", "x".repeat(HANDOFF_NOTE_MAX_BYTES)],
    ["two bytes a letter", "é".repeat(HANDOFF_NOTE_MAX_BYTES / 2)],
    ["four bytes a letter", "🚀".repeat(HANDOFF_NOTE_MAX_BYTES / 4)],
  ])("%s: 8192 is admitted, one more is refused with its real size", (_name, note) => {
    expect(validateContinuityNote(note)).toMatchObject({ ok: true, accepted: { noteBytes: 8192 } });
    expect(validateContinuityNote(`${note}y`)).toEqual({
      ok: false,
      reason: "exceeds_max_bytes",
      noteBytes: 8193,
    });
  });
});

test("I5 a stored size or digest that is not the text's own; a text that is not admitted any more", () => {
  const stored = acceptedNote("resume at step 4");
  expect(verifyAcceptedNote(stored)).toEqual({ ok: true });
  expect(verifyAcceptedNote(stored, stored)).toEqual({ ok: true });
  const off = { ...stored, noteBytes: stored.noteBytes + 1, noteSha256: sha("other") };
  expect(verifyAcceptedNote(off)).toEqual({ ok: false, reason: "byte_count_mismatch" });
  expect(verifyAcceptedNote({ ...stored, noteSha256: sha("other") })).toEqual({
    ok: false,
    reason: "hash_mismatch",
  });
  expect(verifyAcceptedNote({ ...stored, note: " " })).toEqual({ ok: false, reason: "blank" });
  expect(verifyAcceptedNote({ ...stored, note: "a\0" })).toEqual({ ok: false, reason: "contains_nul" });
  expect(verifyAcceptedNote(stored, { ...stored, noteBytes: 1 })).toEqual({
    ok: false,
    reason: "byte_count_mismatch",
  });
  expect(verifyAcceptedNote(stored, { ...stored, noteSha256: sha("x") })).toEqual({
    ok: false,
    reason: "hash_mismatch",
  });
});

test("I6 two copies with different text of equal length", () => {
  expect(verifyAcceptedNote(acceptedNote("step 4"), acceptedNote("step 5"))).toEqual({
    ok: false,
    reason: "decoded_text_mismatch",
  });
});

test("the sample note of the protocol", () => {
  const note = "resume the migration at step 4; the rollback script is untested";
  const { noteBytes, noteSha256 } = acceptedNote(note);
  expect(noteBytes).toBe(63);
  expect(noteSha256).toBe("b3b31f79881b567498d7dae794ea39238bb9f593de0647785817028541ef6fe5");
});

test("the frozen ceilings", () => {
  expect(HANDOFF_POLICY_LIMITS).toEqual({
    maxAttempts: 2,
    maxSummaryCallsPerAttempt: 2,
    additionalSummaryRetriesPerCall: 0,
    maxSummaryStreamInvocations: 4,
    flushRetryLimit: HANDOFF_MAX_FLUSH_RETRIES,
  });
});
