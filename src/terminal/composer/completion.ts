/** The agent's commands: which of them fit what is typed. */
import type { CommandOffer, Draft } from "./types.ts";

/** A command that is being typed: its units in the text, and the offers that fit, best first. */
export interface Completion {
  readonly start: number;
  readonly end: number;
  readonly offers: readonly CommandOffer[];
}

const typedCommand = /^\/(\S*)$/u;

/** The completion at the cursor: undefined where no command is being typed, or none fits. */
export function completionAt(
  { text, cursor }: Draft,
  commands: readonly CommandOffer[],
): Completion | undefined {
  const end = /^\S*/u.exec(text)![0].length;
  if (cursor === 0 || cursor > end) return undefined;
  const typed = typedCommand.exec(text.slice(0, end))?.[1]?.toLowerCase();
  if (typed === undefined) return undefined;
  const begins = commands.filter(({ name }) => name.toLowerCase().startsWith(typed));
  const holds = commands.filter(({ name }) => name.toLowerCase().indexOf(typed) > 0);
  const offers = [...begins, ...holds];
  return offers.length === 0 ? undefined : { start: 0, end, offers };
}
