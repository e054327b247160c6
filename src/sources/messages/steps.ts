/** The newest step of an agent of a workspace: what its model call is saying, and how it ended. */
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { openFile } from "../../lines/index.ts";
import { absorbStream, foldStream, type Stream, type Wound } from "../../transcript/index.ts";
import { readFully } from "../ends.ts";
import { objectOf, stringOf } from "../fields.ts";
import { fileStateAt, isFileError } from "../file-errors.ts";

/** Bytes of one read of a growing response. */
const CHUNK_BYTES = 1024 * 1024;
/** Bytes of a response's end that its ending is told from. */
const RESPONSE_TAIL_BYTES = 256 * 1024;
/** Longest streamed text that is kept; what is beyond it waits for the committed entry. */
export const STREAM_TEXT_MAX = 4 * 1024 * 1024;
/** A call whose response has not grown for this long counts as under way only where its driver's lock is seen. */
export const IN_FLIGHT_MS = 10 * 60 * 1000;
/** A step without any response is given this long before it counts as failed. */
export const WOUND_GRACE_MS = 17_600;
const STDERR_BYTES = 4096;
const STDERR_LINES = 3;

/** How the newest step stands. */
export interface StepState {
  readonly path: string;
  readonly stream: Stream;
  /** The call has returned. */
  readonly isSettled: boolean;
  readonly responseBytes: number;
  readonly changedAt: number;
  readonly ending: Ending;
}

/** How the last attempt in a response ended: not at all, whole, at the output limit, or with an error line. */
export type Ending =
  | { readonly type: "open" }
  | { readonly type: "whole" }
  | { readonly type: "output-limit" }
  | { readonly type: "failed"; readonly words: string };

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
    const request = await fileStateAt(join(path, "request.json"));
    const changed = state ?? request;
    return {
      path,
      stream: this.#stream,
      isSettled: (await fileStateAt(join(path, "meta.json"))) !== undefined,
      responseBytes: state?.size ?? 0,
      changedAt: changed === undefined ? 0 : Number(changed.modified / 1_000_000n),
      ending: state === undefined ? { type: "open" } : await readEnding(response),
    };
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

/** The numerically greatest step: a folder whose name is at least three digits. */
async function latestStep(folder: string): Promise<string | undefined> {
  let latest: string | undefined;
  try {
    for (const entry of await readdir(folder, { withFileTypes: true })) {
      if (!entry.isDirectory() || !/^\d{3,9}$/.test(entry.name)) continue;
      if (latest === undefined || Number(entry.name) > Number(latest)) latest = entry.name;
    }
  } catch (error) {
    // No steps: nothing was ever run here, or it is not for us to see.
    if (!isFileError(error)) throw error;
  }
  return latest;
}

/** Only whole lines count, and of those the last attempt's: what follows the `end` before the last. */
async function readEnding(path: string): Promise<Ending> {
  let text: string;
  try {
    const source = await openFile(path);
    try {
      const size = await source.size();
      const start = Math.max(0, size - RESPONSE_TAIL_BYTES);
      text = new TextDecoder().decode(await readFully(source, start, size - start));
    } finally {
      await source.close();
    }
  } catch (error) {
    if (isFileError(error)) return { type: "open" };
    throw error;
  }
  return endingOf(text);
}

/** The ending that the lines of a response tell. */
export function endingOf(text: string): Ending {
  const lines = text
    .slice(0, text.lastIndexOf("\n") + 1)
    .split("\n")
    .filter((l) => l !== "");
  const typeOf = (line: string | undefined): string | undefined => stringOf(eventOf(line)?.["type"]);
  if (typeOf(lines.at(-1)) !== "end") return { type: "open" };
  for (let at = lines.length - 2; at >= 0; at--) {
    const line = lines[at]!;
    const type = typeOf(line);
    if (type === "end") break;
    if (type === "error") return { type: "failed", words: line };
    if (type === "finish") return { type: eventOf(line)?.["reason"] === "length" ? "output-limit" : "whole" };
  }
  return { type: "open" };
}

function eventOf(line: string | undefined): Readonly<Record<string, unknown>> | undefined {
  if (line === undefined) return undefined;
  try {
    return objectOf(JSON.parse(line));
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

const AUTH =
  /401|403|unauthorized|unauthenticated|forbidden|permission denied|permission-denied|credential|authenticat|authoriz|authoris|api key|api_key|apikey/i;

/** How a step that nobody drives failed; absent where it did not, or is too young to tell. `ageMs` is the time since its request. */
export async function woundOf(step: StepState, ageMs: number): Promise<Wound | undefined> {
  if (step.ending.type === "failed" && AUTH.test(step.ending.words))
    return { kind: "refused", words: step.ending.words };
  if (step.responseBytes > 0 || step.isSettled)
    return step.ending.type === "output-limit" ? { kind: "output-limit" } : undefined;
  if (ageMs < WOUND_GRACE_MS) return undefined;
  const words = await stderrWords(join(step.path, "stderr.log"));
  return words === "" ? { kind: "mute" } : { kind: "spoke", words };
}

/** The last lines of what the driver said; "" where it said nothing. */
async function stderrWords(path: string): Promise<string> {
  try {
    const source = await openFile(path);
    try {
      const size = await source.size();
      const start = Math.max(0, size - STDERR_BYTES);
      const text = new TextDecoder().decode(await readFully(source, start, size - start));
      const whole = start === 0 ? text : text.slice(text.indexOf("\n") + 1);
      return whole.trim().split("\n").slice(-STDERR_LINES).join("\n");
    } finally {
      await source.close();
    }
  } catch (error) {
    if (isFileError(error)) return "";
    throw error;
  }
}

/**
 * Whether somebody holds the lock on a folder, as far as the system tells: Linux lists the locks of the processes it shows us. Undefined
 * where it lists none for the folder: that is no proof that nobody does.
 */
export async function isLocked(folder: string, locksPath = "/proc/locks"): Promise<true | undefined> {
  try {
    const state = await fileStateAt(folder);
    if (state === undefined) return undefined;
    const [, inode] = state.identity.split(":");
    const locks = await readFile(locksPath, "utf8");
    return locks.split("\n").some((line) => line.includes(`:${inode} `) && !line.includes("->"))
      ? true
      : undefined;
  } catch (error) {
    if (isFileError(error)) return undefined;
    throw error;
  }
}
