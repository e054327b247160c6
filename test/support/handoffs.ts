/** Writes ledgers with handoff transactions, record by record, as a live controller would write them. */
import {
  type CommitOutcome,
  type ContinuityCheckpointPayload,
  type ContinuityCommitEntry,
  type ContinuityEvidence,
  type ContinuityFoldResult,
  type ContinuityProjection,
  type ContinuityProjectionInput,
  foldContinuity,
  HANDOFF_MAX_WINDOW_MS,
  HANDOFF_POLICY_LIMITS,
  type HandoffCommit,
  type HandoffEvent,
  type HandoffFailureReason,
  type HandoffIdentity,
  type HandoffPauseReason,
  type HandoffPolicy,
  type HandoffRecoveryRequestEntry,
  type HandoffResumeAction,
  type HandoffState,
  type HandoffTransactionEntry,
  type MessageEntry,
  type MessageRole,
  resolveContinuityEvidence,
  resolveContinuityProjection,
  type TransitionLink,
  validateContinuityNote,
} from "../../src/continuity/index.ts";

/** A record as a test writes it; tests spoil records on purpose. */
export type Row = Record<string, unknown>;

export const startMs = 1_790_000_000_000;

export interface Ledger {
  readonly sessionId: string;
  readonly rows: Row[];
  /** The time of the next record. */
  nowMs: number;
  /** The newest message. */
  leaf: string | null;
  nextId(word: string): string;
  message(role: MessageRole, payload: unknown, id?: string): MessageEntry;
  user(text?: string): MessageEntry;
  assistant(payload?: unknown): MessageEntry;
  handoff(spec?: HandoffSpec): Handoff;
  /** Any other record, its envelope filled in. */
  put(row: Row): Row;
}

export interface HandoffSpec {
  readonly note?: string;
  readonly policy?: Partial<HandoffPolicy>;
  readonly identity?: Partial<HandoffIdentity>;
}

/** One transaction: each call writes its record and answers it. */
export interface Handoff {
  readonly identity: HandoffIdentity;
  readonly policy: HandoffPolicy;
  /** The head that the records written so far lead to. */
  state: HandoffState | undefined;
  commitData: HandoffCommit | undefined;
  request: HandoffRecoveryRequestEntry | undefined;
  prepare(): HandoffTransactionEntry;
  reduce(): HandoffTransactionEntry;
  /** A summary that carries the reserved commit, before the commit record is written. */
  summarize(): Row;
  evict(): Row;
  commit(outcome?: CommitOutcome, link?: Partial<TransitionLink>): ContinuityCommitEntry;
  deliver(): HandoffTransactionEntry;
  respond(payload?: Row): MessageEntry;
  acknowledge(response?: string): HandoffTransactionEntry;
  pause(reason?: HandoffPauseReason): HandoffTransactionEntry;
  fail(reason?: HandoffFailureReason): HandoffTransactionEntry;
  ask(action: HandoffResumeAction, data?: Row): HandoffRecoveryRequestEntry;
  resume(action: HandoffResumeAction, automaticDeadlineAtMs?: number): HandoffTransactionEntry;
  /** Any event at the next place of the chain, or at the one given; the state follows it. */
  write(event: HandoffEvent, link?: Partial<TransitionLink>): HandoffTransactionEntry;
  payload(state?: HandoffState): ContinuityCheckpointPayload;
  /** A later summary with the current payload, or the one given. */
  carry(payload?: unknown): Row;
  /** From nothing to ready. */
  toReady(outcome?: CommitOutcome): Handoff;
  /** From nothing to acknowledged. */
  complete(outcome?: CommitOutcome): Handoff;
}

