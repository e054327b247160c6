/**
 * `npm run spec:tlc -- --jar <tla2tools.jar>`: TLC over the committed configurations. `--constants <name>` checks another set's states,
 * `--trace <file>` a trace (with `--community <CommunityModules-deps.jar>`), `--write` writes the configuration files anew.
 */
import { spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { cfgFiles, formatCfg } from "./tlc.ts";
import { universeNamed } from "./universe.ts";

const folder = fileURLToPath(new URL(".", import.meta.url));
const usage =
  "npm run spec:tlc -- --jar <tla2tools.jar> [--constants <name>] [--trace <file> --community <jar>] | --write\n";

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
  const { values } = parseArgs({
    options: {
      jar: { type: "string" },
      community: { type: "string" },
      constants: { type: "string" },
      trace: { type: "string" },
      write: { type: "boolean", default: false },
    },
  });
  if (values.write) {
    for (const { name, universe, check } of cfgFiles) {
      writeFileSync(join(folder, `${name}.cfg`), formatCfg(universeNamed(universe), check));
    }
    return 0;
  }
  const jars = [values.jar, values.community].filter((jar) => jar !== undefined).map((jar) => resolve(jar));
  const missing = jars.find((jar) => !existsSync(jar));
  if (values.jar === undefined || missing !== undefined) {
    process.stderr.write(missing === undefined ? usage : `There is no file ${missing}\n${usage}`);
    return 2;
  }
  if (values.trace !== undefined) {
    const cfg = join(folder, "TraceTranscriptWindow.cfg");
    return runTlc(jars, "TraceTranscriptWindow", cfg, resolve(values.trace)) ? 0 : 1;
  }
  if (values.constants !== undefined) {
    const place = mkdtempSync(join(tmpdir(), "hansard-tlc-"));
    const cfg = join(place, "model.cfg");
    writeFileSync(cfg, formatCfg(universeNamed(values.constants), "safety"));
    const isGood = runTlc(jars, "MCTranscriptWindow", cfg);
    rmSync(place, { recursive: true, force: true });
    return isGood ? 0 : 1;
  }
  const results = cfgFiles.map(({ name }) => runTlc(jars, "MCTranscriptWindow", join(folder, `${name}.cfg`)));
  return results.every((isGood) => isGood) ? 0 : 1;
}

process.exitCode = main();
