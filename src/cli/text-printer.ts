/** Entries as linear text, coloured only where a person looks at a terminal that can. */
import type { Page } from "../sources/index.ts";
import { renderEntry } from "../terminal/render/index.ts";
import { encodeLine, sanitizeLine, themeOf } from "../terminal/text/index.ts";
import type { Entry } from "../transcript/index.ts";
import { shellWord } from "./format.ts";
import type { Io } from "./io.ts";

/** Columns that prose is wrapped to where there is no terminal. */
const PLAIN_COLUMNS = 100;

export interface TextPrinter {
  /** The text of entries, a blank line between blocks; "" for none. Remembers the entry before, across calls. */
  entries(entries: readonly Entry[]): string;
  /** How to see what precedes a page; "" at the start of the session. */
  earlier(page: Page, name: string): string;
}

export function createTextPrinter(io: Io): TextPrinter {
  const width = Math.max(1, io.out.columns ?? PLAIN_COLUMNS);
  const theme = themeOf(io.around.env, io.out.isTTY);
  let previous: Entry | undefined;
  return {
    entries(entries) {
      let out = "";
      for (const entry of entries) {
        const afterCall =
          entry.kind === "tool-result" && previous !== undefined && entry.call?.entry === previous.name;
        const lines = renderEntry(entry, { width, detail: "full", afterCall });
        previous = entry;
        if (lines.length > 0) out += `${lines.map((line) => encodeLine(line, theme)).join("\n")}\n\n`;
      }
      return out;
    },
    earlier(page, name) {
      if (page.atStart || page.entries.length === 0) return "";
      return `… earlier entries: hansard show ${shellWord(sanitizeLine(name))} --before ${page.start}\n\n`;
    },
  };
}
