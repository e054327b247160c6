/** How the steps of an agent failed, and whether somebody carries it on: from its step directory and what is beside it. */
import { basename, dirname, join } from "node:path";
import { type Orphan, orphanedTail, type SpineStep, type Wound } from "../../transcript/index.ts";
import { objectOf, stringOf, timeOf } from "../fields.ts";
import { fileStateAt } from "../file-errors.ts";
import { readEnd, readStretch } from "./files.ts";
import { type Ending, readFraming } from "./framing.ts";
import { listRows, type MessagesPlace } from "./listing.ts";
import { readMessage } from "./read-message.ts";
import { stepNames } from "./step-folder.ts";

/** Bytes of a response's end that its ending is told from. */
const RESPONSE_TAIL_BYTES = 256 * 1024;
/** A step without any response is given this long before it counts as failed: as long as it can take until its start is known everywhere. */
export const WOUND_GRACE_MS = 17_600;
/** Bytes and lines of the end of what a driver said that are quoted. */
export const WORDS_BYTES_MAX = 4096;
export const WORDS_LINES_MAX = 3;
const META_BYTES_MAX = 64 * 1024;
const PACKED_REFS_BYTES_MAX = 4 * 1024 * 1024;
const NEWEST_BYTES_MAX = 16 * 1024 * 1024;

/** What of a step tells whether it failed. */
export interface StepFacts {
  readonly path: string;
  /** The call has returned. */
  readonly isSettled: boolean;
  readonly responseBytes: number;
  readonly ending: Ending;
  /** When the call was asked, in milliseconds since the epoch; absent where its request is not there. */
  readonly requestedAt?: number;
}

export interface WoundStanding {
  /** Somebody is at work on this step. */
  readonly isDriven: boolean;
  /** The present, in milliseconds since the epoch. */
  readonly now: number;
  /** `WOUND_GRACE_MS` where absent; 0 gives no grace. */
  readonly graceMs?: number;
}

const AUTH =
  /401|403|unauthorized|unauthenticated|forbidden|permission denied|permission-denied|credential|authenticat|authoriz|authoris|api key|api_key|apikey/i;

/**
 * How a step failed; absent where it did not, where somebody is at work on it, or where it is too young to tell. Its age is counted in
 * whole seconds from its request; one that is stamped in the future has age 0, one without a stamp is old enough.
 */
export async function woundOf(step: StepFacts, standing: WoundStanding): Promise<Wound | undefined> {
  if (standing.isDriven) return undefined;
  if (step.ending.type === "failed" && AUTH.test(step.ending.words))
    return { kind: "refused", words: step.ending.words };
  if (step.responseBytes > 0 || step.isSettled)
    return step.ending.type === "output-limit" ? { kind: "output-limit" } : undefined;
  if (step.requestedAt !== undefined) {
    const ageMs = Math.max(0, Math.floor((standing.now - step.requestedAt) / 1000) * 1000);
    if (ageMs < (standing.graceMs ?? WOUND_GRACE_MS)) return undefined;
  }
  const words = await lastWords(join(step.path, "stderr.log"));
  return words === undefined ? { kind: "mute" } : { kind: "spoke", words, source: "stderr.log" };
}

/** The last lines of a log; absent where it says nothing. */
export async function lastWords(path: string): Promise<string | undefined> {
  const end = await readEnd(path, WORDS_BYTES_MAX);
  if (end === undefined) return undefined;
  const text = new TextDecoder().decode(end.bytes);
  const whole = end.isWhole ? text : text.slice(text.indexOf("\n") + 1);
  const words = whole.trim().split("\n").slice(-WORDS_LINES_MAX).join("\n");
  return words === "" ? undefined : words;
}

