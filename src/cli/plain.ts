/** `open --plain`: linear text without cursor movement, for screen readers, pipes and dumb terminals. */

import type { Session } from "../session/index.ts";
import type { Page } from "../sources/index.ts";
import type { Entry } from "../transcript/index.ts";
import type { Io } from "./io.ts";
import { createTextPrinter } from "./text-printer.ts";

/** Entries told before what comes. */
const PLAIN_TAIL_ENTRIES = 50;

/**
 * Prints the newest entries, then, with `follow`, each further one as it is finished, until aborted or the reader has gone. A block that
 * is still changing is told when it is done.
 */
export async function runPlain(
  io: Io,
  session: Session,
  options: {
    readonly follow: boolean;
    readonly signal: AbortSignal;
    /** What opens the session again; absent where nothing does. */
    readonly name: string | undefined;
  },
): Promise<void> {
  const printer = createTextPrinter(io);
  const tell = async (text: string): Promise<boolean> => text === "" || (await io.out.write(text));
  let isFirst = true;
  while (!options.signal.aborted) {
    const page = await session.tail(PLAIN_TAIL_ENTRIES);
    const pending = new Set(page.live);
    const shown: readonly Entry[] = options.follow
      ? page.entries.filter((e) => !pending.has(e.name))
      : page.entries;
    if (
      !(await tell(
        (isFirst && options.name !== undefined ? printer.earlier(page as Page, options.name) : "") +
          printer.entries(shown),
      ))
    )
      return;
    isFirst = false;
    if (!options.follow) return;
    let isReset = false;
    for await (const change of session.changes(page, options.signal)) {
      if (change.type === "blockFinished" && !(await tell(printer.entries([change.entry])))) return;
      if (change.type === "notice") await io.err.write(`hansard: ${change.text}\n`);
      if (change.type === "reset") {
        isReset = true;
        await io.err.write(`hansard: the session was rewritten (${change.reason}); told again from here\n`);
        break;
      }
    }
    if (!isReset) return;
  }
}
