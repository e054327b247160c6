/** The terminal while the shell has it: raw input, modes, the title, questions to it; and how it is given back. */
import { createInputDecoder, createQueries, type Key, type Queries } from "../input/index.ts";
import { createModes, type Modes } from "../modes.ts";
import type { Clock, TerminalPort, TerminalSize, Unsubscribe } from "../port.ts";
import type { CursorPlace } from "../screen/index.ts";
import { cutCells, sanitizeLine } from "../text/index.ts";
import { askAgainMs, askCursorMs, askTriesMax, titleCellsMax } from "./limits.ts";

export interface TerminalAccessOptions {
  readonly port: TerminalPort;
  readonly clock: Clock;
  /** Whether the terminal takes OSC strings. */
  readonly hasStrings: boolean;
  /** Whether keys with modifiers are to be told apart. */
  readonly tellsKeys: boolean;
  readonly onKey: (key: Key) => void;
  readonly onResize: () => void;
  readonly onGone: () => void;
}

export class TerminalAccess {
  readonly #options: TerminalAccessOptions;
  readonly #port: TerminalPort;
  readonly #modes: Modes = createModes();
  readonly #queries: Queries;
  readonly #undo: Unsubscribe[] = [];
  #shownTitle: string | undefined;

  constructor(options: TerminalAccessOptions) {
    this.#options = options;
    this.#port = options.port;
    this.#queries = createQueries(options.port, options.clock);
  }

  get size(): TerminalSize {
    return this.#port.size();
  }

  write(text: string): void {
    this.#port.write(text);
  }

  /** Takes the terminal and begins to listen. */
  enter(): void {
    this.takeBack();
    const decoder = createInputDecoder({
      clock: this.#options.clock,
      onKey: this.#options.onKey,
      onReport: (report) => this.#queries.take(report),
    });
    this.#undo.push(
      // Answers of the terminal are taken to the end.
      this.#port.onInput((text) => decoder.push(text)),
      this.#port.onResize(this.#options.onResize),
      this.#port.onGone(this.#options.onGone),
    );
  }

  /** The terminal is ours, for the first time or again. */
  takeBack(): void {
    this.#port.setRaw(true);
    this.#port.write(this.#modes.enter("hiddenCursor") + this.#modes.enter("bracketedPaste"));
    if (this.#options.tellsKeys)
      this.#port.write(this.#modes.enter("otherKeys") + this.#modes.enter("keyboard"));
    this.#shownTitle = undefined;
  }

  /** Another gets the terminal for a while, as it was before. */
  async giveBack(): Promise<void> {
    this.#port.write(this.#modes.undoAll());
    await this.#port.drained();
    this.#port.setRaw(false);
  }

  enterAlternate(): void {
    this.#port.write(this.#modes.enter("alternateScreen") + this.#modes.enter("wheelArrows"));
  }

  leaveAlternate(): void {
    this.#port.write(this.#modes.leave("wheelArrows") + this.#modes.leave("alternateScreen"));
  }

  showTitle(title: string): void {
    const words = cutCells(sanitizeLine(title), titleCellsMax);
    if (!this.#options.hasStrings || words === this.#shownTitle) return;
    this.#shownTitle = words;
    this.#port.write(`${this.#modes.enter("title")}\x1b]2;${words}\x1b\\`);
  }

  /** Where the cursor is, in a terminal that has the size we know of; undefined where it does not answer, or its size keeps changing. */
  async askCursor(): Promise<CursorPlace | undefined> {
    for (let tries = 0; tries < askTriesMax; tries++) {
      const answer = await this.#queries.askCursor(askCursorMs);
      if (answer === undefined) return undefined;
      const { columns, rows } = this.#port.size();
      if (answer.size.columns === columns && answer.size.rows === rows) return answer;
      await new Promise<void>((resolve) => this.#options.clock.after(askAgainMs, resolve));
    }
    return undefined;
  }

  /** The last words are written: modes are undone, what is still on its way is awaited. */
  async finish(): Promise<void> {
    this.#port.write(this.#modes.undoAll());
    // An answer that is still on its way must not end up in the next program's input.
    await this.#queries.settle();
    await this.#port.drained();
  }

  /** Listens no more. */
  release(): void {
    this.#port.setRaw(false);
    for (const undo of this.#undo.splice(0)) undo();
  }

  /** Undoes the modes at once, for a process that is about to die. */
  rescue(): void {
    this.#port.writeNow(`${this.#modes.undoAll()}\r\n`);
    this.#port.setRaw(false);
  }
}