export function createLedger(sessionId = "s1"): Ledger {
  let serial = 0;
  const ledger: Ledger = {
    sessionId,
    rows: [],
    nowMs: startMs,
    leaf: null,
    nextId(word) {
      serial += 1;
      return `${sessionId}-${word}${serial}`;
    },
    put(row) {
      const { kind, turnId = ledger.nextId("x"), parentTurnId = ledger.leaf, ...rest } = row;
      const whole = asRead({
        kind,
        turnId,
        parentTurnId,
        timestamp: new Date(ledger.nowMs).toISOString(),
        ...rest,
      });
      ledger.nowMs += 1000;
      ledger.rows.push(whole);
      return whole;
    },
    message(role, payload, id = ledger.nextId(role[0] ?? "m")) {
      const row = ledger.put({ kind: "message", turnId: id, role, payload });
      ledger.leaf = id;
      return row as unknown as MessageEntry;
    },
    user: (text = "please") => ledger.message("user", { text }),
    assistant: (payload = { text: "done" }) => ledger.message("assistant", payload),
    handoff: (spec = {}) => createHandoff(ledger, spec),
  };
  return ledger;
}

/** A record as it comes from a log: parsed, and sharing nothing with another. */
function asRead(row: Row): Row {
  return JSON.parse(JSON.stringify(row)) as Row;
}

export function acceptedNote(note: string): { note: string; noteBytes: number; noteSha256: string } {
  const admitted = validateContinuityNote(note);
  if (!admitted.ok) throw new Error(`the test's own note is refused: ${admitted.reason}`);
  return admitted.accepted;
}

function lastUserTurn(ledger: Ledger): string {
  const found = ledger.rows.findLast((row) => row["kind"] === "message" && row["role"] === "user");
  return (found ?? (ledger.user() as unknown as Row))["turnId"] as string;
}

