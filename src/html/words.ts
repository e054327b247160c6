/** Where a turn begins, and what its heading says. */
import { type Entry, handoffNoteLabel, handoffNoteTopic } from "../transcript/index.ts";
import { inertLine } from "./inert.ts";
import { TITLE_MAX } from "./limits.ts";

/** Whether the entry begins a turn: something was said to the agent. What its program put in, and what came while it was at work, does not. */
export function beginsTurn(entry: Entry): boolean {
  return entry.kind === "delivered" && entry.sender !== "system" && entry.queued !== true;
}

/** The first line of a text, at most `TITLE_MAX` code points and an ellipsis. */
export function titleOf(text: string): string {
  const first = inertLine(text.trimStart().split(/\r\n?|\n/, 1)[0] ?? "");
  const points = [...first];
  return points.length > TITLE_MAX ? `${points.slice(0, TITLE_MAX).join("").trimEnd()}…` : first;
}

/** Who speaks in a delivery. */
export function speakerOf(entry: Entry & { readonly kind: "delivered" }): string {
  if (entry.sender === "user") return "You";
  if (entry.sender === "system" && entry.topic === handoffNoteTopic) return handoffNoteLabel;
  if (entry.sender === "system") return entry.topic === undefined ? "Context" : `Context (${entry.topic})`;
  return entry.senderName ?? entry.sender;
}

/** A time as people read it, in UTC, the same wherever the export is made. */
export function timeWords(time: number): string {
  const iso = Number.isFinite(time) && Math.abs(time) <= 8.64e15 ? new Date(time).toISOString() : "";
  return iso === "" ? "" : `${iso.slice(0, 10)} ${iso.slice(11, 16)} UTC`;
}
