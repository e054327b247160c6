/** Agents that speak the Agent Client Protocol, by the names that people call them: what is run, and how to get it where it is missing. */
import { delimiter, isAbsolute, join } from "node:path";
import { AgentError } from "./errors.ts";
import { wordCharsMax } from "./limits.ts";
import type { AgentCommand } from "./process.ts";

export interface KnownAgent {
  readonly name: string;
  readonly label: string;
  /** Commands that can drive it, the best first. */
  readonly commands: readonly (readonly [program: string, ...args: string[]])[];
  /** How to get the first of them. */
  readonly next: string;
}

export const knownAgents: readonly KnownAgent[] = [
  {
    name: "claude",
    label: "Claude Code",
    commands: [["claude-agent-acp"], ["claude-code-acp"]],
    next: "Claude Code is driven by an adapter: npm install -g @agentclientprotocol/claude-agent-acp",
  },
  {
    name: "codex",
    label: "Codex",
    commands: [["codex-acp"]],
    next: "Codex is driven by an adapter: npm install -g @zed-industries/codex-acp",
  },
  {
    name: "gemini",
    label: "Gemini CLI",
    commands: [["gemini", "--acp"]],
    next: "npm install -g @google/gemini-cli",
  },
  {
    name: "opencode",
    label: "OpenCode",
    commands: [["opencode", "acp"]],
    next: "npm install -g opencode-ai",
  },
  {
    name: "pi",
    label: "pi",
    commands: [["pi-acp"]],
    next: "pi is driven by an adapter: npm install -g pi-acp",
  },
  {
    name: "copilot",
    label: "GitHub Copilot CLI",
    commands: [["copilot", "--acp"]],
    next: "npm install -g @github/copilot",
  },
  {
    name: "qwen",
    label: "Qwen Code",
    commands: [["qwen", "--acp"]],
    next: "npm install -g @qwen-code/qwen-code",
  },
  {
    name: "goose",
    label: "Goose",
    commands: [["goose", "acp"]],
    next: "See the installation page of Goose; its command must be on PATH.",
  },
  {
    name: "kimi",
    label: "Kimi CLI",
    commands: [["kimi", "acp"]],
    next: "uv tool install kimi-cli",
  },
  {
    name: "cursor",
    label: "Cursor CLI",
    commands: [["cursor-agent", "acp"]],
    next: "See the installation page of the Cursor CLI; its command must be on PATH.",
  },
];

/** What looking for a command needs. */
export interface CommandSurroundings {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly platform: string;
  /** Whether a path is a file that may be run. */
  readonly isProgram: (path: string) => Promise<boolean>;
}

/** The path of a command on PATH; absent where it is on none of its folders. A path is looked at as it is. */
export async function findProgram(program: string, around: CommandSurroundings): Promise<string | undefined> {
  const isWindows = around.platform === "win32";
  const names = isWindows
    ? [program, ...(around.env["PATHEXT"] ?? ".EXE;.CMD;.BAT").split(";").map((end) => program + end)]
    : [program];
  const isPath = isAbsolute(program) || program.includes("/") || (isWindows && program.includes("\\"));
  const folders = isPath
    ? [""]
    : (around.env["PATH"] ?? "").split(delimiter).filter((folder) => folder !== "");
  for (const folder of folders) {
    for (const name of names) {
      const path = folder === "" ? name : join(folder, name);
      if (await around.isProgram(path)) return path;
    }
  }
  return undefined;
}

export function isKnownAgent(name: string): boolean {
  return knownAgents.some((agent) => agent.name === name);
}

/**
 * The command that drives a known agent, found on PATH. Throws `agent-missing` where none is there, with how to get it, and for a name
 * that is not known, with the names that are.
 */
export async function findKnownAgent(
  name: string,
  around: CommandSurroundings,
): Promise<{ readonly agent: KnownAgent; readonly command: AgentCommand }> {
  const agent = knownAgents.find((known) => known.name === name);
  if (agent === undefined) {
    const names = knownAgents.map((known) => known.name).join(", ");
    throw new AgentError(
      "agent-missing",
      `there is no agent called ${JSON.stringify(name.slice(0, wordCharsMax))}`,
      { next: `Known are ${names}. Any other is given by its command: hansard run -- <command>` },
    );
  }
  for (const [program, ...args] of agent.commands) {
    const path = await findProgram(program, around);
    if (path !== undefined) return { agent, command: { program: path, args } };
  }
  const tried = agent.commands.map(([program]) => program).join(" or ");
  throw new AgentError("agent-missing", `${agent.label} needs the command ${tried}, which is not on PATH`, {
    next: agent.next,
  });
}
