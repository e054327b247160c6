/**
 * A session whose agent runs: what the agent tells becomes changes for whoever shows it, records in the session's log, and files of the
 * step directory, in one order. Whatever the disk does, the conversation goes on.
 */
import {
  type Clock,
  LogError,
  type LogNotice,
  type LogPorts,
  type LogWriter,
  type RecordSpec,
} from "../log/index.ts";
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
import { handoffDraft, type Place } from "../transcript/index.ts";
import { ApprovalDesk } from "./approvals.ts";
import type { EntryDraft } from "./blocks.ts";
import type { AskOutcome, Connection, OpenedSession } from "./connection.ts";
import { AgentError, errnoOf } from "./errors.ts";
import { agentSessionSetting, Fold, type TurnEnd } from "./fold.ts";
import { type HandoffDeliverySpec, HandoffDesk } from "./handoff.ts";
import type { HandoffReceipt } from "./handoff-channel.ts";
import type { HistoryPages } from "./history-pages.ts";
import type { Inbox } from "./inbox.ts";
import type { Fields } from "./input.ts";
import {
  behindMsMax,
  cancelGraceMs,
  contextEntriesMax,
  handoffCallMs,
  lateSealMs,
  lookEveryMs,
  promptBytesMax,
  promptsQueuedMax,
  workPendingMax,
} from "./limits.ts";
import { Performer } from "./performer.ts";
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

function sentenceOf(words: string): string {
  return /[.!?]$/.test(words) ? words : `${words}.`;
}

/** What a person types to hand off. */
const handoffCommand = {
  name: "handoff",
  description: "<note>: reduce the agent's context, and give it the note back word for word",
};

/** What is shown of a record of a handoff. */
function draftOfRecord(spec: RecordSpec): EntryDraft | undefined {
  const time = Date.parse((spec as { readonly timestamp?: string }).timestamp ?? "");
  const timed = Number.isNaN(time) ? {} : { time };
  if (spec.kind === "compactionSummary") {
    const { summary, tokensBefore, tokensAfter } = spec;
    const after = tokensAfter === undefined ? {} : { tokensAfter };
    return { kind: "compacted", summary, tokensBefore, ...after, ...timed };
  }
  const draft = spec.kind === "handoffTransaction" ? handoffDraft(spec) : undefined;
  return draft === undefined ? undefined : { ...draft, ...timed };
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
  /** Absent: no handoffs, since nothing is saved. */
  readonly handoff?: HandoffParts;
}

/** What handoffs need besides what the driver has. */
export interface HandoffParts {
  readonly ports: LogPorts;
  readonly sessions: string;
  readonly openSession: () => Promise<OpenedSession>;
  /** What of an earlier process is gone on with; absent: nothing, the session is new. */
  readonly recover?: "open" | "all";
  readonly close: () => Promise<void>;
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
  readonly #stage: Performer;
  readonly #approvals: ApprovalDesk;
  #agent: OpenAgent | undefined;
  #context: string | undefined;
  readonly #desk: HandoffDesk | undefined;
  /** Whether the person has the command: the agent has none of its name. */
  #isOffered = false;
  #isHandingOn = false;
  #onUpdate: (() => void) | undefined;
  #prompts: QueuedPrompt[] = [];
  #isTaking = false;
  #isTurnRunning = false;
  #isCancelling = false;
  #hasEnded = false;
  /** Why it ended, once it has or is about to. */
  #failure: string | undefined;
  #closing: Promise<void> | undefined;
  #closeMessage: string | undefined;
  #isSaved: boolean | undefined;
  #hasProblem = false;
  #stops: (() => void)[] = [];
  #callOffLook: (() => void) | undefined;
  #callOffLate: (() => void) | undefined;

