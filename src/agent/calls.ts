/** One tool call of an agent, from its announcement to its end: what is shown of it and what is recorded. Pure. */
import type { CallPayload, ChangePayload, ResultPayload } from "../log/index.ts";
import type { Approval } from "../session/index.ts";
import type { Attachment, CallOutcome, CallState, FileChange } from "../transcript/index.ts";
import type { EntryDraft } from "./blocks.ts";
import { compactJson, cutChars, headOf, lineCount, subjectOf, summarizeInput } from "./input.ts";
import { inputBytesMax, outputBytesMax, outputShownCharsMax, wordCharsMax } from "./limits.ts";
import type { CallNews } from "./updates.ts";

export interface Call {
  readonly id: string;
  /** Of its block. */
  readonly key: string;
  readonly title: string | undefined;
  readonly tool: string | undefined;
  readonly kind: string | undefined;
  readonly input: unknown;
  readonly told: string | undefined;
  readonly changes: readonly FileChange[];
  readonly attachments: readonly Attachment[];
  readonly output: string;
  /** Characters of the output as it was told; more than `output` has where only its start was kept. */
  readonly outputChars: number;
  readonly exitCode: number | undefined;
  readonly isRecorded: boolean;
  /** Published as running; a call that waits for the person, or was refused, is not. */
  readonly isPosted: boolean;
  /** Why it has not run, where the person was asked about it. */
  readonly denial: Denial | undefined;
  readonly openedAt: number;
  readonly startedAt: number | undefined;
}

export function newCall(id: string, key: string, time: number): Call {
  return {
    id,
    key,
    title: undefined,
    tool: undefined,
    kind: undefined,
    input: undefined,
    told: undefined,
    changes: [],
    attachments: [],
    output: "",
    outputChars: 0,
    exitCode: undefined,
    isRecorded: false,
    isPosted: false,
    denial: undefined,
    openedAt: time,
    startedAt: undefined,
  };
}

/** The call with what was told of it; what is absent stays. `outputMax`: characters of output that may be kept. */
export function withNews(call: Call, news: CallNews, time: number, outputMax: number): Call {
  const starts = news.status !== undefined && news.status !== "pending" && call.startedAt === undefined;
  const kept =
    news.output === undefined
      ? call.output
      : news.output.length > outputMax
        ? headOf(news.output, outputMax)
        : news.output;
  return {
    ...call,
    title: news.title ?? call.title,
    tool: news.name ?? call.tool,
    kind: news.kind ?? call.kind,
    // An empty input is sent ahead of the real one by agents that stream it.
    input: isEmptyInput(news.input) && call.input !== undefined ? call.input : (news.input ?? call.input),
    told: news.subject ?? call.told,
    changes: news.changes ?? call.changes,
    attachments: news.attachments ?? call.attachments,
    output: kept,
    outputChars: news.output === undefined ? call.outputChars : news.output.length,
    exitCode: news.exitCode ?? call.exitCode,
    startedAt: starts ? time : call.startedAt,
  };
}

function isEmptyInput(input: unknown): boolean {
  return typeof input === "object" && input !== null && Object.keys(input).length === 0;
}

