/** The newest step of an agent of a workspace: what its model call is saying, and how it stands. */
import { join } from "node:path";
import { openFile } from "../../lines/index.ts";
import { absorbStream, foldStream, type Stream } from "../../transcript/index.ts";
import { readFully } from "../ends.ts";
import { fileStateAt, isFileError } from "../file-errors.ts";
import { latestStep } from "./step-folder.ts";
import { readStepFacts, type StepFacts } from "./wounds.ts";

/** Bytes of one read of a growing response. */
const CHUNK_BYTES = 1024 * 1024;
/** Longest streamed text that is kept; what is beyond it waits for the committed entry. */
export const STREAM_TEXT_MAX = 4 * 1024 * 1024;
/** How the newest step stands. */
export interface StepState extends StepFacts {
  readonly stream: Stream;
  /** When something was last heard of its call: its response grew, or else it was asked. */
  readonly changedAt: number;
}

/** Reads the newest step again and again; a growing response is folded by what is new in it. */
export class StepReader {
  readonly #folder: string;
  #step: string | undefined;
  #offset = 0;
  #identity = "";
  #stream: Stream = {};

  /** `folder` holds the agent's steps; it need not be there. */
  constructor(folder: string) {
    this.#folder = folder;
  }

  async read(): Promise<StepState | undefined> {
    const step = await latestStep(this.#folder);
    if (step === undefined) return undefined;
    const path = join(this.#folder, step);
    const response = join(path, "response.json");
    const state = await fileStateAt(response);
    const isSame = step === this.#step && state?.identity === this.#identity && state.size >= this.#offset;
    if (!isSame) {
      this.#step = step;
      this.#offset = 0;
      this.#identity = state?.identity ?? "";
      this.#stream = {};
    }
    if (state && state.size > this.#offset) await this.#grow(response);
    const facts = await readStepFacts(path);
    const changedAt = state === undefined ? facts.requestedAt : Number(state.modified / 1_000_000n);
    return { ...facts, stream: this.#stream, changedAt: changedAt ?? 0 };
  }

  /** Folds the whole lines behind the offset. */
  async #grow(path: string): Promise<void> {
    const source = await openFile(path);
    try {
      for (;;) {
        const bytes = await readFully(source, this.#offset, CHUNK_BYTES);
        const end = bytes.lastIndexOf(0x0a) + 1;
        if (end === 0) {
          // A line longer than a chunk is no delta worth showing: it is stepped over.
          if (bytes.length < CHUNK_BYTES) return;
          this.#offset += bytes.length;
          continue;
        }
        this.#offset += end;
        const held = (this.#stream.text?.length ?? 0) + (this.#stream.thinking?.length ?? 0);
        if (held < STREAM_TEXT_MAX)
          this.#stream = absorbStream(
            this.#stream,
            foldStream(new TextDecoder().decode(bytes.subarray(0, end))),
          );
        if (bytes.length < CHUNK_BYTES) return;
      }
    } catch (error) {
      // Taken away while it was read: the next look sees what is there then.
      if (!isFileError(error)) throw error;
    } finally {
      await source.close();
    }
  }
}
