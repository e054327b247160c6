/** Syntax colour: lowlight with the grammars that coding sessions hold, loaded when first needed. */
import type { Span, Tone } from "../text/index.ts";

/** Colours code. The text of its lines joined is the code that was given. */
export interface Highlighter {
  /** Spans of each line; undefined for a language it does not know. */
  lines(code: string, language: string): readonly (readonly Span[])[] | undefined;
}

const languages = [
  "bash",
  "c",
  "cpp",
  "csharp",
  "css",
  "diff",
  "go",
  "ini",
  "java",
  "javascript",
  "json",
  "kotlin",
  "markdown",
  "php",
  "python",
  "ruby",
  "rust",
  "sql",
  "swift",
  "typescript",
  "xml",
  "yaml",
] as const;

const aliases: Readonly<Record<string, string>> = {
  console: "bash",
  shell: "bash",
  shellsession: "bash",
  fish: "bash",
  jsonl: "json",
  ndjson: "json",
  vue: "xml",
  svelte: "xml",
};

/** Tones by the first part of a grammar's class name. */
const tones: Readonly<Record<string, Tone>> = {
  keyword: "keyword",
  built_in: "name",
  type: "type",
  literal: "number",
  number: "number",
  symbol: "number",
  bullet: "keyword",
  string: "string",
  regexp: "string",
  "template-tag": "keyword",
  "selector-tag": "keyword",
  "selector-class": "name",
  "selector-id": "name",
  comment: "comment",
  quote: "comment",
  doctag: "comment",
  meta: "hunk",
  title: "name",
  section: "name",
  tag: "keyword",
  name: "keyword",
  attr: "name",
  attribute: "name",
  property: "name",
  class: "type",
  addition: "added",
  deletion: "removed",
  link: "link",
};

interface TreeNode {
  readonly type: string;
  readonly value?: string;
  readonly properties?: { readonly className?: unknown };
  readonly children?: readonly TreeNode[];
}

function toneOf(node: TreeNode, inherited: Tone | undefined): Tone | undefined {
  const classes = node.properties?.className;
  const first: unknown = Array.isArray(classes) ? classes[0] : undefined;
  if (typeof first !== "string") return inherited;
  const name = first.replace(/^hljs-/, "");
  return Object.hasOwn(tones, name) ? tones[name] : inherited;
}

function collect(node: TreeNode, tone: Tone | undefined, lines: Span[][]): void {
  if (node.type === "text") {
    for (const [index, text] of (node.value ?? "").split("\n").entries()) {
      if (index > 0) lines.push([]);
      if (text !== "") lines.at(-1)!.push(tone === undefined ? { text } : { text, tone });
    }
    return;
  }
  for (const child of node.children ?? []) collect(child, toneOf(child, tone), lines);
}

/** Loads the grammars, about 80 ms the first time. */
export async function loadHighlighter(): Promise<Highlighter> {
  const { common, createLowlight } = await import("lowlight");
  const grammars = Object.fromEntries(
    languages.flatMap((name) => {
      const grammar = common[name];
      return grammar === undefined ? [] : [[name, grammar]];
    }),
  );
  const lowlight = createLowlight(grammars);
  return {
    lines(code, language) {
      const wanted = language.toLowerCase();
      // The registry is a plain object: it would take "constructor" for a language.
      if (wanted in {}) return undefined;
      const name = aliases[wanted] ?? wanted;
      if (!lowlight.registered(name)) return undefined;
      const lines: Span[][] = [[]];
      collect(lowlight.highlight(name, code), undefined, lines);
      return lines;
    },
  };
}
