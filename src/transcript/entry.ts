/** The transcript view-model: what one item of a conversation is, whichever agent wrote it. */

/** A range of bytes `[start, end)` of a log; `file` is set where a session has more than one file. */
export interface Place {
  readonly start: number;
  readonly end: number;
  readonly file?: string;
}

/** Token counters under the provider's own names. Empty means that nothing was reported; a 0 is never invented. */
export type Usage = Readonly<Record<string, number>>;

/** Bytes that are not text (an image, a document): told by kind and size, never kept inline. */
export interface Attachment {
  readonly mediaType: string;
  /** Size in bytes of the decoded payload, where it can be told. */
  readonly bytes?: number;
  readonly name?: string;
}

/** How a tool call stands. `running` is only ever said of an open turn; `unanswered` is a call whose turn is over. */
export type CallState = "running" | "done" | "failed" | "denied" | "interrupted" | "unanswered";

/** What is known of a call's end. An absent field was not recorded. */
export interface CallOutcome {
  readonly state: CallState;
  readonly exitCode?: number;
  readonly durationMs?: number;
  /** Lines of the result's text. */
  readonly lines?: number;
  /** A few words of the result where it is not text worth counting ("3 files changed"). */
  readonly note?: string;
}

/** A file change as a tool reported it. `oldText`/`newText` are the replaced parts or the whole file. */
export interface FileChange {
  readonly path: string;
  readonly oldText?: string;
  readonly newText?: string;
  /** A unified patch, where the agent recorded one. */
  readonly patch?: string;
}

export type ContentBlock =
  | { readonly kind: "text"; readonly text: string }
  | { readonly kind: "thinking"; readonly text: string }
  | {
      readonly kind: "tool-use";
      /** Opaque; pairs with a tool result by equality. */
      readonly id: string;
      readonly name: string;
      /** One line of compact JSON, at most 200 code points and an ellipsis. */
      readonly inputSummary: string;
      /** The most telling argument as people say it: the path, the command, the query. */
      readonly subject?: string;
      readonly changes?: readonly FileChange[];
      /** Set by pairing. */
      readonly outcome?: CallOutcome;
    }
  | { readonly kind: "attachment"; readonly attachment: Attachment }
  /** A block of a kind this version does not know: its type and a bounded piece of its JSON. */
  | { readonly kind: "other"; readonly type: string; readonly text: string };

/** How a stopped conversation failed. */
export type Wound =
  | { readonly kind: "mute" }
  /** `source`: the file that its words end, where the agent itself recorded none. */
  | { readonly kind: "spoke"; readonly words: string; readonly source?: string }
  | { readonly kind: "output-limit" }
  | { readonly kind: "refused"; readonly words?: string; readonly authRow?: string }
  | { readonly kind: "interrupted"; readonly words?: string };

/** The child's own word for how it ended; anything else is carried verbatim. */
export type Epitaph = string;

export interface EntryBase {
  /** Names the entry within its session, for ever: the same bytes give the same name however much the log has grown. */
  readonly name: string;
  /** The record's bytes. Absent for a virtual entry (streaming, wounded, compacted without a record). */
  readonly place?: Place;
  /** Milliseconds since the epoch, as the log says. */
  readonly time?: number;
  /** The subagent that wrote it, where it is not the session's own agent. */
  readonly subagent?: string;
  /** True where the entry lies on a branch that was left. Set by the reader where it is known. */
  readonly offPath?: boolean;
}

export interface DeliveredEntry extends EntryBase {
  readonly kind: "delivered";
  /** `user` for the person's own prompt, `system` for what the agent's program put in, else the sender's name. */
  readonly sender: string;
  readonly senderName?: string;
  readonly epitaph?: Epitaph;
  readonly body: string;
  /** What kind of note a `system` delivery is ("context", "hook", "api_error", "command" …). */
  readonly topic?: string;
  /** True where the prompt was typed while the agent was at work. */
  readonly queued?: boolean;
  readonly attachments?: readonly Attachment[];
}

export interface ModelEntry extends EntryBase {
  readonly kind: "model";
  readonly modelId?: string;
  readonly blocks: readonly ContentBlock[];
  readonly usage: Usage;
  /** The API message it is (part of); several entries may share one. */
  readonly messageId?: string;
  readonly requestId?: string;
  readonly stopReason?: string;
}

export interface ToolResultEntry extends EntryBase {
  readonly kind: "tool-result";
  readonly toolUseId: string;
  readonly content: string;
  readonly isError: boolean;
  readonly attachments?: readonly Attachment[];
  readonly changes?: readonly FileChange[];
  readonly outcome?: CallOutcome;
  /** Further results of the same record, in order: it answers more calls than one. */
  readonly further?: readonly FurtherResult[];
  /** The call it answers. Set by pairing; absent where the call could not be found. */
  readonly call?: {
    readonly name: string;
    readonly subject?: string;
    readonly inputSummary: string;
    readonly entry: string;
  };
}

export type FurtherResult = Pick<ToolResultEntry, "toolUseId" | "content" | "isError" | "outcome" | "call">;

export interface StreamingEntry extends EntryBase {
  readonly kind: "streaming";
  readonly thinking: string;
  readonly text: string;
}

export interface WoundedEntry extends EntryBase {
  readonly kind: "wounded";
  readonly wound: Wound;
}

export interface CompactedEntry extends EntryBase {
  readonly kind: "compacted";
  /** The missing counters, inclusive, where a compactor deleted numbered entries. */
  readonly first?: number;
  readonly last?: number;
  readonly summary: string;
  readonly trigger?: string;
  readonly tokensBefore?: number;
  readonly tokensAfter?: number;
}

export interface RawEntry extends EntryBase {
  readonly kind: "raw";
  /** Why it is raw: "unknown record kind x", "not JSON: NUL run" … */
  readonly reason: string;
  /** A bounded piece of it, decoded leniently, for showing; the verbatim bytes are read by `place`. */
  readonly text: string;
  /** True where bytes could not be read as a record (damage), as opposed to a record of an unknown kind. */
  readonly damaged?: boolean;
}

export type Entry =
  | DeliveredEntry
  | ModelEntry
  | ToolResultEntry
  | StreamingEntry
  | WoundedEntry
  | CompactedEntry
  | RawEntry;

export type EntryKind = Entry["kind"];
