/**
 * Calls that wait for the person. Each gets exactly one answer, from this process or, through the step directory, from another: whoever
 * places the answer's file first. Where there is no step directory, whoever comes first here.
 */
import type { Answered, Approval } from "../session/index.ts";
import type { AskOutcome } from "./connection.ts";
import { AgentError, errnoOf } from "./errors.ts";
import { approvalsMax } from "./limits.ts";
import type { StepWriter } from "./step-writer.ts";

interface Waiting {
  readonly approval: Approval;
  readonly settle: (outcome: AskOutcome, by: string) => void;
  /** The folder of the step in which it is parked. */
  step: string | undefined;
  parking: Promise<void>;
}

export interface ApprovalDeskOptions {
  readonly steps?: StepWriter;
  /** The calls that wait are others now. */
  readonly onChange: (approvals: readonly Approval[]) => void;
  /** What an answer leads to, done before the agent hears of it. */
  readonly onAnswer: (approval: Approval, outcome: AskOutcome) => Promise<void>;
  readonly onOddity: (text: string) => void;
  /** A failure of the disk, which leaves the answering to this process. */
  readonly onProblem: (code: string) => void;
  readonly now: () => number;
}

export class ApprovalDesk {
  readonly #options: ApprovalDeskOptions;
  readonly #waiting = new Map<string, Waiting>();
  /** Who answered lately, for those who come late. */
  readonly #answeredBy = new Map<string, string>();
  #serial = 0;

  constructor(options: ApprovalDeskOptions) {
    this.#options = options;
  }

  get isEmpty(): boolean {
    return this.#waiting.size === 0;
  }

  /** An id for a question about a call; a call may be asked about more than once. */
  nextId(callId: string): string {
    this.#serial += 1;
    return `${callId}#${this.#serial}`;
  }

