/** The command line tool. The version is answered before anything else is loaded. */
import { readFileSync } from "node:fs";

function readVersion(): string {
  const about: unknown = JSON.parse(readFileSync(new URL("../../package.json", import.meta.url), "utf8"));
  return String((about as { version: unknown }).version);
}

const first = process.argv[2];
if (process.argv.length === 3 && (first === "--version" || first === "-V")) {
  process.stdout.on("error", (error: NodeJS.ErrnoException) => {
    if (error.code !== "EPIPE") throw error;
  });
  process.stdout.write(`${readVersion()}\n`);
} else {
  const { runProgram } = await import("./program.ts");
  process.exitCode = await runProgram(process.argv.slice(2), readVersion());
}
