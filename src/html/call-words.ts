/** What a tool call is and how it ended, in one line. */
import type { CallOutcome, ContentBlock, Usage } from "../transcript/index.ts";
import { inertLine } from "./inert.ts";

export function callWords(call: {
  readonly name: string;
  readonly subject?: string;
  readonly inputSummary?: string;
}): {
  readonly name: string;
  readonly subject: string;
} {
  return { name: inertLine(call.name), subject: inertLine(call.subject ?? call.inputSummary ?? "") };
}

export function durationWords(ms: number): string {
  if (ms < 1000) return `${Math.round(ms)} ms`;
  const seconds = ms / 1000;
  if (seconds < 60) return `${seconds.toFixed(1)} s`;
  return `${Math.floor(seconds / 60)} min ${Math.round(seconds % 60)} s`;
}

/** Empty where nothing is known. */
export function outcomeWords(outcome: CallOutcome | undefined): string {
  if (outcome === undefined) return "";
  const words: string[] = [outcome.state];
  if (outcome.exitCode !== undefined) words.push(`exit ${outcome.exitCode}`);
  if (outcome.durationMs !== undefined) words.push(durationWords(outcome.durationMs));
  if (outcome.note !== undefined) words.push(inertLine(outcome.note));
  else if (outcome.lines !== undefined)
    words.push(`${outcome.lines} ${outcome.lines === 1 ? "line" : "lines"}`);
  return words.join(" · ");
}

export function usageWords(usage: Usage): string {
  return Object.entries(usage)
    .map(([name, count]) => `${count} ${inertLine(name.replaceAll("_", " "))}`)
    .join(" · ");
}

export function attachmentWords(
  attachment: (ContentBlock & { readonly kind: "attachment" })["attachment"],
): string {
  const words = [inertLine(attachment.mediaType)];
  if (attachment.name !== undefined) words.unshift(inertLine(attachment.name));
  if (attachment.bytes !== undefined) words.push(`${attachment.bytes} bytes`);
  return `[${words.join(", ")}]`;
}

/** The lines of a change, each with its sign: the recorded patch, else what was taken away and then what was put there. */
export function changeLines(change: {
  readonly oldText?: string;
  readonly newText?: string;
  readonly patch?: string;
}): readonly { readonly sign: "+" | "-" | " " | "@"; readonly text: string }[] {
  if (change.patch !== undefined)
    return change.patch
      .replace(/\n$/, "")
      .split("\n")
      .map((text) => {
        const sign = text[0];
        return { sign: sign === "+" || sign === "-" || sign === "@" ? sign : " ", text };
      });
  const side = (sign: "+" | "-", text: string | undefined) =>
    text === undefined || text === ""
      ? []
      : text
          .replace(/\n$/, "")
          .split("\n")
          .map((line) => ({ sign, text: `${sign}${line}` }));
  return [...side("-", change.oldText), ...side("+", change.newText)];
}
