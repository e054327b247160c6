/**
 * The painter of the main screen. Only relative cursor movement, plain line feeds and erase-to-end-of-line are used, so that nothing above
 * the live region is ever touched, and what is printed reaches the scrollback of any terminal.
 */
import type { Clock, TerminalPort, TerminalSize, Unsubscribe } from "../port.ts";
import { encodeLine, type Line } from "../text/index.ts";
import { frameMs, writeUnitsMax } from "./limits.ts";
import { RecentPrintings } from "./recent.ts";
import { firstRows, liveRows, printable, roomOf, rowsOfAll } from "./rows.ts";
import type { Printing, Screen, ScreenOptions } from "./types.ts";

const beginFrame = "\x1b[?2026h";
const endFrame = "\x1b[?2026l";
const eraseRight = "\x1b[K";
const clearAll = "\x1b[H\x1b[2J\x1b[3J";

function up(rows: number): string {
  return rows <= 0 ? "" : rows === 1 ? "\x1b[A" : `\x1b[${rows}A`;
}

function down(rows: number): string {
  return rows <= 0 ? "" : rows === 1 ? "\x1b[B" : `\x1b[${rows}B`;
}

export function createScreen(port: TerminalPort, clock: Clock, options: ScreenOptions): Screen {
  return new PaintedScreen(port, clock, options);
}

class PaintedScreen implements Screen {
  readonly #port: TerminalPort;
  readonly #clock: Clock;
  readonly #options: ScreenOptions;
  readonly #recent = new RecentPrintings();
  /** The size that the rows on the terminal were written for. */
  #size: TerminalSize;
  /** The live rows on the terminal. The cursor stands at the start of the last one, or of the row below the printed ones. */
  #rows: readonly Line[] = [];
  #texts: readonly string[] = [];
  #wanted: readonly Line[] = [];
  #pending: Printing[] = [];
  #isChanged = false;
  #isSuspended = false;
  #isSlow = false;
  #isEnded = false;
  #isAsking = false;
  #isBegun = false;
  #lastFrameAt = Number.NEGATIVE_INFINITY;
  #cancelFrame: Unsubscribe | undefined;
  #waiters: (() => void)[] = [];

  constructor(port: TerminalPort, clock: Clock, options: ScreenOptions) {
    this.#port = port;
    this.#clock = clock;
    this.#options = options;
    this.#size = port.size();
  }

