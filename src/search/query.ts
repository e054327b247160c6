/** What is looked for: words, phrases in quotes, beginnings of words, and what must not be there. Pure. */
import { TERM_UNITS_MAX, TERMS_MAX } from "./limits.ts";

export interface Query {
  /** Lower-case texts that must all be in an entry, as whole words; one that ends in `*` is the beginning of a word. */
  readonly all: readonly string[];
  /** Such texts of which none may be. */
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
    const term = foldCase(phrase?.replace(/\*+$/, "") ?? (word ?? "").replace(/\*+$/, "*")).trim();
    if (/^\**$/.test(term) || all.length + none.length >= TERMS_MAX) continue;
    (minus === "-" ? none : all).push(term.slice(0, TERM_UNITS_MAX));
  }
  return all.length === 0 ? undefined : { all, none };
}

/** The term without the sign that it is a beginning. */
export function wordsOf(term: string): string {
  return term.endsWith("*") ? term.slice(0, -1) : term;
}

const patterns = new WeakMap<Query, { readonly all: readonly RegExp[]; readonly none: readonly RegExp[] }>();

/** Letters and digits make words; `_` and every other sign stand between them. */
function patternOf(term: string): RegExp {
  const words = wordsOf(term);
  const start = /^[\p{L}\p{N}\p{M}]/u.test(words) ? "(?<![\\p{L}\\p{N}\\p{M}])" : "";
  const isWord = !term.endsWith("*") && /[\p{L}\p{N}\p{M}]$/u.test(words);
  const inner = words.replace(/[\\^$.*+?()[\]{}|/]/g, "\\$&").replace(/\s+/g, "\\s+");
  return new RegExp(`${start}${inner}${isWord ? "(?![\\p{L}\\p{N}\\p{M}])" : ""}`, "u");
}

function patternsOf(query: Query): { readonly all: readonly RegExp[]; readonly none: readonly RegExp[] } {
  let made = patterns.get(query);
  if (made === undefined) {
    made = { all: query.all.map(patternOf), none: query.none.map(patternOf) };
    patterns.set(query, made);
  }
  return made;
}

/** Whether a text in folded case holds what is looked for. */
export function matches(query: Query, folded: string): boolean {
  const { all, none } = patternsOf(query);
  return all.every((pattern) => pattern.test(folded)) && !none.some((pattern) => pattern.test(folded));
}

/** Where in a text in folded case the first term stands, or -1. */
export function placeOfFirst(query: Query, folded: string): number {
  return patternsOf(query).all[0]?.exec(folded)?.index ?? -1;
}

/** Scripts whose words the index tells apart as `matches` does; the signs of ASCII stand between words in both. */
const indexed = /^[\p{Script=Latin}\p{Script=Greek}\p{Script=Cyrillic}\p{ASCII}]*$/u;

/**
 * The query as the index takes it: every entry that `matches` is among what it finds. Undefined where the index cannot tell: terms of
 * signs alone, and scripts that do not part their words.
 */
export function indexQuery(query: Query): string | undefined {
  const tokens: string[] = [];
  for (const term of query.all) {
    if (!indexed.test(term)) return undefined;
    const words = wordsOf(term);
    const found = words.match(/[\p{L}\p{N}]+/gu) ?? [];
    const isOpen = term.endsWith("*") && /[\p{L}\p{N}]$/u.test(words);
    for (const [at, word] of found.entries())
      tokens.push(`"${word}"${isOpen && at === found.length - 1 ? "*" : ""}`);
  }
  return tokens.length === 0 ? undefined : tokens.join(" AND ");
}