/** The tool's name as it is shown: the agent's title without the argument that tells most, which is shown beside it. */
export function nameOf(call: Call): { readonly name: string; readonly subject?: string } {
  const subject = subjectOf(call.input) ?? call.told;
  const fallback = call.tool ?? call.kind ?? "tool";
  if (call.title === undefined) return { name: fallback, ...(subject === undefined ? {} : { subject }) };
  if (subject === undefined) return { name: call.title };
  if (!call.title.includes(subject)) return { name: call.title, subject };
  const rest = call.title
    .replace(subject, "")
    .replaceAll("`", "")
    .replace(/\s+/g, " ")
    .replace(/[\s:([]+$/, "")
    .trim();
  return { name: rest === "" ? fallback : rest, subject };
}

export function callDraft(call: Call, time: number, outcome?: CallOutcome): EntryDraft {
  return {
    kind: "model",
    usage: {},
    blocks: [
      {
        kind: "tool-use",
        id: call.id,
        ...nameOf(call),
        inputSummary: summarizeInput(call.input),
        ...(call.changes.length === 0 ? {} : { changes: call.changes }),
        ...(outcome === undefined ? {} : { outcome }),
      },
    ],
    time,
  };
}

function changePayloads(changes: readonly FileChange[]): readonly ChangePayload[] {
  return changes.map(({ path, oldText, newText, patch }) => ({
    path,
    ...(oldText === undefined ? {} : { oldText }),
    ...(newText === undefined ? {} : { newText }),
    ...(patch === undefined ? {} : { patch }),
  }));
}

/** What is recorded before the tool runs. */
export function callPayload(call: Call): CallPayload {
  const { name, subject } = nameOf(call);
  return {
    toolCallId: call.id,
    toolName: name,
    ...(subject === undefined ? {} : { subject }),
    ...(call.input === undefined ? {} : { input: boundedInput(call.input) }),
    ...(call.changes.length === 0 ? {} : { changes: changePayloads(call.changes) }),
  };
}

/** The input, or a piece of its JSON where it is too long. */
function boundedInput(input: unknown): unknown {
  const json = compactJson(input, inputBytesMax + 1);
  return json.length > inputBytesMax ? cutChars(json, inputBytesMax) : input;
}

/** `called-off`: the question went with its turn. */
export type Denial = "rejected" | "called-off";

/** How a call ended, with what the person said of it: one that was denied has not run, unless the agent says that it is done. */
export function endingOf({ denial }: Call, told: Ending): Ending {
  const { state, time } = told;
  if (denial === undefined || state === "done") return told;
  return { state: denial === "called-off" && state === "interrupted" ? state : "denied", time };
}

export interface Ending {
  readonly state: CallState;
  readonly time: number;
  readonly note?: string;
}

export function outcomeOf(call: Call, { state, time, note }: Ending): CallOutcome {
  return {
    state,
    ...(call.output === "" ? {} : { lines: lineCount(call.output) }),
    ...(call.exitCode === undefined ? {} : { exitCode: call.exitCode }),
    ...(call.startedAt === undefined ? {} : { durationMs: Math.max(0, time - call.startedAt) }),
    ...(note === undefined ? {} : { note }),
  };
}

export function resultDraft(call: Call, ending: Ending): EntryDraft {
  const { name, subject } = nameOf(call);
  return {
    kind: "tool-result",
    toolUseId: call.id,
    content: shownOutput(call),
    isError: ending.state === "failed",
    outcome: outcomeOf(call, ending),
    ...(call.attachments.length === 0 ? {} : { attachments: call.attachments }),
    ...(call.changes.length === 0 ? {} : { changes: call.changes }),
    call: {
      name,
      ...(subject === undefined ? {} : { subject }),
      inputSummary: summarizeInput(call.input),
      entry: call.key,
    },
    time: ending.time,
  };
}

function shownOutput(call: Call): string {
  const left = call.outputChars - outputShownCharsMax;
  if (left <= 0) return call.output;
  return `${headOf(call.output, outputShownCharsMax)}\n… [${left} more characters are in the log]`;
}

export interface Recorded {
  readonly payload: ResultPayload;
  /** The whole output, where the payload has only its start. */
  readonly whole?: string;
}

/** What is recorded of its end. */
export function resultPayload(call: Call, ending: Ending): Recorded {
  const isLong = call.output.length > outputBytesMax / 4 && Buffer.byteLength(call.output) > outputBytesMax;
  const isCut = call.outputChars > call.output.length;
  const outcome = outcomeOf(call, ending);
  const text = isLong ? headOfBytes(call.output, outputBytesMax) : call.output;
  const notes = [
    ending.note,
    isCut ? `only the first ${call.output.length} of ${call.outputChars} characters were kept` : undefined,
    isLong ? "the whole output is attached" : undefined,
  ].filter((note) => note !== undefined);
  const { state } = ending;
  return {
    payload: {
      toolCallId: call.id,
      text,
      ...(state === "running" || state === "unanswered" ? {} : { state }),
      ...(state === "failed" ? { isError: true } : {}),
      ...(outcome.exitCode === undefined ? {} : { exitCode: outcome.exitCode }),
      ...(outcome.durationMs === undefined ? {} : { durationMs: outcome.durationMs }),
      ...(call.changes.length === 0 ? {} : { changes: changePayloads(call.changes) }),
      ...(call.attachments.length === 0 ? {} : { attachments: call.attachments }),
      ...(notes.length === 0 ? {} : { note: notes.join("; ") }),
    },
    ...(isLong ? { whole: call.output } : {}),
  };
}

/** The start of a text within so many bytes of UTF-8, cut between code points. */
export function headOfBytes(text: string, bytesMax: number): string {
  const bytes = Buffer.from(text.length > bytesMax ? text.slice(0, bytesMax) : text, "utf8");
  if (bytes.length <= bytesMax) return bytes.toString("utf8");
  let end = bytesMax;
  while (end > 0 && ((bytes[end] ?? 0) & 0xc0) === 0x80) end -= 1;
  return bytes.toString("utf8", 0, end);
}

export function approvalOf(call: Call, id: string, options: Approval["options"], askedAt: number): Approval {
  const { name, subject } = nameOf(call);
  return {
    id,
    call: {
      id: call.id,
      name: cutChars(name, wordCharsMax),
      ...(subject === undefined ? {} : { subject }),
      inputSummary: summarizeInput(call.input),
    },
    ...(call.changes.length === 0 ? {} : { changes: call.changes }),
    options,
    askedAt,
  };
}
