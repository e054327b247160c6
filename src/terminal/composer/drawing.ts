/** The composer's rows, and where the cursor stands in them. */
import { cellsOf, cutCells, type Line, type Span, sanitizeLine } from "../text/index.ts";
import { type Composer, menuOf } from "./composer.ts";
import { layOut, placeOf, type TextPlace } from "./layout.ts";
import { menuRowsMax } from "./limits.ts";
import type { CommandOffer } from "./types.ts";

export interface ComposerDrawing {
  /** `fit` lines, none wider than the width. */
  readonly lines: readonly Line[];
  readonly cursor: TextPlace;
}

export interface ComposerDrawingOptions {
  /** Cells that a row may have, 1 at least. */
  readonly width: number;
  /** Rows that the prompt and its menu may have, 1 at least. */
  readonly rowsMax: number;
  readonly commands: readonly CommandOffer[];
  /** Said where nothing is typed. */
  readonly hint: string;
  /** Another takes the keys: the prompt is shown dim. */
  readonly isAside: boolean;
}

const signCells = 3;
const signWidthMin = 12;

/** Cells that a row of the prompt has in `width`: the cursor may stand behind the last one. */
export function promptWidth(width: number): number {
  return Math.max(1, width - 1 - (width >= signWidthMin ? signCells : 0));
}

function signOf(isFirst: boolean, isLast: boolean, above: number, below: number): string {
  if (isFirst && above > 0) return " ↑ ";
  if (isLast && below > 0) return " ↓ ";
  return isFirst ? " › " : "   ";
}

function menuLines(composer: Composer, { commands, width }: ComposerDrawingOptions, rowsMax: number): Line[] {
  const menu = menuOf(composer, commands);
  if (menu === undefined || rowsMax <= 0) return [];
  const count = Math.min(menuRowsMax, rowsMax);
  const chosen = composer.chosen ?? 0;
  const from = Math.max(0, Math.min(chosen - count + 1, menu.offers.length - count));
  const shown = menu.offers.slice(from, from + count);
  const nameCells = Math.max(...shown.map(({ name }) => cellsOf(sanitizeLine(name)))) + 1;
  return shown.map(({ name, description }, index) => {
    const isChosen = composer.chosen === from + index;
    const head = cutCells(` ${isChosen ? "›" : " "} /${sanitizeLine(name)}`.padEnd(nameCells + 5), width);
    const words = cutCells(sanitizeLine(description), Math.max(0, width - cellsOf(head)));
    const spans: readonly Span[] = [
      isChosen ? { text: head, tone: "prompt", bold: true } : { text: head },
      { text: words, tone: "dim" },
    ];
    return { spans, wrap: "fit" };
  });
}

/** Draws the part of the prompt that the cursor is in; what is above or below it is told by an arrow. */
export function drawComposer(composer: Composer, options: ComposerDrawingOptions): ComposerDrawing {
  const { width, rowsMax, isAside } = options;
  const room = promptWidth(width);
  const rows = layOut(composer.editor, room);
  const place = placeOf(rows, composer.editor.cursor);
  const count = Math.min(rows.length, Math.max(1, rowsMax));
  const top = Math.max(0, Math.min(place.row - count + 1, rows.length - count));
  const hasSign = width >= signWidthMin;
  const tone: Pick<Span, "tone"> = isAside ? { tone: "dim" } : {};
  const lines = rows.slice(top, top + count).map((row, index): Line => {
    const sign = signOf(index === 0, index === count - 1, top, rows.length - top - count);
    const lead: readonly Span[] = hasSign ? [{ text: sign, tone: isAside ? "dim" : "prompt" }] : [];
    return { spans: [...lead, ...row.spans.map((span) => ({ ...span, ...tone }))], wrap: "fit" };
  });
  if (composer.editor.text === "" && !isAside) {
    const hint = cutCells(sanitizeLine(options.hint), room);
    lines[0] = { spans: [...lines[0]!.spans, { text: hint, tone: "dim" }], wrap: "fit" };
  }
  const cursor = { row: place.row - top, column: place.column + (hasSign ? signCells : 0) };
  return { lines: [...lines, ...menuLines(composer, options, rowsMax - count)], cursor };
}
