/**
 * Publishes the running step in the step directory, so that another process can follow it, answer its parked calls and see them land. The
 * directory is a convenience for those who watch: a disk that refuses ends the publishing of the step, never the conversation.
 */
import {
  type AnswerRecord,
  callFile,
  callFolder,
  isStepName,
  latestStepName,
  type ParkRecord,
  parseAnswer,
  stepFile,
  stepFolder,
  stepName,
  stepsFolder,
  toolsFolder,
} from "../follow/index.ts";
import type { OpenFile } from "../log/index.ts";
import { headOfBytes } from "./calls.ts";
import type { StepEvent } from "./effects.ts";
import { errnoOf } from "./errors.ts";
import { compactJson } from "./input.ts";
import {
  answerBytesMax,
  captureBytesMax,
  inputBytesMax,
  responseBytesMax,
  responsePendingBytesMax,
  stepsKeptMax,
} from "./limits.ts";
import {
  ensureFolder,
  namesIn,
  placeFile,
  placeOnce,
  readSmallFile,
  removeFile,
  type SmallFilePorts,
} from "./small-files.ts";

export interface StepWriterOptions {
  readonly ports: SmallFilePorts;
  /** The session's folder. */
  readonly folder: string;
  readonly model?: string;
  /** Told once a step whose publishing failed. */
  readonly onProblem: (code: string) => void;
}

interface Step {
  readonly folder: string;
  readonly startedAt: number;
  readonly response: OpenFile;
  bytes: number;
  hasMeta: boolean;
}

export class StepWriter {
  readonly #options: StepWriterOptions;
  readonly #steps: string;
  #work: Promise<void> = Promise.resolve();
  #number: number | undefined;
  #step: Step | undefined;
  /** Events that wait for one write. */
  #pending: string[] = [];
  #pendingBytes = 0;
  #isFlushDue = false;

  constructor(options: StepWriterOptions) {
    this.#options = options;
    this.#steps = stepsFolder(options.folder);
  }

  /** Publishes an event behind all that were given before. Resolves at once, or when there is room for more. */
  async publish(event: StepEvent): Promise<void> {
    switch (event.type) {
      case "begun":
        this.#then(() => this.#begin(event.time));
        break;
      case "text":
        await this.#stream({ type: "content_delta", index: 1, delta: { text_delta: event.text } });
        break;
      case "thinking":
        await this.#stream({ type: "content_delta", index: 0, delta: { thinking_delta: event.text } });
        break;
      case "posted":
        this.#then(() => this.#post(event));
        break;
      case "landed":
        this.#then(() => this.#land(event));
        break;
      case "over":
        this.#then(() => this.#over(event.reason, event.time));
        await this.#work;
        break;
    }
  }

