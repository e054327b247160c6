/**
 * The step directory: how a running step is published on disk, so that another process can watch it, answer its parked calls and send
 * prompts. Names and paths only; the contents are in step-records.ts. Pure: separators are `/`, which every platform's Node takes.
 *
 * ```
 * <folder>/steps/<NNN>/request.json        placed just before the call
 *                      response.json       events, appended line by line (one JSON object a line); retries go on in the same file
 *                      meta.json           the call has returned
 *                      over.json           the step is over: its tools have run and all of it is in the log
 *                      stderr.log          what the agent's program said beside
 *                      tools/<call>/input.json    the call was posted
 *                                   output.json   it came back
 *                                   parked.json   it waits for the person
 *                                   answer.json   the one answer, created exclusively
 * <folder>/inbox/<name>.json               prompts from other processes, consumed in the order of their names
 * ```
 */

export const stepFiles = {
  request: "request.json",
  response: "response.json",
  meta: "meta.json",
  over: "over.json",
  stderr: "stderr.log",
  tools: "tools",
} as const;

export const callFiles = {
  input: "input.json",
  output: "output.json",
  parked: "parked.json",
  answer: "answer.json",
} as const;

/** Longest name of a call's folder; a longer id is told apart by a hash. */
export const CALL_NAME_MAX = 160;

const join = (folder: string, name: string): string =>
  folder.endsWith("/") ? folder + name : `${folder}/${name}`;

/** The folder of all steps of a session that Hansard drives. */
export function stepsFolder(sessionFolder: string): string {
  return join(sessionFolder, "steps");
}

/** The folder of prompts from other processes. */
export function inboxFolder(sessionFolder: string): string {
  return join(sessionFolder, "inbox");
}

export function stepFolder(steps: string, step: string): string {
  return join(steps, step);
}

export function stepFile(step: string, file: keyof typeof stepFiles): string {
  return join(step, stepFiles[file]);
}

export function toolsFolder(step: string): string {
  return join(step, stepFiles.tools);
}

/** The folder of a call; `callId` is the agent's own, whatever characters it has. */
export function callFolder(step: string, callId: string): string {
  return join(toolsFolder(step), callFolderName(callId));
}

export function callFile(step: string, callId: string, file: keyof typeof callFiles): string {
  return join(callFolder(step, callId), callFiles[file]);
}

const stepForm = /^\d{3,9}$/;

/** Whether a folder's name is a step's: at least three digits. */
export function isStepName(name: string): boolean {
  return stepForm.test(name);
}

/** The name of the step with a number, counted from 1. */
export function stepName(number: number): string {
  return String(number).padStart(3, "0");
}

/** The numerically greatest of the names that are steps'. */
export function latestStepName(names: Iterable<string>): string | undefined {
  let latest: string | undefined;
  for (const name of names)
    if (isStepName(name) && (latest === undefined || Number(name) > Number(latest))) latest = name;
  return latest;
}

const plainId = /^[A-Za-z0-9_][A-Za-z0-9._-]*$/;

/**
 * The folder's name of a call id: the id itself where it is letters, digits, `.`, `_`, `-`; every other character as `%` and its code in
 * hexadecimal between, so that no id leaves the folder and different ids have different names. Ids whose name would be longer than
 * `CALL_NAME_MAX` keep its start and a hash.
 */
export function callFolderName(callId: string): string {
  const name = plainId.test(callId) ? callId : escapeId(callId);
  if (name.length <= CALL_NAME_MAX) return name;
  const mark = `%~${hash53(callId).toString(36)}`;
  return `${name.slice(0, CALL_NAME_MAX - mark.length)}${mark}`;
}

function escapeId(callId: string): string {
  let name = callId === "" ? "%" : "";
  for (let at = 0; at < callId.length; at++) {
    const char = callId[at]!;
    const isPlain = /[A-Za-z0-9_-]/.test(char) || (char === "." && at > 0);
    name += isPlain ? char : `%${callId.charCodeAt(at).toString(16).padStart(4, "0")}`;
  }
  return name;
}

/** The id that a folder's name stands for; a hashed one stands for itself, its records tell the id. */
export function callIdOf(folderName: string): string {
  if (folderName === "%") return "";
  return folderName.replace(/%([0-9a-f]{4})/g, (_, code: string) =>
    String.fromCharCode(Number.parseInt(code, 16)),
  );
}

/** Two mixed 32-bit lanes; told apart is all that is asked of it. */
function hash53(text: string): number {
  let a = 0xdeadbeef;
  let b = 0x41c6ce57;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    a = Math.imul(a ^ code, 0x9e3779b1);
    b = Math.imul(b ^ code, 0x5f356495);
  }
  a = Math.imul(a ^ (a >>> 16), 0x85ebca6b) ^ Math.imul(b ^ (b >>> 13), 0xc2b2ae35);
  b = Math.imul(b ^ (b >>> 16), 0x85ebca6b) ^ Math.imul(a ^ (a >>> 13), 0xc2b2ae35);
  return 4294967296 * (2097151 & b) + (a >>> 0);
}