function createHandoff(ledger: Ledger, spec: HandoffSpec): Handoff {
  const handoffId = spec.identity?.handoffId ?? ledger.nextId("h");
  const initiatingTurnId = lastUserTurn(ledger);
  const identity: HandoffIdentity = {
    handoffId,
    preparedEntryId: `${handoffId}-prepared`,
    commitId: `${handoffId}-commit`,
    commitEntryId: `${handoffId}-commit-entry`,
    originSessionId: ledger.sessionId,
    branchAnchorTurnId: ledger.leaf,
    initiatingTurnId,
    toolCallId: `${handoffId}-call`,
    sourceRevision: "",
    ...spec.identity,
  };
  const policy: HandoffPolicy = {
    preparedAtMs: ledger.nowMs,
    automaticDeadlineAtMs: ledger.nowMs + HANDOFF_MAX_WINDOW_MS,
    ...HANDOFF_POLICY_LIMITS,
    ...spec.policy,
  };
  const accepted = acceptedNote(spec.note ?? `note of ${handoffId}`);
  let summaryRef: string | undefined;
  let evictionRef: string | undefined;

  const nextLink = (phase: string, own: Partial<TransitionLink>): TransitionLink => {
    const last = handoff.state?.transition;
    return {
      entryId: phase === "prepared" ? identity.preparedEntryId : ledger.nextId("t"),
      prevEntryId: last?.entryId ?? null,
      sequence: last === undefined ? 0 : last.sequence + 1,
      attempt: (last?.attempt ?? 0) + (phase === "reducing" ? 1 : 0),
      ...own,
    };
  };
  const reserve = (outcome: CommitOutcome, link: Partial<TransitionLink> = {}): HandoffCommit => {
    handoff.commitData ??= {
      outcome,
      entry: {
        turnId: identity.commitEntryId,
        parentTurnId: ledger.leaf,
        timestamp: new Date(ledger.nowMs).toISOString(),
      },
      transition: nextLink("ready", { entryId: identity.commitEntryId, ...link }),
      ...(outcome === "summarized" ? { summaryRef: summaryRef as string } : {}),
      ...(outcome === "evicted" ? { evictionRef: evictionRef as string } : {}),
      tokensBefore: 9000,
      tokensAfter: 900,
    };
    return handoff.commitData;
  };
  const readyState = (commit: HandoffCommit): HandoffState => ({
    transition: commit.transition,
    event: { phase: "ready" },
    activeResume: handoff.state?.activeResume ?? null,
    delivery: handoff.state?.delivery ?? null,
  });
  const resumeRef = (): { resumeRef?: string } =>
    handoff.state?.event.phase === "resumed" ? { resumeRef: handoff.state.transition.entryId } : {};

  const handoff: Handoff = {
    identity,
    policy,
    state: undefined,
    commitData: undefined,
    request: undefined,
    write(event, own = {}) {
      const transition = nextLink(event.phase, own);
      const row = ledger.put({
        kind: "handoffTransaction",
        turnId: transition.entryId,
        schemaVersion: 1,
        identity,
        transition,
        event,
      });
      handoff.state = {
        transition,
        event,
        activeResume:
          event.phase === "resumed"
            ? { entryId: transition.entryId, authority: event.authority }
            : (handoff.state?.activeResume ?? null),
        delivery:
          event.phase === "delivered"
            ? { deliveryId: event.deliveryId, continuationTurnId: event.continuationTurnId }
            : (handoff.state?.delivery ?? null),
      };
      return row as unknown as HandoffTransactionEntry;
    },
    prepare: () => handoff.write({ phase: "prepared", accepted, policy }),
    reduce: () => handoff.write({ phase: "reducing", ...resumeRef() }),
    summarize() {
      summaryRef = ledger.nextId("sum");
      const commit = reserve("summarized");
      return ledger.put({
        kind: "compactionSummary",
        turnId: summaryRef,
        summary: "what went before",
        tokensBefore: 9000,
        tokensAfter: 900,
        firstKeptTurnId: "",
        continuity: handoff.payload(readyState(commit)),
      });
    },
    evict() {
      evictionRef = ledger.nextId("ev");
      return ledger.put({
        kind: "contextEviction",
        turnId: evictionRef,
        policyId: "oldest-first",
        trigger: "auto",
        evicted: [],
        tokensBefore: 9000,
        tokensAfter: 900,
        pressureBefore: null,
        snapshotIdBefore: null,
      });
    },
    commit(outcome = "continuity_only", link = {}) {
      const data = reserve(outcome, link);
      const state = readyState(data);
      const row = asRead({
        kind: "continuityCommit",
        ...data.entry,
        continuity: { ...handoff.payload(state), state: { ...state, activeResume: null, delivery: null } },
      });
      ledger.rows.push(row);
      ledger.nowMs += 1000;
      handoff.state = state;
      return row as unknown as ContinuityCommitEntry;
    },
    deliver() {
      const continuationTurnId = ledger.leaf ?? identity.initiatingTurnId;
      return handoff.write({
        phase: "delivered",
        deliveryId: ledger.nextId("d"),
        continuationTurnId,
        ...resumeRef(),
      });
    },
    respond: (payload = {}) =>
      ledger.assistant({
        text: "carrying on",
        stopReason: "stop",
        continuityDeliveryId: handoff.state?.delivery?.deliveryId,
        ...payload,
      }),
    acknowledge: (response = ledger.leaf ?? "") =>
      handoff.write({
        phase: "acknowledged",
        deliveryId: handoff.state?.delivery?.deliveryId ?? "no-delivery",
        terminalResponseEntryId: response,
      }),
    pause: (reason = "operator_cancelled") => handoff.write({ phase: "paused", reason }),
    fail: (reason = "provider_failed") => handoff.write({ phase: "failed", reason }),
    ask(action, data = {}) {
      const row = ledger.put({
        kind: "custom",
        turnId: ledger.nextId("ask"),
        customType: "contextHandoffRecoveryRequest",
        display: false,
        data: {
          version: 1,
          requestKind: "handoff_recovery",
          handoffId,
          action,
          sessionId: ledger.sessionId,
          branchAnchorTurnId: identity.branchAnchorTurnId,
          selectedLeafTurnId: ledger.leaf,
          pausedOrFailedEntryId: handoff.state?.transition.entryId,
          ...data,
        },
      });
      handoff.request = row as unknown as HandoffRecoveryRequestEntry;
      return handoff.request;
    },
    resume: (action, automaticDeadlineAtMs = ledger.nowMs + HANDOFF_MAX_WINDOW_MS) =>
      handoff.write({
        phase: "resumed",
        authority: {
          operatorRequestEntryId: handoff.request?.turnId ?? "",
          pausedOrFailedEntryId: handoff.state?.transition.entryId ?? "",
          action,
          automaticDeadlineAtMs,
        },
      }),
    payload: (state = handoff.state as HandoffState) => ({
      schemaVersion: 1,
      identity,
      accepted,
      policy,
      commit: handoff.commitData as HandoffCommit,
      state,
    }),
    carry: (payload = handoff.payload()) =>
      ledger.put({
        kind: "compactionSummary",
        turnId: ledger.nextId("sum"),
        summary: "what went before",
        tokensBefore: 9000,
        firstKeptTurnId: "",
        continuity: payload,
      }),
    toReady(outcome = "summarized") {
      handoff.prepare();
      handoff.reduce();
      if (outcome === "summarized") handoff.summarize();
      if (outcome === "evicted") handoff.evict();
      handoff.commit(outcome);
      return handoff;
    },
    complete(outcome = "summarized") {
      handoff.toReady(outcome);
      handoff.deliver();
      handoff.respond();
      handoff.acknowledge();
      return handoff;
    },
  };
  return handoff;
}

