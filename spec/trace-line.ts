/** Reading one line of a trace: a line, or in words what is wrong with it. */
import type { TraceLine } from "../src/window/index.ts";

/** Longest line of a trace, in bytes: above what a full set of live blocks takes, far below what memory holds. */
export const lineBytesMax = 1_048_576;

type Kind = "number" | "boolean" | "string" | "numbers" | "optional number" | "optional boolean" | Shape;

interface Shape {
  readonly [name: string]: Kind;
}

const configShape: Shape = {
  window: "number",
  step: "number",
  slice: "number",
  maxLive: "number",
  maxHeld: "optional number",
  followWhileOpen: "boolean",
  jump: "boolean",
};

const stateShape: Shape = {
  save: "string",
  cycle: "number",
  cycle_first: "number",
  prev_first: "number",
  held_first: "number",
  next_seq: "number",
  saved_through: "number",
  live: "numbers",
  turn_open: "boolean",
  epoch: "number",
  painted_through: "number",
  reprinting: "boolean",
  ctrlo: {
    open: "boolean",
    anchor: "string",
    lo: "number",
    hi: "number",
    at_start: "boolean",
    pending: { token: "number", dir: "string", from: "number" },
  },
  next_token: "number",
};

const eventShapes: ReadonlyMap<string, Shape> = new Map([
  ["turn_started", {}],
  ["turn_ended", {}],
  ["block_opened", { id: "number" }],
  ["block_changed", { id: "number" }],
  ["block_finished", { id: "number" }],
  ["saved_through", { seq: "number" }],
  ["compacted", {}],
  ["resized", {}],
  ["reprint_tick", {}],
  ["ctrlo_opened", {}],
  ["ctrlo_closed", {}],
  ["ctrlo_scrolled", { dir: "string" }],
  ["ctrlo_jumped", { to: "string" }],
  ["log_read_done", { token: "number", count: "number", met: "optional boolean" }],
  ["log_read_failed", { token: "number" }],
  ["resumed", { cycle: "number", cycleFirst: "number", nextSeq: "number" }],
] as const satisfies readonly (readonly [string, Shape])[]);

const effectShapes: ReadonlyMap<string, Shape> = new Map([
  ["paint_final", { seq: "number" }],
  ["repaint_block", { id: "number" }],
  ["reprint_begin", {}],
  ["reprint_slice", { from: "number", to: "number" }],
  ["repaint_live", {}],
  ["drop", { from: "number", to: "number" }],
  ["ctrlo_show", { lo: "number", hi: "number", anchor: "string" }],
  ["read_log", { token: "number", dir: "string", from: "number", count: "number" }],
] as const satisfies readonly (readonly [string, Shape])[]);

type Members = Readonly<Record<string, unknown>>;

function isObject(value: unknown): value is Members {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function isKind(value: unknown, kind: Exclude<Kind, Shape>): boolean {
  if (kind === "numbers") return Array.isArray(value) && value.every((one) => typeof one === "number");
  if (kind === "optional number") return value === undefined || typeof value === "number";
  if (kind === "optional boolean") return value === undefined || typeof value === "boolean";
  return typeof value === kind;
}

const words: Readonly<Record<Exclude<Kind, Shape>, string>> = {
  number: "a number",
  boolean: "true or false",
  string: "a string",
  numbers: "an array of numbers",
  "optional number": "a number",
  "optional boolean": "true or false",
};

/** What is wrong with a value; undefined where it has the shape. */
function problemOf(name: string, value: unknown, shape: Shape): string | undefined {
  if (!isObject(value)) return `${name} is no object`;
  const more = Object.keys(value).find((member) => !Object.hasOwn(shape, member));
  if (more !== undefined) return `${name} has an unknown member ${JSON.stringify(more)}`;
  for (const [member, kind] of Object.entries(shape)) {
    const inner = Object.hasOwn(value, member) ? value[member] : undefined;
    if (typeof kind === "object") {
      const problem = problemOf(`${name}.${member}`, inner, kind);
      if (problem !== undefined) return problem;
    } else if (!isKind(inner, kind)) {
      return inner === undefined ? `${name}.${member} is missing` : `${name}.${member} is not ${words[kind]}`;
    }
  }
  return undefined;
}

function problemOfTyped(
  name: string,
  value: unknown,
  shapes: ReadonlyMap<string, Shape>,
): string | undefined {
  if (!isObject(value)) return `${name} is no object`;
  const type = Object.hasOwn(value, "type") ? value["type"] : undefined;
  if (typeof type !== "string") return `${name} has no type`;
  const shape = shapes.get(type);
  if (shape === undefined) return `${name} has an unknown type ${JSON.stringify(type)}`;
  return problemOf(name, value, { ...shape, type: "string" });
}

/** The first thing that is wrong with what a line says; undefined where it is a line of a trace. */
function problemOfLine(line: Members): string | undefined {
  const members = ["config", "event", "effects", "rejected", "state"];
  const more = Object.keys(line).find((member) => !members.includes(member));
  if (more !== undefined) return `an unknown member ${JSON.stringify(more)}`;
  const { config, event, effects, rejected, state } = line;
  const problem =
    problemOf("config", config, configShape) ??
    (event === undefined ? undefined : problemOfTyped("event", event, eventShapes));
  if (problem !== undefined) return problem;
  if (!Array.isArray(effects)) return "effects is no array";
  for (const [index, effect] of effects.entries()) {
    const wrong = problemOfTyped(`effects[${index}]`, effect, effectShapes);
    if (wrong !== undefined) return wrong;
  }
  if (rejected !== undefined && typeof rejected !== "string") return "rejected is not a string";
  return problemOf("state", state, stateShape);
}

/** The line of a trace that a text is, or what is wrong with it, in words. */
export function parseTraceLine(text: string): TraceLine | string {
  if (Buffer.byteLength(text) > lineBytesMax) return `a line of more than ${lineBytesMax} bytes`;
  if (text.startsWith("\uFEFF")) return "a byte order mark: a trace is UTF-8 without one";
  let line: unknown;
  try {
    line = JSON.parse(text);
  } catch (error) {
    return `no JSON: ${error instanceof Error ? error.message : String(error)}`;
  }
  if (!isObject(line)) return "no object";
  return problemOfLine(line) ?? (line as unknown as TraceLine);
}

/**
 * The lines of chunks of bytes, without their ends (LF or CRLF). A line over the limit is given cut, one byte over it, and ends
 * the lines: memory does not grow with it.
 */
export async function* linesOfChunks(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  let parts: Uint8Array[] = [];
  let size = 0;
  const join = (): string => {
    const text = Buffer.concat(parts).toString("utf8");
    parts = [];
    size = 0;
    return text.endsWith("\r") ? text.slice(0, -1) : text;
  };
  for await (const chunk of chunks) {
    let from = 0;
    for (let end = chunk.indexOf(10); end >= 0; end = chunk.indexOf(10, from)) {
      parts.push(chunk.subarray(from, end));
      yield join();
      from = end + 1;
    }
    parts.push(chunk.subarray(from));
    size += chunk.length - from;
    if (size > lineBytesMax + 1) {
      // A replacement character takes more bytes than what it stands for, never fewer.
      yield Buffer.concat(parts).toString("utf8");
      return;
    }
  }
  if (size > 0) yield join();
}
