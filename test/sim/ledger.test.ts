/** The ledger of the simulation can tell what is lost and what is wrong: what it finds nothing in would otherwise prove nothing. */
import { expect, test } from "vitest";
import { Ledger, readBack, specOf, textOf } from "../../sim/ledger.ts";
import type { LogRecord } from "../../src/log/index.ts";

function ledger(): Ledger {
  const made = new Ledger();
  for (const name of ["a", "b", "c", "d"]) made.send(name);
  made.acknowledge("a", "saved");
  made.acknowledge("b", "written");
  return made;
}
const right = (...names: string[]): { name: string; isRight: boolean }[] =>
  names.map((name) => ({ name, isRight: true }));

test.each([
  [right("a", "b"), "written", [], []],
  [right("a", "b", "d"), "written", [], []],
  [right("a"), "written", ["b"], []],
  [right("a"), "saved", [], []],
  [right("b"), "saved", ["a"], []],
  [right("b", "a"), "written", [], ["a"]],
  [right("a", "a", "b"), "written", [], ["a"]],
  [right("a", "b", "x"), "written", [], ["x"]],
  [[...right("a"), { name: "b", isRight: false }], "written", [], ["b"]],
] as const)("%j, least %s", (found, least, lost, wrong) => {
  expect(ledger().judge(found, least)).toEqual({ lost, wrong });
});

test("a record's text follows from its name alone, and a changed one is told", () => {
  const { payload } = specOf("r7") as { readonly payload: { readonly text: string } };
  expect(payload.text).toBe(textOf("r7"));
  const record = { kind: "message", turnId: "r7", payload } as unknown as LogRecord;
  expect(readBack(record)).toEqual({ name: "r7", isRight: true });
  const changed = { ...record, payload: { text: `${payload.text}x` } } as LogRecord;
  expect(readBack(changed)).toEqual({ name: "r7", isRight: false });
});

test("what was not acknowledged may be gone once the log was opened for writing, and then must not come back", () => {
  const made = ledger();
  made.settle(right("a", "b", "c"));
  expect(made.judge(right("a", "b"), "saved").lost).toEqual(["c"]);
  expect(made.judge(right("a", "b", "c", "d"), "saved").wrong).toEqual(["d"]);
});
