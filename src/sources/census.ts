/** Counts what a log holds, in memory that grows with distinct ids only. */
import type { Classified, EntryDraft } from "./classifier.ts";
import { stepTurn, type TurnState } from "./turns.ts";
import type { CheckReport } from "./types.ts";

/** Ids seen, empty ones told apart by their place in the log. */
class Ids {
  readonly #seen = new Set<string>();
  #nameless = 0;

  add(id: string): void {
    if (id === "") this.#nameless += 1;
    else this.#seen.add(id);
  }

  get count(): number {
    return this.#seen.size + this.#nameless;
  }

  /** How many of these have no fellow in the other. */
  countMissing(other: Ids): number {
    let missing = Math.max(0, this.#nameless - other.#nameless);
    for (const id of this.#seen) if (!other.#seen.has(id)) missing += 1;
    return missing;
  }
}

/** What the records of a log hold, counted one after the other. */
export class Census {
  records = 0;
  recovered = 0;
  compactions = 0;
  turns = 0;
  turn: TurnState = "closed";
  hasTurns = false;
  readonly kinds = new Map<string, number>();
  readonly unknown = new Set<string>();
  readonly calls = new Ids();
  readonly results = new Ids();
  readonly messages = new Set<string>();
  readonly #tokens = new Map<string, number>();
  #total: number | undefined;
  #totalGrowth = 0;

  add(said: Classified): void {
    this.records += 1;
    this.kinds.set(said.kind, (this.kinds.get(said.kind) ?? 0) + 1);
    if (!said.known) this.unknown.add(said.kind);
    if (said.modelMessage !== undefined) this.messages.add(said.modelMessage);
    for (const draft of said.entries) this.#addDraft(draft);
    for (const mark of said.marks ?? []) {
      if (mark.type === "compacted") this.compactions += 1;
      if (mark.type !== "turnStarted" && mark.type !== "turnEnded") continue;
      this.hasTurns = true;
      const step = stepTurn(this.turn, mark);
      this.turn = step.state;
      if (step.hasStarted && step.isPrompted) this.turns += 1;
    }
    this.#addUsage(said.usage);
  }

  #addDraft(draft: EntryDraft): void {
    if (draft.kind === "tool-result") this.results.add(draft.toolUseId);
    else if (draft.kind === "model")
      for (const block of draft.blocks) {
        // A call that has no id and tells its own end is answered by nothing else, and is no half of a pair.
        if (block.kind === "tool-use" && (block.id !== "" || block.outcome === undefined))
          this.calls.add(block.id);
      }
  }

  #addUsage(usage: Classified["usage"]): void {
    if (usage === undefined) return;
    if (usage.scope === "message") {
      this.#tokens.set(usage.key, Math.max(this.#tokens.get(usage.key) ?? 0, usage.outputTokens));
      return;
    }
    // A running total counts by its growth; a fall is a new count from there.
    this.#totalGrowth += Math.max(0, usage.outputTokens - (this.#total ?? 0));
    this.#total = usage.outputTokens;
  }

  get outputTokens(): number | undefined {
    if (this.#tokens.size === 0 && this.#total === undefined) return undefined;
    let sum = this.#totalGrowth;
    for (const tokens of this.#tokens.values()) sum += tokens;
    return sum;
  }

  /** The counts, with what is known of the log itself. */
  report(about: Pick<CheckReport, "agent" | "path" | "bytes" | "damaged">): CheckReport {
    const { outputTokens } = this;
    const { agent, path, bytes, damaged } = about;
    return {
      agent,
      path,
      bytes,
      records: this.records,
      recovered: this.recovered,
      damaged,
      recordKinds: Object.fromEntries([...this.kinds].sort(([a], [b]) => (a < b ? -1 : 1))),
      unknownKinds: [...this.unknown].sort(),
      toolCalls: this.calls.count,
      toolResults: this.results.count,
      unansweredCalls: this.calls.countMissing(this.results),
      orphanResults: this.results.countMissing(this.calls),
      compactions: this.compactions,
      modelMessages: this.messages.size,
      ...(outputTokens === undefined ? {} : { outputTokens }),
      ...(this.hasTurns ? { turns: this.turns, openTurn: this.turn !== "closed" } : {}),
    };
  }
}