  constructor(parts: DriverParts) {
    this.#parts = parts;
    this.#context = parts.context;
    this.#stage = new Performer({
      log: parts.log,
      info: parts.info,
      state: {
        phase: "starting",
        agent: { name: parts.agent },
        approvals: [],
        plan: [],
        modes: [],
        commands: [],
        queued: 0,
      },
      ...(parts.steps === undefined ? {} : { steps: parts.steps }),
    });
    this.#approvals = new ApprovalDesk({
      ...(parts.steps === undefined ? {} : { steps: parts.steps }),
      now: () => this.#now(),
      onChange: (approvals) => void this.#stage.setState({ approvals }),
      onAnswer: (approval, outcome) => this.#prepareAnswer(approval.call.id, approval.options, outcome),
      onOddity: (text) => this.notice("warning", text),
      onProblem: (code) => this.stepProblem(code),
    });
    this.#desk = this.#createDesk(parts.handoff);
    this.#offerHandoff([]);
  }

  #createDesk(handoff: HandoffParts | undefined): HandoffDesk | undefined {
    if (handoff === undefined) return undefined;
    const { log, history } = this.#parts;
    return new HandoffDesk({
      log,
      ports: handoff.ports,
      sessions: handoff.sessions,
      openSession: handoff.openSession,
      knowsSession: () => this.#context === undefined,
      append: (specs) => this.#stage.append(specs, specs.map(draftOfRecord)),
      notice: (tone, text) => this.notice(tone, text),
      tail: async () => (await history.tail(contextEntriesMax, [], false, false)).entries,
    });
  }

  get info(): SessionInfo {
    return this.#stage.info;
  }

  get driver(): DriverState {
    return this.#stage.state;
  }

  /** What the log said at its closing, for the last message that a person reads; absent before. */
  get closeMessage(): string | undefined {
    return this.#closeMessage;
  }

  get isSaved(): boolean | undefined {
    return this.#isSaved;
  }

  // ---- from the agent ----

  readonly handlers = {
    update: async (sessionId: string, value: unknown): Promise<void> => {
      if (this.#closing !== undefined) return;
      if (this.#agent !== undefined && sessionId !== this.#agent.sessionId) return;
      const update = readUpdate(value);
      void this.#stage.perform(this.#fold.update(update, this.#now()));
      if (update.type === "commands") this.#offerHandoff(update.commands);
      this.#onUpdate?.();
      if (this.#fold.isLate) this.#sealLater();
      // Past this, the agent waits: what it tells is told and recorded before more is read.
      if (this.#stage.pending > workPendingMax) await this.#stage.settled();
      if (this.#stage.isBehind) await this.#waitForReaders();
    },
    ask: (request: Fields, signal: AbortSignal): Promise<AskOutcome> => this.#ask(request, signal),
    oddity: (text: string): void => this.notice("warning", text),
  };

  /** The agent is ready. Resolves once what an earlier process left of a handoff is led on so far that its note can be sent. */
  async start(agent: OpenAgent): Promise<void> {
    this.#agent = agent;
    const { connection, modes, modeId } = agent;
    void this.#stage.setState({
      phase: "ready",
      agent: connection.agent,
      modes,
      ...(modeId === undefined ? {} : { modeId }),
    });
    void connection.ended.then((sentence) => this.#agentEnded(sentence));
    const { inbox, steps, watchFolder } = this.#parts;
    if (inbox !== undefined) this.#stops.push(watchFolder(inbox.folder, () => this.#look()));
    if (inbox !== undefined || steps !== undefined) this.#lookLater();
    const recover = this.#parts.handoff?.recover;
    if (recover !== undefined) {
      this.#isTurnRunning = true;
      const delivery = await this.#lead((desk) => desk.recover(recover));
      this.#isTurnRunning = false;
      if (delivery !== undefined) this.#leadOn(() => Promise.resolve(delivery));
    }
    this.#takeNext();
  }

  // ---- notices and the log's listener ----

  notice(tone: "information" | "warning" | "error", text: string): void {
    void this.#stage.run(() => this.#stage.tellNotice(tone, text));
  }

  readonly listener = {
    notice: (notice: LogNotice): void => {
      // At once, not behind the work: the work may be what waits for the disk.
      if (notice.code === "write-failed" || notice.code === "records-missed")
        this.#stage.setNotSaved(notice.text);
      else if (notice.code === "write-recovered") this.#stage.setNotSaved(undefined);
      this.#stage.tellNotice(notice.tone, notice.text);
      if (notice.code === "lease-lost") this.#leaseLost();
    },
    saved: (): void => this.#stage.tellSaved(),
  };

  /** The step directory cannot be written: said once, until it works again. */
  stepProblem(code: string): void {
    if (this.#hasProblem) return;
    this.#hasProblem = true;
    this.notice("warning", `The running step cannot be published for other processes (${code}).`);
  }

  #leaseLost(): void {
    this.#failure ??= "Another process has taken the session over; this one records nothing any more";
    void this.#agent?.connection.close();
  }

  // ---- the session ----

  tail(limit: number): Promise<TailPage> {
    const { history, log } = this.#parts;
    return this.#stage.page((live) => {
      const isBroken = log.status().problem !== undefined;
      return history.tail(limit, live, this.#fold.isTurnOpen, isBroken);
    });
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
    return this.#stage.changes(after, signal);
  }

  // ---- the person ----

  prompt(text: string): Promise<void> {
    const note = this.#noteOf(text);
    if (note !== undefined) return this.#handOff(note);
    return this.#enqueuePrompt({ text });
  }

  async cancel(): Promise<void> {
    const agent = this.#agent;
    if (!this.#isTurnRunning || this.#isCancelling || agent === undefined) return;
    this.#isCancelling = true;
    void this.#stage.setState({ phase: "cancelling" });
    if (this.#isHandingOn) void this.#desk?.cancel();
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
    if (!this.#stage.state.modes.some(({ id }) => id === modeId))
      throw new AgentError("bad-choice", `the agent offers no mode ${JSON.stringify(modeId)}`);
    await agent.connection.setMode(agent.sessionId, modeId);
    await this.#stage.perform(this.#fold.update({ type: "mode", id: modeId }, this.#now()));
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
      void this.#stage.perform(this.#fold.end({ type: "interrupted", reason: "closed", time: this.#now() }));
    else void this.#stage.perform(this.#fold.rest(this.#now()));
    await this.#stage.settled();
    await this.#parts.steps?.close();
    await this.#parts.handoff?.close();
    const closed = await this.#parts.log.close();
    this.#closeMessage = closed.message;
    if (this.#parts.log.mode === "saved") this.#isSaved = closed.saved;
    this.#stage.tellSaved();
    await this.#stage.setState({ phase: "ended" });
    this.#stage.close();
    await this.#parts.history.close();
  }

  // ---- turns ----

  #enqueuePrompt(prompt: { readonly text: string; readonly sender?: string }): Promise<void> {
    if (this.#hasEnded)
      return Promise.reject(
        this.#closing === undefined
          ? new AgentError("agent-ended", this.#failure ?? "the agent has ended")
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
      if (isQueued) void this.#stage.setState({ queued: this.#prompts.length });
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
    void this.#stage.perform(
      this.#fold.begin({
        text,
        time,
        ...(sender === undefined ? {} : { sender }),
        ...(inbox === undefined ? {} : { inbox }),
        ...(isQueued ? { queued: true } : {}),
      }),
    );
    void this.#stage.setState({
      phase: "working",
      turnStartedAt: time,
      queued: this.#prompts.length,
      plan: [],
    });
    // On stable storage before the agent hears of it.
    await this.#stage.flush();
    prompt.resolve();
    if (inbox !== undefined) await this.#removeFromInbox(inbox);
    const end = await this.#converse(text);
    await this.#stage.perform(this.#fold.end(end));
    this.#turnOver((await this.#handOn((desk) => desk.settle(end.type === "stopped"))) ?? end, time);
  }

  // ---- handoffs ----

  /** The command beside the agent's own, where it has none of that name. */
  #offerHandoff(commands: DriverState["commands"]): void {
    this.#isOffered = this.#desk !== undefined && !commands.some(({ name }) => name === handoffCommand.name);
    if (this.#isOffered) void this.#stage.setState({ commands: [...commands, handoffCommand] });
  }

  /** The note of a `/handoff` that a person typed; absent where it is none, or the agent has a command of that name. */
  #noteOf(text: string): string | undefined {
    if (!this.#isOffered) return undefined;
    return /^\/handoff(?:\s([\s\S]*))?$/.exec(text)?.[1] ?? (text === "/handoff" ? "" : undefined);
  }

  /** A note of the person: kept at once, and led on when no turn runs. */
  async #handOff(note: string): Promise<void> {
    const ask = async (desk: HandoffDesk): Promise<void> => {
      const { isAccepted, text } = await desk.request(note, { by: "operator" });
      this.notice(isAccepted ? "information" : "warning", text);
    };
    this.#ready();
    if (this.#isTurnRunning) {
      if (this.#desk !== undefined) await ask(this.#desk);
      return;
    }
    this.#leadOn(async (desk) => {
      await ask(desk);
      return await desk.settle(true);
    });
  }

  /** A note of the agent's tool. */
  async handOffByAgent(note: unknown): Promise<HandoffReceipt> {
    const desk = this.#desk;
    if (desk === undefined || !this.#isTurnRunning)
      return { isAccepted: false, text: "The note is not kept: no turn is running." };
    const call = typeof note === "string" ? await this.#callOf(note) : undefined;
    if (call !== undefined)
      return await desk.request(note, { by: "agent", toolCallId: call.id, toolName: call.name });
    return await this.#handOffUnreported(desk, note);
  }

  /** The call that the note is of, which the agent may report a moment later. */
  async #callOf(note: string): Promise<{ readonly id: string; readonly name: string } | undefined> {
    await this.#stage.settled();
    const found = this.#fold.callOfNote(note);
    if (found !== undefined) return found;
    await new Promise<void>((resolve) => {
      const callOff = this.#parts.clock.after(handoffCallMs, resolve);
      this.#onUpdate = () => {
        if (this.#fold.callOfNote(note) === undefined) return;
        callOff();
        resolve();
      };
    });
    this.#onUpdate = undefined;
    await this.#stage.settled();
    return this.#fold.callOfNote(note);
  }

  /** An agent that tells nothing of its call: it is recorded here, with the receipt as its result. */
  async #handOffUnreported(desk: HandoffDesk, note: unknown): Promise<HandoffReceipt> {
    const id = `handoff-${this.#now()}`;
    const { name } = handoffCommand;
    const call = { id, isNew: true, name, title: name, status: "running", input: { note } } as const;
    await this.#stage.perform(this.#fold.update({ type: "call", news: call }, this.#now()));
    const receipt = await desk.request(note, { by: "agent", toolCallId: id, toolName: name });
    const status = receipt.isAccepted ? "done" : "failed";
    const news = { id, isNew: false, status, output: receipt.text } as const;
    await this.#stage.perform(this.#fold.update({ type: "call", news }, this.#now()));
    return receipt;
  }

  /** Leads a handoff on outside of a turn of a person. */
  #leadOn(lead: (desk: HandoffDesk) => Promise<HandoffDeliverySpec | undefined>): void {
    this.#isTurnRunning = true;
    const time = this.#now();
    void this.#handOn(lead).then((end) => {
      if (end !== undefined) this.#turnOver(end, time);
      else {
        this.#isTurnRunning = false;
        this.#takeNext();
      }
    });
  }

  /** What is to be sent; absent where nothing is, or the handoff cannot go on, which is said. */
  async #lead(
    lead: (desk: HandoffDesk) => Promise<HandoffDeliverySpec | undefined>,
  ): Promise<HandoffDeliverySpec | undefined> {
    if (this.#desk === undefined) return undefined;
    this.#isHandingOn = true;
    try {
      return await lead(this.#desk);
    } catch (error) {
      // A log that cannot be read, or an agent that has gone, ends the handoff and not the conversation.
      if (!(error instanceof LogError) && !(error instanceof AgentError) && errnoOf(error) === undefined)
        throw error;
      this.notice("error", `The handoff cannot go on: ${(error as Error).message}.`);
      return undefined;
    } finally {
      this.#isHandingOn = false;
    }
  }

  /** Leads a handoff to its answer. The end of the turn that gave it; absent where there was none. */
  async #handOn(
    lead: (desk: HandoffDesk) => Promise<HandoffDeliverySpec | undefined>,
  ): Promise<TurnEnd | undefined> {
    const delivery = await this.#lead(lead);
    if (delivery === undefined) return undefined;
    const end = await this.#deliver(delivery);
    await this.#lead(async (desk) => {
      await desk.answered(delivery.deliveryId);
      return undefined;
    });
    return end;
  }

  async #deliver({ deliveryId, text, session }: HandoffDeliverySpec): Promise<TurnEnd> {
    if (session !== undefined && this.#agent !== undefined) {
      this.#agent = { ...this.#agent, ...session };
      await this.#stage.append([{ kind: "set", key: agentSessionSetting, value: session.sessionId }], []);
    }
    // It is told all that it needs with the note.
    this.#context = undefined;
    const time = this.#now();
    void this.#stage.perform(this.#fold.beginDelivery(deliveryId, time));
    void this.#stage.setState({ phase: "working", turnStartedAt: time, plan: [] });
    await this.#stage.flush();
    const end = await this.#converse(text);
    await this.#stage.perform(this.#fold.end(end));
    return end;
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
      return { type: "interrupted", reason: this.#failure ?? "closed", time: this.#now() };
    // The agent has not heard of the turn yet, so there is nothing that it could stop.
    if (this.#isCancelling) return { type: "interrupted", reason: "cancelled", time: this.#now() };
    try {
      const context = this.#context;
      const end = await agent.connection.prompt(
        agent.sessionId,
        context === undefined ? text : `${context}\n\n${text}`,
      );
      this.#context = undefined;
      // Some agents end a cancelled turn with another word. Where a call still ran it was cut all the same.
      if (end.stopReason === "cancelled" || (this.#isCancelling && this.#fold.callsOpen > 0))
        return { type: "interrupted", reason: "cancelled", time: this.#now() };
      return { type: "stopped", ...end, time: this.#now() };
    } catch (error) {
      if (!(error instanceof AgentError)) throw error;
      const time = this.#now();
      if (this.#closing !== undefined) return { type: "interrupted", reason: "closed", time };
      if (this.#isCancelling && error.code !== "agent-ended")
        return { type: "interrupted", reason: "cancelled", time };
      // The turn's end says it, in the transcript: a notice would say it twice.
      const reason = error.next === undefined ? error.message : `${sentenceOf(error.message)} ${error.next}`;
      return { type: "interrupted", reason, time };
    }
  }

  #turnOver(end: TurnEnd, startedAt: number): void {
    this.#isTurnRunning = false;
    this.#isCancelling = false;
    const tokens = end.type === "stopped" ? tokensOf(end.usage) : undefined;
    const stopReason =
      end.type === "stopped" ? end.stopReason : end.reason === "cancelled" ? "cancelled" : "failed";
    void this.#stage.run(() =>
      this.#stage.endTurn({
        phase: this.#hasEnded ? "ended" : "ready",
        queued: this.#prompts.length,
        lastTurn: {
          ms: Math.max(0, end.time - startedAt),
          stopReason,
          ...(tokens === undefined ? {} : { tokens }),
        },
      }),
    );
    // Questions that outlive their turn have nobody who waits for them.
    void this.#approvals.cancelAll("the turn's end").then(() => this.#takeNext());
  }

  #agentEnded(sentence: string): void {
    if (this.#closing !== undefined) return;
    this.#hasEnded = true;
    this.#refusePrompts(new AgentError("agent-ended", sentence));
    this.#failure ??= sentence;
    const failure = this.#failure;
    // A turn that runs ends by it, and says so.
    if (!this.#isTurnRunning) this.notice("error", sentenceOf(failure));
    void this.#stage.setState({ phase: "ended", failure, queued: 0 });
  }

  #refusePrompts(error: AgentError): void {
    for (const prompt of this.#prompts.splice(0)) prompt.reject(error);
  }

  #ready(): OpenAgent {
    if (this.#agent === undefined || this.#hasEnded)
      throw new AgentError("agent-ended", this.#failure ?? "the agent has ended");
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
    await this.#stage.perform(effects);
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
      this.#fold.deny(callId, outcome === "cancelled" ? "called-off" : "rejected");
      return;
    }
    await this.#stage.flush();
    await this.#stage.perform(this.#fold.allow(callId));
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

  /** A slow terminal holds the agent up, as a full pipe would; one that does not read at all does so for a moment only. */
  async #waitForReaders(): Promise<void> {
    const enough = new AbortController();
    const callOff = this.#parts.clock.after(behindMsMax, () => enough.abort());
    await this.#stage.caughtUp(enough.signal);
    callOff();
  }

  #sealLater(): void {
    this.#callOffLate?.();
    this.#callOffLate = this.#parts.clock.after(
      lateSealMs,
      () => void this.#stage.perform(this.#fold.sealLate(this.#now())),
    );
  }

  #now(): number {
    return this.#parts.clock.now();
  }
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
