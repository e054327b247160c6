// L17: the core imports nothing from outside, reads no clock, environment or global, changes no argument, and answers alike twice.
import { readdirSync, readFileSync } from "node:fs";
import fc from "fast-check";
import ts from "typescript";
import { describe, expect, test } from "vitest";
import type { WindowState } from "../../src/window/index.ts";
import * as door from "../../src/window/index.ts";
import { step } from "../../src/window/index.ts";
import { runs, stepsOf } from "./random-runs.ts";

const folder = new URL("../../src/window/", import.meta.url);
const files = readdirSync(folder).filter((name) => name.endsWith(".ts"));
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

function parse(name: string): ts.SourceFile {
  const text = readFileSync(new URL(name, folder), "utf8");
  return ts.createSourceFile(name, text, ts.ScriptTarget.ES2023, true);
}

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

describe("L17 PureCore", () => {
  test("there are files to look at", () => expect(files.length).toBeGreaterThan(4));

  test.each(files)("%s imports only its neighbours", (name) => {
    for (const { fileName } of ts.preProcessFile(parse(name).text, true, true).importedFiles) {
      expect(fileName).toMatch(/^\.\/[a-z-]+\.ts$/);
    }
  });

  test.each(files)("%s reads no global but values of the language", (name) => {
    const foreign = [...freeNames(parse(name))].filter((free) => !globalsAllowed.has(free));
    expect(foreign).toEqual([]);
  });

  test.each(files)("%s keeps no state of its own, and draws no lots", (name) => {
    const file = parse(name);
    for (const statement of file.statements) {
      if (ts.isVariableStatement(statement)) {
        expect(statement.declarationList.flags & ts.NodeFlags.Const).not.toBe(0);
      }
    }
    expect(file.text).not.toMatch(/Math\.random|globalThis|\bimport\(|\beval\b|\bFunction\(/);
  });

  test("the looking finds what it looks for", () => {
    const file = ts.createSourceFile(
      "x.ts",
      "const a = Date.now(); export function f(p: URL) { return { b: a, c: process.env, d: p.e }; }",
      ts.ScriptTarget.ES2023,
      true,
    );
    expect([...freeNames(file)].sort()).toEqual(["Date", "process"]);
  });

  test("a step changes neither its state nor its event, and answers alike twice", () => {
    fc.assert(
      fc.property(runs, (run) => {
        const twice = (state: WindowState, event: door.WindowEvent): door.StepResult => {
          deepFreeze(state);
          deepFreeze(event);
          const result = step(state, event);
          expect(step(state, event)).toEqual(result);
          return result;
        };
        for (const { result } of stepsOf(run, twice)) {
          if (result.rejected !== undefined) expect(result.effects).toEqual([]);
        }
      }),
      { numRuns: 60 },
    );
  });

  test("a rejected step gives back the very state it was given", () => {
    fc.assert(
      fc.property(runs, (run) => {
        const same = (state: WindowState, event: door.WindowEvent): door.StepResult => {
          const result = step(state, event);
          if (result.rejected !== undefined) expect(result.state).toBe(state);
          return result;
        };
        for (const one of stepsOf(run, same)) expect(one.result.state.config).toBe(run.config);
      }),
      { numRuns: 60 },
    );
  });

  test("what a step makes does not grow with the session", () => {
    const state = door.createWindow(
      { window: 64, step: 32, slice: 16, maxLive: 8, followWhileOpen: true, jump: true },
      "saved",
    );
    let young = state;
    for (let i = 0; i < 10; i += 1) young = step(young, { type: "block_finished", id: i }).state;
    let old = young;
    for (let i = 0; i < 10_000; i += 1) old = step(old, { type: "block_finished", id: i }).state;
    expect(Object.keys(old)).toEqual(Object.keys(young));
    expect(JSON.stringify(old).length - JSON.stringify(young).length).toBeLessThan(20);
  });
});

function deepFreeze(value: unknown): void {
  if (typeof value !== "object" || value === null || Object.isFrozen(value)) return;
  Object.freeze(value);
  for (const inner of Object.values(value)) deepFreeze(inner);
}