export interface FoldOptions {
  readonly sessionId?: string;
  readonly pathTurnIds?: readonly string[];
  readonly historical?: boolean;
  readonly nowMs?: number;
  readonly unreadableRecords?: number;
  readonly evidence?: Partial<ContinuityEvidence>;
}

/** The fold of a ledger for its own session, a moment after its last record. */
export function fold(ledger: Ledger, options: FoldOptions = {}): ContinuityFoldResult {
  return foldRows(ledger.rows, { sessionId: ledger.sessionId, nowMs: ledger.nowMs, ...options });
}

export function foldRows(
  rows: readonly unknown[],
  options: FoldOptions & { readonly sessionId: string; readonly nowMs: number },
): ContinuityFoldResult {
  const { sessionId, nowMs, historical = false, unreadableRecords = 0 } = options;
  const pathTurnIds =
    options.pathTurnIds ??
    (rows as readonly Row[])
      .filter((row) => row?.["kind"] === "message")
      .map((row) => row["turnId"] as string);
  const evidence = {
    ...resolveContinuityEvidence({ entries: rows, pathTurnIds, unreadableRecords }),
    ...options.evidence,
  };
  return foldContinuity({
    entries: rows,
    selection: { sessionId, pathTurnIds, historical },
    evidence,
    nowMs,
  });
}

/** The projection of a ledger for its own session, a moment after its last record. */
export function project(
  ledger: Ledger,
  options: Partial<ContinuityProjectionInput> = {},
): ContinuityProjection {
  return resolveContinuityProjection({
    entries: ledger.rows,
    sessionId: ledger.sessionId,
    unreadableRecords: 0,
    nowMs: ledger.nowMs,
    ...options,
  });
}

/** A fork of a ledger at a message: the prefix up to it, records unchanged, under a new session id. */
export function forkLedger(parent: Ledger, atTurnId: string, sessionId: string): Ledger {
  const child = createLedger(sessionId);
  const boundary = parent.rows.findIndex((row) => row["turnId"] === atTurnId);
  child.rows.push(...(structuredClone(parent.rows.slice(0, boundary + 1)) as Row[]));
  child.leaf = atTurnId;
  child.nowMs = parent.nowMs;
  return child;
}

export function kindsOf(result: { readonly anomalies: readonly { readonly kind: string }[] }): string[] {
  return result.anomalies.map((anomaly) => anomaly.kind);
}

/** The ledger's rows with `change` applied to a copy of the one with this id. */
export function changed(rows: readonly Row[], turnId: unknown, change: (row: Row) => void): Row[] {
  return rows.map((row) => {
    if (row["turnId"] !== turnId) return row;
    const copy = structuredClone(row);
    change(copy);
    return copy;
  });
}
