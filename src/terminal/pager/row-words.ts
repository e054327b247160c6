/** Places in laid-out rows that hold at any width: counted in the letters before them, without blanks and ruled lines. */
import type { BlockRow } from "./block-layout.ts";
import { anchorRowsMax, anchorUnitsMax } from "./limits.ts";

function isWordUnit(unit: number): boolean {
  return unit > 0x20 && unit !== 0xa0 && (unit < 0x2500 || unit > 0x257f);
}

function wordUnitsOf(row: BlockRow): number {
  let count = 0;
  for (const { text } of row.line.spans)
    for (let at = 0; at < text.length; at++) if (isWordUnit(text.charCodeAt(at))) count += 1;
  return count;
}

function textOf(row: BlockRow): string {
  return row.line.spans.map((span) => span.text).join("");
}

/** A word that a row of a block begins with. */
export interface WordPlace {
  /** Letters that stand before it in the block. */
  readonly units: number;
  /** Its first letters. */
  readonly word: string;
  /** Rows between the row that is meant and the one with the word: the former are blank. */
  readonly blankRows: number;
}

/** What a row shows first, in words that hold at other widths. Linear in the rows up to it. */
export function wordPlaceOf(rows: readonly BlockRow[], row: number): WordPlace {
  let units = 0;
  for (let index = 0; index < row && index < rows.length; index++) units += wordUnitsOf(rows[index]!);
  let blankRows = 0;
  while (row + blankRows + 1 < rows.length && wordUnitsOf(rows[row + blankRows]!) === 0) blankRows += 1;
  const first = rows[row + blankRows];
  const word = first === undefined ? "" : (/[^\s\u2500-\u257f]+/.exec(textOf(first))?.[0] ?? "");
  return { units, word: word.slice(0, anchorUnitsMax), blankRows };
}

/**
 * The row that shows the same place at another width: where as many letters stand before it, or near there, since rows that are cut with
 * an ellipsis have fewer letters on a narrow screen. Linear in the rows.
 */
export function rowOfWord(rows: readonly BlockRow[], { units, word, blankRows }: WordPlace): number {
  let count = 0;
  let estimate = rows.length - 1;
  for (const [row, laidOut] of rows.entries()) {
    count += wordUnitsOf(laidOut);
    if (count <= units) continue;
    estimate = row;
    break;
  }
  let row = Math.max(0, estimate);
  for (let distance = 0; distance <= anchorRowsMax; distance++) {
    const near = [estimate - distance, estimate + distance].find(
      (index) => rows[index] !== undefined && textOf(rows[index]!).includes(word),
    );
    if (near === undefined) continue;
    row = near;
    break;
  }
  for (let blank = 0; blank < blankRows && row > 0 && wordUnitsOf(rows[row - 1]!) === 0; blank++) row -= 1;
  return row;
}
