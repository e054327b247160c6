// `npm run spec:tlc`: words that cannot be done are told in a sentence, before anything runs.
import { spawnSync } from "node:child_process";
import { expect, test } from "vitest";

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
  const args = ["--import", "./scripts/ts-hook.js", "spec/tlc-main.ts", ...words];
  const { status, stderr } = spawnSync(process.execPath, args, { encoding: "utf8" });
  expect(stderr).toMatch(sentence);
  expect(stderr).toMatch(/\nnpm run spec:tlc -- --jar <tla2tools.jar>.*\n$/);
  expect(status).toBe(2);
});
