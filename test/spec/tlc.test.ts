// `npm run spec:tlc`: words that cannot be done are told in a sentence, before anything runs.
import { spawnSync } from "node:child_process";
import { expect, test } from "vitest";
import { readWords, usage } from "../../spec/tlc-words.ts";

const some = "package.json";

test.each<readonly [readonly string[], RegExp]>([
  [[], /^--jar <tla2tools.jar> is missing\n/],
  [["--jar"], /^Option '--jar <value>' argument missing\n/],
  [["--jar", some, "--nothing"], /^Unknown option '--nothing'\n/],
  [["--jar", some, "more"], /^Unexpected argument 'more'/],
  [["--jar", "no.jar"], /^there is no file "no.jar"\n/],
  [["--jar", some, "--constants", "none"], /^there is no set of constants "none"; there are: tiny, /],
  [["--jar", some, "--trace", some], /^--trace needs --community <CommunityModules-deps.jar>\n/],
  [["--jar", some, "--community", some], /^--community is only for --trace\n/],
  [["--jar", some, "--community", some, "--trace", "no.ndjson"], /^there is no file "no.ndjson"\n/],
  [["--jar", some, "--community", some, "--trace", some, "--constants", "tiny"], /^a trace has its own/],
  [["--write", "--jar", some], /^--write stands alone\n/],
])("%j", (words, sentence) => {
  expect(`${String(readWords(words))}\n`).toMatch(sentence);
});

test("what cannot be done is told with the usage, and 2", () => {
  const args = ["--import", "./scripts/ts-hook.js", "spec/tlc-main.ts", "--jar", "no.jar"];
  const { status, stderr } = spawnSync(process.execPath, args, { encoding: "utf8" });
  expect(stderr).toBe(`there is no file "no.jar"\n${usage}`);
  expect(status).toBe(2);
});

test("what can be done is read", () => {
  expect(readWords(["--write"])).toBe("write");
  expect(readWords(["--jar", some, "--constants", "tiny"])).toMatchObject({
    jars: [expect.stringMatching(/package\.json$/)],
    constants: { name: "tiny" },
  });
});
