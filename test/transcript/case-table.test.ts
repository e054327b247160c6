/** The table of test/README.md names tests that are there. */
import { readFileSync } from "node:fs";
import { expect, test } from "vitest";

const folder = new URL("../", import.meta.url);
const rows = readFileSync(new URL("README.md", folder), "utf8")
  .split("\n")
  .filter((line) => line.startsWith("| ") && line.includes(".test.ts"))
  .map((line) =>
    line
      .slice(2, -2)
      .split(" | ")
      .map((cell) => cell.trim()),
  );

/** Whether the file has a test, or a row of a table of tests, of that title. */
function hasTitle(file: string, title: string): boolean {
  const source = readFileSync(new URL(file, folder), "utf8");
  return ['"', "'", "`"].some((quote) => source.includes(`${quote}${title}${quote},`));
}

test("every case of the table has a test of that name", () => {
  expect(rows.length).toBeGreaterThan(120);
  const missing = rows.filter(([, file = "", title = ""]) => !hasTitle(file, title));
  expect(missing.map(([name, file, title]) => `${name}: ${file} › ${title}`)).toEqual([]);
});

test("no case is named twice", () => {
  const names = rows.map(([name]) => name);
  expect(names.filter((name, at) => names.indexOf(name) !== at)).toEqual([]);
});
