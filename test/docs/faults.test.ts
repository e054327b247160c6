/** docs/faults.md and the tests say the same: a fix that loses its test is seen. */
import { readFileSync } from "node:fs";
import { expect, test } from "vitest";

interface Row {
  readonly fault: string;
  readonly names: readonly string[];
  readonly file: string;
}

function rowsOf(text: string): readonly Row[] {
  return text
    .split("\n")
    .filter((line) => line.startsWith("| ") && !line.startsWith("| fault") && !line.startsWith("| ---"))
    .map((line) => line.split("|").map((cell) => cell.trim()))
    .filter((cells) => cells.length === 5)
    .map(([, fault = "", , file = ""]) => ({ fault, names: fault.match(/[\w.-]+#\d+/g) ?? [], file }));
}

const rows = rowsOf(readFileSync("docs/faults.md", "utf8"));

test("there are rows to look at", () => expect(rows.length).toBeGreaterThan(90));

test.each(rows)("$fault", ({ names, file }) => {
  const tests = readFileSync(`test/${file}.test.ts`, "utf8");
  expect(names).not.toEqual([]);
  const isNamed = (name: string): boolean => new RegExp(`${name.replace(".", "\\.")}\\b`).test(tests);
  expect(names.filter((name) => !isNamed(name))).toEqual([]);
});