/** What a step directory tells of how its call stands. Cost: bounded by `RESPONSE_TAIL_BYTES`. */
export async function readStepFacts(path: string): Promise<StepFacts & { readonly attempts?: number }> {
  const response = join(path, "response.json");
  const request = await fileStateAt(join(path, "request.json"));
  const end = await readEnd(response, RESPONSE_TAIL_BYTES);
  const { ending, attempts } = readFraming(end === undefined ? "" : new TextDecoder().decode(end.bytes));
  return {
    path,
    isSettled: (await fileStateAt(join(path, "meta.json"))) !== undefined,
    responseBytes: (await fileStateAt(response))?.size ?? 0,
    ending,
    ...(request === undefined ? {} : { requestedAt: Number(request.modified / 1_000_000n) }),
    // The ends above what was read are not counted: then the number is not known.
    ...(end?.isWhole === false ? {} : { attempts }),
  };
}

/** A step as it stands on disk. It serves as a step of the spine. */
export interface StepRecord extends SpineStep {
  readonly ending: Ending;
  /** Attempts that ended; absent where the response is too long to count them. */
  readonly attempts?: number;
  readonly startedAt?: number;
  readonly endedAt?: number;
  readonly wound?: Wound;
}

/**
 * The newest `STEPS_MAX` steps of an agent, oldest first, each with its wound. What is driven, or young, excuses the newest step alone. A
 * step is complete where its answer was committed: one that ended at the output limit is not.
 */
export async function readSteps(folder: string, standing: WoundStanding): Promise<readonly StepRecord[]> {
  const names = await stepNames(folder);
  const records: StepRecord[] = [];
  for (const [at, name] of names.entries()) {
    const { ending, attempts, ...facts } = await readStepFacts(join(folder, name));
    const isNewest = at === names.length - 1;
    const wound = await woundOf({ ...facts, ending }, isNewest ? standing : { ...PAST, now: standing.now });
    records.push({
      name,
      isComplete: ending.type === "whole",
      ending,
      ...(attempts === undefined ? {} : { attempts }),
      ...(await readMeta(join(facts.path, "meta.json"))),
      ...(wound === undefined ? {} : { wound }),
    });
  }
  return records;
}

const PAST = { isDriven: false, graceMs: 0 };

async function readMeta(path: string): Promise<Pick<StepRecord, "commit" | "startedAt" | "endedAt">> {
  const bytes = await readStretch(path, 0, META_BYTES_MAX);
  const meta = bytes === undefined ? undefined : jsonFields(new TextDecoder().decode(bytes));
  const commit = stringOf(meta?.["commit"]);
  const startedAt = timeOf(meta?.["started_at"]);
  const endedAt = timeOf(meta?.["ended_at"]);
  return {
    ...(commit === undefined ? {} : { commit }),
    ...(startedAt === undefined ? {} : { startedAt }),
    ...(endedAt === undefined ? {} : { endedAt }),
  };
}

function jsonFields(text: string): ReturnType<typeof objectOf> {
  try {
    return objectOf(JSON.parse(text));
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

/**
 * Whether an agent's newest message waits for somebody who is not there, and the last words of its driver. It reads the newest message
 * alone. Absent where there is no such tail, and outside of a workspace.
 */
export async function readOrphan(
  place: MessagesPlace,
  standing: { readonly isDriven: boolean },
): Promise<Orphan | undefined> {
  if (place.steps === undefined || standing.isDriven) return undefined;
  const newest = (await listRows(place.messages)).findLast((row) => row.gap === undefined)?.name;
  const entry =
    newest === undefined ? undefined : await readMessage(place.messages, newest, NEWEST_BYTES_MAX);
  const words = await lastWords(join(place.steps, "driver.log"));
  return orphanedTail(entry, {
    isDriven: false,
    isParked: await isParked(place.steps),
    ...(words === undefined ? {} : { words }),
  });
}

/** Whether a call of the agent waits for the operator: a mark in the workspace's repository says so. */
async function isParked(steps: string): Promise<boolean> {
  const ref = `refs/litany/held/${basename(steps)}`;
  const repository = join(dirname(dirname(steps)), "repo.git");
  if ((await fileStateAt(join(repository, ref))) !== undefined) return true;
  const packed = await readStretch(join(repository, "packed-refs"), 0, PACKED_REFS_BYTES_MAX);
  return (
    packed !== undefined &&
    new TextDecoder()
      .decode(packed)
      .split("\n")
      .some((l) => l.endsWith(` ${ref}`))
  );
}
