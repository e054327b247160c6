/** What the status row knows of the session. */
import type { SessionInfo } from "../../session/index.ts";
import type { Entry, Usage } from "../../transcript/index.ts";
import type { Status } from "../render/index.ts";
import { quietAfterMs } from "./limits.ts";

/** Usage counters that together are what the model's context holds, under the names providers give them. */
const contextParts = [
  "input_tokens",
  "cache_creation_input_tokens",
  "cache_read_input_tokens",
  "output_tokens",
  "input",
  "cacheRead",
  "cacheWrite",
  "output",
] as const;
const contextTotals = ["total_tokens", "totalTokens", "total"] as const;

/** Tokens in the context after an answer; absent where its usage does not tell. */
export function contextTokens(usage: Usage): number | undefined {
  for (const name of contextTotals) if (usage[name] !== undefined) return usage[name];
  let sum: number | undefined;
  for (const name of contextParts) if (usage[name] !== undefined) sum = (sum ?? 0) + usage[name];
  return sum;
}

const agentWords: Readonly<Record<string, string>> = { messages: "messages directory" };

/** Follows the session's course as far as the status row tells of it. */
export class StatusFacts {
  #info: SessionInfo;
  #isTurnOpen = false;
  #turnStartedAt: number | undefined;
  #heardAt: number;
  #model: string | undefined;
  #tokens: number | undefined;
  #isGone = false;

  constructor(info: SessionInfo, now: number) {
    this.#info = info;
    this.#heardAt = info.modifiedAt ?? now;
    this.#model = info.model;
  }

  get info(): SessionInfo {
    return this.#info;
  }

  setInfo(info: SessionInfo): void {
    this.#info = info;
  }

  /** The newest entry that a reading from the end found was written at `time`: a copied or old log is not at work now. */
  found(time: number): void {
    this.#heardAt = Math.min(this.#heardAt, time);
  }

  /** The log said something at `now`. */
  heard(now: number): void {
    this.#heardAt = Math.max(this.#heardAt, now);
    this.#isGone = false;
  }

  lost(): void {
    this.#isGone = true;
  }

  setTurn(isOpen: boolean, startedAt: number | undefined): void {
    this.#isTurnOpen = isOpen;
    this.#turnStartedAt = startedAt;
  }

  /** An entry of the session's own agent, in order. */
  saw(entry: Entry): void {
    if (entry.kind !== "model" || entry.subagent !== undefined) return;
    this.#model = entry.modelId ?? this.#model;
    this.#tokens = contextTokens(entry.usage) ?? this.#tokens;
  }

  /** Whether the agent is at work, as far as the log tells. */
  isRunning(now: number): boolean {
    return this.#isTurnOpen && !this.#isGone && now - this.#heardAt < quietAfterMs;
  }

  status(now: number, keys: readonly string[]): Status {
    const isRunning = this.isRunning(now);
    const state = this.#isGone ? "gone" : isRunning ? "running" : this.#isTurnOpen ? "waiting" : "idle";
    const elapsedMs =
      isRunning && this.#turnStartedAt !== undefined ? Math.max(0, now - this.#turnStartedAt) : undefined;
    const { title, agent } = this.#info;
    return {
      agent: agentWords[agent] ?? agent,
      ...(this.#model === undefined ? {} : { model: this.#model }),
      ...(title === undefined ? {} : { title }),
      ...(this.#tokens === undefined ? {} : { tokens: this.#tokens }),
      state,
      ...(elapsedMs === undefined ? {} : { elapsedMs }),
      keys,
    };
  }
}
