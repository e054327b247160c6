/** The definitions of modules, with what they extend. */
import type { Node } from "web-tree-sitter";
import { fail, field, parts } from "./grammar.ts";

export interface Definition {
  readonly name: string;
  readonly params: readonly string[];
  readonly body: Node;
}

export interface Module {
  readonly constants: ReadonlySet<string>;
  readonly variables: ReadonlySet<string>;
  readonly definitions: ReadonlyMap<string, Definition>;
  /** In the order of the text, the extended modules' first. */
  readonly names: readonly string[];
}

const standard = new Set(["Integers", "Sequences", "FiniteSets", "Json", "IOUtils"]);

export function definitionOf(node: Node): Definition {
  const params = node.childrenForFieldName("parameter").filter((child) => child?.type === "identifier");
  return {
    name: field(node, "name").text,
    params: params.map((param) => param?.text ?? ""),
    body: field(node, "definition"),
  };
}

/** Reads a module and what it extends. `parse` gives the tree of a module by name. */
export function readModule(name: string, parse: (name: string) => Node): Module {
  const constants = new Set<string>();
  const variables = new Set<string>();
  const definitions = new Map<string, Definition>();
  const read = (moduleName: string): void => {
    const module = parts(parse(moduleName)).find(({ type }) => type === "module");
    if (module === undefined) throw new Error(`no module in ${moduleName}`);
    for (const node of parts(module)) {
      switch (node.type) {
        case "extends":
          for (const { text } of parts(node)) if (!standard.has(text)) read(text);
          break;
        case "constant_declaration":
          for (const { text } of parts(node)) constants.add(text);
          break;
        case "variable_declaration":
          for (const { text } of parts(node)) variables.add(text);
          break;
        case "operator_definition": {
          const definition = definitionOf(node);
          if (definitions.has(definition.name)) fail(node, `${definition.name} defined twice`);
          definitions.set(definition.name, definition);
          break;
        }
        case "identifier":
        case "header_line":
        case "single_line":
        case "double_line":
        case "assumption":
          break;
        default:
          fail(node, "unknown unit");
      }
    }
  };
  read(name);
  return { constants, variables, definitions, names: [...definitions.keys()] };
}
