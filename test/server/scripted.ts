/** Sessions that do what a test says. */
import type {
  Answered,
  Change,
  DrivenSession,
  DriverState,
  Page,
  Session,
  TailPage,
} from "../../src/session/index.ts";

export const emptyPage: TailPage = {
  entries: [],
  positions: [],
  start: "0",
  end: "0",
  atStart: true,
  atEnd: true,
  damage: [],
  turnOpen: false,
  live: [],
};

/** A stream of values that a test pushes. */
export function pushed<T>(): {
  push(value: T): void;
  end(): void;
  stream(signal: AbortSignal): AsyncGenerator<T>;
} {
  const values: T[] = [];
  let isOver = false;
  let wake: () => void = () => undefined;
  return {
    push(value) {
      values.push(value);
      wake();
    },
    end() {
      isOver = true;
      wake();
    },
    async *stream(signal) {
      signal.addEventListener("abort", () => wake(), { once: true });
      while (!signal.aborted) {
        const [value] = values.splice(0, 1);
        if (value !== undefined) yield value;
        else if (isOver) return;
        else
          await new Promise<void>((resolve) => {
            wake = resolve;
          });
      }
    },
  };
}

export interface Scripted {
  readonly session: Session;
  push(change: Change): void;
}

export function scriptedSession(info: Partial<Session["info"]> = {}): Scripted {
  const changes = pushed<Change>();
  const page = async (): Promise<Page> => emptyPage;
  return {
    push: changes.push,
    session: {
      info: { agent: "claude-code", id: "own", path: "/nowhere", ...info },
      tail: async () => emptyPage,
      older: page,
      newer: page,
      first: page,
      changes: (_, signal) => changes.stream(signal),
      raw: async () => new Uint8Array(),
      close: async () => undefined,
    },
  };
}

/** A driven session with one call that waits; the first answer is taken. */
export function drivenSession(): { readonly session: DrivenSession; readonly prompts: string[] } {
  const scripted = scriptedSession();
  const prompts: string[] = [];
  let taken: string | undefined;
  let driver: DriverState = {
    phase: "working",
    agent: { name: "an agent" },
    approvals: [
      {
        id: "a1",
        call: { id: "t1", name: "Bash", inputSummary: "{}" },
        options: [{ id: "yes", label: "Yes", kind: "allow-once" }],
        askedAt: 0,
      },
    ],
    plan: [],
    modes: [],
    commands: [],
    queued: 0,
  };
  const session: DrivenSession = {
    ...scripted.session,
    get driver() {
      return driver;
    },
    async prompt(text) {
      prompts.push(text);
    },
    cancel: async () => undefined,
    async answer(_, __, by): Promise<Answered> {
      if (taken !== undefined) return { taken: false, by: taken };
      taken = by;
      driver = { ...driver, approvals: [] };
      scripted.push({ type: "driver", driver });
      return { taken: true };
    },
    setMode: async () => undefined,
  };
  return { session, prompts };
}
