/** Parsing TLA+ with its tree-sitter grammar. */
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import type { Node } from "web-tree-sitter";
import { Language, Parser } from "web-tree-sitter";

const require = createRequire(import.meta.url);

/** A parser of modules. Each text is checked: a place that the grammar does not know is an error with its line. */
export async function loadGrammar(): Promise<(text: string, name: string) => Node> {
  await Parser.init();
  const parser = new Parser();
  parser.setLanguage(await Language.load(require.resolve("tree-sitter-wasms/out/tree-sitter-tlaplus.wasm")));
  return (text, name) => {
    const root = parser.parse(text)?.rootNode;
    if (root === undefined) throw new Error(`${name}: no parse`);
    const at = firstError(root);
    if (at !== undefined) {
      const { row, column } = at.startPosition;
      throw new SyntaxError(`${name}:${row + 1}:${column + 1}: not TLA+: ${at.text.slice(0, 60)}`);
    }
    return root;
  };
}

function firstError(node: Node): Node | undefined {
  if (node.isError || node.isMissing) return node;
  if (!node.hasError) return undefined;
  for (const child of node.children) {
    const found = child === null ? undefined : firstError(child);
    if (found !== undefined) return found;
  }
  return node;
}

/** The text of a module of this folder's parent. */
export function moduleText(name: string): string {
  return readFileSync(new URL(`../${name}.tla`, import.meta.url), "utf8");
}

export function cfgText(name: string): string {
  return readFileSync(new URL(`../${name}.cfg`, import.meta.url), "utf8");
}

/** The named children that are no comments. */
export function parts(node: Node): readonly Node[] {
  return node.namedChildren.filter(
    (child): child is Node => child !== null && !/^(?:block_)?comment$/.test(child.type),
  );
}

/** A child by its field. */
export function field(node: Node, name: string): Node {
  return node.childForFieldName(name) ?? fail(node, `no ${name}`);
}

export function fail(node: Node, what: string): never {
  const { row, column } = node.startPosition;
  throw new Error(`TLA+ at ${row + 1}:${column + 1}: ${what} in ${node.type} ${node.text.slice(0, 60)}`);
}
