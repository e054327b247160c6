/**
 * Golden scripts: named runs of the window in the text notation, played against a step function. What the explorer prints for a broken
 * law is such a script, so that it can be pasted as a test.
 */
import type { WindowConfig, WindowState } from "../src/window/index.ts";
import {
  abstract,
  createWindow,
  formatConfig,
  formatEffect,
  formatState,
  parseConfig,
  parseEvent,
  parseState,
} from "../src/window/index.ts";
import type { StepFunction } from "./explore.ts";
import type { Step } from "./world.ts";
import { advance, worldAt } from "./world.ts";

/** One script: the lines that are written by hand. What the window answers is left out. */
export interface Script {
  readonly name: string;
  readonly lines: readonly string[];
}

/** The scripts of a file. Each begins with `## ` and its name. Throws a SyntaxError on text before the first one. */
export function parseScripts(text: string): readonly Script[] {
  const scripts: { name: string; lines: string[] }[] = [];
  for (const line of text.split("\n")) {
    const last = scripts.at(-1);
    if (line.startsWith("## ")) scripts.push({ name: line.slice(3), lines: [] });
    else if (line !== "" && last === undefined) throw new SyntaxError(`script: text before a name: ${line}`);
    else if (/^(?:# |> |config )/.test(line)) last?.lines.push(line);
    else if (/^(?:un)?saved\b/.test(line) && !last?.lines.some(isStart)) last?.lines.push(line);
  }
  return scripts;
}

function isStart(line: string): boolean {
  return /^(?:un)?saved\b/.test(line);
}

function start(line: string, config: WindowConfig): WindowState {
  if (line === "saved" || line === "unsaved") return createWindow(config, line);
  return parseState(line, config);
}

/** A script as it went: its text with the answers of the window, and its steps as the laws see them. */
export interface Played {
  readonly text: string;
  readonly steps: readonly Step[];
}

/** Plays a script. Throws a SyntaxError where it has an event before its configuration and start. */
export function playScript(script: Script, step: StepFunction): Played {
  const text = [`## ${script.name}`];
  const steps: Step[] = [];
  let config: WindowConfig | undefined;
  let state: WindowState | undefined;
  let world = undefined as ReturnType<typeof worldAt> | undefined;
  for (const line of script.lines) {
    text.push(line);
    if (line.startsWith("config ")) config = parseConfig(line.slice("config ".length));
    else if (config !== undefined && isStart(line)) {
      state = start(line, config);
      world = worldAt(config, abstract(state));
    } else if (line.startsWith("> ")) {
      if (state === undefined || world === undefined)
        throw new SyntaxError(`script: nothing to step: ${line}`);
      const event = parseEvent(line.slice(2));
      const result = step(state, event);
      const after = advance(world, event, result);
      steps.push({ before: world, event, result, after });
      if (result.rejected !== undefined) text.push(`rejected: ${result.rejected}`);
      else text.push(...result.effects.map(formatEffect), formatState(result.state));
      state = result.state;
      world = after;
    }
  }
  return { text: `${text.join("\n")}\n`, steps };
}

/** The text of a run that has no answers yet. */
export function formatScript(
  name: string,
  config: WindowConfig,
  save: string,
  events: readonly string[],
): string {
  const head = `## ${name}\nconfig ${formatConfig(config)}\n${save}\n`;
  return head + events.map((event) => `> ${event}\n`).join("");
}
