/** Frames: what a lane says of a step, each one an append; their form on the wire, strictly decoded. Pure. */
import {
  absorbStream,
  type Decoded,
  decoding,
  encodeReply,
  encodeStream,
  readBoolean,
  readFields,
  readList,
  readNumber,
  readObject,
  readOptional,
  readStream,
  readString,
  readWord,
  refuse,
  type Stream,
  type WireFields,
  wireText,
  within,
} from "../transcript/index.ts";
import { FRAME_BYTES_MAX } from "./limits.ts";
import { isExitCode, PARK_OPTION_KINDS, type ParkOption } from "./step-records.ts";

/** One thing that happened to a call; its fields tell what (see docs/follow.md). */
export interface ToolEvent {
  readonly toolUse: string;
  readonly tool?: string;
  readonly input?: string;
  /** Present: the call is over. */
  readonly exitCode?: number;
  /** Present: the call waits for the person, for this reason. */
  readonly held?: string;
  readonly options?: readonly ParkOption[];
  /** Present: the call does not wait any more. Without an option it was cancelled. */
  readonly answered?: { readonly by: string; readonly option?: string };
}

/** What landed since the frame before. */
export interface Frame {
  readonly stream: Stream;
  readonly tools: readonly ToolEvent[];
  /** The response was replaced: the read's stream starts from nothing with this frame. */
  readonly again?: true;
}

/** What a seat holds of a read: all of its frames absorbed. */
export interface Held {
  readonly stream: Stream;
  readonly tools: readonly ToolEvent[];
}

/** What a seat holds before the first frame of a read. */
export const emptyHeld: Held = { stream: {}, tools: [] };

/** The read so far with one more frame. */
export function absorbFrame(held: Held, frame: Frame): Held {
  return {
    stream: absorbStream(frame.again ? {} : held.stream, frame.stream),
    tools: frame.tools.length === 0 ? held.tools : [...held.tools, ...frame.tools],
  };
}

/** Whether a stream says nothing at all. */
export function isEmptyStream(stream: Stream): boolean {
  return stream.text === undefined && stream.thinking === undefined && stream.lastDelta === undefined;
}

/** The frame as one line of JSON with sorted keys, without a line end. */
export function encodeFrame({ stream, tools, again }: Frame): string {
  const fields = { stream: encodeStream(stream), tools: tools.map(encodeEvent), again };
  return wireText(encodeReply("follow", fields));
}

function encodeEvent({ toolUse, exitCode, ...same }: ToolEvent): WireFields {
  return { ...same, tool_use: toolUse, exit_code: exitCode };
}

/** The frame of a line of JSON, or why it is none. */
export function decodeFrame(json: string): Decoded<Frame> {
  return decoding(() => {
    if (json.length > FRAME_BYTES_MAX) return refuse("bad-shape", `a frame of ${json.length} characters`);
    return readFrame(parsed(json));
  });
}

function parsed(json: string): unknown {
  try {
    return JSON.parse(json);
  } catch (error) {
    if (error instanceof SyntaxError) return refuse("bad-shape", "frame: not JSON");
    throw error;
  }
}

function readFrame(value: unknown): Frame {
  const fields = readObject(value, "frame");
  if (!readBoolean(fields, "ok")) return refuse("refused", readString(fields, "error"));
  readWord(fields, "kind", ["follow"]);
  return {
    stream: within(".stream", () => readStream(readFields(fields, "stream"))),
    tools: readList(fields, "tools", readEvent),
    ...readOptional(fields, "again", "again", readTrue),
  };
}

function readTrue(fields: WireFields, key: string): true {
  return readBoolean(fields, key) || refuse("bad-field", `field "${key}" is only ever true`);
}

function readEvent(value: unknown): ToolEvent {
  const fields = readObject(value, "tool event");
  return {
    toolUse: readString(fields, "tool_use"),
    ...readOptional(fields, "tool", "tool", readString),
    ...readOptional(fields, "input", "input", readString),
    ...readOptional(fields, "exit_code", "exitCode", readExitCode),
    ...readOptional(fields, "held", "held", readString),
    ...readOptional(fields, "options", "options", (f, key) => readList(f, key, readParkOption)),
    ...readOptional(fields, "answered", "answered", (f, key) => readAnswered(readFields(f, key))),
  };
}

function readExitCode(fields: WireFields, key: string): number {
  const code = readNumber(fields, key);
  return isExitCode(code) ? code : refuse("bad-field", `field "${key}" is no whole number of 32 bits`);
}

function readParkOption(value: unknown): ParkOption {
  const fields = readObject(value, "option");
  return {
    id: readString(fields, "id"),
    label: readString(fields, "label"),
    kind: readWord(fields, "kind", PARK_OPTION_KINDS),
  };
}

function readAnswered(fields: WireFields): { readonly by: string; readonly option?: string } {
  return { by: readString(fields, "by"), ...readOptional(fields, "option", "option", readString) };
}
