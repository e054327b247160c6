// The TLA+ modules: they parse, name what the core names, and reach exactly the states that the core reaches.
import { beforeAll, describe, expect, test } from "vitest";
import { explore } from "../../spec/explore.ts";
import { Interpreter } from "../../spec/tla/evaluate.ts";
import { cfgText, loadGrammar, moduleText } from "../../spec/tla/grammar.ts";
import { parseCfg, runModel } from "../../spec/tla/model.ts";
import type { Module } from "../../spec/tla/module.ts";
import { readModule } from "../../spec/tla/module.ts";
import type { Value } from "../../spec/tla/values.ts";
import { asBoolean, fromJson, keyOf, ValueRecord, ValueSet } from "../../spec/tla/values.ts";
import { cfgFiles, formatCfg } from "../../spec/tlc.ts";
import type { Universe } from "../../spec/universe.ts";
import { universeNamed } from "../../spec/universe.ts";
import type { World } from "../../spec/world.ts";
import { worldAt } from "../../spec/world.ts";
import {
  abstract,
  createWindow,
  formatTraceLine,
  formatTraceStart,
  parseConfig,
  parseEvent,
  step,
} from "../../src/window/index.ts";

const names = ["TranscriptWindow", "MCTranscriptWindow", "TraceTranscriptWindow"];
let parse: Awaited<ReturnType<typeof loadGrammar>>;
let model: Module;
let traces: Module;

beforeAll(async () => {
  parse = await loadGrammar();
  const byName = (name: string) => parse(moduleText(name), `${name}.tla`);
  model = readModule("MCTranscriptWindow", byName);
  traces = readModule("TraceTranscriptWindow", byName);
});

describe("modules", () => {
  test.each(names)("%s is TLA+", (name) => expect(() => parse(moduleText(name), name)).not.toThrow());

  test("what is not TLA+ is found", () => {
    expect(() => parse(moduleText("TranscriptWindow").replace("IN  Max(", "INN Max("), "x")).toThrow(
      /^x:\d+:\d+: not TLA\+/,
    );
  });

  test.each(names)("%s has lines of at most 140 columns, and no tabs", (name) => {
    for (const line of moduleText(name).split("\n")) {
      expect(line.length).toBeLessThanOrEqual(140);
      expect(line).not.toContain("\t");
    }
  });

  /** Every event of the vocabulary, as the notation writes it. */
  const events = [
    "turn_started",
    "turn_ended",
    "block_opened(0)",
    "block_changed(0)",
    "block_finished(0)",
    "saved_through(0)",
    "compacted",
    "resized",
    "reprint_tick",
    "ctrlo_opened",
    "ctrlo_scrolled(older)",
    "ctrlo_jumped(start)",
    "ctrlo_closed",
    "log_read_done(0,0)",
    "log_read_failed(0)",
    "resumed(0,0,0)",
  ].map(parseEvent);
  const actionOf = (type: string): string =>
    type.replace(/(?:^|_)([a-z])/g, (_, letter: string) => letter.toUpperCase());

  test("there is one action for each event, by its name, and the bounded model takes each", () => {
    const { steps } = explore(universeNamed("tiny"), { step, now: () => 0, among: [] });
    expect(events.map(({ type }) => type).sort()).toEqual(Object.keys(steps).sort());
    const actions = events.map(({ type }) => actionOf(type));
    for (const name of actions) expect(model.names).toContain(name);
    const text = ["MainScreen", "Pager", "Replies", "Resumes"]
      .map((name) => model.definitions.get(name)?.body.text ?? "")
      .join("\n");
    const called = [...text.matchAll(/\b[A-Z][A-Za-z]+\b/g)].map(([name]) => name);
    const taken = called.filter((name) => model.definitions.get(name)?.body.text.includes("Becomes"));
    const indirect = called.filter((name) => /^(?:CtrloScrolled|CtrloJumped)$/.test(name));
    expect([...new Set([...taken, ...indirect])].sort()).toEqual([...actions].sort());
  });

  test("the trace module reads each event by its name", () => {
    const text = traces.definitions.get("Takes")?.body.text ?? "";
    const pairs = [...text.matchAll(/e\.type = "([a-z_]+)" -> ([A-Za-z]+)/g)].map(([, type, action]) => [
      type,
      action,
    ]);
    expect(pairs.map(([type]) => type).sort()).toEqual(events.map(({ type }) => type).sort());
    for (const [type, action] of pairs) expect(action).toBe(actionOf(type ?? ""));
  });
});

