/** What an agent is told of a conversation that another agent had: the notes, then the kept tail as quoted data. Pure. */
import { estimateAgentMessageTokens } from "../continuity/index.ts";
import type { DeliveredEntry, Entry } from "../transcript/index.ts";
import { leftWords, quotationWords, quoteRecord } from "./replay.ts";

export interface ContinuationSpec {
  /** The agent that had the conversation, as people name it. */
  readonly agent: string;
  /** Blocks of handoff notes, each sent as it is, before everything else. */
  readonly notes: readonly string[];
  /** The newest compaction's summary, where it stands before the kept tail. */
  readonly summary?: Entry;
  /** The kept tail, oldest first. */
  readonly entries: readonly Entry[];
  /** Bytes of the quotation. */
  readonly bytesMax: number;
}

export interface Continuation {
  /** What is sent before the first prompt; absent where nothing was said and there is no note. */
  readonly context?: string;
  /** The person's newest request, word for word, where it was not answered: the first prompt. */
  readonly request?: string;
  /** Entries quoted, and those of the tail that did not fit. */
  readonly quoted: number;
  readonly left: number;
  /** Price of the context with the request, an estimate: four characters a token. */
  readonly tokens: number;
}

/** The person's newest prompt among entries, oldest first. */
export function newestPrompt(entries: readonly Entry[]): DeliveredEntry | undefined {
  return entries.findLast((entry): entry is DeliveredEntry => isPrompt(entry));
}

/** Whether an entry is a prompt of the person, on the path that was not left. */
export function isPrompt(entry: Entry): boolean {
  return (
    entry.kind === "delivered" &&
    entry.sender === "user" &&
    entry.offPath !== true &&
    entry.subagent === undefined
  );
}

/** Whether the prompt still waits: nothing, or no closing words of the model, stands behind it; or the turn was broken off. */
export function isUnanswered(entries: readonly Entry[], prompt: Entry): boolean {
  const behind = entries.slice(entries.indexOf(prompt) + 1).filter((entry) => entry.subagent === undefined);
  const last = behind.findLast((entry) => entry.kind !== "raw" && !isAside(entry));
  if (last?.kind !== "model") return true;
  return last.blocks.at(-1)?.kind === "tool-use" || !last.blocks.some((block) => block.kind === "text");
}

function isAside(entry: Entry): boolean {
  return entry.kind === "delivered" && entry.sender === "system";
}

/**
 * Puts together what is sent: the notes, the record as quoted data, and the newest request as the prompt where it waits for an answer. A
 * request that waits is not quoted too; one that was answered is quoted word for word.
 */
export function composeContinuation(spec: ContinuationSpec): Continuation {
  const { agent, notes, summary, bytesMax } = spec;
  const prompt = newestPrompt(spec.entries);
  const isWaiting = prompt !== undefined && isUnanswered(spec.entries, prompt);
  const request = isWaiting && prompt.body !== "" ? prompt.body : undefined;
  const told = spec.entries.map((entry): Entry => {
    if (entry !== prompt || request === undefined) return entry;
    return { ...prompt, body: "[the request that stands behind this record]" };
  });
  const whole = request === undefined ? prompt : undefined;
  const quotation = quoteRecord(summary === undefined ? told : [summary, ...told], bytesMax, whole);
  const parts = [...notes];
  if (quotation !== undefined) {
    parts.push(
      [
        `This conversation was had with another agent (${agent}), and you carry it on. The lines between the two marks quote what was said, one JSON object a line, oldest first.${leftWords(quotation.left)} ${quotationWords}`,
        quotation.text,
        "What the person says now follows.",
      ].join("\n"),
    );
  }
  const context = parts.join("\n\n");
  const sent = [context, request ?? ""].filter((text) => text !== "").join("\n\n");
  return {
    ...(context === "" ? {} : { context }),
    ...(request === undefined ? {} : { request }),
    quoted: quotation?.entries ?? 0,
    left: quotation?.left ?? 0,
    tokens: sent === "" ? 0 : estimateAgentMessageTokens({ role: "user", payload: { text: sent } }),
  };
}
