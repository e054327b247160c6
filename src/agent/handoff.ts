/**
 * The handoffs of a driven session: notes come in from the agent's tool or from the person, and once a turn is over the controller leads
 * them on. The context is reduced by the agent's own compaction where it told of one behind the request, else by a fresh session of the
 * agent, which is told the note and the kept tail. What is to be sent next goes back to the driver, which has the turns.
 */
import {
  continuityReplayBlocks,
  estimateAgentMessageTokens,
  type HandoffAsker,
  HandoffController,
  type HandoffOutcome,
  type HandoffRefusal,
  type Reduction,
  resolveContinuityProjection,
} from "../continuity/index.ts";
import {
  type Appended,
  createContinuityPersistencePorts,
  type LogPorts,
  type LogWriter,
  type RecordSpec,
  readContinuityLedger,
} from "../log/index.ts";
import type { Entry } from "../transcript/index.ts";
import type { OpenedSession } from "./connection.ts";
import type { HandoffReceipt } from "./handoff-channel.ts";
import { fieldsOf } from "./input.ts";
import { contextBytesMax, handoffBlocksBytesMax, handoffWaitMs } from "./limits.ts";
import { leftWords, quotationWords, quoteRecord } from "./replay.ts";

/** What the driver lends. */
export interface HandoffHost {
  readonly log: LogWriter;
  readonly ports: LogPorts;
  /** The folder that holds the sessions. */
  readonly sessions: string;
  /** Appends records in order with all else, and shows what is to be shown of them. */
  append(specs: readonly RecordSpec[]): Promise<Appended>;
  notice(tone: "information" | "warning" | "error", text: string): void;
  /** A fresh session of the agent. */
  openSession(): Promise<OpenedSession>;
  /** Whether the agent has the conversation in its context: it does not where it was started anew and told nothing yet. */
  knowsSession(): boolean;
  /** The newest entries of the session, oldest first. */
  tail(): Promise<readonly Entry[]>;
}

/** What is to be sent to the agent, in a turn that no prompt of a person begins. */
export interface HandoffDeliverySpec {
  readonly deliveryId: string;
  readonly text: string;
  /** The agent's session that it goes to, where it is another one now. */
  readonly session?: OpenedSession;
}

const refusals: Readonly<Partial<Record<HandoffRefusal, string>>> = {
  not_a_string: "the note is no text",
  blank: "the note is empty",
  contains_nul: "the note contains a NUL character",
  not_utf8_round_trip: "the note is no valid Unicode text",
  exceeds_max_bytes: "the note is too long",
  active_handoff: "another handoff is under way",
  unresolved_handoff:
    "an earlier handoff is not over: hansard handoff show tells of it, hansard handoff recover goes on with it",
  disputed_ledger: "the session's handoff records are damaged or contradict each other",
  no_operator_turn: "nothing was asked in this session yet",
  note_exceeds_replay_budget: "the note, with those it would stand beside, does not fit",
  missing_receipt: "the agent did not report that its call ended well",
  attempts_exhausted: "all attempts are spent",
  commit_missing: "its context was not reduced yet",
  deadline_expired: "its time is over",
  cancelled: "it was cancelled",
  origin_changed: "another process has taken the session over",
};

function words(reason: string): string {
  return refusals[reason as HandoffRefusal] ?? reason.replaceAll("_", " ");
}

export class HandoffDesk {
  readonly #host: HandoffHost;
  readonly #controller: HandoffController;
  #blocks: readonly string[] = [];
  /** The session that the newest reduction opened; absent where the agent compacted by itself. */
  #session: OpenedSession | undefined;