describe("configurations", () => {
  test.each(cfgFiles)("$name.cfg has the constants of $universe", ({ name, universe, check }) => {
    expect(cfgText(name)).toBe(formatCfg(universeNamed(universe), check));
  });

  test.each([...cfgFiles.map(({ name }) => name), "TraceTranscriptWindow"])(
    "%s.cfg names what there is",
    (name) => {
      const cfg = parseCfg(cfgText(name));
      const module = name.startsWith("Trace") ? traces : model;
      const said = [
        cfg.specification,
        ...cfg.invariants,
        ...cfg.properties,
        ...Object.values(cfg.substitutions),
      ];
      for (const one of said) expect(module.names).toContain(one);
      if (cfg.view !== undefined) expect(module.names).toContain(cfg.view);
      const given = [...Object.keys(cfg.constants), ...Object.keys(cfg.substitutions)].sort();
      expect(given).toEqual([...module.constants].sort());
      expect(cfg.isDeadlockChecked).toBe(false);
    },
  );
});

/** A world as the view of the TLA+ model has it. */
function viewOf(world: World): string {
  const { abs, screen, memory, drawn, shown, logFirst, truthful } = world;
  const numbers = (ranges: readonly number[]): ValueSet => {
    const all: number[] = [];
    for (let i = 0; i < ranges.length; i += 2)
      for (let n = ranges[i]!; n < ranges[i + 1]!; n += 1) all.push(n);
    return new ValueSet(all);
  };
  const { pending } = abs.ctrlo;
  const plain = {
    ...abs,
    cycle: 0,
    epoch: 0,
    next_token: 0,
    ctrlo: { ...abs.ctrlo, pending: { ...pending, token: 0 } },
  };
  const window = (fromJson(plain) as ValueRecord).with("live", new ValueSet(abs.live));
  const ghosts = new ValueRecord([
    ["screen", numbers(screen)],
    ["memory", numbers(memory)],
    ["drawn", new ValueSet(drawn)],
    ["shown", fromJson(shown ?? { lo: -1, hi: -1, anchor: "none" })],
    ["log_first", logFirst ?? -1],
    ["truthful", truthful],
  ]);
  return keyOf([window, ghosts]);
}

function statesOf(universe: Universe): Set<string> {
  const keys = new Set<string>();
  for (const save of universe.saves) {
    const begun = abstract(createWindow(universe.config, save));
    keys.add(viewOf(worldAt(universe.config, begun, save === "saved" ? 0 : undefined)));
  }
  explore(universe, {
    step,
    now: () => 0,
    among: [],
    onEdge: (_from, _move, _to, _before, after) => keys.add(viewOf(after)),
  });
  return keys;
}

const run = (text: string, init = "Init", next = "Next") => {
  const cfg = parseCfg(text);
  return runModel(new Interpreter(model, cfg.constants), cfg, { init, next });
};

describe("the model run", () => {
  const tiny = universeNamed("tiny");
  const small: Universe = { ...tiny, name: "smaller", maxSeq: 1 };
  const plain: Universe = { ...universeNamed("plain"), maxSeq: 2 };

  test.each([tiny, plain])("$name: the very states of the core, with every law of the module", (universe) => {
    const found = run(formatCfg(universe, "safety"));
    expect(found.violation).toBeUndefined();
    const core = statesOf(universe);
    expect(found.keys.size).toBe(core.size);
    expect([...found.keys].filter((key) => !core.has(key))).toEqual([]);
  });

  /** What the model with a mistake in it breaks, where only one law is asked. */
  const broken = (find: string, put: string, law: string): string | undefined => {
    const text = moduleText("TranscriptWindow");
    expect(text.split(find)).toHaveLength(2);
    const byName = (name: string) =>
      parse(name === "TranscriptWindow" ? text.replace(find, () => put) : moduleText(name), name);
    const whole = parseCfg(formatCfg(tiny, "safety"));
    const only = (names: readonly string[]): readonly string[] => names.filter((name) => name === law);
    const cfg = { ...whole, invariants: only(whole.invariants), properties: only(whole.properties) };
    const module = readModule("MCTranscriptWindow", byName);
    return runModel(new Interpreter(module, cfg.constants), cfg, { init: "Init", next: "Next" }).violation;
  };

  test.each([
    [
      "HeldIsRecentCycles",
      "TryDrop([w EXCEPT !.turn_open = FALSE])",
      "Still([w EXCEPT !.turn_open = FALSE])",
    ],
    ["DropOnlySaved", 's.save = "saved" /\\ s.saved_through < s.cycle_first THEN 0', "FALSE THEN 0"],
    ["PaintOnceInOrder", "IF w.reprinting THEN w.painted_through ELSE n + 1", "w.painted_through"],
    ["RecoveredFromLog", "!.saved_through = nextSeq, !.epoch", "!.saved_through = cycleFirst, !.epoch"],
    ["MemoryIsHeld", "With(kept, Drop(from, to))", "With(kept, Drop(from, to - 1))"],
    ["ReadBounded", "n == Min(count, Min(Step, c.lo))", "n == Min(count, c.lo)"],
    ["DropBetweenTurns", "IF s.turn_open \\/ to <= from", "IF to <= from"],
    [
      "UpdateIsLocal",
      '"block_changed", id |-> id], With(w, RepaintBlock(id))',
      '"block_changed", id |-> id], Still(w)',
    ],
  ])("%s bites", (law, find, put) => {
    expect(broken(find, put, law)).toMatch(new RegExp(`^${law} `));
  });

  test.each([
    ["start", "InitAtEnd", "OlderNext"],
    ["end", "InitAtStart", "NewerNext"],
  ] as const)(
    "the runs to the %s go, and their properties are about states they reach",
    (check, init, next) => {
      const text = formatCfg({ ...small, saves: ["saved"] }, check).replace(
        /PROPERTIES[\s\S]*CHECK/,
        "CHECK",
      );
      const found = run(text, init, next);
      expect(found.violation).toBeUndefined();
      const arrived = [...found.keys].filter((key) =>
        check === "start" ? key.includes("at_start:true") : true,
      );
      expect(arrived.length).toBeGreaterThan(10);
    },
  );

  test("the quiet model is the same graph, but for its two epochs", () => {
    const safety = run(formatCfg(small, "safety"));
    const quiet = run(formatCfg(small, "runs").replace(/PROPERTIES[\s\S]*CHECK/, "CHECK"));
    const views = new Set([...quiet.keys].map((key) => key.replaceAll(/epoch:1/g, "epoch:0")));
    expect(views.size).toBe(safety.keys.size);
  });
});

