/** The command line tool. The version alone is answered by `bin/hansard.js`, before anything else is loaded. */
import { readFileSync } from "node:fs";
import { isHungUp } from "./hang-up.ts";
import { runProgram } from "./program.ts";

function readVersion(): string {
  const about: unknown = JSON.parse(readFileSync(new URL("../../package.json", import.meta.url), "utf8"));
  return String((about as { version: unknown }).version);
}

process.exitCode = await runProgram(process.argv.slice(2), readVersion());
// Many versions of Node abort at an ordinary exit without their terminal (nodejs/node#58200); ended by the signal they do not.
if (process.exitCode === 129 && isHungUp()) process.kill(process.pid, "SIGHUP");
