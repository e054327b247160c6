// L17: the core imports nothing from outside, reads no clock, environment or global, changes no argument, and answers alike twice.
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { coreFiles, impurities } from "../../spec/purity.ts";
import type { WindowState } from "../../src/window/index.ts";
import * as door from "../../src/window/index.ts";
import { step } from "../../src/window/index.ts";
import { runs, stepsOf } from "./random-runs.ts";

const files = [...coreFiles()];

describe("L17 PureCore", () => {
  test("there are files to look at", () => expect(files.length).toBeGreaterThan(4));

  test.each(files)("%s is pure", (name, text) => expect(impurities(name, text)).toEqual([]));

  test.each([
    ['import { readFileSync } from "node:fs";', "imports node:fs"],
    ['import { lines } from "../lines/index.ts";', "imports ../lines/index.ts"],
    ['import type { URL } from "url";', "imports url"],
    ["export const at = Date.now();", "reads Date"],
    ["export const at = () => performance.now();", "reads performance"],
    ["export const home = { a: process.env.HOME, b: 1 };", "reads process"],
    ["export const all = globalThis;", "reads globalThis"],
    ["console.log(1);", "reads console"],
    ["let calls = 0; export const count = () => (calls += 1);", "keeps let calls = 0"],
    ["export const lot = Math.random();", "reads Math.random"],
    ['export const lot = () => Math["random"]();', 'reads Math["random"]'],
    ["const { random } = Math; export const lot = () => random();", "hands on Math"],
    ["const m = Math; export const lot = () => m.random();", "hands on Math"],
    ['export const run = () => (() => 1).constructor("return Date")();', "reads (() => 1).constructor"],
    ["export const a = (Date) => Date; export const at = () => Date.now();", "reads Date"],
    ["const kept = []; export const f = (n) => kept.push(n);", "changes kept"],
    ["const kept = new Map(); export const f = (n) => kept.set(n, n);", "changes kept"],
    ["const kept = { n: 0 }; export const f = () => { kept.n += 1; };", "changes kept.n"],
    ["const kept = { n: 0 }; export const f = () => kept.n++;", "changes kept.n"],
    ["const kept = [0]; export const f = () => { kept[0] = 1; };", "changes kept[0]"],
    ["const kept = { n: 0 }; export const f = () => delete kept.n;", "changes kept.n"],
    ["const kept = []; export const f = () => { const k = kept; k.push(1); };", "changes k"],
    ["export class A { static calls = 0; }", "keeps calls"],
    ["export function f() { f.calls = 1; }", "changes f.calls"],
    ["export const f = (s) => { s.live = []; };", "changes s.live"],
    ["export const f = (s) => { s.live.push(1); };", "changes s.live"],
    ["export const f = ({ live }) => live.sort();", "changes live"],
    ["export const f = () => { let n = 0; return () => { n += 1; return n; }; };", "changes n"],
    ["export const f = (s) => Object.assign(s, { a: 1 });", "changes s"],
    ["export const f = () => Object.assign(Object.prototype, { a: 1 });", "reads Object.prototype"],
    ["export const run = (p) => eval(p.code);", "reads eval"],
  ])("%j is not", (text, impurity) => expect(impurities("x.ts", text)).toContain(impurity));

  test("members, labels and types by the names of globals are pure", () => {
    const text = "export function f(p: URL) { const { process: q } = p; return { Date: q.performance }; }";
    expect(impurities("x.ts", text)).toEqual([]);
  });

  test("what a function made itself is its own to change", () => {
    const text =
      "export function f(p) { let n = 0; const a = [...p]; a.push(1); a[0] = 2; n += 1; return [...a].sort(); }";
    expect(impurities("x.ts", text)).toEqual([]);
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
