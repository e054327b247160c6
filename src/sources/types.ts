/** The seam between readers of agents' logs and the session layer: what a source finds, opens, pages and follows. */

import type { DamageReason } from "../lines/index.ts";
import type { Entry, Place } from "../transcript/index.ts";

/** A place in a log: opaque to clients, validated on return. For line logs `<byte offset>` or `<byte offset>.<ordinal>`. */
export type Position = string;

export type AgentName =
  | "claude-code"
  | "codex"
  | "gemini"
  | "pi"
  | "messages"
  | "hansard"
  | "copilot"
  | "qwen"
  | "droid"
  | "amp"
  | "cline"
  | "kimi"
  | "aider"
  | "fx"
  | "clio-coder"
  | "opencode"
  | "goose"
  | "crush"
  | "cursor";

/** Where the agents keep their sessions. All of it is injected; nothing reads `process.env` below the command line. */
export interface Surroundings {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly home: string;
  readonly platform: string;
}

/** One session found on disk, from names and stat alone. */
export interface FoundSession {
  readonly agent: AgentName;
  /** The identity: from the file's name, not from what is inside. */
  readonly id: string;
  readonly path: string;
  readonly bytes: number;
  /** Milliseconds since the epoch. */
  readonly modifiedAt: number;
  readonly archived?: boolean;
  /** Set on a subagent's file: the session it belongs to. */
  readonly parentId?: string;
}

/** What is known of a session; absent stays absent. */
export interface SessionInfo {
  readonly agent: AgentName;
  readonly id: string;
  readonly path: string;
  readonly bytes?: number;
  readonly modifiedAt?: number;
  readonly startedAt?: number;
  readonly title?: string;
  /** True where the title is the agent's or the person's own, not taken from the first prompt. */
  readonly titled?: boolean;
  readonly cwd?: string;
  readonly model?: string;
  readonly gitBranch?: string;
  readonly agentVersion?: string;
  /** Set on a subagent's session: the session it belongs to. */
  readonly parentId?: string;
  /** The session that this one, a session of its own, was forked from. */
  readonly forkedFromId?: string;
  readonly archived?: boolean;
}

export interface DamageNote {
  readonly start: number;
  readonly end: number;
  readonly reason: DamageReason;
}

/** A run of neighbouring entries in log order. */
export interface Page {
  readonly entries: readonly Entry[];
  /** The position just before each entry: as many as entries. */
  readonly positions: readonly Position[];
  /** Just before the first entry, just after the last. */
  readonly start: Position;
  readonly end: Position;
  readonly atStart: boolean;
  readonly atEnd: boolean;
  readonly damage: readonly DamageNote[];
}

/** The newest page, with how the conversation stands. */
export interface TailPage extends Page {
  /** Whether the last turn is open as far as the log says. */
  readonly turnOpen: boolean;
  /** Names of the entries of this page that may still change (calls without a result in an open turn, an unfinished text). */
  readonly live: readonly string[];
}

/** One thing that a growing log said, in order. */
export type LogItem =
  | {
      readonly type: "entry";
      readonly entry: Entry;
      /** Positions just before and just after it. */
      readonly start: Position;
      readonly end: Position;
      /** Whether it may still change. */
      readonly live: boolean;
      /** Name of the virtual entry given before (the streaming one) whose place this entry takes. */
      readonly replaces?: string;
    }
  /** A newer version of an entry given before, under the same name. */
  | { readonly type: "changed"; readonly entry: Entry; readonly live: boolean }
  | { readonly type: "turnStarted"; readonly time?: number }
  | { readonly type: "turnEnded"; readonly time?: number }
  | { readonly type: "compacted" }
  /** The path of the conversation left the entries between the two positions. */
  | { readonly type: "branchLeft"; readonly from: Position; readonly to: Position }
  | { readonly type: "info"; readonly info: Partial<SessionInfo> }
  | { readonly type: "damage"; readonly note: DamageNote };

export type LogEvent =
  | { readonly type: "items"; readonly items: readonly LogItem[]; readonly end: Position }
  /** Positions given before are void; read the tail again. */
  | { readonly type: "reset"; readonly reason: string }
  | { readonly type: "gone" }
  | { readonly type: "caughtUp" }
  | { readonly type: "notice"; readonly text: string };

/** The one object that `hansard check --json` prints. A count an agent does not record is absent. */
export interface CheckReport {
  readonly agent: AgentName;
  readonly path: string;
  readonly bytes: number;
  /** JSON objects read, each of two glued ones. */
  readonly records: number;
  /** Records saved from a bad line. */
  readonly recovered: number;
  readonly damaged: readonly DamageNote[];
  readonly recordKinds: Readonly<Record<string, number>>;
  /** Record kinds that no reader knows, shown as raw entries. */
  readonly unknownKinds: readonly string[];
  readonly toolCalls?: number;
  readonly toolResults?: number;
  readonly unansweredCalls?: number;
  readonly orphanResults?: number;
  readonly compactions?: number;
  readonly modelMessages?: number;
  readonly outputTokens?: number;
  readonly turns?: number;
  readonly openTurn?: boolean;
  /** The sessions that the records say they are of, in order of appearance, where they are of more than one (at most 100). */
  readonly sessions?: readonly string[];
}

/** One open log. Every read is bounded by its page, not by the log, unless the source says otherwise. */
export interface Log {
  readonly agent: AgentName;
  readonly path: string;
  info(): Promise<SessionInfo>;
  tail(limit: number): Promise<TailPage>;
  older(from: Position, limit: number): Promise<Page>;
  newer(from: Position, limit: number): Promise<Page>;
  first(limit: number): Promise<Page>;
  /** What is appended after `after` (a page's `end`), for ever, until aborted. */
  follow(after: Position, signal: AbortSignal): AsyncIterable<LogEvent>;
  /** Reads the whole log once, forward, in bounded memory. */
  check(signal?: AbortSignal): Promise<CheckReport>;
  /** The verbatim bytes of a place, at most `limit` of them. */
  raw(place: Place, limit?: number): Promise<Uint8Array>;
  close(): Promise<void>;
}

/** Whose logs a reader reads and where they are: all that is known of it before it is loaded. */
export interface SourcePlaces {
  readonly agent: AgentName;
  /** The agent's name as people write it. */
  readonly label: string;
  /** Folders it looks in, most important first; also said where nothing is found. */
  roots(around: Surroundings): readonly string[];
}

/** What is to be kept of a session that is not just the file or folder at its path. */
export type Pieces =
  /** Files below a folder, with `/` in their names. */
  | { readonly type: "files"; readonly base: string; readonly names: readonly string[] }
  /** A file that is made of the session alone, to lie in `base` under `name`. */
  | {
      readonly type: "made";
      readonly base: string;
      readonly name: string;
      make(to: string): Promise<void>;
    };

/** A reader for one agent's logs. */
export interface Source extends SourcePlaces {
  /** All sessions found, by names and stat alone; a folder that cannot be read is reported, not fatal. */
  discover(
    around: Surroundings,
    onProblem: (path: string, message: string) => void,
  ): AsyncIterable<FoundSession>;
  /** True where the content (the first bytes, or a folder's listing) is this agent's. */
  detects(path: string, head: Uint8Array): Promise<boolean>;
  /** Title, cwd, model and times from the head and the tail of the log, never the whole. */
  describe(found: FoundSession): Promise<SessionInfo>;
  open(path: string): Promise<Log>;
  /** What an archive keeps of a session; absent where that is the file or folder at its path. */
  pieces?(path: string): Promise<Pieces | undefined>;
}
