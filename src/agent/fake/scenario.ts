/** What a scripted agent does: a JSON file a person can write. */

export type Act =
  /** The model says something, in chunks of `chunk` characters (default: at once). */
  | {
      readonly type: "text" | "thinking";
      readonly text: string;
      readonly chunk?: number;
      readonly messageId?: string;
    }
  /** A tool call is announced, or more of it is told. `bytes`: so much output; `diff`: a file change. */
  | {
      readonly type: "call" | "update";
      readonly id: string;
      readonly title?: string;
      readonly kind?: string;
      readonly status?: "pending" | "in_progress" | "completed" | "failed";
      readonly input?: unknown;
      readonly output?: string;
      readonly bytes?: number;
      readonly diff?: { readonly path: string; readonly oldText?: string; readonly newText: string };
      readonly rawOutput?: unknown;
    }
  | {
      readonly type: "plan";
      readonly steps: readonly {
        readonly text: string;
        readonly state: "pending" | "in_progress" | "completed";
      }[];
    }
  | { readonly type: "mode"; readonly id: string }
  | { readonly type: "title"; readonly title: string }
  | {
      readonly type: "commands";
      readonly commands: readonly { readonly name: string; readonly description: string }[];
    }
  | { readonly type: "usage"; readonly used: number; readonly size: number }
  /** Asks for a permission; what follows depends on the answer ("cancelled" where it was). */
  | {
      readonly type: "ask";
      readonly id: string;
      readonly title?: string;
      readonly kind?: string;
      readonly input?: unknown;
      readonly diff?: { readonly path: string; readonly oldText?: string; readonly newText: string };
      readonly options?: readonly {
        readonly optionId: string;
        readonly name: string;
        readonly kind: string;
      }[];
      readonly answers: { readonly [optionId: string]: readonly Act[] };
    }
  /** Waits: for a time, for the client's cancel, or until a file is there. */
  | { readonly type: "wait"; readonly ms: number }
  | { readonly type: "wait"; readonly for: "cancel" }
  | { readonly type: "wait"; readonly forFile: string }
  /** Calls the handoff tool of the client's MCP server, and says what it answered. `silent`: without reporting the call. */
  | { readonly type: "handoff"; readonly id: string; readonly note: unknown; readonly silent?: boolean }
  /** Says the prompt back. */
  | { readonly type: "echo" }
  /** An update as it is given here. */
  | { readonly type: "send"; readonly update: { readonly [field: string]: unknown } }
  /** Anything, written as it is to stdout, with a line feed. */
  | { readonly type: "line"; readonly text: string }
  /** So many chunks of text, without waiting for anything. */
  | { readonly type: "flood"; readonly chunks: number; readonly chars: number }
  | { readonly type: "stderr"; readonly text: string }
  /** Ends the process, in the middle of whatever it does. */
  | { readonly type: "exit"; readonly code: number }
  /** The prompt fails. */
  | { readonly type: "fail"; readonly code: number; readonly message: string }
  /** The turn ends here, with a reason of its own. */
  | {
      readonly type: "stop";
      readonly reason: string;
      readonly usage?: { readonly [name: string]: number };
    }
  | { readonly type: "repeat"; readonly times: number; readonly acts: readonly Act[] };

export interface Scenario {
  readonly name?: string;
  readonly version?: string;
  /** What `initialize` answers; default 1. */
  readonly protocolVersion?: unknown;
  /** Whether `session/load` is offered. It tells the session again. */
  readonly load?: boolean;
  /** Whether `session/resume` is offered. */
  readonly resume?: boolean;
  /** Whether a login is wanted before a session is opened. */
  readonly login?: boolean;
  readonly modes?: {
    readonly currentModeId: string;
    readonly availableModes: readonly { readonly id: string; readonly name: string }[];
  };
  /** Done before `initialize` is answered. */
  readonly start?: readonly Act[];
  /** Done after a session was opened. */
  readonly opened?: readonly Act[];
  /** What each prompt leads to, in order; the last one for all that follow. */
  readonly prompts: readonly (readonly Act[])[];
  /** `stop` (default): a cancel ends the turn at the next act. `ignore`: the agent goes on. */
  readonly onCancel?: "stop" | "ignore";
  /** `stay`: goes on after its stdin was closed, and ignores SIGTERM. */
  readonly onClose?: "end" | "stay";
}