  constructor(host: HandoffHost) {
    this.#host = host;
    const { log, ports, sessions } = host;
    const { id } = log;
    this.#controller = new HandoffController({
      sessionId: id,
      readLedger: () => readContinuityLedger({ sessions, id }, ports),
      persistence: createContinuityPersistencePorts(
        {
          sessions,
          id,
          writer: {
            id,
            mode: log.mode,
            status: () => log.status(),
            flush: () => log.flush(),
            append: (specs) => host.append(Array.isArray(specs) ? specs : [specs as RecordSpec]),
          },
        },
        ports,
      ),
      now: () => ports.clock.now(),
      wait: () => new Promise((resolve) => void ports.clock.after(handoffWaitMs, resolve)),
      randomId: () => ports.randomId(),
      fits: (blocks) =>
        blocks.reduce((sum, block) => sum + Buffer.byteLength(block), 0) <= handoffBlocksBytesMax,
      reduce: () => this.#reduce(),
      replay: async (blocks) => {
        this.#blocks = blocks;
      },
    });
  }

  /** Whether a note waits for the turn's end. */
  get isRequested(): boolean {
    return this.#controller.live?.stage === "requested";
  }

  /** Takes a note in. The receipt says whether it is kept, which it then is on stable storage. */
  async request(note: unknown, asker: HandoffAsker): Promise<HandoffReceipt> {
    const requested = await this.#controller.request(note, asker);
    if (requested.state === "accepted") return { isAccepted: true, text: requested.receipt };
    return { isAccepted: false, text: `The note is not kept: ${words(requested.reason)}.` };
  }

  /** A turn is over and recorded: leads on what it asked for. What is to be sent, where something is. */
  async settle(hasStopped: boolean): Promise<HandoffDeliverySpec | undefined> {
    if (!this.isRequested) return undefined;
    if (!hasStopped) {
      await this.cancel();
      return undefined;
    }
    this.#host.notice("information", "The context is being reduced for a handoff.");
    return await this.#told(await this.#controller.settle());
  }

  /** The turn that a delivery began is over and recorded. */
  async answered(deliveryId: string): Promise<void> {
    const outcome = await this.#controller.response(deliveryId);
    if (outcome.state === "acknowledged") return;
    await this.#controller.pause();
    this.#host.notice(
      "warning",
      "The agent got its note but did not finish an answer: the handoff is paused. hansard handoff recover goes on with it.",
    );
  }

  /** Ends what runs, and pauses it. */
  async cancel(): Promise<void> {
    if (this.#controller.live === undefined) return;
    const stopped = await this.#controller.cancel();
    if (stopped.state === "paused") this.#host.notice("warning", "The handoff is paused.");
  }

  /**
   * Goes on with a handoff that an earlier process left: with `all`, one that was paused or failed too. One whose note the agent may have
   * got already is delivered again only with `all`.
   */
  async recover(scope: "open" | "all"): Promise<HandoffDeliverySpec | undefined> {
    const { log, sessions, ports } = this.#host;
    const fold = (await foldOf(sessions, log.id, ports)).current;
    if (!fold?.identity || fold.phase === "acknowledged" || fold.phase === "absent") {
      if (scope === "all") this.#host.notice("information", "No handoff of this session waits.");
      return undefined;
    }
    const isStopped = fold.phase === "paused" || fold.phase === "failed";
    const isUnsure = fold.phase === "delivered" && fold.unacknowledgedResponseEntryId === null;
    if (scope === "open" && (isStopped || isUnsure)) {
      this.#host.notice(
        "warning",
        `A handoff of this session is not over (${fold.phase}): hansard handoff recover goes on with it.`,
      );
      return undefined;
    }
    const action = fold.commit === null ? "reduce" : "deliver";
    return await this.#told(await this.#controller.recover(fold.identity.handoffId, action));
  }

  async #told(outcome: HandoffOutcome): Promise<HandoffDeliverySpec | undefined> {
    const { notice } = this.#host;
    switch (outcome.state) {
      case "delivered":
        return await this.#delivery(outcome.deliveryId);
      case "acknowledged":
        notice("information", "The handoff is over: its answer was in the log already.");
        return undefined;
      case "failed":
        notice("warning", `The handoff failed: ${words(outcome.reason)}.`);
        return undefined;
      case "paused":
        notice("warning", `The handoff is paused: ${words(outcome.reason)}.`);
        return undefined;
      case "refused":
        notice("warning", `The handoff cannot go on: ${words(outcome.reason)}.`);
        return undefined;
      case "uncertain":
        notice("error", `What the log holds of the handoff is not certain: ${words(outcome.reason)}.`);
        return undefined;
    }
  }

  async #delivery(deliveryId: string): Promise<HandoffDeliverySpec> {
    const session = this.#session;
    this.#session = undefined;
    const isKnown = session === undefined && this.#host.knowsSession();
    const tail = isKnown ? undefined : quoteRecord(await this.#host.tail(), contextBytesMax);
    const quoted =
      tail === undefined
        ? []
        : [
            `The lines between the two marks quote what was said before the context was reduced, one JSON object a line, oldest first.${leftWords(tail.left)} ${quotationWords}`,
            tail.text,
          ];
    const end = "The context was reduced. Carry on with the work that was asked for.";
    const text = [...this.#blocks, ...quoted, end].join("\n\n");
    return { deliveryId, text, ...(session === undefined ? {} : { session }) };
  }

  /** The agent's own compaction behind the request, or a fresh session of it. */
  async #reduce(): Promise<Reduction> {
    const { log, sessions, ports, openSession, tail } = this.#host;
    const { entries } = await readContinuityLedger({ sessions, id: log.id }, ports);
    this.#session = undefined;
    const compacted = compactionBehind(entries);
    if (compacted !== undefined) return { kind: "summarized", summary: compacted };
    const kept = await tail();
    const quoted = quoteRecord(kept, contextBytesMax);
    this.#session = await openSession();
    const price = (text: string): number =>
      text === "" ? 0 : estimateAgentMessageTokens({ role: "user", payload: { text } });
    const tokensAfter = price(quoted?.text ?? "");
    const whole = quoteRecord(kept, Number.MAX_SAFE_INTEGER)?.text ?? "";
    return { kind: "replayed", tokensBefore: Math.max(price(whole), tokensAfter), tokensAfter };
  }
}

