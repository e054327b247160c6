/** What the rows of a Cursor transcript mean. They have no ids, no times and no results of tools. */
import type { RecordItem } from "../../lines/index.ts";
import { hasCall, modelBlocks, userContent } from "../anthropic.ts";
import type { Classified, Classifier, EntryDraft, Mark } from "../classifier.ts";
import { noteDraft, objectOf, rawDraft, stringOf } from "../fields.ts";

export const cursorClassifier: Classifier = { agent: "cursor", classify };

const QUERY = /<user_query>\n?([\s\S]*?)\n?<\/user_query>/;

function classify(record: RecordItem): Classified {
  const value = objectOf(record.value);
  const role = stringOf(value?.["role"]) ?? "";
  const message = objectOf(value?.["message"]);
  if (message === undefined || (role !== "user" && role !== "assistant")) {
    const kind = role === "" ? "no role" : role;
    return { kind, known: false, entries: [rawDraft(`unknown record kind ${kind}`, record.value)] };
  }
  return role === "user" ? userMessage(message["content"]) : modelMessage(message["content"]);
}

/** What the person typed stands in a tag of its own; what stands around it was put in by the program. */
function userMessage(content: unknown): Classified {
  const { texts, attachments, results } = userContent(content, undefined);
  const typed: string[] = [];
  const notes: EntryDraft[] = [];
  const hasQuery = texts.some((text) => QUERY.test(text));
  for (const text of texts) {
    const query = QUERY.exec(text);
    if (query === null) {
      if (hasQuery) notes.push(noteDraft("context", text, undefined));
      else typed.push(text);
      continue;
    }
    typed.push(query[1] ?? "");
    const around = text.replace(query[0], "").trim();
    if (around !== "") notes.push(noteDraft("context", around, undefined));
  }
  if (typed.length === 0 && attachments.length === 0)
    return { kind: "user", known: true, entries: [...results, ...notes] };
  const prompt: EntryDraft = {
    kind: "delivered",
    sender: "user",
    body: typed.join("\n"),
    ...(attachments.length > 0 ? { attachments } : {}),
  };
  return {
    kind: "user",
    known: true,
    entries: [...results, ...notes, prompt],
    marks: [{ type: "turnStarted" }],
  };
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
