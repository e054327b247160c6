/**
 * A session whose agent runs: what the agent tells becomes changes for whoever shows it, records in the session's log, and files of the
 * step directory, in one order. Whatever the disk does, the conversation goes on.
 */
import type { Clock, LogError, LogNotice, LogWriter, RecordPlace } from "../log/index.ts";
import type {
  Answered,
  Change,
  DrivenSession,
  DriverState,
  Page,
  Position,
  SessionInfo,
  TailPage,
} from "../session/index.ts";
import type { Place } from "../transcript/index.ts";
import { ApprovalDesk } from "./approvals.ts";
import { Blocks } from "./blocks.ts";
import { ChangeHub } from "./change-hub.ts";
import type { AskOutcome, Connection } from "./connection.ts";
import type { Effect, WholeText } from "./effects.ts";
import { AgentError, errnoOf } from "./errors.ts";
import { Fold, type TurnEnd } from "./fold.ts";
import type { HistoryPages } from "./history-pages.ts";
import type { Inbox } from "./inbox.ts";
import type { Fields } from "./input.ts";
import {
  cancelGraceMs,
  earlyMax,
  lateSealMs,
  lookEveryMs,
  promptBytesMax,
  promptsQueuedMax,
  workPendingMax,
} from "./limits.ts";
import type { StepWriter } from "./step-writer.ts";
import type { WatchFolder } from "./types.ts";
import { type Mode, readCall, readOptions, readUpdate } from "./updates.ts";

interface QueuedPrompt {
  readonly text: string;
  readonly sender?: string;
  readonly inbox?: string;
  readonly isQueued: boolean;
  readonly resolve: () => void;
  readonly reject: (error: unknown) => void;
}

export interface DriverParts {
  readonly log: LogWriter;
  readonly info: SessionInfo;
  readonly agent: string;
  readonly clock: Clock;
  readonly history: HistoryPages;
  readonly steps?: StepWriter;
  readonly inbox?: Inbox;
  readonly watchFolder: WatchFolder;
  /** Told to the agent ahead of the first prompt. */
  readonly context?: string;
}

/** What the driver needs of an agent that has greeted and opened its session. */
export interface OpenAgent {
  readonly connection: Connection;
  readonly sessionId: string;
  readonly modes: readonly Mode[];
  readonly modeId?: string;
}

export class Driver implements DrivenSession {
  readonly #parts: DriverParts;
  readonly #fold = new Fold();
  readonly #blocks: Blocks;
  readonly #hub = new ChangeHub();
  readonly #approvals: ApprovalDesk;
  readonly #after = new WeakMap<TailPage, number>();
  #agent: OpenAgent | undefined;
  #info: SessionInfo;
  #state: DriverState;
  #context: string | undefined;
  #work: Promise<void> = Promise.resolve();
  #pending = 0;
  #prompts: QueuedPrompt[] = [];
  #isTaking = false;
  #isTurnRunning = false;
  #isCancelling = false;
  #isMuted = false;
  #hasEnded = false;
  #closing: Promise<void> | undefined;
  #closeMessage: string | undefined;
  #finishedSeqEnd = 0;
  #savedTold = 0;
  #lastRecordSeqEnd = 0;
  #hasProblem = false;
  #early: (Change & { readonly type: "notice" })[] | undefined = [];
  #stops: (() => void)[] = [];
  #callOffLook: (() => void) | undefined;
  #callOffLate: (() => void) | undefined;

