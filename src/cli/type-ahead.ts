/** What a person types while the agent starts: kept as it came, for the prompt. */

/** Bytes that are kept; what is beyond is not. */
export const typeAheadBytesMax: number = 64 * 1024;

const interrupt = 0x03;
const lineFeed = 0x0a;
const carriageReturn = 0x0d;
const bracketed = (isOn: boolean): string => `\x1b[?2004${isOn ? "h" : "l"}`;

/** What of a terminal's input is needed. */
export interface TypedInput {
  setRawMode(raw: boolean): unknown;
  on(event: "data", listener: (bytes: Buffer) => void): unknown;
  off(event: "data", listener: (bytes: Buffer) => void): unknown;
  resume(): unknown;
  pause(): unknown;
  unshift(bytes: Buffer): void;
}

/**
 * Takes the keyboard while the agent starts: nothing is echoed, a paste comes as one, and Enter is Enter: what was typed before the program
 * had the keyboard comes with line feeds in its place, as the terminal's own line mode makes them. Ctrl+C calls `onInterrupt`. The function
 * returned gives what was typed back to the input, for whoever reads it next, and the terminal its own mode where nobody will (`isOver`).
 * `write` writes to the terminal.
 */
export function keepTyped(
  input: TypedInput,
  write: (text: string) => unknown,
  onInterrupt: () => void,
): (isOver: boolean) => void {
  const kept: Buffer[] = [];
  let bytes = 0;
  const onData = (piece: Buffer): void => {
    if (piece.includes(interrupt)) onInterrupt();
    const part = Buffer.from(piece.subarray(0, typeAheadBytesMax - bytes));
    for (let at = part.indexOf(lineFeed); at >= 0; at = part.indexOf(lineFeed, at)) part[at] = carriageReturn;
    bytes += part.length;
    kept.push(part);
  };
  input.setRawMode(true);
  write(bracketed(true));
  input.on("data", onData);
  input.resume();
  return (isOver) => {
    input.off("data", onData);
    input.pause();
    if (isOver) {
      write(bracketed(false));
      input.setRawMode(false);
    } else if (bytes > 0) input.unshift(Buffer.concat(kept));
  };
}
