/**
 * The painter of the main screen. Only relative cursor movement, plain line feeds and erase-to-end-of-line are used, so that nothing above
 * the live region is ever touched, and what is printed reaches the scrollback of any terminal.
 */
import type { Clock, TerminalPort, TerminalSize, Unsubscribe } from "../port.ts";
import { encodeLine, type Line, spansCells } from "../text/index.ts";
import { askTriesMax, frameMs, sizeLateMs, writeUnitsMax } from "./limits.ts";
import {
  goToPlace,
  hideCursor,
  isEdgeUnsure,
  isSamePlace,
  leavePlace,
  placeInRows,
  type RowPlace,
  rowsIntoLine,
} from "./live-cursor.ts";
import { RecentPrintings } from "./recent.ts";
import { firstRows, liveRows, printable, roomOf, rowsOfAll } from "./rows.ts";
import type { CursorPlace, LiveCursor, Printing, Screen, ScreenOptions } from "./types.ts";

const beginFrame = "\x1b[?2026h";
const endFrame = "\x1b[?2026l";
const eraseRight = "\x1b[K";
/** Rows of the live region are cut at the window's edge, should it be narrower than we know yet: they never take more than one row. */
const cutRows = "\x1b[?7l";
const wrapRows = "\x1b[?7h";
/** A prompt begins here, and is not the terminal's to draw again; what follows it is output. */
const promptStart = "\x1b]133;A;redraw=0\x1b\\";
const promptEnd = "\x1b]133;C\x1b\\";
const clearAll = "\x1b[H\x1b[2J\x1b[3J";

function up(rows: number): string {
  return rows <= 0 ? "" : rows === 1 ? "\x1b[A" : `\x1b[${rows}A`;
}

function down(rows: number): string {
  return rows <= 0 ? "" : rows === 1 ? "\x1b[B" : `\x1b[${rows}B`;
}

