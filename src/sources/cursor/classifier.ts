/** What the rows of a Cursor transcript mean. They have no ids, no times and no results of tools. */
import type { RecordItem } from "../../lines/index.ts";
import { hasCall, modelBlocks, userContent } from "../anthropic.ts";
import type { Classified, Classifier, Mark } from "../classifier.ts";
import { objectOf, stringOf } from "../fields.ts";
import { unknown } from "../kinds.ts";
import { promptOf } from "./user-text.ts";

export const cursorClassifier: Classifier = { agent: "cursor", classify };

function classify(record: RecordItem): Classified {
  const value = objectOf(record.value);
  const role = stringOf(value?.["role"]) ?? "";
  const message = objectOf(value?.["message"]);
  if (message === undefined || (role !== "user" && role !== "assistant")) {
    const kind = role === "" ? "no role" : role;
    return unknown(kind, record.value);
  }
  if (role === "assistant") return modelMessage(message["content"]);
  const { texts, attachments, results } = userContent(message["content"], undefined);
  return promptOf(texts, attachments, results, undefined);
}

function modelMessage(content: unknown): Classified {
  const blocks = modelBlocks(content);
  const begun: Mark = { type: "turnStarted", automatic: true };
  return {
    kind: "assistant",
    known: true,
    entries: [{ kind: "model", blocks, usage: {} }],
    marks: hasCall(blocks) ? [begun] : [begun, { type: "turnEnded" }],
  };
}
