// The golden scripts: what the window answers, word for word, and every law on every step. `REWRITE=1` writes what it answers now.
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { afterAll, describe, expect, test } from "vitest";
import { brokenLaws } from "../../spec/laws.ts";
import { parseScripts, playScript } from "../../spec/script.ts";
import { step } from "../../src/window/index.ts";

const folder = new URL("scripts/", import.meta.url);
const isRewriting = process.env["REWRITE"] === "1";
const names = new Set<string>();

for (const file of readdirSync(folder).sort()) {
  describe(file, () => {
    const text = readFileSync(new URL(file, folder), "utf8");
    const played: string[] = [];
    const expected = text.split(/^(?=## )/m).map((script) => script.trimEnd());
    for (const [index, script] of parseScripts(text).entries()) {
      test(script.name, () => {
        expect(names).not.toContain(script.name);
        names.add(script.name);
        const { text: answer, steps } = playScript(script, step);
        played.push(answer);
        expect(steps.length).toBeGreaterThan(0);
        for (const one of steps) expect(brokenLaws(one).map((law) => `${law.id} ${law.name}`)).toEqual([]);
        if (!isRewriting) expect(answer.trimEnd()).toBe(expected[index]);
      });
    }
    afterAll(() => {
      if (isRewriting) writeFileSync(new URL(file, folder), played.join("\n"));
    });
  });
}

describe("README.md", () => {
  const text = readFileSync(new URL("README.md", import.meta.url), "utf8");
  const written = new Set(
    readdirSync(folder).flatMap((file) =>
      parseScripts(readFileSync(new URL(file, folder), "utf8")).map(({ name }) => name),
    ),
  );
  const [, cases = "", points = ""] = text.split(/^## /m);
  const rowsOf = (part: string): readonly (readonly string[])[] =>
    [...part.matchAll(/^\| (.+?) \| (.+) \|$/gm)].slice(2).map(([, point = "", name = ""]) => [point, name]);

  test("names scripts that there are", () => {
    const names = [...rowsOf(cases), ...rowsOf(points)].map(([, name = ""]) => name);
    expect(names.filter((name) => !written.has(name))).toEqual([]);
    expect(rowsOf(points).length).toBeGreaterThan(10);
  });

  test("has every corner case but the one that no run can show", () => {
    const numbers = rowsOf(cases).map(([number]) => Number(number));
    expect(numbers).toEqual(Array.from({ length: 62 }, (_, index) => index + 1));
    expect(cases).toContain("Case 63 has no script");
  });
});
