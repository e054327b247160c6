/** `node main.js [scenario.json]`: the scripted agent as a process of its own. Without a scenario it is the one of the demo. */
import { readFileSync } from "node:fs";
import { runFake } from "./agent.ts";
import { demoScenario } from "./demo.ts";
import type { Scenario } from "./scenario.ts";

const [path] = process.argv.slice(2);
const scenario = path === undefined ? demoScenario : (JSON.parse(readFileSync(path, "utf8")) as Scenario);
if (scenario.onClose === "stay") {
  process.on("SIGTERM", () => undefined);
  setInterval(() => undefined, 60_000);
}
await runFake(scenario, {
  stdin: process.stdin,
  stdout: process.stdout,
  stderr: process.stderr,
  exit: (code) => process.exit(code),
  after: (ms, run) => setTimeout(run, ms),
});
if (scenario.onClose !== "stay") process.exit(0);
