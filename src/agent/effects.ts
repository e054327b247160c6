/** What the fold of a driven session wants done, in order. Values only. */
import type { RecordSpec } from "../log/index.ts";
import type { DriverState } from "../session/index.ts";
import type { EntryDraft } from "./blocks.ts";

/** A text that goes to a blob before its record is made. */
export interface WholeText {
  readonly text: string;
  /** Names the record of the list that gets it, as an attachment. */
  readonly record: number;
}

export type Effect =
  /** A block that may still change. */
  | { readonly type: "open"; readonly key: string; readonly draft: EntryDraft }
  | { readonly type: "change"; readonly key: string; readonly draft: EntryDraft }
  /** A block that will not change any more. */
  | { readonly type: "finish"; readonly key: string; readonly draft: EntryDraft }
  /**
   * Records, all or none. `blocks` says which block each makes, by its place in `specs`; a second block of one record has the ordinal 1.
   */
  | {
      readonly type: "record";
      readonly specs: readonly RecordSpec[];
      readonly blocks: readonly {
        readonly key: string;
        readonly record: number;
        readonly ordinal?: number;
      }[];
      readonly whole?: WholeText;
    }
  | { readonly type: "turnStarted"; readonly time: number }
  | { readonly type: "turnEnded"; readonly time: number }
  | { readonly type: "compacted" }
  | { readonly type: "title"; readonly title: string }
  | { readonly type: "notice"; readonly tone: "information" | "warning" | "error"; readonly text: string }
  | { readonly type: "state"; readonly state: Partial<DriverState> }
  | { readonly type: "step"; readonly event: StepEvent };

/** What the step directory publishes. */
export type StepEvent =
  /** A call of the model begins. */
  | { readonly type: "begun"; readonly time: number }
  | { readonly type: "text" | "thinking"; readonly text: string }
  | { readonly type: "posted"; readonly id: string; readonly name: string; readonly input?: unknown }
  | {
      readonly type: "landed";
      readonly id: string;
      readonly output: string;
      readonly exitCode: number;
      readonly startedAt?: number;
      readonly endedAt: number;
    }
  /** All of it is in the log. */
  | { readonly type: "over"; readonly reason: "stop" | "length" | "error"; readonly time: number };
