/** What stands open: a rule for each class of rows, and the rows that a person turned over. Pure. */

export type RowClass = "response" | "other";

/** Whether rows of a class stand open by themselves. */
export interface Knobs {
  readonly responses: boolean;
  readonly others: boolean;
}

export const DEFAULT_KNOBS: Knobs = { responses: true, others: false };

export interface Expansion {
  readonly knobs?: Knobs;
  /** Keys of the rows that stand the other way round. */
  readonly overrides?: ReadonlySet<string>;
}

/** Whether the row stands open. What is under way stands open whatever the knobs say; an override beats both. */
export function isExpanded(
  row: { readonly key: string; readonly class: RowClass; readonly isUnderWay: boolean },
  expansion: Expansion,
): boolean {
  const knobs = expansion.knobs ?? DEFAULT_KNOBS;
  const byItself = row.isUnderWay || (row.class === "response" ? knobs.responses : knobs.others);
  return byItself !== (expansion.overrides?.has(row.key) ?? false);
}

/** The overrides with the row turned over. */
export function toggleRow(overrides: ReadonlySet<string>, key: string): ReadonlySet<string> {
  const next = new Set(overrides);
  if (!next.delete(key)) next.add(key);
  return next;
}
