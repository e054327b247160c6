/** A title made of a prompt. */
import { cutText } from "./fields.ts";

/** Most code points of a title that is taken from a prompt. */
export const PROMPT_TITLE_MAX = 120;

/** The prompt's first line with something on it, white space run together; absent where there is none. */
export function titleFromPrompt(prompt: string): string | undefined {
  for (const line of prompt.slice(0, 20_000).split("\n")) {
    const words = line.replace(/\s+/g, " ").trim();
    if (words !== "") return cutText(words, PROMPT_TITLE_MAX);
  }
  return undefined;
}
