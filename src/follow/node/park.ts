/** Answers to parked calls: one answer a call, whoever is first. */
import { randomUUID } from "node:crypto";
import { callFile, callFolder, isStepName, stepFolder } from "../step-directory.ts";
import { type AnswerRecord, type ParkOption, parseAnswer, parsePark } from "../step-records.ts";
import { codeOf, createWhole, foldersIn, readText } from "./files.ts";
import { LATE_STEPS_MAX, RECORD_BYTES_MAX } from "./limits.ts";

/** What became of an answer. */
export type ParkAnswered =
  | { readonly state: "taken" }
  /** Somebody was first. */
  | { readonly state: "late"; readonly answer: AnswerRecord }
  /** No call of that id waits for an answer. */
  | { readonly state: "not-parked" }
  /** The call does not offer the option. */
  | { readonly state: "unknown-option"; readonly options: readonly ParkOption[] };

export interface ParkRequest {
  /** The step's folder, or the folder of the steps, of which the newest is meant. */
  readonly at: { readonly step: string } | { readonly steps: string };
  readonly callId: string;
  readonly answer: AnswerRecord;
}

/**
 * Answers a parked call of a step, at most once whoever tries: the answer that is linked first stands, and those that come late are told
 * it. An answer without an option cancels. Rejects where the disk refuses to write.
 */
export async function answerParked({ at, callId, answer }: ParkRequest): Promise<ParkAnswered> {
  const [step, ...before] = "step" in at ? [at.step] : await newestSteps(at.steps);
  if (step === undefined) return { state: "not-parked" };
  const given = callFile(step, callId, "answer");
  const late = await readAnswer(given);
  if (late !== undefined) return { state: "late", answer: late };
  const park = parsePark((await readText(callFile(step, callId, "parked"), RECORD_BYTES_MAX)) ?? "");
  if (park === undefined || (await readText(callFile(step, callId, "output"), 1)) !== undefined)
    return (await answeredBefore(before, callId)) ?? { state: "not-parked" };
  const { options } = park;
  if (answer.option !== undefined && options !== undefined && !options.some((o) => o.id === answer.option))
    return { state: "unknown-option", options };
  try {
    const temporary = `${callFolder(step, callId)}/.${randomUUID()}.tmp`;
    if (await createWhole(given, temporary, `${JSON.stringify(answer)}\n`)) return { state: "taken" };
  } catch (error) {
    // The step was taken away meanwhile.
    if (codeOf(error) !== "ENOENT") throw error;
    return { state: "not-parked" };
  }
  return { state: "late", answer: (await readAnswer(given)) ?? { by: "somebody else" } };
}

/** The answer of a call of an earlier step: the agent may have gone on since the one who is late was asked. */
async function answeredBefore(steps: readonly string[], callId: string): Promise<ParkAnswered | undefined> {
  for (const step of steps) {
    const answer = await readAnswer(callFile(step, callId, "answer"));
    if (answer !== undefined) return { state: "late", answer };
  }
  return undefined;
}

async function readAnswer(path: string): Promise<AnswerRecord | undefined> {
  const text = await readText(path, RECORD_BYTES_MAX);
  return text === undefined ? undefined : (parseAnswer(text) ?? { by: "somebody else" });
}

/** The folders of the newest steps, newest first, at most `LATE_STEPS_MAX`. */
async function newestSteps(steps: string): Promise<readonly string[]> {
  return (await foldersIn(steps))
    .filter(isStepName)
    .sort((a, b) => Number(b) - Number(a))
    .slice(0, LATE_STEPS_MAX)
    .map((name) => stepFolder(steps, name));
}

/** The folder of the newest step; undefined where there is none. */
export async function latestStep(steps: string): Promise<string | undefined> {
  return (await newestSteps(steps))[0];
}
