/** Whether the terminal that the program was started in is still there. */
import { isatty } from "node:tty";

/** True once a terminal of the standard streams is no more; false as well where there never was one. */
export function isHungUp(): boolean {
  return [process.stdin, process.stdout, process.stderr].some(({ isTTY, fd }) => isTTY && !isatty(fd));
}