  /** Publishes that a call waits. False where it cannot be: then nobody else can answer it. */
  async park(record: ParkRecord): Promise<string | undefined> {
    let parked: string | undefined;
    this.#then(async () => {
      const step = this.#step;
      if (step === undefined) return;
      const { files } = this.#options.ports;
      const id = record.tool_use_id;
      await this.#ensureCallFolder(step, id);
      // The answer to an earlier question about the same call.
      await removeFile(files, callFile(step.folder, id, "answer"));
      await placeFile(
        this.#options.ports,
        callFile(step.folder, id, "parked"),
        `${JSON.stringify(record)}\n`,
      );
      parked = step.folder;
    });
    await this.#work;
    return parked;
  }

  /** The call does not wait any more. */
  async unpark(step: string, callId: string): Promise<void> {
    this.#then(() => removeFile(this.#options.ports.files, callFile(step, callId, "parked")));
    await this.#work;
  }

  /** Gives the one answer to a parked call: the record that counts, which is another's where somebody was faster. */
  async answer(step: string, callId: string, record: AnswerRecord): Promise<AnswerRecord> {
    const path = callFile(step, callId, "answer");
    const { ports } = this.#options;
    // Twice: an answer that cannot be read is removed and does not count.
    for (let round = 0; round < 2; round += 1) {
      if (await placeOnce(ports, path, `${JSON.stringify(record)}\n`)) return record;
      const other = await this.answerOf(step, callId);
      if (other !== undefined) return other;
      await removeFile(ports.files, path);
    }
    return record;
  }

  /** The answer that is there. */
  async answerOf(step: string, callId: string): Promise<AnswerRecord | undefined> {
    const text = await readSmallFile(
      this.#options.ports.files,
      callFile(step, callId, "answer"),
      answerBytesMax,
    );
    return text === undefined ? undefined : parseAnswer(text);
  }

  /** Takes an answer away that does not count. */
  async dismissAnswer(step: string, callId: string): Promise<void> {
    await removeFile(this.#options.ports.files, callFile(step, callId, "answer"));
  }

  /** Resolves once all that was given is written, or has failed. */
  async settled(): Promise<void> {
    await this.#work;
  }

  async close(): Promise<void> {
    this.#then(async () => {
      const step = this.#step;
      this.#step = undefined;
      await step?.response.close();
    });
    await this.#work;
  }

  /** Runs work behind all other; a disk that refuses ends the step's publishing. */
  #then(run: () => Promise<void>): void {
    this.#work = this.#work.then(run).catch(async (error: unknown) => {
      const code = errnoOf(error);
      if (code === undefined) throw error;
      const step = this.#step;
      this.#step = undefined;
      this.#options.onProblem(code);
      await step?.response.close();
    });
  }

  async #begin(time: number): Promise<void> {
    if (this.#step !== undefined) await this.#over("stop", time);
    const { ports, folder, model } = this.#options;
    const { files } = ports;
    await ensureFolder(files, this.#steps);
    this.#number ??= Number(latestStepName(await files.list(this.#steps)) ?? "0");
    this.#number += 1;
    const path = stepFolder(this.#steps, stepName(this.#number));
    await ensureFolder(files, path);
    await ensureFolder(files, toolsFolder(path));
    const request = { started_at: iso(time), session: folder.split(/[\\/]/).at(-1), ...(model && { model }) };
    await placeFile(ports, stepFile(path, "request"), `${JSON.stringify(request)}\n`);
    const response = await files.open(stepFile(path, "response"), "create");
    this.#step = { folder: path, startedAt: time, response, bytes: 0, hasMeta: false };
    await this.#append(
      lines([
        { type: "message_start", v: 1, role: "assistant" },
        { type: "content_start", index: 0, kind: { thinking: {} } },
        { type: "content_start", index: 1, kind: { text: {} } },
      ]),
    );
    await this.#dropOld(this.#number);
  }

  async #dropOld(newest: number): Promise<void> {
    const { files } = this.#options.ports;
    for (const name of await namesIn(files, this.#steps))
      if (isStepName(name) && Number(name) <= newest - stepsKeptMax)
        await files.removeFolder(stepFolder(this.#steps, name));
  }

  /** Deltas that come while one is written go out together. */
  async #stream(event: unknown): Promise<void> {
    const line = `${JSON.stringify(event)}\n`;
    this.#pending.push(line);
    this.#pendingBytes += line.length;
    if (!this.#isFlushDue) {
      this.#isFlushDue = true;
      this.#then(() => this.#flush());
    }
    if (this.#pendingBytes > responsePendingBytesMax) await this.#work;
  }

  async #flush(): Promise<void> {
    this.#isFlushDue = false;
    const text = this.#pending.join("");
    this.#pending = [];
    this.#pendingBytes = 0;
    if (text !== "") await this.#append(text);
  }

  async #append(text: string): Promise<void> {
    const step = this.#step;
    if (step === undefined) return;
    const bytes = Buffer.from(text, "utf8");
    // The end of a step is always told; only deltas have a bound.
    if (step.bytes + bytes.length > responseBytesMax) return;
    step.bytes += bytes.length;
    await this.#writeAll(step, bytes);
  }

  async #writeAll(step: Step, bytes: Uint8Array): Promise<void> {
    for (let at = 0; at < bytes.length; ) at += await step.response.write(bytes.subarray(at));
  }

  async #ensureCallFolder(step: Step, callId: string): Promise<void> {
    await ensureFolder(this.#options.ports.files, callFolder(step.folder, callId));
  }

  async #post(event: StepEvent & { readonly type: "posted" }): Promise<void> {
    const step = this.#step;
    if (step === undefined) return;
    const { id, name, input } = event;
    await this.#ensureCallFolder(step, id);
    const json = compactJson({ id, name, input }, inputBytesMax);
    const text = json.length < inputBytesMax ? json : JSON.stringify({ id, name });
    await placeFile(this.#options.ports, callFile(step.folder, id, "input"), `${text}\n`);
  }

  async #land(event: StepEvent & { readonly type: "landed" }): Promise<void> {
    const step = this.#step;
    if (step === undefined) return;
    await this.#ensureCallFolder(step, event.id);
    const record = {
      stdout: headOfBytes(event.output, captureBytesMax),
      stderr: "",
      exit_code: event.exitCode,
      ...(event.startedAt === undefined ? {} : { started_at: iso(event.startedAt) }),
      ended_at: iso(event.endedAt),
    };
    const path = callFile(step.folder, event.id, "output");
    await placeFile(this.#options.ports, path, `${JSON.stringify(record)}\n`);
  }

  async #over(reason: string, time: number): Promise<void> {
    const step = this.#step;
    if (step === undefined) return;
    this.#step = undefined;
    const ending =
      reason === "error"
        ? [{ type: "error", kind: "interrupted" }, { type: "end" }]
        : [{ type: "finish", reason }, { type: "end" }];
    try {
      await this.#writeAll(step, Buffer.from(lines(ending), "utf8"));
    } finally {
      await step.response.close();
    }
    const { ports } = this.#options;
    const meta = { started_at: iso(step.startedAt), ended_at: iso(time) };
    await placeFile(ports, stepFile(step.folder, "meta"), `${JSON.stringify(meta)}\n`);
    await placeFile(ports, stepFile(step.folder, "over"), `${JSON.stringify({ ended_at: iso(time) })}\n`);
  }
}

function lines(values: readonly unknown[]): string {
  return values.map((value) => `${JSON.stringify(value)}\n`).join("");
}

function iso(time: number): string {
  return new Date(time).toISOString();
}
