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
