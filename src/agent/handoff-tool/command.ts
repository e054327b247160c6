/** How the handoff tool is started. */
import { fileURLToPath } from "node:url";
import type { AgentCommand } from "../process.ts";

/** The command of the MCP server with the handoff tool. `node` is the running Node's path. */
export function handoffTool(node: string): AgentCommand {
  // Beside this file, whether it was compiled or is run as it is.
  const main = fileURLToPath(
    new URL(import.meta.url.endsWith(".ts") ? "./main.ts" : "./main.js", import.meta.url),
  );
  return { program: node, args: [main] };
}