  commit(printing: Printing): void {
    if (this.#isEnded || printing.lines.length === 0) return;
    this.#pending.push(printing);
    this.#schedule();
  }

  setLive(lines: readonly Line[]): void {
    if (this.#isEnded) return;
    this.#wanted = lines;
    this.#isChanged = true;
    this.#schedule();
  }

  clear(): void {
    if (this.#isEnded) return;
    this.#write(clearAll);
    this.#pending = [];
    this.#recent.clear();
    this.#rows = [];
    this.#texts = [];
    this.#isChanged = true;
    this.#schedule();
  }

  suspend(): void {
    this.#isSuspended = true;
    this.#cancelFrame?.();
    this.#cancelFrame = undefined;
    this.#settle();
  }

  resume(): void {
    this.#isSuspended = false;
    this.#schedule();
  }

  async resized(way: "adopt" | "reprint"): Promise<void> {
    if (this.#isEnded || !this.#isStale()) return;
    if (way === "adopt") {
      await this.#adopt();
      return;
    }
    this.#size = this.#port.size();
    this.#isChanged = true;
    this.#schedule();
  }

  flush(): Promise<void> {
    if (!this.#isDue()) return Promise.resolve();
    this.#schedule();
    return new Promise((resolve) => this.#waiters.push(resolve));
  }

  end(lines: readonly Line[] = []): void {
    if (this.#isEnded) return;
    // Rows may stand wrapped where the size has changed just now: then they are erased as the row model says.
    const { columns } = this.#port.size();
    const above = this.#rows.slice(0, -1);
    this.#cancelFrame?.();
    this.#pending.push({ lines });
    let out = `${up(rowsOfAll(above, columns))}\r${this.#erase(rowsOfAll(this.#rows, columns))}`;
    this.#size = this.#port.size();
    for (const printing of this.#pending.splice(0)) out += this.#print(printing);
    this.#rows = [];
    this.#isEnded = true;
    this.#write(out);
    this.#settle();
  }

  // Frames

  /** Whether anything waits to be written. */
  #isDue(): boolean {
    if (this.#isEnded || this.#isSuspended) return false;
    return this.#pending.length > 0 || this.#isChanged || this.#isSlow;
  }

  /** Whether the terminal has another size than its rows were written for. */
  #isStale(): boolean {
    const { columns, rows } = this.#port.size();
    return columns !== this.#size.columns || rows !== this.#size.rows;
  }

  #schedule(): void {
    if (this.#cancelFrame !== undefined || this.#isSlow || !this.#isDue()) return;
    const wait = Math.max(0, this.#lastFrameAt + frameMs - this.#clock.now());
    this.#cancelFrame = this.#clock.after(wait, () => {
      this.#cancelFrame = undefined;
      this.#frame();
    });
  }

  #frame(): void {
    // Between a change of size and its settling, what is where on the terminal is not known: the frame waits for `resized`.
    if (this.#isSuspended || this.#isEnded || this.#isSlow || this.#isAsking || this.#isStale()) return;
    this.#lastFrameAt = this.#clock.now();
    const out = this.#pending.length > 0 ? this.#printFrame() : this.#liveFrame();
    if (out !== "") this.#write(this.#options.isSynchronized ? `${beginFrame}${out}${endFrame}` : out);
    if (this.#isSlow) return;
    if (this.#pending.length > 0 || this.#isChanged) this.#schedule();
    else this.#settle();
  }

  /**
   * The way to the start of a row that nothing stands on: a row of blanks fills the row where the cursor stands at its start, and goes on to
   * the next where something was printed without a line end.
   */
  #begin(): string {
    if (this.#isBegun) return "";
    this.#isBegun = true;
    return `${" ".repeat(this.#size.columns)}\r${eraseRight}`;
  }

  #write(text: string): void {
    if (this.#port.write(this.#begin() + text) || this.#isSlow) return;
    this.#isSlow = true;
    void this.#port.drained().then(() => {
      this.#isSlow = false;
      if (this.#isDue()) this.#schedule();
      else this.#settle();
    });
  }

  #settle(): void {
    for (const resolve of this.#waiters.splice(0)) resolve();
  }

  /** The window's rows that the live region may take. */
  #liveRoom(): number {
    return Math.max(1, this.#size.rows - 1);
  }

  /** Erases `count` rows from the cursor's on, which stands at the start of the first, and goes back there. */
  #erase(count: number): string {
    if (count <= 0) return "";
    return `${eraseRight}${`\x1b[B${eraseRight}`.repeat(count - 1)}${up(count - 1)}`;
  }

  /** Writes lines from the cursor's row on; the cursor ends at the start of the row below them. */
  #print(printing: Printing): string {
    const lines = printable(printing.lines, this.#size.columns);
    this.#recent.add(lines, printing);
    return lines.map((line) => `${encodeLine(line, this.#options.theme)}\r\n`).join("");
  }

  /** Printed lines, as many as one write takes, with the live region below them. */
  #printFrame(): string {
    let out = `${up(this.#rows.length - 1)}\r${this.#erase(this.#rows.length)}`;
    let count = 0;
    while (count < this.#pending.length && out.length < writeUnitsMax) {
      out += this.#print(this.#pending[count]!);
      count += 1;
    }
    this.#pending.splice(0, count);
    return out + this.#drawLive();
  }

  /** Draws the whole live region from the cursor's row on. */
  #drawLive(): string {
    const rows = liveRows(this.#wanted, this.#size.columns, this.#liveRoom());
    this.#rows = rows;
    this.#texts = rows.map((row) => encodeLine(row, this.#options.theme));
    this.#isChanged = false;
    return rows.length === 0 ? "" : `${this.#texts.join("\r\n")}\r`;
  }

  /** Only the rows of the live region that changed. */
  #liveFrame(): string {
    this.#isChanged = false;
    const rows = liveRows(this.#wanted, this.#size.columns, this.#liveRoom());
    const texts = rows.map((row) => encodeLine(row, this.#options.theme));
    const old = this.#texts;
    let at = Math.max(0, old.length - 1);
    let out = "";
    const go = (row: number): void => {
      out += row < at ? up(at - row) : down(row - at);
      at = row;
    };
    for (const [row, text] of texts.entries()) {
      if (row >= old.length) {
        // A new row: a line feed from the one above makes room, scrolling where the window ends.
        if (row > 0) {
          go(row - 1);
          out += "\r\n";
          at = row;
        }
        out += `${text}${eraseRight}\r`;
      } else if (text !== old[row]) {
        go(row);
        out += `\r${text}${eraseRight}\r`;
      }
    }
    if (texts.length < old.length) {
      go(texts.length);
      out += `\r${this.#erase(old.length - texts.length)}`;
    }
    go(Math.max(0, texts.length - 1));
    this.#rows = rows;
    this.#texts = texts;
    return out;
  }

  // Sizes

  /**
   * The terminal has wrapped its rows for its new size. Counted from the cursor upwards, whole printings that are visible are replaced by
   * their new layout; everything above stays as it is.
   */
  async #adopt(): Promise<void> {
    this.#isAsking = true;
    const isWidthChanged = this.#port.size().columns !== this.#size.columns;
    const cursor = await this.#options.askCursor();
    this.#isAsking = false;
    if (this.#isEnded) return;
    const size = this.#port.size();
    const above = rowsOfAll(this.#rows.slice(0, -1), size.columns);
    // Rows of the live region that went up into the scrollback are out of reach.
    const reach = cursor === undefined ? above : Math.min(above, cursor.row - 1);
    this.#recent.addRefuse(firstRows(this.#rows, size.columns, above - reach));
    const visible =
      cursor === undefined || !isWidthChanged
        ? { blocks: [], rows: 0 }
        : this.#recent.takeVisible(cursor.row - 1 - reach, (lines) => rowsOfAll(lines, size.columns));
    const rows = reach + visible.rows;
    const below = cursor === undefined ? (this.#rows.length === 0 ? 0 : 1) : size.rows - cursor.row + 1;
    this.#size = size;
    let out = `${up(rows)}\r${this.#erase(rows + below)}`;
    const room = roomOf(size.columns);
    for (const { lines, relayout } of visible.blocks) {
      out += this.#print(relayout === undefined ? { lines } : { lines: relayout(room), relayout });
    }
    out += this.#drawLive();
    this.#lastFrameAt = this.#clock.now();
    this.#write(this.#options.isSynchronized ? `${beginFrame}${out}${endFrame}` : out);
    this.#schedule();
    if (!this.#isDue()) this.#settle();
  }
}
