/**
 * L17: the core's source imports nothing from outside, reads no clock, environment or global, keeps no state of its own and changes
 * nothing that it was given. Names are resolved by the compiler, so that a parameter called Date hides nothing but itself.
 */
import { readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import ts from "typescript";

const core = new URL("../src/window/", import.meta.url);
const folder = fileURLToPath(core);

/** What the language itself gives; it tells no time and knows no surroundings. */
const globalsAllowed = new Set([
  "Array",
  "JSON",
  "Map",
  "Math",
  "Number",
  "Object",
  "RangeError",
  "Set",
  "String",
  "SyntaxError",
  "undefined",
]);

/** Members of what is allowed that are not. `constructor` leads from any value to the maker of functions. */
const membersRefused = new Set(["random", "constructor", "prototype", "__proto__"]);

/** Methods that change what they are called on. */
const changers = new Set([
  ...["push", "pop", "shift", "unshift", "splice", "sort", "reverse", "fill", "copyWithin"],
  ...["set", "add", "delete", "clear"],
]);

/** Functions of Object that change their first argument. */
const objectChangers = new Set([
  ...["assign", "defineProperty", "defineProperties", "setPrototypeOf"],
  ...["freeze", "seal", "preventExtensions"],
]);

const options: ts.CompilerOptions = {
  target: ts.ScriptTarget.ES2023,
  module: ts.ModuleKind.ESNext,
  moduleResolution: ts.ModuleResolutionKind.Bundler,
  lib: ["lib.es2023.d.ts"],
  types: [],
  allowImportingTsExtensions: true,
  noEmit: true,
};

/** Files of the language and of the core, read once. */
const known = new Map<string, ts.SourceFile | undefined>();
let lastProgram: ts.Program | undefined;

function programOf(path: string, text: string): ts.Program {
  const host = ts.createCompilerHost(options, true);
  const read = host.getSourceFile.bind(host);
  host.getSourceFile = (name, languageVersion) => {
    if (name === path) return ts.createSourceFile(name, text, languageVersion, true);
    if (!known.has(name)) known.set(name, read(name, languageVersion));
    return known.get(name);
  };
  const exists = host.fileExists.bind(host);
  host.fileExists = (name) => name === path || exists(name);
  lastProgram = ts.createProgram([path], options, host, lastProgram);
  return lastProgram;
}

type FunctionLike = ts.SignatureDeclaration | ts.ClassStaticBlockDeclaration | undefined;

/** The function that a node's code runs in; undefined for the module's own. */
function functionOf(node: ts.Node): FunctionLike {
  for (let at = node.parent; !ts.isSourceFile(at); at = at.parent) {
    if (ts.isFunctionLike(at) || ts.isClassStaticBlockDeclaration(at)) return at;
  }
  return undefined;
}

function withoutCasts(node: ts.Expression): ts.Expression {
  let at = node;
  while (ts.isParenthesizedExpression(at) || ts.isAsExpression(at) || ts.isNonNullExpression(at)) {
    at = at.expression;
  }
  return at;
}

/** Where a name is used as a value that is neither declared there nor a label. */
function isReference(node: ts.Identifier): boolean {
  const { parent } = node;
  if (ts.isPropertyAccessExpression(parent)) return parent.expression === node;
  if (ts.isBindingElement(parent)) return parent.initializer === node;
  if (ts.isShorthandPropertyAssignment(parent)) return true;
  if (ts.isImportSpecifier(parent) || ts.isExportSpecifier(parent)) return false;
  if (ts.isPropertyAssignment(parent)) return parent.initializer === node;
  if (ts.isLabeledStatement(parent) || ts.isBreakOrContinueStatement(parent)) return false;
  const declared = (parent as Partial<ts.NamedDeclaration>).name;
  return declared !== node;
}

function isAssignment(kind: ts.SyntaxKind): boolean {
  return kind >= ts.SyntaxKind.FirstAssignment && kind <= ts.SyntaxKind.LastAssignment;
}

class Scan {
  private readonly file: ts.SourceFile;
  private readonly checker: ts.TypeChecker;
  private readonly isOfLanguage: (file: ts.SourceFile) => boolean;
  readonly found: string[] = [];

  constructor(file: ts.SourceFile, program: ts.Program) {
    this.file = file;
    this.checker = program.getTypeChecker();
    this.isOfLanguage = (one) => program.isSourceFileDefaultLibrary(one);
  }

  run(): readonly string[] {
    this.visit(this.file);
    return [...new Set(this.found)];
  }

  private text(node: ts.Node): string {
    return node.getText(this.file);
  }

  private symbolOf(node: ts.Identifier): ts.Symbol | undefined {
    return ts.isShorthandPropertyAssignment(node.parent)
      ? this.checker.getShorthandAssignmentValueSymbol(node.parent)
      : this.checker.getSymbolAtLocation(node);
  }

  /** Whether a name is declared by the core itself. */
  private isOwn(node: ts.Identifier): boolean {
    const declarations = this.symbolOf(node)?.declarations ?? [];
    return declarations.length > 0 && declarations.every((one) => !this.isOfLanguage(one.getSourceFile()));
  }

  private visit(node: ts.Node): void {
    if (ts.isTypeNode(node) || ts.isInterfaceDeclaration(node) || ts.isTypeAliasDeclaration(node)) return;
    if (ts.isTypeParameterDeclaration(node)) return;
    if (ts.isIdentifier(node) && isReference(node)) this.visitName(node);
    if (ts.isVariableStatement(node) && functionOf(node) === undefined) this.visitKept(node);
    if (ts.isPropertyDeclaration(node) && ts.getCombinedModifierFlags(node) & ts.ModifierFlags.Static) {
      this.found.push(`keeps ${this.text(node.name)}`);
    }
    if (ts.isPropertyAccessExpression(node) && membersRefused.has(node.name.text)) {
      this.found.push(`reads ${this.text(node)}`);
    }
    if (ts.isElementAccessExpression(node)) this.visitComputed(node);
    if (ts.isBinaryExpression(node) && isAssignment(node.operatorToken.kind)) {
      this.change(node.left);
    }
    if (ts.isDeleteExpression(node)) this.change(node.expression);
    const isCount =
      (ts.isPrefixUnaryExpression(node) || ts.isPostfixUnaryExpression(node)) &&
      (node.operator === ts.SyntaxKind.PlusPlusToken || node.operator === ts.SyntaxKind.MinusMinusToken);
    if (isCount) this.change(node.operand);
    if (ts.isCallExpression(node)) this.visitCall(node);
    ts.forEachChild(node, (child) => this.visit(child));
  }

  private visitName(node: ts.Identifier): void {
    if (this.isOwn(node)) return;
    const { parent } = node;
    if (!globalsAllowed.has(node.text)) this.found.push(`reads ${node.text}`);
    else if (node.text !== "undefined") {
      // Handed on under another name, its members could not be told.
      const isMember = ts.isPropertyAccessExpression(parent);
      const isCalled =
        (ts.isNewExpression(parent) || ts.isCallExpression(parent)) && parent.expression === node;
      const isAsked = ts.isBinaryExpression(parent) && parent.right === node && this.isInstanceOf(parent);
      if (!isMember && !isCalled && !isAsked) this.found.push(`hands on ${node.text}`);
    }
  }

  /** A computed member of what the language gives, or one by a refused name. */
  private visitComputed(node: ts.ElementAccessExpression): void {
    const { argumentExpression: member } = node;
    const object = withoutCasts(node.expression);
    const isGlobal = ts.isIdentifier(object) && !this.isOwn(object);
    const isRefused = ts.isStringLiteralLike(member) && membersRefused.has(member.text);
    if (isGlobal || isRefused) this.found.push(`reads ${this.text(node)}`);
  }

  private isInstanceOf({ operatorToken }: ts.BinaryExpression): boolean {
    return operatorToken.kind === ts.SyntaxKind.InstanceOfKeyword;
  }

  private visitKept(statement: ts.VariableStatement): void {
    const { declarationList } = statement;
    if ((declarationList.flags & ts.NodeFlags.Const) === 0)
      this.found.push(`keeps ${this.text(declarationList)}`);
  }

  private visitCall(call: ts.CallExpression): void {
    const { expression } = call;
    if (!ts.isPropertyAccessExpression(expression)) return;
    const method = expression.name.text;
    const object = withoutCasts(expression.expression);
    if (ts.isIdentifier(object) && object.text === "Object" && !this.isOwn(object)) {
      const [changed] = call.arguments;
      if (objectChangers.has(method) && changed !== undefined && !this.isFresh(changed)) {
        this.found.push(`changes ${this.text(changed)}`);
      }
    } else if (changers.has(method) && !this.isFresh(object)) {
      this.found.push(`changes ${this.text(object)}`);
    }
  }

  /** A target of an assignment: a variable of the same function, or a member of something that was made in it. */
  private change(target: ts.Expression): void {
    const node = withoutCasts(target);
    if (ts.isArrayLiteralExpression(node) || ts.isObjectLiteralExpression(node)) {
      this.found.push(`changes ${this.text(node)}`);
    } else if (ts.isIdentifier(node)) {
      const declaration = this.symbolOf(node)?.valueDeclaration;
      const home = declaration && functionOf(declaration);
      if (home === undefined || home !== functionOf(node)) this.found.push(`changes ${node.text}`);
    } else if (ts.isPropertyAccessExpression(node) || ts.isElementAccessExpression(node)) {
      if (!this.isFresh(node.expression)) this.found.push(`changes ${this.text(node)}`);
    }
  }

  /** Whether a value was made by the function that uses it, and is nobody else's. `this` is the instance's own, within its class. */
  private isFresh(expression: ts.Expression): boolean {
    const node = withoutCasts(expression);
    if (ts.isArrayLiteralExpression(node) || ts.isObjectLiteralExpression(node)) return true;
    if (ts.isNewExpression(node)) return true;
    if (node.kind === ts.SyntaxKind.ThisKeyword) return this.isInstance(node);
    if (ts.isPropertyAccessExpression(node)) {
      return node.expression.kind === ts.SyntaxKind.ThisKeyword && this.isFresh(node.expression);
    }
    if (!ts.isIdentifier(node)) return false;
    const declaration = this.symbolOf(node)?.valueDeclaration;
    if (declaration === undefined || !ts.isVariableDeclaration(declaration)) return false;
    const { initializer } = declaration;
    const home = functionOf(declaration);
    const isLocal = home !== undefined && home === functionOf(node);
    return isLocal && initializer !== undefined && this.isFresh(initializer);
  }

  private isInstance(node: ts.Node): boolean {
    const home = functionOf(node);
    const isMethod =
      home !== undefined && (ts.isMethodDeclaration(home) || ts.isConstructorDeclaration(home));
    return isMethod && (ts.getCombinedModifierFlags(home) & ts.ModifierFlags.Static) === 0;
  }
}

/** What is impure about one file of the core, in words; empty where nothing is. Costs one run of the type checker. */
export function impurities(name: string, text: string): readonly string[] {
  const imports = ts
    .preProcessFile(text, true, true)
    .importedFiles.filter(({ fileName }) => !/^\.\/[a-z-]+\.ts$/.test(fileName))
    .map(({ fileName }) => `imports ${fileName}`);
  const path = `${folder}${name}`;
  const program = programOf(path, text);
  const file = program.getSourceFile(path);
  if (file === undefined) throw new Error(`the compiler does not know ${name}`);
  return [...imports, ...new Scan(file, program).run()];
}

/** The files of the core, by name. */
export function coreFiles(): ReadonlyMap<string, string> {
  const names = readdirSync(core).filter((name) => name.endsWith(".ts"));
  return new Map(names.sort().map((name) => [name, readFileSync(new URL(name, core), "utf8")]));
}
