/** Pairs tool calls with their results. Pure; by id and by place, so that a reused or an empty id never hides a second call. */
import type { CallOutcome, CallState, Entry, ModelEntry, ToolResultEntry } from "./entry.ts";
import { resultsOf } from "./query.ts";

/** A call where it stands: the model entry and the block's index in it. */
export interface CallSeat {
  readonly entry: ModelEntry;
  readonly block: number;
  readonly id: string;
  readonly tool: string;
  readonly inputSummary: string;
  readonly subject?: string;
}

/** What one entry settles: results of calls, and the call that a result answers. */
export interface Pairs {
  /** Calls that got their (newest) result with this entry. */
  readonly answered: readonly { readonly call: CallSeat; readonly result: ToolResultEntry }[];
  /** The call that the entry answers, where the entry is a result. */
  readonly call?: CallSeat;
  /** The calls that its further results answer, in their order; absent where it has none. */
  readonly furtherCalls?: readonly (CallSeat | undefined)[];
}

/** Pairs entry after entry, in log order. */
export interface Pairer {
  add(entry: Entry): Pairs;
  /** Calls without a result so far, in log order. */
  unanswered(): readonly CallSeat[];
  /** Forgets a call that can get no result any more. */
  forget(call: CallSeat): void;
}

/** The calls of a model entry, in order, but for those without an id that tell their own end: nothing else can answer them. */
export function callsOf(entry: ModelEntry): readonly CallSeat[] {
  const calls: CallSeat[] = [];
  for (const [block, b] of entry.blocks.entries()) {
    if (b.kind !== "tool-use") continue;
    if (b.id === "" && b.outcome !== undefined && b.outcome.state !== "running") continue;
    calls.push({
      entry,
      block,
      id: b.id,
      tool: b.name,
      inputSummary: b.inputSummary,
      ...(b.subject === undefined ? {} : { subject: b.subject }),
    });
  }
  return calls;
}

function isSameCall(a: CallSeat, b: CallSeat): boolean {
  return a.tool === b.tool && a.inputSummary === b.inputSummary;
}

/**
 * A pairer with the rules: a result answers the newest call of its id above it, and with it the same call told before; a second result
 * of one call wins over the first; a result above any call of its id answers the next one; results without an id answer the calls
 * without an id in order. At most `callsMax` calls are remembered, the oldest answered ones being forgotten first.
 */
export function createPairer(callsMax: number = Number.POSITIVE_INFINITY): Pairer {
  /** Per id: the calls that the next result answers. */
  const open = new Map<string, CallSeat[]>();
  const early = new Map<string, ToolResultEntry>();
  const waiting = new Set<CallSeat>();
  let nameless: CallSeat[] = [];

  function trim(): void {
    for (const id of open.keys()) {
      if (open.size <= callsMax) break;
      for (const call of open.get(id) ?? []) waiting.delete(call);
      open.delete(id);
    }
    while (nameless.length > callsMax) waiting.delete(nameless.shift() as CallSeat);
    for (const id of early.keys()) {
      if (early.size <= callsMax) break;
      early.delete(id);
    }
  }

  function addCall(call: CallSeat): Pairs["answered"] {
    waiting.add(call);
    if (call.id === "") {
      nameless.push(call);
      return [];
    }
    const before = open.get(call.id);
    const last = before?.at(-1);
    const retold = before !== undefined && last !== undefined && waiting.has(last) && isSameCall(last, call);
    // Set anew, so that the order of the map is the order of use.
    open.delete(call.id);
    open.set(call.id, retold ? [...before, call] : [call]);
    const result = early.get(call.id);
    if (result === undefined) return [];
    early.delete(call.id);
    waiting.delete(call);
    return [{ call, result }];
  }

  function addResult(result: ToolResultEntry): Pairs {
    if (result.toolUseId === "") {
      const call = nameless.shift();
      if (call === undefined) return { answered: [] };
      waiting.delete(call);
      return { answered: [{ call, result }], call };
    }
    const calls = open.get(result.toolUseId);
    if (calls === undefined) {
      early.set(result.toolUseId, result);
      return { answered: [] };
    }
    for (const call of calls) waiting.delete(call);
    const call = calls.at(-1);
    return { answered: calls.map((c) => ({ call: c, result })), ...(call === undefined ? {} : { call }) };
  }

  function addResults(entry: ToolResultEntry): Pairs {
    if (entry.further === undefined) return addResult(entry);
    const [first, ...further] = resultsOf(entry).map((result, at) => addResult(at === 0 ? entry : result));
    return {
      answered: [...(first?.answered ?? []), ...further.flatMap((pairs) => pairs.answered)],
      ...(first?.call === undefined ? {} : { call: first.call }),
      furtherCalls: further.map((pairs) => pairs.call),
    };
  }

  return {
    add(entry) {
      let pairs: Pairs = { answered: [] };
      if (entry.kind === "model") pairs = { answered: callsOf(entry).flatMap(addCall) };
      else if (entry.kind === "tool-result") pairs = addResults(entry);
      trim();
      return pairs;
    },
    unanswered: () => [...waiting],
    forget(call) {
      waiting.delete(call);
      nameless = nameless.filter((c) => c !== call);
      const rest = open.get(call.id)?.filter((c) => c !== call);
      if (rest === undefined) return;
      if (rest.length > 0) open.set(call.id, rest);
      else open.delete(call.id);
    },
  };
}

