/** What `createDriven` takes: the agent, the session, and the outside world as ports. */
import type { Durability, LogPorts } from "../log/index.ts";
import type { Page, Position, SessionInfo, TailPage } from "../session/index.ts";
import type { Place } from "../transcript/index.ts";
import type { AgentCommand, Spawn } from "./process.ts";

/** The session's own log, read back: pages of what the driver has recorded. A `Log` of `hansard/sources` is one. */
export interface History {
  tail(limit: number): Promise<TailPage>;
  older(from: Position, limit: number): Promise<Page>;
  newer(from: Position, limit: number): Promise<Page>;
  first(limit: number): Promise<Page>;
  raw(place: Place, limit?: number): Promise<Uint8Array>;
  info?(): Promise<SessionInfo>;
  close(): Promise<void>;
}

/** Tells that something in a folder may have changed; returns what ends the watching. A hint: looks go on without it. */
export type WatchFolder = (path: string, onHint: () => void) => () => void;

export interface DriverPorts {
  readonly log: LogPorts;
  readonly spawn: Spawn;
  readonly watchFolder: WatchFolder;
}

export interface DrivenOptions {
  readonly command: AgentCommand;
  /** The agent as people name it: "claude", "codex" …; recorded, and used in sentences. */
  readonly agent: string;
  /** Where it works; must be a folder. Of a session that is taken up: default is where it worked before. */
  readonly cwd?: string;
  /** The environment the agent gets. */
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly client: { readonly name: string; readonly version: string };
  /** The folder that holds the sessions. Absent: the session is not saved, nothing of it is read or written. */
  readonly sessions?: string;
  /** Takes up this session instead of beginning one. */
  readonly resume?: string;
  /** Takes the session from another process, whatever it says. Only with `resume`. */
  readonly steal?: boolean;
  readonly durability?: Durability;
  /**
   * What the agent is told before the first prompt, where it does not know the session. Default: made from the session's own log. Only
   * with `resume`; kept in the log as a `replay` record, never as a prompt.
   */
  readonly context?: string;
  /** The MCP server with the handoff tool, offered to the agent where the session is saved. Absent: it is not. */
  readonly handoffTool?: AgentCommand;
  /**
   * Which handoff of the session is gone on with, where it is taken up: one that a process left in the middle (`open`, the default), or
   * one that was paused or failed too.
   */
  readonly recover?: "open" | "all";
  /** Opens the session's log for reading; called with the path of `log.jsonl` when it is first read. */
  readonly openHistory?: (path: string) => Promise<History>;
  readonly ports?: Partial<DriverPorts>;
  /** Calls the start off. */
  readonly signal?: AbortSignal;
}
