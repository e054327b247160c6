/**
 * What an agent tells, folded into blocks, records and the agent's state. Pure: values in, effects out, in the order in which they are
 * to be done. Time comes in with each value.
 *
 * Blocks are opened in the order of the log: a message of the model is recorded when it ends, a call before it runs or before anything
 * else begins, a result when it comes.
 */
import type { PromptPayload, RecordSpec, SpokenPiece } from "../log/index.ts";
import type { Approval } from "../session/index.ts";
import type { ContentBlock } from "../transcript/index.ts";
import type { EntryDraft } from "./blocks.ts";
import {
  approvalOf,
  type Call,
  callDraft,
  callPayload,
  type Denial,
  type Ending,
  endingOf,
  nameOf,
  newCall,
  outcomeOf,
  resultDraft,
  resultPayload,
  withNews,
} from "./calls.ts";
import type { Effect } from "./effects.ts";
import { fieldsOf, headOf } from "./input.ts";
import {
  callsOpenMax,
  outputBytesMax,
  outputHeldCharsMax,
  spokenCharsMax,
  spokenPiecesMax,
  summaryCharsMax,
  unknownUpdatesMax,
} from "./limits.ts";
import type { AgentUpdate, CallNews, Piece } from "./updates.ts";

/** How a turn ended. */
export type TurnEnd =
  /** The agent said so, in its own word. */
  | {
      readonly type: "stopped";
      readonly stopReason: string;
      readonly usage: Readonly<Record<string, number>>;
      readonly time: number;
    }
  /** `reason` in words for a person; it is recorded as it is. */
  | { readonly type: "interrupted"; readonly reason: string; readonly time: number };

export interface Prompt {
  readonly text: string;
  /** Who sent it, where it was not the person at this terminal. */
  readonly sender?: string;
  readonly queued?: boolean;
  /** The name that it had in the inbox. */
  readonly inbox?: string;
  readonly time: number;
}

interface Spoken {
  readonly key: string;
  readonly time: number;
  readonly messageId: string | undefined;
  readonly pieces: readonly Piece[];
  readonly chars: number;
}

const settledMax = callsOpenMax;

/** The setting that names the agent's own session. */
export const agentSessionSetting = "agentSessionId";

/** The setting that names the prompt of the inbox which was taken last, so that it is not taken twice. */
export const inboxSetting = "inbox";

export class Fold {
  #serial = 0;
  #turnStartedAt: number | undefined;
  #spoken: Spoken | undefined;
  #calls = new Map<string, Call>();
  #settled = new Set<string>();
  #unknown = 0;
  #used: number | undefined;
  #stepHasCalls = false;
  #compactions = new Map<string, string>();
  /** Of the delivery that the turn answers. */
  #deliveryId: string | undefined;

  /** Whether a message is being said that no turn will end. */
  get isLate(): boolean {
    return !this.isTurnOpen && this.#spoken !== undefined;
  }

  get isTurnOpen(): boolean {
    return this.#turnStartedAt !== undefined;
  }

  /** Calls that are announced and have not ended, oldest first. */
  get callsOpen(): number {
    return this.#calls.size;
  }

  /** A turn begins with a prompt. */
  begin(prompt: Prompt): readonly Effect[] {
    const { time } = prompt;
    const out: Effect[] = [...this.rest(time)];
    this.#turnStartedAt = time;
    this.#unknown = 0;
    this.#stepHasCalls = false;
    const key = this.#key();
    const payload: PromptPayload = {
      text: prompt.text,
      ...(prompt.sender === undefined ? {} : { sender: prompt.sender }),
      ...(prompt.queued === true ? { queued: true } : {}),
    };
    const specs: RecordSpec[] = [
      { kind: "turnStarted" },
      { kind: "message", role: "user", payload, timestamp: iso(time) },
    ];
    if (prompt.inbox !== undefined) specs.push({ kind: "set", key: inboxSetting, value: prompt.inbox });
    out.push(
      { type: "turnStarted", time },
      { type: "record", specs, blocks: [{ key, record: 1 }] },
      {
        type: "finish",
        key,
        draft: {
          kind: "delivered",
          sender: prompt.sender ?? "user",
          body: prompt.text,
          ...(prompt.queued === true ? { queued: true } : {}),
          time,
        },
      },
      { type: "step", event: { type: "begun", time } },
    );
    return out;
  }

