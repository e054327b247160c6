/** An export is written piece by piece: the memory it takes does not grow with the session. */
import type { Position, SessionInfo } from "../session/index.ts";
import type { Entry } from "../transcript/index.ts";

export interface ExportItem {
  readonly entry: Entry;
  readonly position: Position;
  /** The record as it lies in the log, decoded leniently; set where it was asked for and the entry has one. */
  readonly raw?: string;
}

/** Writes one export: `start` once, `item` for each entry in log order, `end` once. What they return, joined, is the file. */
export interface Exporter {
  start(info: SessionInfo): string;
  item(item: ExportItem): string;
  end(): string;
}
