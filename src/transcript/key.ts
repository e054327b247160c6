/** Names of rows: stable for ever, told apart from each other whatever an entry is called. Pure. */

/** The key of a row: its entry, and which block of it. The halves of a streaming entry are 0 (thinking) and 1 (text). */
export function rowKey(entryName: string, block: number): string {
  return `tx/${entryName}#${block}`;
}

/** The key of the row that a turn rolls up into; `entryName` is the first entry of what it hides. */
export function turnKey(entryName: string): string {
  return `tx/${entryName}#turn`;
}
