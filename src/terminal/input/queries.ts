/** Questions to the terminal: each with a time limit; answers come in the order of the questions. */
import type { Clock, TerminalPort, TerminalSize } from "../port.ts";
import { lateMs, settleMs } from "./limits.ts";
import type { Report } from "./types.ts";

export interface CursorAnswer {
  /** From 1. */
  readonly row: number;
  readonly column: number;
  /**
   * The size of the terminal at the time of the answer. What the system says of the size may be older: a multiplexer tells its programs of a
   * new size later than it wraps their rows for it.
   */
  readonly size: TerminalSize;
}

/** Where the cursor is; then the same from the bottom-right corner, which tells the size; and back. */
const question = "\x1b[6n\x1b7\x1b[9999;9999H\x1b[6n\x1b8";

export interface Queries {
  /** Takes a report in; one that nobody asked for is forgotten. */
  take(report: Report): void;
  /** Where the cursor is; undefined where no answer came in time. Asked again while an answer is awaited: the same answer. */
  askCursor(timeoutMs: number): Promise<CursorAnswer | undefined>;
  /** Resolves when no answer is on its way any more, or none came for a while. */
  settle(): Promise<void>;
}

interface Question {
  /** The first of its two answers, once it has come. */
  place: { readonly row: number; readonly column: number } | undefined;
  /** Absent once nobody waits any more: its answer may still come, late. */
  answer: ((place: CursorAnswer) => void) | undefined;
}

export function createQueries(port: TerminalPort, clock: Clock): Queries {
  const questions: Question[] = [];
  const settlers: (() => void)[] = [];
  let current: Promise<CursorAnswer | undefined> | undefined;
  const remove = (asked: Question): void => {
    const at = questions.indexOf(asked);
    if (at >= 0) questions.splice(at, 1);
    if (questions.length === 0) for (const settle of settlers.splice(0)) settle();
  };
  return {
    take(report) {
      const asked = questions[0];
      if (report.type !== "cursor" || asked === undefined) return;
      const { row, column } = report;
      if (asked.place === undefined) {
        asked.place = { row, column };
        return;
      }
      asked.answer?.({ ...asked.place, size: { columns: column, rows: row } });
      remove(asked);
    },
    askCursor(timeoutMs) {
      if (current !== undefined) return current;
      const asked: Question = { place: undefined, answer: undefined };
      questions.push(asked);
      current = new Promise((resolve) => {
        const cancel = clock.after(timeoutMs, () => {
          asked.answer = undefined;
          current = undefined;
          clock.after(lateMs, () => remove(asked));
          resolve(undefined);
        });
        asked.answer = (place) => {
          cancel();
          current = undefined;
          resolve(place);
        };
      });
      const answer = current;
      port.write(question);
      return answer;
    },
    settle() {
      if (questions.length === 0) return Promise.resolve();
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
