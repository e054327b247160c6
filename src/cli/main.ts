/** The command line tool. The version is answered before anything else is loaded. */
import { readFileSync } from "node:fs";
import { isatty } from "node:tty";

function readVersion(): string {
  const about: unknown = JSON.parse(readFileSync(new URL("../../package.json", import.meta.url), "utf8"));
  return String((about as { version: unknown }).version);
}

/** Whether the terminal that the program was started in is no more. */
function isHungUp(): boolean {
  return [process.stdin, process.stdout, process.stderr].some(({ isTTY, fd }) => isTTY && !isatty(fd));
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
  // Many versions of Node abort at an ordinary exit without their terminal (nodejs/node#58200); ended by the signal they do not.
  if (process.exitCode === 129 && isHungUp()) process.kill(process.pid, "SIGHUP");
}
