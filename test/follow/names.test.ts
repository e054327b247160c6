/** The table of README.md and the tests of this folder name the same cases. */
import { readdirSync, readFileSync } from "node:fs";
import { expect, it } from "vitest";

const here = new URL("./", import.meta.url);
const read = (name: string): string => readFileSync(new URL(name, here), "utf8");

it("every case of the table is a test of that name in that file", () => {
  const rows = [...read("README.md").matchAll(/^\| `([^`]+)` \| `([^`]+)` \|/gm)];
  expect(rows.length).toBe(62);
  // A name with rows of its own is that of a table of tests.
  const missing = rows.filter(([, name, file]) => {
    const text = read(file ?? "");
    return !text.includes(`it("${name}"`) && !text.includes(`])("${name}: `);
  });
  expect(missing.map(([, name]) => name)).toEqual([]);
});

it("every test with a name of the reference's form is in the table", () => {
  const table = read("README.md");
  const names = readdirSync(here)
    .filter((file) => file.endsWith(".test.ts"))
    .flatMap((file) =>
      [...read(file).matchAll(/^it\("([a-z0-9]+(?:_[a-z0-9]+){2,})"/gm)].map(([, name]) => name),
    );
  expect(names.filter((name) => !table.includes(`\`${name}\``))).toEqual([]);
});
