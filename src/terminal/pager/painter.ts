/** Paints rows on the alternate screen: only those that changed, one write a frame. */
import type { TerminalPort, TerminalSize } from "../port.ts";
import { encodeLine, type Line, type Theme } from "../text/index.ts";

export interface PagerPainter {
  /** Nothing is known of the screen any more: the next frame writes every row. */
  reset(): void;
  /** Shows `rows`; while the terminal is slow the newest wait. */
  draw(rows: readonly Line[], size: TerminalSize): void;
}

export interface PagerPainterOptions {
  readonly theme: Theme;
  readonly isSynchronized: boolean;
}

export function createPagerPainter(port: TerminalPort, options: PagerPainterOptions): PagerPainter {
  let shown: readonly string[] = [];
  let size: TerminalSize = { columns: 0, rows: 0 };
  let isSlow = false;
  let waiting: { readonly rows: readonly Line[]; readonly size: TerminalSize } | undefined;
  const painter: PagerPainter = {
    reset() {
      shown = [];
      size = { columns: 0, rows: 0 };
      waiting = undefined;
    },
    draw(rows, wanted) {
      if (isSlow) {
        waiting = { rows, size: wanted };
        return;
      }
      if (wanted.columns !== size.columns || wanted.rows !== size.rows) shown = [];
      size = wanted;
      const texts = rows.slice(0, size.rows).map((row) => encodeLine(row, options.theme));
      let out = "";
      for (const [row, text] of texts.entries()) {
        if (shown[row] === text) continue;
        out += `\x1b[${row + 1};1H`;
        // On a single column the last cell is the only one: it is cleared before, and in the bottom row left free.
        if (size.columns > 1) out += `${text}\x1b[K`;
        else out += row + 1 < size.rows ? `\x1b[K${text}` : "\x1b[K";
      }
      shown = texts;
      if (out === "") return;
      if (port.write(options.isSynchronized ? `\x1b[?2026h${out}\x1b[?2026l` : out)) return;
      isSlow = true;
      void port.drained().then(() => {
        isSlow = false;
        const next = waiting;
        waiting = undefined;
        if (next !== undefined) painter.draw(next.rows, next.size);
      });
    },
  };
  return painter;
}