/** What the result says of its call's end: the recorded facts, and where they are absent the lines of the text and the time between the two. */
export function outcomeOf(result: ToolResultEntry, call?: ModelEntry): CallOutcome {
  const told = result.outcome;
  const between =
    call?.time !== undefined && result.time !== undefined && result.time >= call.time
      ? result.time - call.time
      : undefined;
  const lines = told?.lines ?? (result.content === "" ? undefined : linesOf(result.content));
  const durationMs = told?.durationMs ?? between;
  return {
    ...told,
    state: told?.state ?? (result.isError ? "failed" : "done"),
    ...(lines === undefined ? {} : { lines }),
    ...(durationMs === undefined ? {} : { durationMs }),
  };
}

function linesOf(text: string): number {
  let lines = 1;
  for (let at = text.indexOf("\n"); at !== -1 && at < text.length - 1; at = text.indexOf("\n", at + 1))
    lines += 1;
  return lines;
}

/** The model entry with the outcome of one of its calls. */
export function withOutcome(entry: ModelEntry, block: number, outcome: CallOutcome): ModelEntry {
  const blocks = entry.blocks.map((b, i) => (i === block && b.kind === "tool-use" ? { ...b, outcome } : b));
  return { ...entry, blocks };
}

/** The result with the calls it answers and with all that is known of how they ended. */
export function withCall(
  result: ToolResultEntry,
  call: CallSeat | undefined,
  furtherCalls: readonly (CallSeat | undefined)[] = [],
): ToolResultEntry {
  const [, ...others] = resultsOf(result);
  const further = others.map((other, at) => {
    const { toolUseId, content, isError } = other;
    return { toolUseId, content, isError, ...endOf(other, furtherCalls[at]) };
  });
  return { ...result, ...endOf(result, call), ...(further.length === 0 ? {} : { further }) };
}

function endOf(
  result: ToolResultEntry,
  call: CallSeat | undefined,
): Pick<ToolResultEntry, "outcome" | "call"> {
  const outcome = outcomeOf(result, call?.entry);
  if (call === undefined) return { outcome };
  return {
    outcome,
    call: {
      name: call.tool,
      inputSummary: call.inputSummary,
      entry: call.entry.name,
      ...(call.subject === undefined ? {} : { subject: call.subject }),
    },
  };
}

/** Entries around the ones to pair, in log order: calls and results beyond a page's borders. */
export interface PairingContext {
  readonly before?: readonly Entry[];
  readonly after?: readonly Entry[];
  /** How a call without a result stands; absent, or undefined for one: its outcome stays unknown. */
  readonly standing?: (call: CallSeat) => CallState | undefined;
}

/** The entries with calls and results paired, in the same order. Linear in all that is given. */
export function pairCalls(entries: readonly Entry[], context: PairingContext = {}): readonly Entry[] {
  const pairer = createPairer();
  const results = new Map<ModelEntry, Map<number, ToolResultEntry>>();
  const calls = new Map<Entry, CallSeat>();
  const furtherCalls = new Map<Entry, readonly (CallSeat | undefined)[]>();
  for (const part of [context.before ?? [], entries, context.after ?? []]) {
    for (const entry of part) {
      const pairs = pairer.add(entry);
      if (pairs.call) calls.set(entry, pairs.call);
      if (pairs.furtherCalls) furtherCalls.set(entry, pairs.furtherCalls);
      for (const { call, result } of pairs.answered) {
        const known = results.get(call.entry) ?? new Map<number, ToolResultEntry>();
        results.set(call.entry, known.set(call.block, result));
        if (result !== entry) calls.set(result, call);
      }
    }
  }
  return entries.map((entry) => {
    if (entry.kind === "tool-result") return withCall(entry, calls.get(entry), furtherCalls.get(entry));
    if (entry.kind !== "model") return entry;
    const found = results.get(entry);
    let paired = entry;
    for (const call of callsOf(entry)) {
      const result = found?.get(call.block);
      const state = result === undefined ? context.standing?.(call) : undefined;
      if (result !== undefined) paired = withOutcome(paired, call.block, outcomeOf(result, entry));
      else if (state !== undefined) paired = withOutcome(paired, call.block, { state });
    }
    return paired;
  });
}
