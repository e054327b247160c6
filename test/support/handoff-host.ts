/** A session for the live controller to lead: a ledger in memory, a clock that stands still, and a list of what the ports were asked. */
import {
  canonicalJson,
  type HandoffAttempt,
  HandoffController,
  type HandoffLedger,
  type HandoffPorts,
  type Reduction,
  type WritableEntry,
} from "../../src/continuity/index.ts";
import { createLedger, type Ledger, type Row } from "./handoffs.ts";

export interface Host {
  readonly ledger: Ledger;
  readonly controller: HandoffController;
  readonly ports: HandoffPorts;
  /** What the ports were asked, in order: a record's phase or kind, and the names of the other ports. */
  readonly asked: string[];
  /** The blocks of the newest replay. */
  readonly replayed: string[];
  /** What a test may change while it runs. */
  readonly will: {
    reduce: (attempt: HandoffAttempt) => Promise<Reduction>;
    fits: (blocks: readonly string[]) => boolean;
    append: (entry: WritableEntry) => Promise<void>;
    flush: () => Promise<void>;
    checkpoint: () => Promise<void>;
    isCurrent: boolean;
    isRemoved: boolean;
    unreadableRecords: number;
    fork: HandoffLedger["fork"];
  };
  /** The result that the agent's call got. */
  receipt(payload?: Row): void;
  /** A finished response that bears the delivery's id. */
  respond(payload?: Row): string;
  /** Another process on the same ledger: a new controller, and nothing live. */
  restart(): Host;
}

export const byAgent = { by: "agent", toolCallId: "call-1", toolName: "handoff" } as const;
export const byOperator = { by: "operator" } as const;

function word(entry: WritableEntry): string {
  const event = (entry as unknown as { event?: { phase: string } }).event;
  return event?.phase ?? entry.kind;
}

export function createHost(ledger: Ledger = createLedger()): Host {
  const asked: string[] = [];
  const replayed: string[] = [];
  let serial = 0;
  const will: Host["will"] = {
    reduce: () => Promise.resolve({ kind: "replayed", tokensBefore: 9000, tokensAfter: 900 }),
    fits: () => true,
    append: (entry) => {
      ledger.rows.push(JSON.parse(JSON.stringify(entry)) as Row);
      return Promise.resolve();
    },
    flush: () => Promise.resolve(),
    checkpoint: () => Promise.resolve(),
    isCurrent: true,
    isRemoved: false,
    unreadableRecords: 0,
    fork: undefined,
  };
  const ports: HandoffPorts = {
    sessionId: ledger.sessionId,
    readLedger: () =>
      Promise.resolve({
        entries: structuredClone(ledger.rows),
        unreadableRecords: will.unreadableRecords,
        fork: will.fork,
      }),
    persistence: {
      append: (entry) => {
        asked.push(word(entry));
        return will.append(entry);
      },
      readExact: (entry) => {
        asked.push("read");
        const same = ledger.rows.filter((row) => row["turnId"] === entry.turnId);
        if (same.length === 0) return Promise.resolve("absent");
        const isEqual = same.every((row) => canonicalJson(row) === canonicalJson(entry));
        return Promise.resolve(isEqual ? "matching" : "conflicting");
      },
      flushAppends: () => {
        asked.push("flush");
        return will.flush();
      },
      checkpoint: () => {
        asked.push("checkpoint");
        return will.checkpoint();
      },
      isStateRemoved: () => will.isRemoved,
      isOriginCurrent: () => will.isCurrent,
    },
    now: () => ledger.nowMs,
    wait: () => Promise.resolve(),
    randomId: () => {
      serial += 1;
      return `${ledger.sessionId}-live${ledger.rows.length}-${serial}`;
    },
    fits: (blocks) => will.fits(blocks),
    reduce: (attempt) => will.reduce(attempt),
    replay: (blocks) => {
      asked.push("replay");
      replayed.splice(0, replayed.length, ...blocks);
      return Promise.resolve();
    },
    notify: () => void asked.push("notify"),
  };
  const controller = new HandoffController(ports);
  return {
    ledger,
    controller,
    ports,
    asked,
    replayed,
    will,
    receipt(payload = {}) {
      ledger.message("tool_result", { toolCallId: "call-1", text: "kept", ...payload });
    },
    respond(payload = {}) {
      const admitted = controller.admission();
      const continuityDeliveryId = admitted.kind === "allow" ? admitted.correlationId : undefined;
      return ledger.assistant({ text: "carrying on", stopReason: "stop", continuityDeliveryId, ...payload })
        .turnId;
    },
    restart: () => createHost(ledger),
  };
}

/** A host whose person has asked something and whose agent is at work. */
export function atWork(): Host {
  const host = createHost();
  host.ledger.user();
  host.ledger.assistant({ text: "on it", stopReason: "toolUse" });
  return host;
}

/** Requests, settles, and answers the delivery id. */
export async function handOff(host: Host, note = "resume at step 4"): Promise<string> {
  const requested = await host.controller.request(note, byAgent);
  if (requested.state !== "accepted") throw new Error(`refused: ${requested.reason}`);
  host.receipt();
  const settled = await host.controller.settle();
  if (settled.state !== "delivered") throw new Error(JSON.stringify(settled));
  return settled.deliveryId;
}
