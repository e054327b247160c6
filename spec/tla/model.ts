/** Running a module under a configuration file, as TLC would: breadth first, invariants on states, properties on steps. */
import type { State } from "./env.ts";
import { stateKey } from "./env.ts";
import type { Interpreter } from "./evaluate.ts";
import type { Value } from "./values.ts";
import { asBoolean, keyOf, ValueSet } from "./values.ts";

/** A TLC configuration file, as far as ours go. */
export interface Cfg {
  readonly specification: string;
  readonly constants: Readonly<Record<string, Value>>;
  /** Constants that are given by a definition. */
  readonly substitutions: Readonly<Record<string, string>>;
  readonly view: string | undefined;
  readonly invariants: readonly string[];
  readonly properties: readonly string[];
  readonly isDeadlockChecked: boolean;
}

function parseValue(text: string): Value {
  if (/^\d+$/.test(text)) return Number(text);
  if (text === "TRUE" || text === "FALSE") return text === "TRUE";
  if (/^"[^"]*"$/.test(text)) return text.slice(1, -1);
  if (text.startsWith("{") && text.endsWith("}")) {
    const inner = text.slice(1, -1).trim();
    return new ValueSet(inner === "" ? [] : inner.split(",").map((item) => parseValue(item.trim())));
  }
  throw new SyntaxError(`cfg: no value: ${text}`);
}

const keywords = new Set([
  "SPECIFICATION",
  "CONSTANTS",
  "VIEW",
  "INVARIANTS",
  "PROPERTIES",
  "CHECK_DEADLOCK",
]);

/** Parses a configuration file: one entry a line, comments after `\*`. */
export function parseCfg(text: string): Cfg {
  const entries = new Map<string, string[]>();
  let section: string[] | undefined;
  for (const whole of text.split("\n")) {
    const line = whole.replace(/\\\*.*$/, "").trim();
    if (line === "") continue;
    const [word = "", ...rest] = line.split(/\s+/);
    if (keywords.has(word)) {
      if (entries.has(word)) throw new SyntaxError(`cfg: ${word} said twice`);
      section = rest.length > 0 ? [rest.join(" ")] : [];
      entries.set(word, section);
    } else if (section === undefined) throw new SyntaxError(`cfg: no section for ${line}`);
    else section.push(line);
  }
  const constants: Record<string, Value> = {};
  const substitutions: Record<string, string> = {};
  for (const line of entries.get("CONSTANTS") ?? []) {
    const [, name = "", sign, value = ""] = /^(\w+)\s*(=|<-)\s*(.+)$/.exec(line) ?? [];
    if (sign === undefined) throw new SyntaxError(`cfg: no constant: ${line}`);
    if (sign === "=") constants[name] = parseValue(value);
    else substitutions[name] = value;
  }
  return {
    specification: entries.get("SPECIFICATION")?.[0] ?? "",
    constants,
    substitutions,
    view: entries.get("VIEW")?.[0],
    invariants: entries.get("INVARIANTS") ?? [],
    properties: entries.get("PROPERTIES") ?? [],
    isDeadlockChecked: entries.get("CHECK_DEADLOCK")?.[0] !== "FALSE",
  };
}

export interface ModelRun {
  /** One text for each distinct state, equal exactly for equal views. */
  readonly keys: ReadonlySet<string>;
  readonly steps: number;
  /** What does not hold, and the step that shows it. */
  readonly violation?: string;
}

/** Explores a module from its initial states. */
export function runModel(
  interpreter: Interpreter,
  cfg: Cfg,
  names: { readonly init: string; readonly next: string },
): ModelRun {
  const { view } = cfg;
  const key = (state: State): string =>
    view === undefined ? stateKey(state) : keyOf(interpreter.value(view, state));
  const keys = new Set<string>();
  let steps = 0;
  let frontier: State[] = [];
  const enter = (state: State, from: string): string | undefined => {
    const known = keys.size;
    keys.add(key(state));
    if (keys.size === known) return undefined;
    const broken = cfg.invariants.find((name) => !asBoolean(interpreter.value(name, state)));
    if (broken !== undefined) return `${broken} after ${from}: ${stateKey(state)}`;
    frontier.push(state);
    return undefined;
  };
  for (const state of interpreter.initial(names.init)) {
    const violation = enter(state, "the beginning");
    if (violation !== undefined) return { keys, steps, violation };
  }
  while (frontier.length > 0) {
    const states = frontier;
    frontier = [];
    for (const state of states) {
      for (const next of interpreter.successors(names.next, state)) {
        steps += 1;
        const broken = cfg.properties.find((name) => !asBoolean(interpreter.value(name, state, next)));
        const violation =
          broken === undefined
            ? enter(next, stateKey(state))
            : `${broken} from ${stateKey(state)} to ${stateKey(next)}`;
        if (violation !== undefined) return { keys, steps, violation };
      }
    }
  }
  return { keys, steps };
}