  constructor(parts: DriverParts) {
    this.#parts = parts;
    this.#info = parts.info;
    this.#context = parts.context;
    this.#blocks = new Blocks(String(parts.log.tail.end));
    this.#state = {
      phase: "starting",
      agent: { name: parts.agent },
      approvals: [],
      plan: [],
      modes: [],
      commands: [],
      queued: 0,
    };
    this.#approvals = new ApprovalDesk({
      ...(parts.steps === undefined ? {} : { steps: parts.steps }),
      now: () => this.#now(),
      onChange: (approvals) => this.#tellState({ approvals }),
      onAnswer: (approval, outcome) => this.#prepareAnswer(approval.call.id, approval.options, outcome),
      onOddity: (text) => this.notice("warning", text),
      onProblem: (code) => this.stepProblem(code),
    });
  }

  get info(): SessionInfo {
    return this.#info;
  }

  get driver(): DriverState {
    return this.#state;
  }

  /** What the log said at its closing, for the last message that a person reads; absent before. */
  get closeMessage(): string | undefined {
    return this.#closeMessage;
  }

  // ---- from the agent ----

  readonly handlers = {
    update: async (sessionId: string, value: unknown): Promise<void> => {
      if (this.#isMuted || this.#closing !== undefined) return;
      if (this.#agent !== undefined && sessionId !== this.#agent.sessionId) return;
      this.#perform(this.#fold.update(readUpdate(value), this.#now()));
      if (this.#fold.isLate) this.#sealLater();
      // Past this, the agent waits: what it tells is told and recorded before more is read.
      if (this.#pending > workPendingMax) await this.#work;
    },
    ask: (request: Fields, signal: AbortSignal): Promise<AskOutcome> => this.#ask(request, signal),
    oddity: (text: string): void => this.notice("warning", text),
  };

  /** While an agent loads a session it tells all of it again. */
  mute(isMuted: boolean): void {
    this.#isMuted = isMuted;
  }

  /** The agent is ready. */
  start(agent: OpenAgent): void {
    this.#agent = agent;
    const { connection, modes, modeId } = agent;
    this.#tellState({
      phase: "ready",
      agent: connection.agent,
      modes,
      ...(modeId === undefined ? {} : { modeId }),
    });
    void connection.ended.then((sentence) => this.#agentEnded(sentence));
    const { inbox, steps, watchFolder } = this.#parts;
    if (inbox !== undefined) this.#stops.push(watchFolder(inbox.folder, () => this.#look()));
    if (inbox !== undefined || steps !== undefined) this.#lookLater();
    this.#takeNext();
  }

  // ---- notices and the log's listener ----

  notice(tone: "information" | "warning" | "error", text: string): void {
    this.#then(async () => this.#tellNotice({ type: "notice", tone, text }));
  }

  /** What is said before anybody reads is kept for whoever reads first. */
  #tellNotice(notice: Change & { readonly type: "notice" }): void {
    if (this.#early === undefined) this.#hub.tell(notice);
    else if (this.#early.length < earlyMax) this.#early.push(notice);
  }

  readonly listener = {
    notice: (notice: LogNotice): void => {
      // At once, not behind the work: the work may be what waits for the disk.
      this.#tellNotice({ type: "notice", tone: notice.tone, text: notice.text });
      if (notice.code === "lease-lost") this.#leaseLost();
    },
    saved: (): void => this.#tellSaved(),
  };

  /** The step directory cannot be written: said once, until it works again. */
  stepProblem(code: string): void {
    if (this.#hasProblem) return;
    this.#hasProblem = true;
    this.notice("warning", `The running step cannot be published for other processes (${code}).`);
  }

  #leaseLost(): void {
    const failure = "Another process has taken the session over; this one records nothing any more.";
    this.#tellState({ failure });
    void this.#agent?.connection.close();
  }

  // ---- the session ----

  async tail(limit: number): Promise<TailPage> {
    let page: TailPage | undefined;
    // Between two pieces of work: what the page shows and what the changes tell then meet without a gap.
    await this.#run(async () => {
      const isBroken = this.#parts.log.status().problem !== undefined;
      page = await this.#parts.history.tail(limit, this.#blocks.live(), this.#fold.isTurnOpen, isBroken);
      this.#after.set(page, this.#hub.next);
      const early = this.#early ?? [];
      this.#early = undefined;
      for (const notice of early) this.#tellNotice(notice);
    });
    if (page === undefined) throw new AgentError("closed", "the session is closed");
    return page;
  }

  older(from: Position, limit: number): Promise<Page> {
    return this.#parts.history.older(from, limit);
  }

  newer(from: Position, limit: number): Promise<Page> {
    return this.#parts.history.newer(from, limit);
  }

  first(limit: number): Promise<Page> {
    return this.#parts.history.first(limit);
  }

  raw(place: Place, limit?: number): Promise<Uint8Array> {
    return this.#parts.history.raw(place, limit);
  }

  changes(after: TailPage, signal: AbortSignal): AsyncIterable<Change> {
    return this.#hub.from(this.#after.get(after) ?? this.#hub.next, signal);
  }

  // ---- the person ----

  prompt(text: string): Promise<void> {
    return this.#enqueuePrompt({ text });
  }

  async cancel(): Promise<void> {
    const agent = this.#agent;
    if (!this.#isTurnRunning || this.#isCancelling || agent === undefined) return;
    this.#isCancelling = true;
    this.#tellState({ phase: "cancelling" });
    // The agent hears of the cancel first, so that it does not take the answers for the person's word.
    await agent.connection.cancel(agent.sessionId);
    await this.#approvals.cancelAll("cancel");
    const callOff = this.#parts.clock.after(cancelGraceMs, () => {
      if (this.#isCancelling)
        this.notice(
          "warning",
          `The agent has not confirmed the cancel for ${cancelGraceMs / 1000} seconds. It can be waited for, or ended by leaving.`,
        );
    });
    this.#stops.push(callOff);
  }

  answer(approvalId: string, optionId: string, by: string): Promise<Answered> {
    return this.#approvals.answer(approvalId, optionId, by);
  }

  async setMode(modeId: string): Promise<void> {
    const agent = this.#ready();
    if (!this.#state.modes.some(({ id }) => id === modeId))
      throw new AgentError("bad-choice", `the agent offers no mode ${JSON.stringify(modeId)}`);
    await agent.connection.setMode(agent.sessionId, modeId);
    await this.#performAll(this.#fold.update({ type: "mode", id: modeId }, this.#now()));
  }

  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    this.#hasEnded = true;
    this.#callOffLook?.();
    this.#callOffLate?.();
    for (const stop of this.#stops) stop();
    this.#refusePrompts(new AgentError("closed", "the session is closed"));
    await this.#approvals.cancelAll("close");
    await this.#agent?.connection.close();
    if (this.#fold.isTurnOpen)
      this.#perform(this.#fold.end({ type: "interrupted", reason: "closed", time: this.#now() }));
    else this.#perform(this.#fold.rest(this.#now()));
    await this.#work;
    await this.#parts.steps?.close();
    this.#closeMessage = (await this.#parts.log.close()).message;
    this.#tellSaved();
    this.#setState({ phase: "ended" });
    this.#hub.close();
    await this.#parts.history.close();
  }

  // ---- turns ----

  #enqueuePrompt(prompt: { readonly text: string; readonly sender?: string }): Promise<void> {
    if (this.#hasEnded)
      return Promise.reject(
        this.#closing === undefined
          ? new AgentError("agent-ended", this.#state.failure ?? "the agent has ended")
          : new AgentError("closed", "the session is closed"),
      );
    if (Buffer.byteLength(prompt.text) > promptBytesMax)
      return Promise.reject(
        new AgentError("too-much", `a prompt is at most ${promptBytesMax} bytes`, {
          next: "Put the text into a file and name the file in the prompt.",
        }),
      );
    if (this.#prompts.length >= promptsQueuedMax)
      return Promise.reject(
        new AgentError("too-much", `${promptsQueuedMax} prompts are waiting already`, {
          next: "Wait for the running turn to end, or cancel it.",
        }),
      );
    return new Promise<void>((resolve, reject) => {
      const isQueued = this.#isTurnRunning || this.#prompts.length > 0;
      this.#prompts.push({ ...prompt, isQueued, resolve, reject });
      if (isQueued) this.#tellState({ queued: this.#prompts.length });
      this.#takeNext();
    });
  }

  /** Begins the next turn where none runs: a prompt of this process first, else one of the inbox. */
  #takeNext(): void {
    if (this.#isTaking || this.#isTurnRunning || this.#hasEnded || this.#agent === undefined) return;
    const prompt = this.#prompts.shift();
    if (prompt !== undefined) {
      void this.#runTurn(prompt);
      return;
    }
    if (this.#parts.inbox === undefined) return;
    this.#isTaking = true;
    void this.#takeFromInbox(this.#parts.inbox).finally(() => {
      this.#isTaking = false;
      if (this.#prompts.length > 0) this.#takeNext();
    });
  }

  async #takeFromInbox(inbox: Inbox): Promise<void> {
    try {
      const found = await inbox.next((name) =>
        this.notice("warning", `The inbox held ${JSON.stringify(name)}, which is no prompt; it was removed.`),
      );
      if (found === undefined || this.#isTurnRunning || this.#hasEnded) return;
      const { text, by, name } = found;
      const done = (): void => undefined;
      void this.#runTurn({ text, sender: by, inbox: name, isQueued: false, resolve: done, reject: done });
    } catch (error) {
      const code = errnoOf(error);
      if (code === undefined) throw error;
      this.stepProblem(code);
    }
  }

  async #runTurn(prompt: QueuedPrompt): Promise<void> {
    this.#isTurnRunning = true;
    const time = this.#now();
    const { text, sender, inbox, isQueued } = prompt;
    this.#perform(
      this.#fold.begin({
        text,
        time,
        ...(sender === undefined ? {} : { sender }),
        ...(inbox === undefined ? {} : { inbox }),
        ...(isQueued ? { queued: true } : {}),
      }),
    );
    this.#tellState({ phase: "working", turnStartedAt: time, queued: this.#prompts.length, plan: [] });
    // On stable storage before the agent hears of it.
    await this.#run(async () => {
      await this.#parts.log.flush();
    });
    prompt.resolve();
    if (inbox !== undefined) await this.#removeFromInbox(inbox);
    const end = await this.#converse(text);
    await this.#performAll(this.#fold.end(end));
    this.#turnOver(end, time);
  }

  async #removeFromInbox(name: string): Promise<void> {
    try {
      await this.#parts.inbox?.taken(name);
    } catch (error) {
      const code = errnoOf(error);
      if (code === undefined) throw error;
      this.stepProblem(code);
    }
  }

  /** Sends the prompt and waits for the turn's end. */
  async #converse(text: string): Promise<TurnEnd> {
    const agent = this.#agent;
    if (agent === undefined || this.#hasEnded)
      return { type: "interrupted", reason: this.#state.failure ?? "closed", time: this.#now() };
    try {
      const context = this.#context;
      const end = await agent.connection.prompt(
        agent.sessionId,
        context === undefined ? text : `${context}\n\n${text}`,
      );
      this.#context = undefined;
      if (end.stopReason === "cancelled")
        return { type: "interrupted", reason: "cancelled", time: this.#now() };
      return { type: "stopped", ...end, time: this.#now() };
    } catch (error) {
      if (!(error instanceof AgentError)) throw error;
      const time = this.#now();
      if (this.#closing !== undefined) return { type: "interrupted", reason: "closed", time };
      if (this.#isCancelling && error.code !== "agent-ended")
        return { type: "interrupted", reason: "cancelled", time };
      if (error.code !== "agent-ended")
        this.notice("error", `${error.message}.${error.next === undefined ? "" : ` ${error.next}`}`);
      return { type: "interrupted", reason: error.message, time };
    }
  }

  #turnOver(end: TurnEnd, startedAt: number): void {
    this.#isTurnRunning = false;
    this.#isCancelling = false;
    const tokens = end.type === "stopped" ? tokensOf(end.usage) : undefined;
    const stopReason =
      end.type === "stopped" ? end.stopReason : end.reason === "cancelled" ? "cancelled" : "failed";
    this.#then(async () => {
      const { turnStartedAt: _over, ...state } = this.#state;
      this.#state = state;
      this.#setState({
        phase: this.#hasEnded ? "ended" : "ready",
        queued: this.#prompts.length,
        lastTurn: {
          ms: Math.max(0, end.time - startedAt),
          stopReason,
          ...(tokens === undefined ? {} : { tokens }),
        },
      });
    });
    // Questions that outlive their turn have nobody who waits for them.
    void this.#approvals.cancelAll("the turn's end").then(() => this.#takeNext());
  }

  #agentEnded(sentence: string): void {
    if (this.#closing !== undefined) return;
    this.#hasEnded = true;
    this.#refusePrompts(new AgentError("agent-ended", sentence));
    this.#then(async () => {
      const failure = this.#state.failure ?? sentence;
      this.#setState({ phase: "ended", failure, queued: 0 });
      this.#tellNotice({ type: "notice", tone: "error", text: `${failure}.` });
    });
  }

  #refusePrompts(error: AgentError): void {
    for (const prompt of this.#prompts.splice(0)) prompt.reject(error);
  }

  #ready(): OpenAgent {
    if (this.#agent === undefined || this.#hasEnded)
      throw new AgentError("agent-ended", this.#state.failure ?? "the agent has ended");
    return this.#agent;
  }

  // ---- approvals ----

  async #ask(request: Fields, signal: AbortSignal): Promise<AskOutcome> {
    const news = readCall(request["toolCall"]);
    const options = readOptions(request["options"]);
    if (news === undefined || options.length === 0) {
      this.notice("warning", "The agent asked for a permission without saying what for; it was not given.");
      return "cancelled";
    }
    if (this.#isCancelling || this.#closing !== undefined) return "cancelled";
    const { effects, approval } = this.#fold.ask(news, this.#approvals.nextId(news.id), options, this.#now());
    await this.#performAll(effects);
    if (this.#isCancelling || this.#closing !== undefined) return "cancelled";
    const outcome = this.#approvals.ask(approval, signal);
    this.#lookLater();
    return await outcome;
  }

  /** What may run now is on stable storage first. */
  async #prepareAnswer(
    callId: string,
    options: readonly { readonly id: string; readonly kind: string }[],
    outcome: AskOutcome,
  ): Promise<void> {
    const kind =
      outcome === "cancelled" ? undefined : options.find(({ id }) => id === outcome.optionId)?.kind;
    if (kind === undefined || kind.startsWith("reject")) {
      this.#fold.deny(callId);
      return;
    }
    await this.#run(async () => {
      await this.#parts.log.flush();
    });
  }

  // ---- other processes ----

  #lookLater(): void {
    if (this.#callOffLook !== undefined || this.#hasEnded) return;
    if (this.#parts.inbox === undefined && this.#parts.steps === undefined) return;
    this.#callOffLook = this.#parts.clock.after(lookEveryMs, () => this.#look());
  }

  #look(): void {
    this.#callOffLook?.();
    this.#callOffLook = undefined;
    void this.#approvals.look().finally(() => {
      this.#takeNext();
      this.#lookLater();
    });
  }

  #sealLater(): void {
    this.#callOffLate?.();
    this.#callOffLate = this.#parts.clock.after(lateSealMs, () =>
      this.#perform(this.#fold.sealLate(this.#now())),
    );
  }

  // ---- work, in order ----

  #now(): number {
    return this.#parts.clock.now();
  }

  #then(work: () => Promise<void>): void {
    this.#pending += 1;
    this.#work = this.#work.then(work).finally(() => {
      this.#pending -= 1;
    });
  }

  async #run(work: () => Promise<void>): Promise<void> {
    this.#then(work);
    await this.#work;
  }

  #perform(effects: readonly Effect[]): void {
    if (effects.length > 0)
      this.#then(async () => {
        for (const effect of effects) await this.#do(effect);
        this.#tellSaved();
      });
  }

  async #performAll(effects: readonly Effect[]): Promise<void> {
    this.#perform(effects);
    await this.#work;
  }

  async #do(effect: Effect): Promise<void> {
    switch (effect.type) {
      case "open":
        return this.#tell(this.#blocks.open(effect.key, effect.draft));
      case "change":
        return this.#tell(this.#blocks.change(effect.key, effect.draft));
      case "finish":
        return this.#tell(this.#blocks.finish(effect.key, effect.draft));
      case "record":
        return await this.#record(effect);
      case "turnStarted":
        return this.#hub.tell({ type: "turnStarted", time: effect.time });
      case "turnEnded":
        this.#tellSaved();
        return this.#hub.tell({ type: "turnEnded", time: effect.time });
      case "compacted":
        return this.#hub.tell({ type: "compacted" });
      case "title":
        this.#info = { ...this.#info, title: effect.title, titled: true };
        return this.#hub.tell({ type: "info", info: this.#info });
      case "notice":
        return this.#tellNotice(effect);
      case "state":
        return this.#setState(effect.state);
      case "step":
        return await this.#parts.steps?.publish(effect.event);
    }
  }

  #tell(changes: readonly Change[]): void {
    for (const change of changes) {
      this.#hub.tell(change);
      if (change.type === "blockFinished") this.#finishedSeqEnd = this.#lastRecordSeqEnd;
    }
  }

  async #record(effect: Effect & { readonly type: "record" }): Promise<void> {
    const specs =
      effect.whole === undefined ? effect.specs : await this.#withWhole(effect.specs, effect.whole);
    let places: readonly RecordPlace[];
    try {
      places = (await this.#parts.log.append(specs)).places;
    } catch (error) {
      if (!isLogError(error)) throw error;
      // A lost lease is told by the listener; anything else of the record only.
      if (error.code === "invalid-record" || error.code === "too-large")
        this.#tellNotice({ type: "notice", tone: "error", text: `It is not in the log: ${error.message}.` });
      return;
    }
    this.#lastRecordSeqEnd = (places.at(-1)?.seq ?? 0) + 1;
    for (const { key, record, ordinal = 0 } of effect.blocks) {
      const place = places[record];
      if (place !== undefined)
        this.#tell(this.#blocks.placed(key, { start: place.start, end: place.end, ordinal }));
    }
  }

  /** Stores a long text whole and names it in its record; where the disk refuses, the record says that it has the start only. */
  async #withWhole(
    specs: (Effect & { readonly type: "record" })["specs"],
    whole: WholeText,
  ): Promise<typeof specs> {
    try {
      const bytes = Buffer.from(whole.text, "utf8");
      const { sha256 } = await this.#parts.log.putBlob(bytes);
      const attachment = { mediaType: "text/plain", bytes: bytes.length, name: "whole output", sha256 };
      return specs.map((spec, index) => {
        if (index !== whole.record || spec.kind !== "message") return spec;
        const payload = spec.payload as { readonly attachments?: readonly unknown[] };
        return {
          ...spec,
          payload: { ...payload, attachments: [...(payload.attachments ?? []), attachment] },
        };
      });
    } catch (error) {
      const code = errnoOf(error) ?? (isLogError(error) ? error.code : undefined);
      if (code === undefined) throw error;
      this.#tellNotice({
        type: "notice",
        tone: "warning",
        text: `Only the start of a long output could be kept (${code}).`,
      });
      return specs;
    }
  }

  #tellSaved(): void {
    if (this.#parts.log.mode === "unsaved") return;
    const seqEnd = this.#finishedSeqEnd;
    if (seqEnd <= this.#savedTold || this.#parts.log.status().savedSeqEnd < seqEnd) return;
    this.#savedTold = seqEnd;
    this.#hub.tell({ type: "saved" });
  }

  #tellState(state: Partial<DriverState>): void {
    this.#then(async () => this.#setState(state));
  }

  #setState(state: Partial<DriverState>): void {
    this.#state = { ...this.#state, ...state };
    this.#hub.tell({ type: "driver", driver: this.#state });
  }
}

function isLogError(error: unknown): error is LogError {
  return error instanceof Error && error.name === "LogError";
}

function tokensOf(usage: Readonly<Record<string, number>>): number | undefined {
  const total = usage["totalTokens"] ?? usage["total_tokens"];
  if (total !== undefined) return total;
  const told = [
    usage["inputTokens"] ?? usage["input_tokens"],
    usage["outputTokens"] ?? usage["output_tokens"],
  ];
  return told.some((count) => count !== undefined)
    ? told.reduce<number>((sum, count) => sum + (count ?? 0), 0)
    : undefined;
}
