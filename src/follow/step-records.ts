/** What the small files of a step directory say. Reading is forgiving: a torn or foreign file reads as absent, field by field. Pure. */

/** What an answer to a parked call can be. */
export const PARK_OPTION_KINDS = ["allow-once", "allow-always", "reject-once", "reject-always"] as const;
const optionKinds: readonly string[] = PARK_OPTION_KINDS;

/** One way to answer a parked call, as the session's approvals have it. */
export interface ParkOption {
  readonly id: string;
  readonly label: string;
  readonly kind: (typeof PARK_OPTION_KINDS)[number];
}

/** A call that waits for the person: `parked.json`. */
export interface ParkRecord {
  readonly tool_use_id: string;
  readonly tool: string;
  /** Why it waits, in words; "" where nothing was said. */
  readonly reason: string;
  /** What it would do. */
  readonly input?: unknown;
  /** Absent where the writer named none. */
  readonly options?: readonly ParkOption[];
  /** ISO time. */
  readonly asked_at?: string;
}

/** The one answer to a parked call: `answer.json`. Without `option` the call was cancelled. */
export interface AnswerRecord {
  readonly option?: string;
  readonly by: string;
  /** ISO time. */
  readonly at?: string;
}

/** A posted call: `input.json`. */
export interface CallInputRecord {
  readonly id?: string;
  readonly name?: string;
  readonly input?: unknown;
}

/** A call that came back: `output.json`. */
export interface CallOutputRecord {
  readonly exit_code?: number;
}

/** A prompt from another process: `inbox/<name>.json`. */
export interface PromptRecord {
  readonly text: string;
  readonly by: string;
  /** ISO time. */
  readonly at: string;
}

type Fields = Readonly<Record<string, unknown>>;

function fieldsOf(text: string): Fields | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null && !Array.isArray(value)
      ? (value as Fields)
      : undefined;
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

/** The park, where the text is one: `tool_use_id` and `tool` are needed, anything else may be missing. */
export function parsePark(text: string): ParkRecord | undefined {
  const fields = fieldsOf(text);
  if (fields === undefined) return undefined;
  const { tool_use_id: id, tool, reason, input, options, asked_at: askedAt } = fields;
  if (typeof id !== "string" || typeof tool !== "string") return undefined;
  return {
    tool_use_id: id,
    tool,
    reason: typeof reason === "string" ? reason : "",
    ...(input === undefined ? {} : { input }),
    ...(Array.isArray(options) ? { options: options.filter(isParkOption) } : {}),
    ...(typeof askedAt === "string" ? { asked_at: askedAt } : {}),
  };
}

/** Whether a value is an option with all its fields. */
function isParkOption(value: unknown): value is ParkOption {
  if (typeof value !== "object" || value === null) return false;
  const { id, label, kind } = value as Fields;
  return (
    typeof id === "string" &&
    typeof label === "string" &&
    typeof kind === "string" &&
    optionKinds.includes(kind)
  );
}

/** The answer, where the text is one; `by` is needed. */
export function parseAnswer(text: string): AnswerRecord | undefined {
  const fields = fieldsOf(text);
  if (fields === undefined) return undefined;
  const { option, by, at } = fields;
  if (typeof by !== "string") return undefined;
  return {
    by,
    ...(typeof option === "string" ? { option } : {}),
    ...(typeof at === "string" ? { at } : {}),
  };
}

/** What the posted call says of itself; nothing where the text is torn. */
export function parseCallInput(text: string): CallInputRecord {
  const fields = fieldsOf(text);
  if (fields === undefined) return {};
  const { id, name, input } = fields;
  return {
    ...(typeof id === "string" ? { id } : {}),
    ...(typeof name === "string" ? { name } : {}),
    ...(input === undefined ? {} : { input }),
  };
}

/** How the call ended. The file's being there means that it did; an exit code that is none, or beyond 32 bits, is absent. */
export function parseCallOutput(text: string): CallOutputRecord {
  const code = fieldsOf(text)?.["exit_code"];
  return isExitCode(code) ? { exit_code: code } : {};
}

/** A whole number of 32 bits. */
export function isExitCode(value: unknown): value is number {
  return typeof value === "number" && Number.isInteger(value) && value >= -(2 ** 31) && value < 2 ** 31;
}

/** The prompt, where the text is one. */
export function parsePrompt(text: string): PromptRecord | undefined {
  const fields = fieldsOf(text);
  if (fields === undefined) return undefined;
  const { text: words, by, at } = fields;
  if (typeof words !== "string" || typeof by !== "string" || typeof at !== "string") return undefined;
  return { text: words, by, at };
}
