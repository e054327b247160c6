/** `hansard run`: an agent in the terminal, every turn of it in a log of ours. */
import { knownAgents } from "../agent/index.ts";
import { type ChosenAgent, commandAgent, drive, knownAgent, withAgentErrors } from "./drive.ts";
import { CommandError } from "./errors.ts";
import { type ExitCode, exitCodes } from "./exit.ts";
import type { Io } from "./io.ts";

export interface RunOptions {
  /** False for `--no-save`. */
  readonly save?: boolean;
  readonly cwd?: string;
  readonly resize?: "adopt" | "reprint";
}

/** Words before and after `--`. */
export interface AgentWords {
  readonly names: readonly string[];
  readonly command: readonly string[] | undefined;
}

/** The agent that the words of a command line mean: a known one by its name, or any by its command behind `--`. */
export async function chooseAgent(
  io: Io,
  { names, command }: AgentWords,
  cwd?: string,
): Promise<ChosenAgent> {
  const [name, ...others] = names;
  if (others.length > 0)
    throw new CommandError(exitCodes.usage, "One agent is named at a time.", [
      "The command of an agent stands behind two dashes: hansard run -- <command> <arguments>",
    ]);
  if (name !== undefined) return await knownAgent(io, name, command);
  if (command === undefined || command.length === 0)
    throw new CommandError(exitCodes.usage, "Which agent?", [
      `Name one (${knownAgents.map((agent) => agent.name).join(", ")}), or give a command: hansard run -- <command>`,
    ]);
  return await commandAgent(io, command, cwd);
}

export async function runRun(
  io: Io,
  version: string,
  words: AgentWords,
  options: RunOptions,
): Promise<ExitCode> {
  return await withAgentErrors(async () =>
    drive(io, {
      agent: await chooseAgent(io, words, options.cwd),
      version,
      isSaved: options.save !== false,
      ...(options.cwd === undefined ? {} : { cwd: options.cwd }),
      ...(options.resize === undefined ? {} : { resize: options.resize }),
    }),
  );
}