/** The summary that the agent itself made behind the newest preparation of a handoff. */
function compactionBehind(
  entries: readonly unknown[],
): (Reduction & { readonly kind: "summarized" })["summary"] | undefined {
  for (let at = entries.length - 1; at >= 0; at -= 1) {
    const entry = fieldsOf(entries[at]);
    if (entry?.["kind"] === "handoffTransaction" && fieldsOf(entry["event"])?.["phase"] === "prepared")
      return undefined;
    if (entry?.["kind"] !== "compactionSummary" || entry["continuity"] !== undefined) continue;
    const { summary, tokensBefore } = entry;
    if (typeof summary !== "string" || summary === "") return undefined;
    return {
      summary,
      tokensBefore: typeof tokensBefore === "number" ? tokensBefore : 0,
      tokensAfter: estimateAgentMessageTokens({ role: "user", payload: { text: summary } }),
      firstKeptTurnId: "",
    };
  }
  return undefined;
}

async function foldOf(
  sessions: string,
  id: string,
  ports: LogPorts,
): Promise<ReturnType<typeof resolveContinuityProjection>> {
  const { entries, unreadableRecords, fork } = await readContinuityLedger({ sessions, id }, ports);
  return resolveContinuityProjection({
    entries,
    unreadableRecords,
    fork,
    sessionId: id,
    nowMs: ports.clock.now(),
  });
}

/** The blocks of a session's notes, for an agent that does not know the session. */
export async function recallBlocks(
  sessions: string,
  id: string,
  ports: LogPorts,
): Promise<readonly string[]> {
  return continuityReplayBlocks(await foldOf(sessions, id, ports));
}
