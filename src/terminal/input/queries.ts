/** Questions to the terminal: each with a time limit; answers come in the order of the questions. */
import type { Clock, TerminalPort } from "../port.ts";
import { lateMs, settleMs } from "./limits.ts";
import type { Report } from "./types.ts";

export interface CursorAnswer {
  /** From 1. */
  readonly row: number;
  readonly column: number;
}

export interface Queries {
  /** Takes a report in; one that nobody asked for is forgotten. */
  take(report: Report): void;
  /** Where the cursor is; undefined where no answer came in time. Asked again while an answer is awaited: the same answer. */
  askCursor(timeoutMs: number): Promise<CursorAnswer | undefined>;
  /** Resolves when no answer is on its way any more, or none came for a while. */
  settle(): Promise<void>;
}

interface Question {
  /** Absent once nobody waits any more: its answer may still come, late. */
  answer: ((place: CursorAnswer) => void) | undefined;
}

export function createQueries(port: TerminalPort, clock: Clock): Queries {
  const questions: Question[] = [];
  const settlers: (() => void)[] = [];
  let current: Promise<CursorAnswer | undefined> | undefined;
  const remove = (question: Question): void => {
    const at = questions.indexOf(question);
    if (at >= 0) questions.splice(at, 1);
    if (questions.length === 0) for (const settle of settlers.splice(0)) settle();
  };
  return {
    take(report) {
      const question = questions[0];
      if (report.type !== "cursor" || question === undefined) return;
      question.answer?.({ row: report.row, column: report.column });
      remove(question);
    },
    askCursor(timeoutMs) {
      if (current !== undefined) return current;
      const question: Question = { answer: undefined };
      questions.push(question);
      current = new Promise((resolve) => {
        const cancel = clock.after(timeoutMs, () => {
          question.answer = undefined;
          current = undefined;
          clock.after(lateMs, () => remove(question));
          resolve(undefined);
        });
        question.answer = (place) => {
          cancel();
          current = undefined;
          resolve(place);
        };
      });
      const asked = current;
      port.write("\x1b[6n");
      return asked;
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
