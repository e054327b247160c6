/** Counts a chat. */
import type { CheckReport, DamageNote } from "../types.ts";
import { type Chat, DAMAGE_NOTES_MAX } from "./chat.ts";
import { standingOf } from "./rows.ts";

/** Reads the whole chat once, forward. Calls, results and messages are counted by distinct id; outputs by the greatest per message. */
export async function checkChat(chat: Chat, signal?: AbortSignal): Promise<CheckReport> {
  const recordKinds: Record<string, number> = {};
  const unknownKinds = new Set<string>();
  const calls = new Set<string>();
  const results = new Set<string>();
  const messages = new Set<string>();
  const prompts = new Set<string>();
  const outputs = new Map<string, number>();
  const damaged: DamageNote[] = [];
  let records = 0;
  let recovered = 0;
  let nameless = 0;
  const rows = await chat.observe(
    {
      record(kind, isKnown) {
        records += 1;
        recordKinds[kind] = (recordKinds[kind] ?? 0) + 1;
        if (!isKnown) unknownKinds.add(kind);
      },
      recovered: () => {
        recovered += 1;
      },
      damage(note) {
        if (damaged.length < DAMAGE_NOTES_MAX) damaged.push(note);
      },
      message(message, id) {
        if (!message.known) unknownKinds.add(message.kind);
        const key = id ?? `?${nameless++}`;
        if (message.isPrompt) prompts.add(key);
        for (const call of message.calls) {
          const name = call.id === "" ? `?${nameless++}` : call.id;
          calls.add(name);
          if (call.isAnswered) results.add(name);
        }
        if (message.kind !== "gemini") return;
        messages.add(key);
        if (message.outputTokens !== undefined)
          outputs.set(key, Math.max(outputs.get(key) ?? 0, message.outputTokens));
      },
    },
    signal,
  );
  let outputTokens = 0;
  for (const count of outputs.values()) outputTokens += count;
  return {
    agent: "gemini",
    path: chat.path,
    bytes: rows.bytes,
    records,
    recovered,
    damaged,
    recordKinds,
    unknownKinds: [...unknownKinds].sort(),
    toolCalls: calls.size,
    toolResults: results.size,
    unansweredCalls: [...calls].filter((id) => !results.has(id)).length,
    orphanResults: 0,
    modelMessages: messages.size,
    ...(outputs.size === 0 ? {} : { outputTokens }),
    turns: prompts.size,
    openTurn: standingOf(rows.rows).isOpen,
  };
}
