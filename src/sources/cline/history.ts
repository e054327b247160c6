/** What the turns of the other file of a task mean: the messages as the model was sent them. */
import { modelBlocks, usageCounters, userContent } from "../anthropic.ts";
import type { Classified, EntryDraft, Mark } from "../classifier.ts";
import type { DocumentElement } from "../document/format.ts";
import { type Fields, noteDraft, objectOf, stringOf, timed, timeOf, wordOf } from "../fields.ts";
import { unknown } from "../kinds.ts";

/** What the program puts around a person's words. */
const TYPED = /<(task|feedback|user_message|answer)>([\s\S]*?)<\/\1>/;
const RESULT = /^\[[^\]\n]{1,500}\] Result:/;

/** The meaning of one turn: pure and total. */
export function classifyTurn(element: DocumentElement, value: Fields): Classified {
  const role = stringOf(value["role"]) ?? "";
  const time = timeOf(value["ts"]);
  const kind = `message/${role}`;
  if (value["isSummary"] === true) {
    const summary = userContent(value["content"], time).texts.join("\n");
    return {
      kind,
      known: true,
      entries: [{ kind: "compacted", summary, ...timed(time) }],
      marks: [{ type: "compacted" }],
    };
  }
  if (role === "user") return userTurn(kind, value, time);
  if (role === "assistant") return modelTurn(kind, value, time, `@${element.index}`);
  return unknown(kind, value, time);
}

function userTurn(kind: string, value: Fields, time: number | undefined): Classified {
  const { texts, attachments, results } = userContent(value["content"], time);
  const entries: EntryDraft[] = [...results];
  const typed: string[] = [];
  for (const text of texts) {
    const words = TYPED.exec(text)?.[2];
    if (words !== undefined) typed.push(words.trim());
    else if (RESULT.test(text)) entries.push(noteDraft("output", text, time));
    else if (text !== "") entries.push(noteDraft("context", text, time));
  }
  if (typed.length === 0 && attachments.length === 0) return { kind, known: true, entries };
  entries.push({
    kind: "delivered",
    sender: "user",
    body: typed.join("\n"),
    ...(attachments.length > 0 ? { attachments } : {}),
    ...timed(time),
  });
  return { kind, known: true, entries, marks: [{ type: "turnStarted" }] };
}

/** A tool is called in a block of its own, or in the words as tags. */
const TAGGED_CALL = /<([a-z]+(?:_[a-z]+)+)>\s*<[a-z_]+>/;

function modelTurn(kind: string, value: Fields, time: number | undefined, key: string): Classified {
  const blocks = modelBlocks(value["content"]);
  const usage = usageCounters(value["usage"]);
  const model = wordOf(objectOf(value["modelInfo"])?.["modelId"]);
  const isCalling = blocks.some(
    (block) =>
      (block.kind === "tool-use" && !/^(?:attempt_completion|ask_followup_question)$/.test(block.name)) ||
      (block.kind === "text" && isTaggedCall(block.text)),
  );
  const begun: Mark = { type: "turnStarted", automatic: true };
  return {
    kind,
    known: true,
    modelMessage: key,
    entries: [
      {
        kind: "model",
        blocks,
        usage,
        messageId: key,
        ...(model === undefined ? {} : { modelId: model }),
        ...timed(time),
      },
    ],
    marks: isCalling ? [begun] : [begun, { type: "turnEnded" }],
  };
}

function isTaggedCall(text: string): boolean {
  const tag = TAGGED_CALL.exec(text)?.[1];
  return tag !== undefined && !/^(?:attempt_completion|ask_followup_question|plan_mode_respond)$/.test(tag);
}
