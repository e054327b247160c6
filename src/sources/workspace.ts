/** What a workspace of agents holds beside their logs: single messages, inboxes, steps. */
import type { classifyMessage } from "./messages/classify.ts";
import type { readDeposit, readInbox } from "./messages/deposit.ts";
import type { readOrphan, readSteps } from "./messages/wounds.ts";

export interface WorkspaceReaders {
  /** The entry of one message file, from its name and bytes. */
  readonly classifyMessage: typeof classifyMessage;
  /** What a deposit says. */
  readonly readDeposit: typeof readDeposit;
  /** What waits in an agent's inbox. */
  readonly readInbox: typeof readInbox;
  /** An agent's steps, with how each ended. */
  readonly readSteps: typeof readSteps;
  /** Whether an agent's newest message waits for somebody who is not there. */
  readonly readOrphan: typeof readOrphan;
}

/** The readers of workspaces; they are loaded when they are first asked for. */
export async function loadWorkspaceReaders(): Promise<WorkspaceReaders> {
  const [classify, deposit, wounds] = await Promise.all([
    import("./messages/classify.ts"),
    import("./messages/deposit.ts"),
    import("./messages/wounds.ts"),
  ]);
  return {
    classifyMessage: classify.classifyMessage,
    readDeposit: deposit.readDeposit,
    readInbox: deposit.readInbox,
    readSteps: wounds.readSteps,
    readOrphan: wounds.readOrphan,
  };
}