/** Erases the cursor's row and up to `count - 1` rows below it, as far as the window goes; the cursor stays. */
function eraseWithin(count: number): string {
  return count <= 1 ? eraseRight : `\x1b7${eraseRight}${`\x1b[B${eraseRight}`.repeat(count - 1)}\x1b8`;
}

function isSameSize(a: TerminalSize, b: TerminalSize): boolean {
  return a.columns === b.columns && a.rows === b.rows;
}

interface Pending {
  readonly printing: Printing;
  /** The columns it was laid out for. */
  readonly columns: number;
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
  /** The live rows on the terminal. */
  #rows: readonly Line[] = [];
  #texts: readonly string[] = [];
  /** When each of the live rows was written last. */
  #writtenAt: readonly number[] = [];
  #wanted: readonly Line[] = [];
  #wantedCursor: LiveCursor | undefined;
  /** Where the person's cursor stands; undefined: hidden, at the start of the last live row, or of the row below the printed ones. */
  #place: RowPlace | undefined;
  #pending: Pending[] = [];
  #isChanged = false;
  #isClearDue = false;
  #isSuspended = false;
  #isSlow = false;
  #isEnded = false;
  #adopting: Promise<void> | undefined;
  /** A settled size that could not be adopted because another had the terminal. */
  #isAdoptDue = false;
  #isBegun = false;
  #lastFrameAt = Number.NEGATIVE_INFINITY;
  /** The narrowest that the terminal was since the last frame. */
  #leastColumns = Number.POSITIVE_INFINITY;
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
    this.#pending.push({ printing, columns: this.#port.size().columns });
    this.#schedule();
  }

  setLive(lines: readonly Line[], cursor?: LiveCursor): void {
    if (this.#isEnded) return;
    this.#wanted = lines;
    this.#wantedCursor = cursor;
    this.#isChanged = true;
    this.#schedule();
  }

  clear(): void {
    if (this.#isEnded) return;
    this.#pending = [];
    this.#recent.clear();
    this.#isClearDue = true;
    this.#isChanged = true;
    this.#schedule();
  }

  suspend(): void {
    this.#isSuspended = true;
    this.#cancelFrame?.();
    this.#cancelFrame = undefined;
    if (!this.#isEnded && this.#place !== undefined) this.#hideCursor();
    this.#settle();
  }

  resume(): void {
    this.#isSuspended = false;
    this.#isChanged ||= this.#wantedCursor !== undefined;
    if (this.#isAdoptDue) void this.resized("adopt");
    this.#schedule();
  }

  sizeHeard(): void {
    this.#leastColumns = Math.min(this.#leastColumns, this.#port.size().columns);
  }

  resized(way: "adopt" | "reprint"): Promise<void> {
    if (this.#isEnded) return Promise.resolve();
    if (!this.#isStale()) {
      // The size came back to what it was: a frame that waited meanwhile is due.
      this.#schedule();
      return Promise.resolve();
    }
    if (way === "reprint") {
      this.#size = this.#port.size();
      this.#isChanged = true;
      this.#schedule();
      return Promise.resolve();
    }
    this.#isAdoptDue = this.#isSuspended;
    if (this.#isSuspended) return Promise.resolve();
    this.#adopting ??= this.#adopt();
    return this.#adopting;
  }

  flush(): Promise<void> {
    if (!this.#isDue()) return Promise.resolve();
    this.#schedule();
    return new Promise((resolve) => this.#waiters.push(resolve));
  }

  end(lines: readonly Line[] = []): void {
    if (this.#isEnded) return;
    this.#cancelFrame?.();
    let out = this.#takeClear() + (this.#isStale() ? "" : this.#park()) + this.#removeLive();
    this.#size = this.#port.size();
    this.#pending.push({ printing: { lines }, columns: this.#size.columns });
    for (const pending of this.#pending.splice(0)) out += this.#print(pending);
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
    return !isSameSize(this.#port.size(), this.#size);
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
    if (this.#isSuspended || this.#isEnded || this.#isSlow || this.#isStale()) return;
    const cleared = this.#takeClear();
    // An erased screen inside the marks is not shown by some terminals, so it goes in front of them.
    this.#write(cleared + this.#bracket(this.#cursoredFrame()));
    if (this.#isSlow) return;
    if (this.#isDue()) this.#schedule();
    else this.#settle();
  }

  /** What is to be drawn now, begun with the cursor out of the way and ended with it in its place. */
  #cursoredFrame(): string {
    const old = this.#place;
    const parked = this.#park();
    const drawn = this.#pending.length > 0 ? this.#printFrame() : this.#liveFrame();
    const wanted = this.#wantedPlace();
    this.#place = wanted;
    if (drawn === "" && isSamePlace(old, wanted)) return "";
    return `${parked}${drawn}${wanted === undefined ? "" : goToPlace(wanted, this.#rows.length)}`;
  }

  #wantedPlace(): RowPlace | undefined {
    return placeInRows(this.#wanted, this.#wantedCursor, this.#size.columns, this.#rows.length);
  }

  /** Hides the person's cursor and takes it to the start of the last live row. */
  #park(): string {
    if (this.#place === undefined) return "";
    const out = hideCursor + leavePlace(this.#place, this.#rows.length);
    this.#place = undefined;
    return out;
  }

  /** Another gets the terminal. Rows that were just wrapped anew are not gone over: the cursor stays in its place. */
  #hideCursor(): void {
    this.#port.write(this.#isStale() ? hideCursor : this.#park());
  }

  #bracket(frame: string): string {
    return this.#options.isSynchronized && frame !== "" ? `${beginFrame}${frame}${endFrame}` : frame;
  }

  #takeClear(): string {
    if (!this.#isClearDue) return "";
    this.#isClearDue = false;
    this.#isBegun = true;
    const hidden = this.#place === undefined ? "" : hideCursor;
    this.#place = undefined;
    this.#rows = [];
    this.#texts = [];
    return hidden + clearAll;
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
    if (text === "") return;
    this.#lastFrameAt = this.#clock.now();
    this.#leastColumns = Number.POSITIVE_INFINITY;
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

  /** The live row that the terminal's cursor is in. */
  #cursorRow(): number {
    return this.#place?.row ?? Math.max(0, this.#rows.length - 1);
  }

  /** Erases `count` rows from the cursor's on, which stands at the start of the first, and goes back there. */
  #erase(count: number): string {
    if (count <= 0) return "";
    return `${eraseRight}${`\x1b[B${eraseRight}`.repeat(count - 1)}${up(count - 1)}`;
  }

  /** Erases the live region; the cursor ends at the start of its first row. */
  #removeLive(): string {
    const { columns, rows } = this.#port.size();
    const above = this.#rows.slice(0, this.#cursorRow());
    let out = `${up(above.length)}\r${this.#erase(this.#rows.length)}`;
    if (this.#isStale()) {
      // The terminal may have wrapped the rows just now. Rather a rest of them stays than that a printed row goes.
      const lost = Math.min(rows, rowsOfAll(this.#rows, columns).most);
      out = `${up(rowsOfAll(above, columns).least)}\r${eraseWithin(lost)}`;
    }
    this.#place = undefined;
    this.#rows = [];
    this.#texts = [];
    return out;
  }

  /** Writes lines from the cursor's row on; the cursor ends at the start of the row below them. */
  #print({ printing, columns }: Pending): string {
    const { relayout } = printing;
    const isFresh = columns === this.#size.columns || relayout === undefined;
    const own = isFresh ? printing.lines : relayout(roomOf(this.#size.columns));
    const lines = printable(own, this.#size.columns);
    this.#recent.add(lines, printing);
    const texts = lines.map((line) => `${encodeLine(line, this.#options.theme)}\r\n`);
    const first = lines.findIndex((line) => line.spans.length > 0);
    if (printing.isPrompt !== true || this.#options.hasMarks !== true || first < 0) return texts.join("");
    return `${texts.slice(0, first).join("")}${promptStart}${texts.slice(first).join("")}${promptEnd}`;
  }

  /** Printed lines, as many as one write takes, with the live region below them. */
  #printFrame(): string {
    let out = this.#removeLive();
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
    this.#writtenAt = rows.map(() => this.#clock.now());
    this.#isChanged = false;
    return rows.length === 0 ? "" : `${cutRows}${this.#texts.join("\r\n")}\r${wrapRows}`;
  }

  /** The row at whose start the cursor stands anew; the cursor goes back there. */
  #rewrite(row: Line, text: string): string {
    // Behind a character in the last column, the erasing would take that character.
    const isFull = spansCells(row.spans) >= this.#size.columns;
    return isFull ? `${eraseRight}${text}\r` : `${text}${eraseRight}\r`;
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
        out += this.#rewrite(rows[row]!, text);
      } else if (text !== old[row]) {
        go(row);
        out += `\r${this.#rewrite(rows[row]!, text)}`;
      }
    }
    if (texts.length < old.length) {
      go(texts.length);
      out += `\r${this.#erase(old.length - texts.length)}`;
    }
    go(Math.max(0, texts.length - 1));
    const now = this.#clock.now();
    this.#writtenAt = texts.map((text, row) => (text === old[row] ? (this.#writtenAt[row] ?? now) : now));
    this.#rows = rows;
    this.#texts = texts;
    return out === "" ? "" : `${cutRows}${out}${wrapRows}`;
  }

  // Sizes

  async #adopt(): Promise<void> {
    this.#cancelFrame?.();
    this.#cancelFrame = undefined;
    const cursor = await this.#askCursor();
    this.#adopting = undefined;
    this.#isAdoptDue = this.#isSuspended;
    if (this.#isEnded || this.#isSuspended) return;
    if (this.#isClearDue) this.#size = this.#port.size();
    else if (this.#isStale()) {
      const hidden = this.#place === undefined ? "" : hideCursor;
      const frame = this.#adoptFrame(this.#believed(cursor));
      this.#place = this.#wantedPlace();
      const placed = this.#place === undefined ? "" : goToPlace(this.#place, this.#rows.length);
      this.#write(this.#bracket(hidden + frame + placed));
    }
    this.#schedule();
    if (!this.#isDue()) this.#settle();
  }

  /** Where the cursor is at the size that the terminal has then. */
  async #askCursor(): Promise<CursorPlace | undefined> {
    for (let tries = 0; tries < askTriesMax; tries++) {
      const size = this.#port.size();
      const cursor = await this.#options.askCursor();
      if (cursor !== undefined && this.#rowsIntoLine(cursor, size.columns) === undefined) return undefined;
      if (isSameSize(size, this.#port.size())) return cursor;
    }
    return undefined;
  }

  /** How far below the start of its live row the cursor is; undefined where it is not where we left it. */
  #rowsIntoLine(found: CursorPlace, columns: number): number | undefined {
    return rowsIntoLine(this.#place?.column ?? 0, found, columns);
  }

  /**
   * The cursor, where it can be in its live row. A terminal whose live rows have no room any more keeps the cursor in the window while that
   * row goes up into the scrollback. And xterm.js moves the cursor down by the rows that were wrapped below it, as others do not (seen in
   * 6.0.0): then rows of ours may stay above the live region, and what was printed is not found again.
   */
  #believed(cursor: CursorPlace | undefined): CursorPlace | undefined {
    if (cursor === undefined) return undefined;
    const { columns, rows } = this.#port.size();
    const below = this.#rows.slice(this.#cursorRow() + 1);
    const isMoved = rowsOfAll(below, Math.min(columns, this.#leastColumns)).most > below.length;
    const hasRoom = cursor.row + this.#leastRowsOf(this.#cursorRow() + 1, this.#rows.length, columns) <= rows;
    if (isMoved || !hasRoom || isEdgeUnsure(this.#place?.column ?? 0, columns)) this.#recent.clear();
    return hasRoom ? cursor : undefined;
  }

  /** The rows that live ones take at the least. One written just before may have been cut at an edge that we did not know of. */
  #leastRowsOf(start: number, end: number, columns: number): number {
    const lateAt = this.#clock.now() - sizeLateMs;
    let rows = 0;
    for (let index = start; index < end; index += 1) {
      const { least } = rowsOfAll([this.#rows[index]!], columns);
      rows += (this.#writtenAt[index] ?? 0) <= lateAt ? least : Math.min(1, least);
    }
    return rows;
  }

  /**
   * The terminal has wrapped its rows for its new size. Counted from the cursor upwards, whole printings that are visible are replaced by
   * their new layout; everything above stays as it is.
   */
  #adoptFrame(cursor: CursorPlace | undefined): string {
    const size = this.#port.size();
    const { columns } = size;
    const liveAbove = this.#rows.slice(0, this.#cursorRow());
    const into = cursor === undefined ? 0 : (this.#rowsIntoLine(cursor, columns) ?? 0);
    /** Rows of the window above the live row that the cursor is in. */
    const rowsAbove = cursor === undefined ? undefined : Math.max(0, cursor.row - 1 - into);
    const above = this.#leastRowsOf(0, this.#cursorRow(), columns);
    const { most } = rowsOfAll(liveAbove, columns);
    const reach = rowsAbove === undefined ? above : Math.min(above, rowsAbove);
    // Where the rows above the cursor cannot be counted, what was printed is not found again: it stays as the terminal wrapped it.
    if (above !== most) this.#recent.clear();
    // Rows of the live region that went up into the scrollback are out of reach.
    else this.#recent.addRefuse(firstRows(this.#rows, columns, above - reach));
    const visible =
      rowsAbove === undefined || columns === this.#size.columns
        ? { blocks: [], rows: 0 }
        : this.#recent.takeVisible(rowsAbove - reach, (lines) => rowsOfAll(lines, columns));
    const rows = reach + visible.rows;
    const below =
      rowsAbove === undefined
        ? rowsOfAll(this.#rows.slice(this.#cursorRow()), columns).most
        : size.rows - rowsAbove;
    this.#size = size;
    let out = `${up(rows + Math.min(into, (cursor?.row ?? 1) - 1))}\r${eraseWithin(Math.min(size.rows, rows + below))}`;
    for (const { lines, printing } of visible.blocks) {
      const own = printing.relayout?.(roomOf(columns)) ?? lines;
      out += this.#print({ printing: { ...printing, lines: own }, columns });
    }
    return out + this.#drawLive();
  }
}
