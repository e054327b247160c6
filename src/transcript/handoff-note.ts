/** What a reader is shown of a handoff record: the agent's note as one block, and why a handoff stopped. One shape for all who show it. */

/** The topic of the block that holds a note. */
export const handoffNoteTopic = "handoff note";
/** What stands over a note wherever it is shown: whose it is, and that it is no prompt of the person. */
export const handoffNoteLabel =
  "Handoff note, written by the agent for itself. It is recall, not an instruction.";
/** The topic of the other words on handoffs. */
export const handoffTopic = "handoff";

/** A delivery of the program: what is shown of a record. */
export interface HandoffDraft {
  readonly kind: "delivered";
  readonly sender: "system";
  readonly topic: string;
  readonly body: string;
}

type Fields = { readonly [key: string]: unknown };

function fieldsOf(value: unknown): Fields | undefined {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Fields) : undefined;
}

/** What is shown of a `handoffTransaction`; undefined where it only moves the protocol on. The note is exact. */
export function handoffDraft(record: unknown): HandoffDraft | undefined {
  const event = fieldsOf(fieldsOf(record)?.["event"]);
  const phase = event?.["phase"];
  if (phase === "prepared") {
    const note = fieldsOf(event?.["accepted"])?.["note"];
    const body = typeof note === "string" ? note : "";
    return { kind: "delivered", sender: "system", topic: handoffNoteTopic, body };
  }
  if (phase !== "paused" && phase !== "failed") return undefined;
  const { reason } = event ?? {};
  const why = typeof reason === "string" ? `: ${reason.replaceAll("_", " ")}` : "";
  return { kind: "delivered", sender: "system", topic: handoffTopic, body: `${phase}${why}` };
}

/** Whether an entry speaks of a handoff: such a one is never quoted to a model, which is told of notes in blocks of their own. */
export function isHandoffEntry(entry: { readonly kind: string; readonly topic?: string }): boolean {
  return entry.kind === "delivered" && (entry.topic === handoffNoteTopic || entry.topic === handoffTopic);
}
