/** Every kind of record in the kept sessions, by name: one that a reader silently left out, or did not know, is seen here. */
import { expect, test } from "vitest";
import { copilotClassifier } from "../../src/sources/copilot/classifier.ts";
import { droidClassifier } from "../../src/sources/droid/classifier.ts";
import { fixture } from "../support/fixtures.ts";

const kept = [
  [copilotClassifier, "copilot/events-1.jsonl"],
  [copilotClassifier, "copilot/events-2.jsonl"],
  [droidClassifier, "droid/session.jsonl"],
] as const;

/** Kinds that give no entry, on purpose. */
const SILENT = new Set([
  "assistant.turn_end",
  "assistant.turn_start",
  "hook.end",
  "hook.start",
  "session.shutdown",
  "session.start",
  "session_start",
  "tool.execution_start",
]);

test.each(kept)("%o %s", (classifier, name) => {
  for (const line of fixture(`sources/${name}`).toString().trim().split("\n")) {
    const value: unknown = JSON.parse(line);
    const said = classifier.classify({ type: "record", start: 0, end: line.length, value });
    expect([said.kind, said.known]).toEqual([said.kind, true]);
    expect([said.kind, said.entries.length === 0]).toEqual([said.kind, SILENT.has(said.kind)]);
  }
});