  /** Waits for the answer. Aborting gives "cancelled". */
  async ask(approval: Approval, signal: AbortSignal): Promise<AskOutcome> {
    if (signal.aborted || this.#waiting.size >= approvalsMax) return "cancelled";
    return await new Promise<AskOutcome>((resolve) => {
      const takenBack = (): void => this.#settleNow(approval.id, "cancelled", "the agent");
      signal.addEventListener("abort", takenBack);
      const settle = (outcome: AskOutcome, by: string): void => {
        signal.removeEventListener("abort", takenBack);
        this.#waiting.delete(approval.id);
        this.#remember(approval.id, by);
        this.#options.onChange(this.list());
        resolve(outcome);
      };
      const waiting: Waiting = { approval, settle, step: undefined, parking: Promise.resolve() };
      this.#waiting.set(approval.id, waiting);
      // Told once it is parked, so that whoever hears of it finds it there.
      waiting.parking = this.#park(waiting).then(() => this.#options.onChange(this.list()));
    });
  }

  list(): readonly Approval[] {
    return [...this.#waiting.values()].map(({ approval }) => approval);
  }

  /** Answers once. Throws `bad-choice` for an option that was not offered. */
  async answer(id: string, optionId: string, by: string): Promise<Answered> {
    const waiting = this.#waiting.get(id);
    if (waiting === undefined) return { taken: false, by: this.#answeredBy.get(id) ?? "somebody" };
    if (!isOffered(waiting.approval, optionId))
      throw new AgentError(
        "bad-choice",
        `${JSON.stringify(optionId)} is none of the answers that are offered`,
      );
    await waiting.parking;
    const record = await this.#claim(waiting, { option: optionId, by, at: this.#iso() });
    if (record.by === by && record.option === optionId) {
      if (!this.#waiting.has(id)) return { taken: false, by: this.#answeredBy.get(id) ?? "somebody" };
      await this.#apply(waiting, { optionId }, by);
      return { taken: true };
    }
    await this.#applyOther(waiting, record);
    return { taken: false, by: record.by };
  }

  /** All that wait are answered as cancelled. */
  async cancelAll(by: string): Promise<void> {
    for (const waiting of [...this.#waiting.values()]) {
      await waiting.parking;
      await this.#claim(waiting, { by, at: this.#iso() });
      await this.#apply(waiting, "cancelled", by);
    }
  }

  /** Takes the answers that other processes have given. */
  async look(): Promise<void> {
    const { steps } = this.#options;
    if (steps === undefined) return;
    for (const waiting of [...this.#waiting.values()]) {
      if (waiting.step === undefined) continue;
      try {
        const record = await steps.answerOf(waiting.step, waiting.approval.call.id);
        if (record !== undefined) await this.#applyOther(waiting, record);
      } catch (error) {
        this.#tolerate(error);
      }
    }
  }

  async #park(waiting: Waiting): Promise<void> {
    const { steps } = this.#options;
    if (steps === undefined) return;
    const { call, options, askedAt } = waiting.approval;
    const what = call.subject ?? call.inputSummary;
    waiting.step = await steps.park({
      tool_use_id: call.id,
      tool: call.name,
      reason: what === "" ? `${call.name} wants to run` : `${call.name} wants to run: ${what}`,
      input: call.inputSummary,
      options,
      asked_at: new Date(askedAt).toISOString(),
    });
  }

  /** The record that counts: ours, or that of whoever was first. */
  async #claim(
    waiting: Waiting,
    record: { readonly option?: string; readonly by: string; readonly at: string },
  ): Promise<{ readonly option?: string; readonly by: string }> {
    const { steps } = this.#options;
    if (steps === undefined || waiting.step === undefined) return record;
    try {
      return await steps.answer(waiting.step, waiting.approval.call.id, record);
    } catch (error) {
      this.#tolerate(error);
      return record;
    }
  }

  async #applyOther(
    waiting: Waiting,
    record: { readonly option?: string; readonly by: string },
  ): Promise<void> {
    const { option, by } = record;
    if (option === undefined) await this.#apply(waiting, "cancelled", by);
    else if (isOffered(waiting.approval, option)) await this.#apply(waiting, { optionId: option }, by);
    else {
      this.#options.onOddity(`${by} gave an answer that is not offered: ${JSON.stringify(option)}.`);
      const { steps } = this.#options;
      if (steps !== undefined && waiting.step !== undefined)
        await steps.dismissAnswer(waiting.step, waiting.approval.call.id);
    }
  }

  async #apply(waiting: Waiting, outcome: AskOutcome, by: string): Promise<void> {
    const { approval, step } = waiting;
    // Whatever comes meanwhile finds it gone.
    if (!this.#waiting.delete(approval.id)) return;
    this.#remember(approval.id, by);
    await this.#options.onAnswer(approval, outcome);
    const { steps } = this.#options;
    if (steps !== undefined && step !== undefined) await steps.unpark(step, approval.call.id);
    waiting.settle(outcome, by);
  }

  #settleNow(id: string, outcome: AskOutcome, by: string): void {
    const waiting = this.#waiting.get(id);
    if (waiting === undefined) return;
    waiting.settle(outcome, by);
    const { steps } = this.#options;
    void waiting.parking.then(async () => {
      if (steps !== undefined && waiting.step !== undefined)
        await steps.unpark(waiting.step, waiting.approval.call.id);
    });
  }

  #remember(id: string, by: string): void {
    if (this.#answeredBy.has(id)) return;
    this.#answeredBy.set(id, by);
    const [oldest] = this.#answeredBy.keys();
    if (this.#answeredBy.size > approvalsMax && oldest !== undefined) this.#answeredBy.delete(oldest);
  }

  #tolerate(error: unknown): void {
    const code = errnoOf(error);
    if (code === undefined) throw error;
    this.#options.onProblem(code);
  }

  #iso(): string {
    return new Date(this.#options.now()).toISOString();
  }
}

function isOffered(approval: Approval, optionId: string): boolean {
  return approval.options.some((option) => option.id === optionId);
}