  /** A turn begins that no prompt does: a handoff is delivered, and what is answered bears its id. */
  beginDelivery(deliveryId: string, time: number): readonly Effect[] {
    const out: Effect[] = [...this.rest(time)];
    this.#turnStartedAt = time;
    this.#unknown = 0;
    this.#stepHasCalls = false;
    this.#deliveryId = deliveryId;
    out.push(
      { type: "turnStarted", time },
      { type: "record", specs: [{ kind: "turnStarted" }], blocks: [] },
      { type: "step", event: { type: "begun", time } },
    );
    return out;
  }

  /** The running call whose input is a note; undefined where the agent has reported none yet. */
  callOfNote(note: string): { readonly id: string; readonly name: string } | undefined {
    for (const call of [...this.#calls.values()].reverse())
      if (fieldsOf(call.input)?.["note"] === note) return { id: call.id, name: nameOf(call).name };
    return undefined;
  }

  /** What the agent tells. */
  update(update: AgentUpdate, time: number): readonly Effect[] {
    const out: Effect[] = [];
    switch (update.type) {
      case "chunk":
        this.#say(update.piece, update.messageId, time, out);
        break;
      case "call":
        this.#tellCall(update.news, time, out);
        break;
      case "plan":
        out.push({ type: "state", state: { plan: update.steps } });
        break;
      case "mode":
        out.push(
          { type: "record", specs: [{ kind: "set", key: "mode", value: update.id }], blocks: [] },
          { type: "state", state: { modeId: update.id } },
        );
        break;
      case "commands":
        out.push({ type: "state", state: { commands: update.commands } });
        break;
      case "title":
        out.push(
          { type: "record", specs: [{ kind: "set", key: "title", value: update.title }], blocks: [] },
          { type: "title", title: update.title },
        );
        break;
      case "usage":
        this.#used = update.used;
        break;
      case "notice":
        out.push({ type: "notice", tone: update.tone, text: update.text });
        break;
      case "compactionText": {
        const text = (this.#compactions.get(update.id) ?? "") + update.text;
        this.#keepCompaction(update.id, headOf(text, summaryCharsMax));
        break;
      }
      case "compaction":
        this.#compact(update, time, out);
        break;
      case "unknown":
        this.#keepUnknown(update.kind, update.json, time, out);
        break;
      case "echo":
      case "nothing":
        break;
    }
    return out;
  }

  /** A call waits for the person. It is recorded first: what it will do is in the log before it may run. */
  ask(
    news: CallNews,
    approvalId: string,
    options: Approval["options"],
    time: number,
  ): {
    readonly effects: readonly Effect[];
    readonly approval: Approval;
  } {
    const out: Effect[] = [];
    // Its status is what it was: a call that is asked for does not run yet.
    const { status: _status, ...asked } = news;
    this.#tellCall(asked, time, out, true);
    const call = this.#calls.get(news.id) ?? withNews(newCall(news.id, this.#key(), time), asked, time, 0);
    if (!call.isRecorded && this.#calls.has(news.id)) this.#recordCall(call, time, out);
    return { effects: out, approval: approvalOf(call, approvalId, options, time) };
  }

  /** The person allowed a call: it runs from now on. */
  allow(callId: string): readonly Effect[] {
    const out: Effect[] = [];
    const call = this.#calls.get(callId);
    // It may have been rejected when it was asked about before.
    if (call?.denial !== undefined) this.#calls.set(callId, { ...call, denial: undefined });
    this.#post(callId, out);
    return out;
  }

  /** The person rejected a call, or the question about it was called off: it has not run, whatever becomes of it. */
  deny(callId: string, denial: Denial): void {
    const call = this.#calls.get(callId);
    if (call !== undefined) this.#calls.set(callId, { ...call, denial });
  }

  /** The turn is over: what was being said is recorded, and calls that have not ended are told to be what they are. */
  end(end: TurnEnd): readonly Effect[] {
    const { time } = end;
    const out: Effect[] = [];
    if (end.type === "stopped") this.#endSpoken(end, out);
    else this.#seal(time, out);
    const ending: Ending =
      end.type === "stopped"
        ? { state: "unanswered", time }
        : { state: "interrupted", time, note: "it may have partly run" };
    this.#settleAll(ending, out);
    if (this.#unknown > unknownUpdatesMax)
      out.push({
        type: "notice",
        tone: "information",
        text: `${this.#unknown - unknownUpdatesMax} more updates of unknown kinds came in this turn; they are not kept.`,
      });
    const startedAt = this.#turnStartedAt;
    if (startedAt === undefined) return out;
    this.#turnStartedAt = undefined;
    this.#deliveryId = undefined;
    const ms = Math.max(0, time - startedAt);
    if (end.type === "stopped") {
      const hasUsage = Object.keys(end.usage).length > 0;
      const data = { stopReason: end.stopReason, ms, ...(hasUsage ? { usage: end.usage } : {}) };
      out.push({ type: "record", specs: [{ kind: "turnCommitted", data }], blocks: [] });
    } else {
      const key = this.#key();
      const { reason } = end;
      out.push(
        {
          type: "record",
          specs: [{ kind: "turnInterrupted", reason, data: { ms } }],
          blocks: [{ key, record: 0 }],
        },
        {
          type: "finish",
          key,
          draft: { kind: "wounded", wound: { kind: "interrupted", words: reason }, time },
        },
      );
    }
    const reason = end.type === "interrupted" ? "error" : end.stopReason === "max_tokens" ? "length" : "stop";
    out.push({ type: "step", event: { type: "over", reason, time } }, { type: "turnEnded", time });
    return out;
  }

  /** Ends a message that was told outside of a turn. */
  sealLate(time: number): readonly Effect[] {
    const out: Effect[] = [];
    if (!this.isTurnOpen) this.#seal(time, out);
    return out;
  }

  /** Finishes what was told outside of a turn. */
  rest(time: number): readonly Effect[] {
    const out: Effect[] = [];
    this.#seal(time, out);
    this.#settleAll({ state: "unanswered", time }, out);
    return out;
  }

  // ---- what the model says ----

  #say(piece: Piece, messageId: string | undefined, time: number, out: Effect[]): void {
    if (piece.kind !== "attachment" && piece.text === "") return;
    const isOther =
      messageId !== undefined &&
      this.#spoken?.messageId !== undefined &&
      this.#spoken.messageId !== messageId;
    if (isOther) this.#seal(time, out);
    if (piece.kind === "attachment") {
      this.#addPiece(piece, messageId, time, out);
      return;
    }
    out.push(...this.#stepFor(time), { type: "step", event: { type: piece.kind, text: piece.text } });
    for (let rest = piece.text; rest !== ""; ) {
      const room = spokenCharsMax - (this.#spoken?.chars ?? 0);
      const part = headOf(rest, Math.max(2, room));
      rest = rest.slice(part.length);
      this.#addPiece({ ...piece, text: part }, messageId, time, out);
      if (rest !== "") this.#seal(time, out);
    }
  }

  /** A message after calls is a further call of the model: a step of its own. */
  #stepFor(time: number): readonly Effect[] {
    if (!this.#stepHasCalls || this.#spoken !== undefined || !this.isTurnOpen || this.#calls.size > 0)
      return [];
    this.#stepHasCalls = false;
    return [
      { type: "step", event: { type: "over", reason: "stop", time } },
      { type: "step", event: { type: "begun", time } },
    ];
  }

  #addPiece(piece: Piece, messageId: string | undefined, time: number, out: Effect[]): void {
    if ((this.#spoken?.pieces.length ?? 0) >= spokenPiecesMax && !continues(this.#spoken, piece))
      this.#seal(time, out);
    const chars = piece.kind === "attachment" ? 0 : piece.text.length;
    const open = this.#spoken;
    if (open === undefined) {
      this.#recordPending(time, out);
      this.#spoken = { key: this.#key(), time, messageId, pieces: [piece], chars };
      out.push({ type: "open", key: this.#spoken.key, draft: spokenDraft(this.#spoken) });
      return;
    }
    this.#spoken = {
      ...open,
      messageId: open.messageId ?? messageId,
      pieces: withPiece(open.pieces, piece),
      chars: open.chars + chars,
    };
    out.push({ type: "change", key: open.key, draft: spokenDraft(this.#spoken) });
  }

  /** The message that is being said is over. */
  #seal(_time: number, out: Effect[], stopReason?: string): void {
    const open = this.#spoken;
    if (open === undefined) return;
    const spoken = flat(open);
    this.#spoken = undefined;
    out.push(
      {
        type: "record",
        specs: [spokenSpec(spoken, stopReason, this.#deliveryId)],
        blocks: [{ key: spoken.key, record: 0 }],
      },
      { type: "finish", key: spoken.key, draft: spokenDraft(spoken, stopReason) },
    );
  }

  /** The last message of a turn says how it ended; an ending that is a failure is a block of its own. */
  #endSpoken(end: TurnEnd & { readonly type: "stopped" }, out: Effect[]): void {
    const { stopReason, time } = end;
    const isLimit = stopReason === "max_tokens";
    if (!isLimit && stopReason !== "refusal") {
      this.#seal(time, out, stopReason === "end_turn" ? "stop" : undefined);
      return;
    }
    const spoken = this.#spoken;
    this.#spoken = undefined;
    const key = this.#key();
    const wound: EntryDraft = {
      kind: "wounded",
      wound: isLimit ? { kind: "output-limit" } : { kind: "refused" },
      time,
    };
    const said = spoken ?? { key, time, messageId: undefined, pieces: [], chars: 0 };
    const blocks =
      spoken === undefined
        ? [{ key, record: 0 }]
        : [
            { key: spoken.key, record: 0 },
            { key, record: 0, ordinal: 1 },
          ];
    out.push({ type: "record", specs: [spokenSpec(said, stopReason, this.#deliveryId)], blocks });
    if (spoken !== undefined)
      out.push({ type: "finish", key: spoken.key, draft: spokenDraft(spoken, stopReason) });
    out.push({ type: "finish", key, draft: wound });
  }

  // ---- calls ----

  #tellCall(news: CallNews, time: number, out: Effect[], isAsked = false): void {
    if (!this.#calls.has(news.id)) {
      if (!news.isNew && !isAsked && this.#settled.has(news.id)) return;
      this.#openCall(news, time, out);
    } else {
      const call = this.#merge(news, time);
      out.push({ type: "change", key: call.key, draft: this.#callDraft(call) });
    }
    const call = this.#calls.get(news.id);
    if (call === undefined || news.status === undefined || news.status === "pending") return;
    if (!call.isRecorded) this.#recordCall(call, time, out);
    if (news.status === "running" || call.denial === undefined) this.#post(news.id, out);
    if (news.status === "running") return;
    this.#settle(news.id, { state: news.status, time }, out);
  }

  #openCall(news: CallNews, time: number, out: Effect[]): void {
    this.#seal(time, out);
    this.#recordPending(time, out);
    if (this.#calls.size >= callsOpenMax) {
      const [oldest] = this.#calls.keys();
      if (oldest !== undefined) this.#settle(oldest, { state: "unanswered", time }, out);
    }
    this.#settled.delete(news.id);
    this.#stepHasCalls = true;
    this.#calls.set(news.id, newCall(news.id, this.#key(), time));
    const call = this.#merge(news, time);
    out.push({ type: "open", key: call.key, draft: this.#callDraft(call) });
  }

  #merge(news: CallNews, time: number): Call {
    const known = this.#calls.get(news.id) ?? newCall(news.id, this.#key(), time);
    let held = 0;
    for (const call of this.#calls.values()) if (call.id !== news.id) held += call.output.length;
    const room = Math.max(outputBytesMax, outputHeldCharsMax - held);
    const call = withNews(known, news, time, room);
    this.#calls.set(news.id, call);
    return call;
  }

  #callDraft(call: Call): EntryDraft {
    return callDraft(call, call.openedAt, { state: "running" });
  }

  /** Calls that are announced and not recorded: their records come before that of whatever begins now. */
  #recordPending(time: number, out: Effect[]): void {
    for (const call of this.#calls.values()) if (!call.isRecorded) this.#recordCall(call, time, out);
  }

  #recordCall(call: Call, time: number, out: Effect[]): void {
    this.#calls.set(call.id, { ...call, isRecorded: true });
    const payload = callPayload(call);
    out.push({
      type: "record",
      specs: [{ kind: "message", role: "tool_call", payload, timestamp: iso(time) }],
      blocks: [{ key: call.key, record: 0 }],
    });
  }

  /** The call runs: it is published, once. */
  #post(id: string, out: Effect[]): void {
    const call = this.#calls.get(id);
    if (call === undefined || call.isPosted) return;
    this.#calls.set(id, { ...call, isPosted: true });
    const { input } = callPayload(call);
    out.push({
      type: "step",
      event: { type: "posted", id, name: nameOf(call).name, ...(input === undefined ? {} : { input }) },
    });
  }

  #settleAll(ending: Ending, out: Effect[]): void {
    this.#recordPending(ending.time, out);
    for (const id of [...this.#calls.keys()]) this.#settle(id, ending, out);
  }

  #settle(id: string, told: Ending, out: Effect[]): void {
    const known = this.#calls.get(id);
    if (known === undefined) return;
    const ending = endingOf(known, told);
    if (!known.isRecorded) this.#recordCall(known, ending.time, out);
    this.#calls.delete(id);
    this.#settled.add(id);
    const [oldest] = this.#settled;
    if (this.#settled.size > settledMax && oldest !== undefined) this.#settled.delete(oldest);
    const outcome = outcomeOf(known, ending);
    const done: Effect = {
      type: "finish",
      key: known.key,
      draft: callDraft(known, known.openedAt, outcome),
    };
    // A call that nobody answered has no result, as in the logs of other agents.
    if (ending.state === "unanswered") {
      out.push(done);
      return;
    }
    const key = this.#key();
    const { payload, whole } = resultPayload(known, ending);
    out.push(
      {
        type: "record",
        specs: [{ kind: "message", role: "tool_result", payload, timestamp: iso(ending.time) }],
        blocks: [{ key, record: 0 }],
        ...(whole === undefined ? {} : { whole: { text: whole, record: 0 } }),
      },
      done,
      { type: "finish", key, draft: resultDraft(known, ending) },
    );
    if (known.isPosted)
      out.push({
        type: "step",
        event: {
          type: "landed",
          id,
          output: payload.text,
          exitCode: known.exitCode ?? (ending.state === "done" ? 0 : 1),
          endedAt: ending.time,
          ...(known.startedAt === undefined ? {} : { startedAt: known.startedAt }),
        },
      });
  }

  // ---- the rest ----

  #keepCompaction(id: string, text: string): void {
    this.#compactions.delete(id);
    this.#compactions.set(id, text);
    const [oldest] = this.#compactions.keys();
    if (this.#compactions.size > 8 && oldest !== undefined) this.#compactions.delete(oldest);
  }

  #compact(update: AgentUpdate & { readonly type: "compaction" }, time: number, out: Effect[]): void {
    const { id, state } = update;
    const summary = update.summary ?? this.#compactions.get(id) ?? "";
    if (state === "running") {
      if (!this.#compactions.has(id))
        out.push({ type: "notice", tone: "information", text: "The agent compacts the conversation." });
      this.#keepCompaction(id, summary);
      return;
    }
    this.#compactions.delete(id);
    if (state === "failed") {
      out.push({ type: "notice", tone: "warning", text: "The agent could not compact the conversation." });
      return;
    }
    this.#seal(time, out);
    this.#recordPending(time, out);
    const key = this.#key();
    const tokensBefore = this.#used;
    out.push(
      {
        type: "record",
        specs: [
          {
            kind: "compactionSummary",
            summary,
            tokensBefore: tokensBefore ?? 0,
            firstKeptTurnId: "",
            timestamp: iso(time),
          },
        ],
        blocks: [{ key, record: 0 }],
      },
      { type: "compacted" },
      {
        type: "finish",
        key,
        draft: { kind: "compacted", summary, tokensBefore: tokensBefore ?? 0, time },
      },
    );
  }

  #keepUnknown(kind: string, json: string, time: number, out: Effect[]): void {
    this.#unknown += 1;
    if (this.#unknown > unknownUpdatesMax) return;
    this.#seal(time, out);
    this.#recordPending(time, out);
    const key = this.#key();
    const topic = `unknown update ${kind}`;
    out.push(
      {
        type: "record",
        specs: [
          { kind: "custom", customType: topic, data: { update: json }, display: true, timestamp: iso(time) },
        ],
        blocks: [{ key, record: 0 }],
      },
      { type: "finish", key, draft: { kind: "raw", reason: topic, text: json, time } },
    );
  }

  #key(): string {
    this.#serial += 1;
    return `~${this.#serial}`;
  }
}

function iso(time: number): string {
  return new Date(time).toISOString();
}

/** The message with texts that are one piece of memory each: chunks joined are a tree, many times as large. */
function flat(spoken: Spoken): Spoken {
  const pieces = spoken.pieces.map((piece) =>
    piece.kind === "attachment"
      ? piece
      : { ...piece, text: Buffer.from(piece.text, "utf16le").toString("utf16le") },
  );
  return { ...spoken, pieces };
}

function continues(spoken: Spoken | undefined, piece: Piece): boolean {
  const last = spoken?.pieces.at(-1);
  return last !== undefined && last.kind !== "attachment" && last.kind === piece.kind;
}

function withPiece(pieces: readonly Piece[], piece: Piece): readonly Piece[] {
  const last = pieces.at(-1);
  if (
    last === undefined ||
    last.kind === "attachment" ||
    piece.kind === "attachment" ||
    last.kind !== piece.kind
  )
    return [...pieces, piece];
  return [...pieces.slice(0, -1), { ...last, text: last.text + piece.text }];
}

function spokenDraft(spoken: Spoken, stopReason?: string): EntryDraft {
  return {
    kind: "model",
    usage: {},
    blocks: spoken.pieces.map((piece): ContentBlock => piece),
    ...(spoken.messageId === undefined ? {} : { messageId: spoken.messageId }),
    ...(stopReason === undefined ? {} : { stopReason }),
    time: spoken.time,
  };
}

function spokenSpec(
  spoken: Spoken,
  stopReason: string | undefined,
  deliveryId: string | undefined,
): RecordSpec {
  const content = spoken.pieces.map((piece): SpokenPiece => {
    if (piece.kind === "attachment") return { type: "attachment", ...piece.attachment };
    return { type: piece.kind, text: piece.text };
  });
  return {
    kind: "message",
    role: "assistant",
    payload: {
      content,
      ...(spoken.messageId === undefined ? {} : { messageId: spoken.messageId }),
      ...(stopReason === undefined ? {} : { stopReason }),
      ...(deliveryId === undefined ? {} : { continuityDeliveryId: deliveryId }),
    },
    timestamp: iso(spoken.time),
  };
}
