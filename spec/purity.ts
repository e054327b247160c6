/** L17: the core's source imports nothing from outside, reads no clock, environment or global, and keeps no state of its own. */
import { readdirSync, readFileSync } from "node:fs";
import ts from "typescript";

const core = new URL("../src/window/", import.meta.url);

/** What the language itself gives; it tells no time and knows no surroundings. */
const globalsAllowed = new Set([
  "Array",
  "JSON",
  "Map",
  "Math",
  "Number",
  "Object",
  "RangeError",
  "String",
  "SyntaxError",
  "undefined",
]);

/** Names that a file reads and no declaration in it gives. Members, labels of objects and types do not count. */
function freeNames(file: ts.SourceFile): ReadonlySet<string> {
  const declared = new Set<string>();
  const read = new Set<string>();
  const visit = (node: ts.Node): void => {
    if (ts.isTypeNode(node) || ts.isInterfaceDeclaration(node) || ts.isTypeAliasDeclaration(node)) return;
    if (ts.isIdentifier(node)) {
      const { parent } = node;
      const isMember = ts.isPropertyAccessExpression(parent) && parent.name === node;
      const isLabel =
        (ts.isPropertyAssignment(parent) && parent.name === node) ||
        (ts.isBindingElement(parent) && parent.propertyName === node) ||
        ts.isTypeParameterDeclaration(parent) ||
        ts.isExportSpecifier(parent);
      const isDeclaration =
        (ts.isVariableDeclaration(parent) ||
          ts.isParameter(parent) ||
          ts.isFunctionDeclaration(parent) ||
          ts.isClassDeclaration(parent) ||
          ts.isMethodDeclaration(parent) ||
          ts.isPropertyDeclaration(parent) ||
          ts.isImportSpecifier(parent) ||
          ts.isBindingElement(parent)) &&
        parent.name === node;
      if (isDeclaration) declared.add(node.text);
      else if (!isMember && !isLabel) read.add(node.text);
    }
    ts.forEachChild(node, visit);
  };
  visit(file);
  return new Set([...read].filter((name) => !declared.has(name)));
}

/** What is impure about one file of the core, in words; empty where nothing is. */
export function impurities(name: string, text: string): readonly string[] {
  const file = ts.createSourceFile(name, text, ts.ScriptTarget.ES2023, true);
  const found: string[] = [];
  for (const { fileName } of ts.preProcessFile(text, true, true).importedFiles) {
    if (!/^\.\/[a-z-]+\.ts$/.test(fileName)) found.push(`imports ${fileName}`);
  }
  for (const free of freeNames(file)) if (!globalsAllowed.has(free)) found.push(`reads ${free}`);
  for (const statement of file.statements) {
    if (!ts.isVariableStatement(statement)) continue;
    const isConst = (statement.declarationList.flags & ts.NodeFlags.Const) !== 0;
    if (!isConst) found.push(`keeps ${statement.declarationList.getText(file)}`);
  }
  if (/\bMath\s*\.\s*random\b/.test(text)) found.push("draws lots");
  return found;
}

/** The files of the core, by name. */
export function coreFiles(): ReadonlyMap<string, string> {
  const names = readdirSync(core).filter((name) => name.endsWith(".ts"));
  return new Map(names.sort().map((name) => [name, readFileSync(new URL(name, core), "utf8")]));
}
