/** What is looked for: words, phrases in quotes, and what must not be there. Pure. */
import { TERM_UNITS_MAX, TERMS_MAX } from "./limits.ts";

export interface Query {
  /** Lower-case texts that must all be in an entry. */
  readonly all: readonly string[];
  /** Lower-case texts of which none may be. */
  readonly none: readonly string[];
}

/** Case does not matter, nor the form in which a character is put together. */
export function foldCase(text: string): string {
  return text.normalize("NFC").toLowerCase();
}

/**
 * Reads a query: words, `"a phrase"`, `-not`, `start*`. Any text is one: a quote without an end ends with the text, and signs that
 * mean nothing are looked for. Undefined where nothing is left to look for. Terms beyond `TERMS_MAX` are left out.
 */
export function parseQuery(text: string): Query | undefined {
  const all: string[] = [];
  const none: string[] = [];
  for (const [, minus, phrase, word] of text.matchAll(/(-?)(?:"([^"]*)(?:"|$)|(\S+))/g)) {
    const term = foldCase(phrase ?? (word ?? "").replace(/\*+$/, "")).trim();
    if (term === "" || all.length + none.length >= TERMS_MAX) continue;
    (minus === "-" ? none : all).push(term.slice(0, TERM_UNITS_MAX));
  }
  return all.length === 0 ? undefined : { all, none };
}

export function matches(query: Query, folded: string): boolean {
  return (
    query.all.every((term) => folded.includes(term)) && !query.none.some((term) => folded.includes(term))
  );
}
