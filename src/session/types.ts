/** What every front end talks to: one session of any agent, its pages and its changes, in the words of the window. */

import type { Page, Position, SessionInfo, TailPage } from "../sources/index.ts";
import type { Entry, FileChange, Place } from "../transcript/index.ts";

export type Change =
  | { readonly type: "turnStarted"; readonly time?: number }
  | { readonly type: "turnEnded"; readonly time?: number }
  /** A block that may still change; it will be finished under the same name. Blocks finish in log order. */
  | { readonly type: "blockOpened"; readonly entry: Entry }
  /** `was`: the name it was opened under, where it has another from now on (what was streamed is committed). */
  | { readonly type: "blockChanged"; readonly entry: Entry; readonly was?: string }
  /** A block that will not change any more (opened before or not); `start`/`end` are the positions around it. */
  | {
      readonly type: "blockFinished";
      readonly entry: Entry;
      readonly start: Position;
      readonly end: Position;
    }
  /** A finished block whose record was told again: held text may be replaced, printed rows stay. */
  | { readonly type: "blockRevised"; readonly entry: Entry }
  /** Everything finished so far is in the log. */
  | { readonly type: "saved" }
  | { readonly type: "compacted" }
  /** The conversation went back: the entries between the two positions are off its path now. */
  | { readonly type: "branchLeft"; readonly from: Position; readonly to: Position }
  | { readonly type: "info"; readonly info: SessionInfo }
  /** Said by the session, not in the log. */
  | { readonly type: "notice"; readonly tone: "information" | "warning" | "error"; readonly text: string }
  /** All positions are void: read the tail again. */
  | { readonly type: "reset"; readonly reason: string }
  | { readonly type: "caughtUp" }
  /** The agent of a driven session stands otherwise than before: what it does, what it asks, what it offers. */
  | { readonly type: "driver"; readonly driver: DriverState };

/** One way to answer a call that waits for the person. */
export interface ApprovalOption {
  readonly id: string;
  readonly label: string;
  readonly kind: "allow-once" | "allow-always" | "reject-once" | "reject-always";
}

/** A call that waits for the person's answer (parked). */
export interface Approval {
  readonly id: string;
  /** The tool call it is about, as in the transcript. */
  readonly call: {
    readonly id: string;
    readonly name: string;
    readonly subject?: string;
    readonly inputSummary: string;
  };
  readonly changes?: readonly FileChange[];
  readonly options: readonly ApprovalOption[];
  /** Milliseconds since the epoch. */
  readonly askedAt: number;
}

export interface PlanStep {
  readonly text: string;
  readonly state: "waiting" | "at-work" | "done";
}

/** How the agent of a driven session stands. A small value, replaced as a whole. */
export interface DriverState {
  readonly phase: "starting" | "ready" | "working" | "cancelling" | "ended";
  /** The agent's own name and version, as it told them. */
  readonly agent: { readonly name: string; readonly version?: string };
  /** Oldest first; the first one is asked now. */
  readonly approvals: readonly Approval[];
  /** Empty where the agent has told no plan. */
  readonly plan: readonly PlanStep[];
  readonly modes: readonly { readonly id: string; readonly name: string }[];
  readonly modeId?: string;
  /** Slash commands that the agent offers. */
  readonly commands: readonly { readonly name: string; readonly description: string }[];
  /** Prompts that wait for the running turn to end. */
  readonly queued: number;
  /** When the running turn began, in milliseconds since the epoch. */
  readonly turnStartedAt?: number;
  /** The last finished turn: its time, and its tokens where they were told. */
  readonly lastTurn?: { readonly ms: number; readonly stopReason: string; readonly tokens?: number };
  /** Why the agent ended, in words for a person; absent where it was asked to. */
  readonly failure?: string;
  /** What is true of the log as long as it cannot be written, in words for a person; absent where all is well, or nothing is to be saved. */
  readonly notSaved?: string;
}

/** What became of an answer: taken, or too late, since somebody else (or a cancel) was first. */
export type Answered = { readonly taken: true } | { readonly taken: false; readonly by: string };

export interface Session {
  /** The newest knowledge of the session; replaced, never mutated, as `info` changes arrive. */
  readonly info: SessionInfo;
  /**
   * Newest blocks; cost bounded by the page, not by the log. `live` names every block that is not finished: the first one that may
   * still change and all that follow it, since blocks finish in log order.
   */
  tail(limit: number): Promise<TailPage>;
  older(from: Position, limit: number): Promise<Page>;
  newer(from: Position, limit: number): Promise<Page>;
  first(limit: number): Promise<Page>;
  /** All that happens after a tail page was read, until aborted. The page tells which blocks were live then. */
  changes(after: TailPage, signal: AbortSignal): AsyncIterable<Change>;
  /** Verbatim bytes of an entry's place, at most `limit`. */
  raw(place: Place, limit?: number): Promise<Uint8Array>;
  close(): Promise<void>;
}

/** A session whose agent Hansard runs. Prompts, answers and cancels are taken in the order they are given. */
export interface DrivenSession extends Session {
  readonly driver: DriverState;
  /** Sends a prompt, or queues it behind the running turn; resolves once it is in the log (at once in an unsaved session). */
  prompt(text: string): Promise<void>;
  /** Asks the agent to stop the running turn; waiting approvals are answered as cancelled. Nothing where no turn runs. */
  cancel(): Promise<void>;
  /** Answers a waiting call, once. `by` says who, for those that come late. */
  answer(approvalId: string, optionId: string, by: string): Promise<Answered>;
  setMode(modeId: string): Promise<void>;
}
