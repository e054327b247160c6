// Builds the library and the command line tool into dist/ with plain tsc: compiled beside, then swapped in whole.
import { spawnSync } from "node:child_process";
import { chmodSync, renameSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import { buildSync } from "esbuild";

const require = createRequire(import.meta.url);
const made = `dist.${process.pid}.tmp`;
const old = `dist.${process.pid}.old.tmp`;
const tsc = require.resolve("typescript/bin/tsc");
const run = spawnSync(process.execPath, [tsc, "-p", "tsconfig.build.json", "--outDir", made], {
  stdio: "inherit",
});
if (run.status !== 0) {
  rmSync(made, { recursive: true, force: true });
  process.exit(run.status ?? 1);
}
// The page's script: the one bundle there is.
buildSync({
  entryPoints: ["src/web/page/main.ts"],
  outfile: `${made}/web/page.js`,
  bundle: true,
  minify: true,
  format: "esm",
  target: ["es2022", "safari16"],
  logLevel: "warning",
});
try {
  renameSync("dist", old);
} catch (error) {
  if (error.code !== "ENOENT") throw error;
}
renameSync(made, "dist");
rmSync(old, { recursive: true, force: true });
chmodSync("bin/hansard.js", 0o755);
