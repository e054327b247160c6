// npm run check: types, lint, format, promise rules, import boundaries, dead code. Every step runs; one failure fails the whole.
import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { createRequire } from "node:module";

const require = createRequire(import.meta.url);
const node = process.execPath;
const tsc = require.resolve("typescript/bin/tsc");
const modulesMin = 40; // dependency-cruiser can cruise nothing and pass; this many modules must be seen

const pures = ["window", "transcript", "continuity", "follow"].filter((f) =>
  existsSync(`src/${f}/tsconfig.json`),
);
const steps = [
  ["types", [tsc, "-p", "tsconfig.json"]],
  ["declarations", [tsc, "-p", "tsconfig.build.json", "--noEmit"]],
  ...pures.map((f) => [`types of ${f} (no Node, no DOM)`, [tsc, "-p", `src/${f}/tsconfig.json`]]),
  ["types of the page", [tsc, "-p", "src/web/page/tsconfig.json"]],
  ["lint and format", ["node_modules/@biomejs/biome/bin/biome", "check", "--error-on-warnings", "."]],
  ["promises", ["node_modules/eslint/bin/eslint.js", "src"]],
  ["dead code", ["node_modules/knip/bin/knip.js", "--no-progress"]],
];
let failed = 0;
function report(name, ok, output) {
  process.stdout.write(`${ok ? "ok  " : "FAIL"} ${name}\n`);
  if (!ok) {
    failed += 1;
    process.stdout.write(`${output}\n`);
  }
}
for (const [name, args] of steps) {
  const run = spawnSync(node, args, { encoding: "utf8", maxBuffer: 1 << 26 });
  report(name, run.status === 0, `${run.stdout}${run.stderr}`);
}
const cruise = spawnSync(
  node,
  [
    "node_modules/dependency-cruiser/bin/dependency-cruise.mjs",
    "--config",
    ".dependency-cruiser.cjs",
    "--output-type",
    "json",
    "src",
  ],
  { encoding: "utf8", maxBuffer: 1 << 28 },
);
let boundaries = "";
try {
  const { summary, modules } = JSON.parse(cruise.stdout);
  const ours = modules.filter((m) => m.source.startsWith("src/"));
  if (ours.length < modulesMin)
    boundaries = `saw only ${ours.length} modules, expected at least ${modulesMin}`;
  for (const v of summary.violations) boundaries += `${v.rule.name}: ${v.from} -> ${v.to}\n`;
  report(`import boundaries (${ours.length} modules)`, boundaries === "", boundaries);
} catch (error) {
  report("import boundaries", false, `${cruise.stderr}${cruise.stdout.slice(0, 2000)}\n${error}`);
}
process.exit(failed === 0 ? 0 : 1);
