/** How the scripted agent is started. */
import { fileURLToPath } from "node:url";
import type { AgentCommand } from "../process.ts";

/** The command of the scripted agent of the demo, or of one with a scenario's file. `node` is the running Node's path. */
export function demoAgent(node: string, scenario?: string): AgentCommand {
  // Beside this file, whether it was compiled or is run as it is.
  const main = fileURLToPath(
    new URL(import.meta.url.endsWith(".ts") ? "./main.ts" : "./main.js", import.meta.url),
  );
  return { program: node, args: [main, ...(scenario === undefined ? [] : [scenario])] };
}
