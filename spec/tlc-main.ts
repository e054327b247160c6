/**
 * `npm run spec:tlc -- --jar <tla2tools.jar>`: TLC over the committed configurations. `--constants <name>` checks another set's states,
 * `--trace <file>` a trace (with `--community <CommunityModules-deps.jar>`), `--write` writes the configuration files anew.
 */
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { fileURLToPath } from "node:url";
import { cfgFiles, formatCfg } from "./tlc.ts";
import { readWords, usage } from "./tlc-words.ts";
import { universeNamed } from "./universe.ts";

const folder = fileURLToPath(new URL(".", import.meta.url));

function runTlc(classPath: readonly string[], module: string, cfg: string, trace?: string): boolean {
  const states = mkdtempSync(join(tmpdir(), "hansard-tlc-"));
  const args = ["-XX:+UseParallelGC", "-cp", classPath.join(delimiter), "tlc2.TLC"];
  const run = spawnSync(
    "java",
    [...args, "-workers", "auto", "-metadir", states, "-config", cfg, join(folder, `${module}.tla`)],
    {
      cwd: folder,
      stdio: "inherit",
      env: { ...process.env, ...(trace === undefined ? {} : { TRACE: trace }) },
    },
  );
  rmSync(states, { recursive: true, force: true });
  if (run.error !== undefined) process.stderr.write(`java does not start: ${run.error.message}\n`);
  return run.status === 0;
}

function main(): number {
  const asked = readWords(process.argv.slice(2));
  if (asked === "write") {
    for (const { name, universe, check } of cfgFiles) {
      writeFileSync(join(folder, `${name}.cfg`), formatCfg(universeNamed(universe), check));
    }
    return 0;
  }
  if (typeof asked === "string") {
    process.stderr.write(`${asked}\n${usage}`);
    return 2;
  }
  const { jars, trace, constants } = asked;
  if (trace !== undefined) {
    const cfg = join(folder, "TraceTranscriptWindow.cfg");
    return runTlc(jars, "TraceTranscriptWindow", cfg, trace) ? 0 : 1;
  }
  if (constants !== undefined) {
    const place = mkdtempSync(join(tmpdir(), "hansard-tlc-"));
    const cfg = join(place, "model.cfg");
    writeFileSync(cfg, formatCfg(constants, "safety"));
    const isGood = runTlc(jars, "MCTranscriptWindow", cfg);
    rmSync(place, { recursive: true, force: true });
    return isGood ? 0 : 1;
  }
  const results = cfgFiles.map(({ name }) => runTlc(jars, "MCTranscriptWindow", join(folder, `${name}.cfg`)));
  return results.every((isGood) => isGood) ? 0 : 1;
}

process.exitCode = main();
