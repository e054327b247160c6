/** What can go wrong with an agent for reasons outside the program, with a stable code each. */

export type AgentErrorCode =
  /** The command is not there. */
  | "agent-missing"
  /** The command could not be run, or ended before it had said who it is. */
  | "agent-start"
  /** It speaks another version of the protocol, or none. */
  | "agent-protocol"
  /** It wants a login first. */
  | "agent-login"
  /** It answered a request with an error. */
  | "agent-refused"
  /** It has ended. */
  | "agent-ended"
  /** A folder that is not there. */
  | "bad-folder"
  /** More than is taken: a prompt too long, too many prompts waiting. */
  | "too-much"
  /** Another process drives the session. */
  | "session-busy"
  /** The session is closed. */
  | "closed"
  /** No such mode, option … */
  | "bad-choice";

export class AgentError extends Error {
  readonly code: AgentErrorCode;
  /** What to do about it, where something can be done. */
  readonly next: string | undefined;
  readonly details: Readonly<Record<string, unknown>>;
  constructor(
    code: AgentErrorCode,
    message: string,
    options: {
      readonly next?: string;
      readonly cause?: unknown;
      readonly details?: Readonly<Record<string, unknown>>;
    } = {},
  ) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = "AgentError";
    this.code = code;
    this.next = options.next;
    this.details = options.details ?? {};
  }
}

/** The system's code of a failed operation ("ENOENT"), or undefined where `error` is something else. */
export function errnoOf(error: unknown): string | undefined {
  if (!(error instanceof Error)) return undefined;
  const { code } = error as { code?: unknown };
  return typeof code === "string" && /^E[A-Z0-9]+$/.test(code) ? code : undefined;
}
