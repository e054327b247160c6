/** The seam between the shared line-log reader and what one agent's records mean. Pure: a record in, its meaning out. */
import type { RecordItem } from "../lines/index.ts";
import type { Entry, EntryBase } from "../transcript/index.ts";
import type { AgentName, SessionInfo } from "./types.ts";

type WithoutPlace<T> = T extends EntryBase ? Omit<T, "name" | "place" | "offPath"> : never;

/** An entry before the reader has named and placed it. */
export type EntryDraft = WithoutPlace<Entry> & {
  /**
   * Entries of neighbouring records with the same merge key are one entry, told again as it grew (cumulative snapshots, exact
   * repeats): the newest content under the first one's name, where its text continues or equals the earlier one's.
   */
  readonly mergeKey?: string;
  /** True where the next records may tell more of the entry, even without a tool call (an unfinished text). Until another entry follows. */
  readonly unfinished?: boolean;
};

/** What a record says of the conversation's course, before (`turnStarted`, `compacted`) or after its entries (`turnEnded`). */
export type Mark =
  /**
   * `implied`: said by a prompt alone, in logs whose older versions name no turns. It starts a turn unless one stands open that a
   * mark without `implied` opened: then the prompt was typed into that turn.
   *
   * `automatic`: the agent works without a new prompt (a background task reports, a hook sent it back). It starts a turn where none is
   * open, and `check` counts no turn for it. With `implied`, an implied end closes it again.
   */
  | { readonly type: "turnStarted"; readonly implied?: true; readonly automatic?: true }
  /** `implied`: an answer was given; ends the turn only where an implied mark opened it. */
  | { readonly type: "turnEnded"; readonly implied?: true }
  | { readonly type: "compacted" }
  /** The last `turns` finished turns are undone (Codex). */
  | { readonly type: "rolledBack"; readonly turns: number };

/** The record's seat in the conversation's tree, for agents that keep one. */
export interface TreeNode {
  readonly id: string;
  readonly parentId: string | undefined;
  /**
   * True where a second child of one parent is a real branch: a person's prompt, or a model message. Progress rows, attachments,
   * tool results and further lines of one message are not.
   */
  readonly heads: boolean;
  /** Siblings with one group are no branches of each other (lines of one API message). */
  readonly group?: string;
}

/** Token counts for `check`: per API message (the greatest counts), or a running total (its growth counts). */
export type UsageNote =
  | { readonly scope: "message"; readonly key: string; readonly outputTokens: number }
  | { readonly scope: "total"; readonly outputTokens: number };

export interface Classified {
  /** The record's kind as the agent names it, with its subtype: `system/turn_duration`, `event_msg/token_count`. */
  readonly kind: string;
  /** False for a kind no reader knows: it has one raw entry, or entries with the unknown part shown as it is, and `check` names it. */
  readonly known: boolean;
  readonly entries: readonly EntryDraft[];
  readonly marks?: readonly Mark[];
  readonly node?: TreeNode;
  readonly info?: Partial<SessionInfo>;
  readonly usage?: UsageNote;
  /** The session that the record says it is of, where each record says it. */
  readonly session?: string;
  /** Set on each record of an API message; `check` counts distinct ones. */
  readonly modelMessage?: string;
}

/** What one agent's records mean. `classify` is pure, total (any JSON value gives an answer) and costs what the record costs. */
export interface Classifier {
  readonly agent: AgentName;
  classify(record: RecordItem): Classified;
}
