// Tests that run the command line tool use the build; it is made once, before the first test. `HANSARD_TEST_BUILT=1` says that it
// is there already.
import { spawnSync } from "node:child_process";

export function setup(): void {
  if (process.env["HANSARD_TEST_BUILT"] === "1") return;
  const run = spawnSync(process.execPath, ["scripts/build.js"], { encoding: "utf8" });
  if (run.status !== 0) throw new Error(`build failed:\n${run.stdout}${run.stderr}`);
}
