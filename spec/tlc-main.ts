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
import type { Universe } from "./universe.ts";
import { universeNamed, universes } from "./universe.ts";

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

interface Asked {
  readonly jars: readonly string[];
  readonly constants?: Universe;
  readonly trace?: string;
}

/** What the words ask for, or in a sentence why they cannot be done. */
function readWords(words: readonly string[]): Asked | "write" | string {
  const options = {
    jar: { type: "string" },
    community: { type: "string" },
    constants: { type: "string" },
    trace: { type: "string" },
    write: { type: "boolean" },
  } as const;
  let values: ReturnType<typeof parseArgs<{ options: typeof options }>>["values"];
  try {
    ({ values } = parseArgs({ args: [...words], options }));
  } catch (error) {
    // The first sentence says what is wrong; the others are of the parser's own ways to write it.
    return error instanceof Error ? (error.message.split(/[.\n]/, 1)[0] ?? "") : String(error);
  }
  const { jar, community, constants, trace, write } = values;
  if (write === true) return words.length === 1 ? "write" : "--write stands alone";
  if (jar === undefined) return "--jar <tla2tools.jar> is missing";
  if (trace !== undefined && constants !== undefined)
    return "a trace has its own constants: leave --constants";
  if (trace !== undefined && community === undefined)
    return "--trace needs --community <CommunityModules-deps.jar>";
  if (trace === undefined && community !== undefined) return "--community is only for --trace";
  const named = [jar, community, trace].filter((path) => path !== undefined);
  const missing = named.find((path) => !existsSync(path));
  if (missing !== undefined) return `there is no file ${JSON.stringify(missing)}`;
  const universe = universes.find(({ name }) => name === constants);
  if (constants !== undefined && universe === undefined) {
    const known = universes.map(({ name }) => name).join(", ");
    return `there is no set of constants ${JSON.stringify(constants)}; there are: ${known}`;
  }
  return {
    jars: [jar, community].filter((path) => path !== undefined).map((path) => resolve(path)),
    ...(universe === undefined ? {} : { constants: universe }),
    ...(trace === undefined ? {} : { trace: resolve(trace) }),
  };
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
