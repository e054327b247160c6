/** Frames: what a lane says of a step, each one an append; their form on the wire, strictly decoded. Pure. */
import { absorbStream, type Stream } from "../transcript/index.ts";
import { FRAME_BYTES_MAX } from "./limits.ts";
import { isExitCode, isParkOption, type ParkOption } from "./step-records.ts";

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
export function encodeFrame(frame: Frame): string {
  const { text, thinking, lastDelta } = frame.stream;
  // Written out in the order of their names; JSON leaves out what is undefined.
  return JSON.stringify({
    again: frame.again,
    kind: "follow",
    ok: true,
    stream: { delta: lastDelta, text, thinking },
    tools: frame.tools.map(wireEvent),
  });
}

function wireEvent(event: ToolEvent): object {
  return {
    answered: event.answered && { by: event.answered.by, option: event.answered.option },
    exit_code: event.exitCode,
    held: event.held,
    input: event.input,
    options: event.options?.map(({ id, kind, label }) => ({ id, kind, label })),
    tool: event.tool,
    tool_use: event.toolUse,
  };
}

export type Decoded =
  | { readonly ok: true; readonly frame: Frame }
  /** `error` names the field at fault. */
  | { readonly ok: false; readonly error: string };

/** The frame of a line of JSON, or why it is none. */
export function decodeFrame(json: string): Decoded {
  if (json.length > FRAME_BYTES_MAX) return refuse(`a frame of ${json.length} characters`);
  let value: unknown;
  try {
    value = JSON.parse(json);
  } catch (error) {
    if (error instanceof SyntaxError) return refuse("not JSON");
    throw error;
  }
  try {
    return { ok: true, frame: frameOf(value) };
  } catch (error) {
    if (error instanceof Refusal) return refuse(error.message);
    throw error;
  }
}

function refuse(error: string): Decoded {
  return { ok: false, error };
}

/** Thrown within decoding alone, from the depth of a field to its one catch. */
class Refusal extends Error {}

type Fields = Readonly<Record<string, unknown>>;

function objectAt(value: unknown, name: string): Fields {
  if (typeof value !== "object" || value === null || Array.isArray(value))
    throw new Refusal(`missing or non-object ${name}`);
  return value as Fields;
}

function arrayAt(fields: Fields, name: string): readonly unknown[] {
  const value = fields[name];
  if (!Array.isArray(value)) throw new Refusal(`missing or non-array field "${name}"`);
  return value;
}

function stringAt(fields: Fields, name: string): string | undefined {
  const value = fields[name];
  if (value === undefined || value === null) return undefined;
  if (typeof value !== "string") throw new Refusal(`non-string field "${name}"`);
  return value;
}

function neededString(fields: Fields, name: string): string {
  const value = stringAt(fields, name);
  if (value === undefined) throw new Refusal(`missing or non-string field "${name}"`);
  return value;
}

function frameOf(value: unknown): Frame {
  const fields = objectAt(value, "frame");
  if (fields["ok"] !== true) throw new Refusal('field "ok" is not true');
  if (fields["kind"] !== "follow") throw new Refusal(`unknown kind ${JSON.stringify(fields["kind"])}`);
  const again = fields["again"] ?? undefined;
  if (again !== undefined && again !== true) throw new Refusal('field "again" is not true');
  return {
    stream: streamAt(objectAt(fields["stream"], 'field "stream"')),
    tools: arrayAt(fields, "tools").map(eventOf),
    ...(again === undefined ? {} : { again }),
  };
}

function streamAt(fields: Fields): Stream {
  const text = stringAt(fields, "text");
  const thinking = stringAt(fields, "thinking");
  const delta = stringAt(fields, "delta");
  if (delta !== undefined && delta !== "text" && delta !== "thinking")
    throw new Refusal(`unknown delta ${JSON.stringify(delta)}`);
  return {
    ...(text === undefined ? {} : { text }),
    ...(thinking === undefined ? {} : { thinking }),
    ...(delta === undefined ? {} : { lastDelta: delta }),
  };
}

function eventOf(value: unknown): ToolEvent {
  const fields = objectAt(value, "tool event");
  const toolUse = neededString(fields, "tool_use");
  const tool = stringAt(fields, "tool");
  const input = stringAt(fields, "input");
  const held = stringAt(fields, "held");
  const exitCode = fields["exit_code"] ?? undefined;
  if (exitCode !== undefined && !isExitCode(exitCode))
    throw new Refusal('field "exit_code" is no whole number of 32 bits');
  const options = fields["options"] ?? undefined;
  const answered = fields["answered"] ?? undefined;
  return {
    toolUse,
    ...(tool === undefined ? {} : { tool }),
    ...(input === undefined ? {} : { input }),
    ...(exitCode === undefined ? {} : { exitCode }),
    ...(held === undefined ? {} : { held }),
    ...(options === undefined ? {} : { options: arrayAt(fields, "options").map(optionOf) }),
    ...(answered === undefined ? {} : { answered: answeredOf(answered) }),
  };
}

function optionOf(value: unknown): ParkOption {
  if (!isParkOption(value)) throw new Refusal('an entry of "options" without id, label or a known kind');
  return { id: value.id, label: value.label, kind: value.kind };
}

function answeredOf(value: unknown): { readonly by: string; readonly option?: string } {
  const fields = objectAt(value, 'field "answered"');
  const option = stringAt(fields, "option");
  return { by: neededString(fields, "by"), ...(option === undefined ? {} : { option }) };
}