describe("the trace module", () => {
  const config = parseConfig("window=4 step=2 slice=2 live=2 held=3 follow jump");
  const script =
    "resumed(1,8,11) turn_started block_opened(1) reprint_tick block_finished(1) turn_started reprint_tick ctrlo_opened " +
    "ctrlo_scrolled(older) log_read_done(0,2) log_read_done(0,2) ctrlo_jumped(start) log_read_failed(1) saved_through(12) " +
    "turn_ended compacted resized ctrlo_closed turn_ended";

  function trace(): string[] {
    let state = createWindow(config, "saved");
    const lines = [formatTraceStart(state)];
    for (const text of script.split(" ")) {
      const event = parseEvent(text);
      const result = step(state, event);
      lines.push(formatTraceLine(event, result));
      state = result.state;
    }
    return lines;
  }

  /** The line that is not taken, or undefined where all are. */
  function firstFault(lines: readonly string[]): number | undefined {
    const cfg = parseCfg(cfgText("TraceTranscriptWindow"));
    const values = lines.map((line) => fromJson(JSON.parse(line)));
    const given = (text: string): Value =>
      new Interpreter(traces, { ...placeholders(), Trace: values }).value(text, {});
    const placeholders = (): Record<string, Value> =>
      Object.fromEntries([...traces.constants].map((name) => [name, 0] as const));
    const constants = Object.fromEntries(
      Object.entries(cfg.substitutions).map(([name, definition]) => [name, given(definition)] as const),
    );
    const interpreter = new Interpreter(traces, { ...cfg.constants, ...constants, Trace: values });
    let [state] = interpreter.initial("TraceInit");
    const laws = cfg.properties.filter((name) => name !== "TraceAccepted");
    for (let line = 0; line < lines.length; line += 1) {
      const [next] = interpreter.successors("TraceNext", state!);
      if (next === undefined) return line;
      const before = state!;
      for (const law of cfg.invariants) expect(asBoolean(interpreter.value(law, next)), law).toBe(true);
      for (const law of laws) expect(asBoolean(interpreter.value(law, before, next)), law).toBe(true);
      state = next;
    }
    return undefined;
  }

  test("takes what the core writes", () => expect(firstFault(trace())).toBeUndefined());

  test("stops at a line that was touched", () => {
    const lines = trace();
    const touched = lines.with(4, lines[4]!.replace(/"painted_through":\d+/, '"painted_through":9'));
    expect(firstFault(touched)).toBe(4);
    expect(firstFault(lines.toSpliced(5, 1))).toBeGreaterThanOrEqual(5);
    const hidden = lines.findIndex((line) => line.includes('"rejected"'));
    expect(firstFault(lines.with(hidden, lines[hidden]!.replace(/"rejected":"[^"]*",/, "")))).toBe(hidden);
    const refused = lines.with(2, lines[2]!.replace('"state"', '"rejected":"turn is open","state"'));
    expect(firstFault(refused)).toBe(2);
  });
});
