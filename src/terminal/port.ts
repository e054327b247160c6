/** The terminal as the shell needs it. One implementation talks to the process's own terminal, one to an emulator in tests. */

export interface TerminalSize {
  readonly columns: number;
  readonly rows: number;
}

/** What undoes a subscription. */
export type Unsubscribe = () => void;

/** A two-way byte stream with a size. It interprets nothing. */
export interface TerminalPort {
  /** Columns and rows, each 1 at least, as they are now. */
  size(): TerminalSize;
  /** Queues `text` for the terminal. False where the terminal is slow: wait for `drained` before the next frame. */
  write(text: string): boolean;
  /** Resolves when everything written has been taken, or the terminal is gone. */
  drained(): Promise<void>;
  /** Writes at once, before it returns, past any queue: for the last words of a process that dies. */
  writeNow(text: string): void;
  /** Raw input on or off. */
  setRaw(raw: boolean): void;
  /** Input as it arrives; a character split over two reads is put together. Reading starts with the first listener. */
  onInput(listener: (text: string) => void): Unsubscribe;
  onResize(listener: () => void): Unsubscribe;
  /** The terminal hung up: nothing can be written any more. */
  onGone(listener: () => void): Unsubscribe;
}

/** Time, injected: milliseconds on a clock that only goes forward, and one-shot alarms. */
export interface Clock {
  now(): number;
  /** Calls back once, `ms` from now, unless undone. */
  after(ms: number, call: () => void): Unsubscribe;
}
