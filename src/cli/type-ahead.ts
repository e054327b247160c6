/** What a person types while the agent starts: kept as it came, for the prompt. */

/** Bytes that are kept; what is beyond is not. */
export const typeAheadBytesMax: number = 64 * 1024;

const interrupt = 0x03;

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
 * Takes the keyboard while the agent starts: nothing is echoed, and a key stays the key it is (in the terminal's own line mode Enter would
 * become a line feed). Ctrl+C calls `onInterrupt`. The function returned gives what was typed back to the input, for whoever reads it next,
 * and the terminal its own mode where nobody will (`isOver`).
 */
export function keepTyped(input: TypedInput, onInterrupt: () => void): (isOver: boolean) => void {
  const kept: Buffer[] = [];
  let bytes = 0;
  const onData = (piece: Buffer): void => {
    if (piece.includes(interrupt)) onInterrupt();
    const part = piece.subarray(0, typeAheadBytesMax - bytes);
    bytes += part.length;
    kept.push(part);
  };
  input.setRawMode(true);
  input.on("data", onData);
  input.resume();
  return (isOver) => {
    input.off("data", onData);
    input.pause();
    if (isOver) input.setRawMode(false);
    else if (bytes > 0) input.unshift(Buffer.concat(kept));
  };
}
