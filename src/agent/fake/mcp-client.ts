/** As much of an MCP client as the scripted agent needs: starts a server over stdio, and calls one tool of it. */
import { spawn } from "node:child_process";
import { fieldsOf, listOf } from "../input.ts";
import { readWire } from "../wire.ts";

export interface ToolResult {
  readonly isError: boolean;
  readonly text: string;
}

/** Calls a tool of the server that a client named, as an agent would; the server is started for it and ended. */
export async function callTool(server: unknown, name: string, input: unknown): Promise<ToolResult> {
  const spec = fieldsOf(server);
  if (spec === undefined) return { isError: true, text: "no MCP server was offered" };
  const named = listOf(spec["env"]).map((each) => fieldsOf(each));
  const env = Object.fromEntries(named.map((each) => [String(each?.["name"]), String(each?.["value"])]));
  const child = spawn(String(spec["command"]), listOf(spec["args"]).map(String), {
    env: { ...process.env, ...env },
    stdio: ["pipe", "pipe", "inherit"],
  });
  const send = (message: unknown): void => void child.stdin.write(`${JSON.stringify(message)}\n`);
  send({
    jsonrpc: "2.0",
    id: 1,
    method: "initialize",
    params: {
      protocolVersion: "2025-06-18",
      capabilities: {},
      clientInfo: { name: "fake", version: "1.0.0" },
    },
  });
  try {
    for await (const item of readWire(child.stdout)) {
      if (item.type !== "message") continue;
      if (item.value["id"] === 1) {
        send({ jsonrpc: "2.0", method: "notifications/initialized" });
        send({ jsonrpc: "2.0", id: 2, method: "tools/call", params: { name, arguments: input } });
      } else if (item.value["id"] === 2) return resultOf(item.value["result"] ?? item.value["error"]);
    }
    return { isError: true, text: "the MCP server ended" };
  } finally {
    child.stdin.end();
  }
}

function resultOf(value: unknown): ToolResult {
  const result = fieldsOf(value);
  const text = listOf(result?.["content"])
    .map((block) => fieldsOf(block)?.["text"])
    .filter((part) => typeof part === "string")
    .join("\n");
  return { isError: result?.["isError"] === true || result?.["content"] === undefined, text };
}
