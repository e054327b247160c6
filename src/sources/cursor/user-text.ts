/** A prompt as Cursor sends it: what the person typed stands in a tag of its own; what stands around it was put in by the program. */
import type { Attachment } from "../../transcript/index.ts";
import type { Classified, EntryDraft } from "../classifier.ts";
import { noteDraft } from "../fields.ts";
import { promptDraft } from "../kinds.ts";

const QUERY = /<user_query>\n?([\s\S]*?)\n?<\/user_query>/;

/** The prompt with its context before it; without any typed text or attachment, the context alone. */
export function promptOf(
  texts: readonly string[],
  attachments: readonly Attachment[],
  before: readonly EntryDraft[],
  time: number | undefined,
): Classified {
  const typed: string[] = [];
  const notes: EntryDraft[] = [];
  const hasQuery = texts.some((text) => QUERY.test(text));
  for (const text of texts) {
    const query = QUERY.exec(text);
    if (query === null) {
      if (hasQuery) notes.push(noteDraft("context", text, time));
      else typed.push(text);
      continue;
    }
    typed.push(query[1] ?? "");
    const around = text.replace(query[0], "").trim();
    if (around !== "") notes.push(noteDraft("context", around, time));
  }
  const entries = [...before, ...notes];
  if (typed.length === 0 && attachments.length === 0) return { kind: "user", known: true, entries };
  const prompt = promptDraft(typed.join("\n"), attachments, time);
  return { kind: "user", known: true, entries: [...entries, prompt], marks: [{ type: "turnStarted" }] };
}
