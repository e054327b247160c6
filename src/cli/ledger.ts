/** The continuity ledger of a session of ours: its conversation records in file order, without what people and models said. */
import {
  type ContinuityForkBinding,
  continuityReplayBlocks,
  resolveContinuityProjection,
} from "../continuity/index.ts";
import {
  type ConversationEntry,
  isConversation,
  openLogForRead,
  type SessionRecord,
  toEntry,
} from "../log/index.ts";

export interface Ledger {
  /** In file order; of a message only its envelope, its role and where its origin lies. */
  readonly entries: readonly unknown[];
  /** Lines that could not be read as records. */
  readonly unreadable: number;
  readonly session: SessionRecord | undefined;
}

/** Reads the ledger of a session. Memory grows with the number of its records, not with their texts; cost linear in the log. */
export async function readLedger(sessions: string, id: string): Promise<Ledger> {
  const reader = await openLogForRead({ sessions, id });
  try {
    const { session } = await reader.inspect();
    const entries: unknown[] = [];
    let unreadable = 0;
    for await (const item of reader.items()) {
      if (item.type !== "record") unreadable += 1;
      else if (item.problem !== undefined) unreadable += 1;
      else if (isConversation(item.record)) entries.push(withoutTexts(toEntry(item.record)));
    }
    return { entries, unreadable, session };
  } finally {
    await reader.close();
  }
}

function withoutTexts(entry: ConversationEntry): unknown {
  if (entry.kind !== "message") return entry;
  const { payload: _payload, ...envelope } = entry;
  return envelope;
}

/** The blocks of notes that a fork of a session, cut at one of its messages, would be told: for recall only. */
export function notesOfFork(ledger: Ledger, parentSessionId: string, leaf: string, nowMs: number): string[] {
  const binding: ContinuityForkBinding = {
    parentSessionId,
    parentTurnId: leaf,
    headerParentTurnId: leaf,
  };
  const projection = resolveContinuityProjection({
    entries: ledger.entries,
    unreadableRecords: ledger.unreadable,
    // Nobody's id: what the parent had is inherited, nothing is the reader's own.
    sessionId: `fork of ${parentSessionId}`,
    nowMs,
    fork: binding,
  });
  return continuityReplayBlocks(projection);
}
