/**
 * What the payload of a message holds, by the role of the message. The log takes any JSON value; these are the shapes that Hansard's own
 * recorders write and that its reader (`hansard/sources`) shows in full. A payload that is a mere text is one too: `{ text }`. Other
 * shapes are shown as they are. This file imports nothing, so that a recorder can name payloads without reaching the disk.
 */

/** Bytes that are not text, told by kind and size; the bytes themselves belong into a blob. */
export interface AttachmentPayload {
  readonly mediaType: string;
  readonly bytes?: number;
  readonly name?: string;
  /** The blob that holds them. */
  readonly sha256?: string;
}

/** A file change as a tool reported it. */
export interface ChangePayload {
  readonly path: string;
  readonly oldText?: string;
  readonly newText?: string;
  readonly patch?: string;
}

/** Role `user`: a person's prompt, or what another sender put in. */
export interface PromptPayload {
  readonly text: string;
  /** Who sent it, where it was not the person. */
  readonly sender?: string;
  /** True where it was typed while a turn ran. */
  readonly queued?: boolean;
  readonly attachments?: readonly AttachmentPayload[];
}

/** A piece of what a model said. A piece of another `type` is kept and shown as it is. */
export type SpokenPiece =
  | { readonly type: "text"; readonly text: string }
  | { readonly type: "thinking"; readonly text: string }
  | ({ readonly type: "attachment" } & AttachmentPayload)
  | { readonly type: string; readonly [field: string]: unknown };

/**
 * Role `assistant`: one message of the model. `stopReason` in the words of the continuity documents (`stop`, `error`, `aborted`,
 * `interrupted`, else the agent's own); `usage` under the provider's own names, only what was reported.
 */
export interface SpokenPayload {
  readonly content: readonly SpokenPiece[];
  readonly model?: string;
  readonly messageId?: string;
  readonly stopReason?: string;
  readonly errorMessage?: string;
  readonly usage?: Readonly<Record<string, number>>;
}

/** Role `tool_call`: written before the tool runs, once a call. */
export interface CallPayload {
  readonly toolCallId: string;
  /** The tool, or the agent's title of the call. */
  readonly toolName: string;
  /** The argument that tells most; where it is absent it is looked for in `input`. */
  readonly subject?: string;
  readonly input?: unknown;
  readonly changes?: readonly ChangePayload[];
}

/** Role `tool_result`: how a call ended. */
export interface ResultPayload {
  readonly toolCallId: string;
  readonly text: string;
  /** Default: `failed` where `isError`, else `done`. */
  readonly state?: "done" | "failed" | "denied" | "interrupted";
  readonly isError?: boolean;
  readonly exitCode?: number;
  readonly durationMs?: number;
  /** What the call turned out to be, where more is known than when it was recorded. */
  readonly changes?: readonly ChangePayload[];
  readonly attachments?: readonly AttachmentPayload[];
  /** A few words of a result that is not text worth counting. */
  readonly note?: string;
}

/** Roles `system` and `checkpoint`: a note of the agent's program. */
export interface NotePayload {
  readonly text: string;
  /** What kind of note it is: "context", "mode", "plan" … */
  readonly topic?: string;
}
