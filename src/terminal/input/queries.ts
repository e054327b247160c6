/** Questions to the terminal: each with a time limit; answers come in the order of the questions of their kind. */
import type { Clock, TerminalPort, TerminalSize } from "../port.ts";
import { lateMs, settleMs } from "./limits.ts";
import type { Report } from "./types.ts";

interface CursorPlace {
  /** From 1. */
  readonly row: number;
  readonly column: number;
}

export interface CursorAnswer extends CursorPlace {
  /**
   * The size of the terminal at the time of the answer. What the system says of the size may be older: a multiplexer tells its programs of a
   * new size later than it wraps their rows for it.
   */
  readonly size: TerminalSize;
}

/** Where the cursor is; then the same from the bottom-right corner, which tells the size; and back. */
const cursorQuestion = "\x1b[6n\x1b7\x1b[9999;9999H\x1b[6n\x1b8";
const backgroundQuestion = "\x1b]11;?\x1b\\";

export type Background = "dark" | "light";

export interface Queries {
  /** Takes a report in; one that nobody asked for is forgotten. */
  take(report: Report): void;
  /** Where the cursor is; undefined where no answer came in time. Asked again while an answer is awaited: the same answer. */
  askCursor(timeoutMs: number): Promise<CursorAnswer | undefined>;
  /** Whether the terminal's background is dark; undefined where no answer came in time. Asked again meanwhile: the same answer. */
  askBackground(timeoutMs: number): Promise<Background | undefined>;
  /** Resolves when no answer is on its way any more, or none came for a while. */
  settle(): Promise<void>;
}

interface Question<Report> {
  /** What has come of its answer. */
  readonly reports: Report[];
  /** Absent once nobody waits any more: its answer may still come, late. */
  answer: ((reports: readonly Report[]) => void) | undefined;
}

/** The questions of one kind. Each is answered by the same number of reports. */
class Lane<Report, Answer> {
  readonly #clock: Clock;
  readonly #reportsNeeded: number;
  readonly #answerOf: (reports: readonly Report[]) => Answer | undefined;
  readonly #send: () => void;
  readonly #emptied: () => void;
  readonly #questions: Question<Report>[] = [];
  #current: Promise<Answer | undefined> | undefined;

  constructor(
    clock: Clock,
    reportsNeeded: number,
    answerOf: (reports: readonly Report[]) => Answer | undefined,
    send: () => void,
    emptied: () => void,
  ) {
    this.#clock = clock;
    this.#reportsNeeded = reportsNeeded;
    this.#answerOf = answerOf;
    this.#send = send;
    this.#emptied = emptied;
  }

  get isEmpty(): boolean {
    return this.#questions.length === 0;
  }

  ask(timeoutMs: number): Promise<Answer | undefined> {
    if (this.#current !== undefined) return this.#current;
    const question: Question<Report> = { reports: [], answer: undefined };
    this.#questions.push(question);
    const asked = new Promise<Answer | undefined>((resolve) => {
      const cancel = this.#clock.after(timeoutMs, () => {
        question.answer = undefined;
        this.#current = undefined;
        this.#clock.after(lateMs, () => this.#remove(question));
        resolve(undefined);
      });
      question.answer = (reports) => {
        cancel();
        this.#current = undefined;
        resolve(this.#answerOf(reports));
      };
    });
    this.#current = asked;
    this.#send();
    return asked;
  }

  take(report: Report): void {
    const question = this.#questions[0];
    if (question === undefined) return;
    question.reports.push(report);
    if (question.reports.length < this.#reportsNeeded) return;
    question.answer?.(question.reports);
    this.#remove(question);
  }

  #remove(question: Question<Report>): void {
    const at = this.#questions.indexOf(question);
    if (at < 0) return;
    this.#questions.splice(at, 1);
    if (this.isEmpty) this.#emptied();
  }
}

function cursorOf([place, corner]: readonly CursorPlace[]): CursorAnswer | undefined {
  if (place === undefined || corner === undefined) return undefined;
  return { ...place, size: { columns: corner.column, rows: corner.row } };
}

const color = /^\]11;rgba?:([0-9a-f]{1,4})\/([0-9a-f]{1,4})\/([0-9a-f]{1,4})/i;

/** What an answer to OSC 11 says: components of one to four hexadecimal digits, weighted as the eye does. */
function backgroundOf(text: string): Background | undefined {
  const match = color.exec(text);
  if (match === null) return undefined;
  const [red, green, blue] = match
    .slice(1)
    .map((digits) => Number.parseInt(digits, 16) / (16 ** digits.length - 1)) as [number, number, number];
  return 0.299 * red + 0.587 * green + 0.114 * blue > 0.5 ? "light" : "dark";
}

export function createQueries(port: TerminalPort, clock: Clock): Queries {
  const settlers: (() => void)[] = [];
  const isSettled = (): boolean => cursor.isEmpty && background.isEmpty;
  const emptied = (): void => {
    if (isSettled()) for (const settle of settlers.splice(0)) settle();
  };
  const cursor = new Lane(clock, 2, cursorOf, () => port.write(cursorQuestion), emptied);
  const background = new Lane<Background, Background>(
    clock,
    1,
    ([told]) => told,
    () => port.write(backgroundQuestion),
    emptied,
  );
  return {
    take(report) {
      if (report.type === "cursor") {
        cursor.take({ row: report.row, column: report.column });
        return;
      }
      const told = backgroundOf(report.text);
      if (told !== undefined) background.take(told);
    },
    askCursor: (timeoutMs) => cursor.ask(timeoutMs),
    askBackground: (timeoutMs) => background.ask(timeoutMs),
    settle() {
      if (isSettled()) return Promise.resolve();
      return new Promise((resolve) => {
        const cancel = clock.after(settleMs, resolve);
        settlers.push(() => {
          cancel();
          resolve();
        });
      });
    },
  };
}
