/** A conversation that nobody carries on although something waits for an answer. Pure. */
import type { Entry } from "./entry.ts";

export interface Standing {
  /** Somebody is at work on the conversation. */
  readonly isDriven: boolean;
  /** A call waits for the operator. */
  readonly isParked?: boolean;
  /** The end of what its driver said. */
  readonly words?: string;
}

/** Why nobody answers, as far as the driver said anything. */
export type Orphan = { readonly kind: "mute" } | { readonly kind: "spoke"; readonly words: string };

/**
 * The orphaned tail of a conversation, told from its newest entry alone: mail that was delivered, or a message with calls, which nobody
 * is at work on. A call that waits for the operator is no orphan. Absent where there is none.
 */
export function orphanedTail(newest: Entry | undefined, standing: Standing): Orphan | undefined {
  if (newest === undefined || standing.isDriven) return undefined;
  const isMail = newest.kind === "delivered";
  const hasCalls = newest.kind === "model" && newest.blocks.some((block) => block.kind === "tool-use");
  if (!isMail && !(hasCalls && standing.isParked !== true)) return undefined;
  const words = standing.words?.trim() ?? "";
  return words === "" ? { kind: "mute" } : { kind: "spoke", words };
}
