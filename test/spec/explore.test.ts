// The explorer over the real step: every law holds, the counts are those of spec/README.md, and what it reports can be trusted.
import { describe, expect, test } from "vitest";
import { explore } from "../../spec/explore.ts";
import { Fingerprint, FingerprintSet } from "../../spec/fingerprints.ts";
import type { Law } from "../../spec/laws.ts";
import { checkRuns, runLaws } from "../../spec/liveness.ts";
import { formatExplorations, formatLaws } from "../../spec/report.ts";
import { farShifts } from "../../spec/shifts.ts";
import type { Universe } from "../../spec/universe.ts";
import { encodeWorld, movesOf, universeNamed, universes, worldWords } from "../../spec/universe.ts";
import { advance, worldAt } from "../../spec/world.ts";
import { abstract, createWindow, formatEvent, step } from "../../src/window/index.ts";

const now = (): number => 0;
// Every offset is asked by `npm run spec`; here the far ones are enough.
const tiny = { ...universeNamed("tiny"), shifts: farShifts };

describe("tiny", () => {
  const found = explore(tiny, { step, now });

  test("all laws hold in all of its states", () => {
    expect(found.violation?.script).toBeUndefined();
    expect({ states: found.states, depth: found.depth }).toEqual({ states: 2304, depth: 11 });
  });

  test("every event was accepted somewhere and rejected somewhere, but those that always are", () => {
    const always = Object.entries(found.steps).filter(([, { rejected }]) => rejected === 0);
    const never = Object.entries(found.steps).filter(([, { accepted }]) => accepted === 0);
    expect(always.map(([type]) => type).sort()).toEqual(["compacted", "resized"]);
    expect(never).toEqual([]);
    expect(Object.keys(found.steps)).toHaveLength(16);
  });

  test("the table has a row for each law of the documents", () => {
    const table = formatLaws([{ universe: "tiny", exploration: found }], [], { files: 6, isHeld: true });
    const ids = table.split("\n").map((row) => row.split(" ")[0]);
    for (let i = 1; i <= 21; i += 1) expect(ids).toContain(`L${i}`);
    for (let i = 1; i <= 18; i += 1) expect(ids).toContain(`X${i}`);
    expect(table).not.toContain("BROKEN");
    expect(table).toMatch(/^L14 .* not asked$/m);
    expect(formatExplorations([{ universe: "tiny", exploration: found }])).toMatch(/^tiny +2,304 /m);
  });

  test("fingerprints take no two worlds for one", () => {
    const seen = new Set<string>();
    const words = worldWords();
    const moves = movesOf(tiny);
    const keyOf = (world: ReturnType<typeof worldAt>): string =>
      words.slice(0, encodeWorld(world, words)).join();
    let worlds = tiny.saves.map((save) => {
      const state = createWindow(tiny.config, save);
      return { state, world: worldAt(tiny.config, abstract(state), save === "saved" ? 0 : undefined) };
    });
    for (const { world } of worlds) seen.add(keyOf(world));
    while (worlds.length > 0) {
      const next: typeof worlds = [];
      for (const { state, world } of worlds) {
        for (const { event, logFirst } of moves(world)) {
          const result = step(state, event);
          const after = advance(world, event, result, logFirst);
          if (after.abs.next_seq + after.abs.live.length > tiny.maxSeq || seen.has(keyOf(after))) continue;
          seen.add(keyOf(after));
          next.push({ state: result.state, world: after });
        }
      }
      worlds = next;
    }
    expect(seen.size).toBe(found.states);
  });
});

describe("laws of runs", () => {
  const smaller = (universe: Universe): Universe => ({ ...universe, maxSeq: 3 });

  test.each(runLaws)("$id $name holds", (law) => {
    const check = checkRuns({ ...law, universe: smaller(law.universe) }, step, now);
    expect(check.violation).toBeUndefined();
    expect(check.waiting).toBeGreaterThan(100);
  });

  const needs = runLaws.flatMap((law) => law.fair.map((fairness, i) => ({ law, fairness, i, id: law.id })));
  test.each(needs)("$id needs its fairness $i", ({ law, fairness }) => {
    const fair = law.fair.filter((one) => one !== fairness);
    const check = checkRuns({ ...law, fair, universe: smaller(law.universe) }, step, now);
    expect(check.violation).toContain(`## ${law.id} ${law.name} never ends from here\nconfig `);
  });

  test.each(["L16", "X13"])("%s needs it strong, for reads that fail", (id) => {
    const law = runLaws.find((one) => one.id === id)!;
    const fair = law.fair.map((one) => ({ ...one, kind: "weak" as const }));
    const check = checkRuns({ ...law, fair, universe: smaller(law.universe) }, step, now);
    expect(check.violation).toBeDefined();
  });
});

describe("reports", () => {
  test("the shortest script to a broken law", () => {
    const law: Law = {
      id: "Z1",
      name: "NothingIsEverDropped",
      kind: "step",
      holds: ({ result }) => result.effects.every(({ type }) => type !== "drop"),
    };
    const { violation } = explore(tiny, { step, now, among: [law] });
    expect(violation?.script).toBe(
      "## breaks Z1 NothingIsEverDropped\nconfig window=2 step=1 slice=2 live=1 held=1 follow jump\nsaved\n> resumed(1,0,2)\n",
    );
  });

  test("a law of states is asked about the states beyond the bound too", () => {
    const law: Law = {
      id: "Z2",
      name: "Few",
      kind: "state",
      holds: ({ abs }) => abs.next_seq <= tiny.maxSeq,
    };
    expect(explore(tiny, { step, now, among: [law] }).violation?.script).toMatch(/> block_finished\(0\)\n$/);
  });

  test("a step that throws", () => {
    const { violation } = explore(tiny, {
      step: () => {
        throw new Error("broken");
      },
      now,
    });
    expect(violation?.fault).toBe("threw Error: broken");
    expect(violation?.script).toContain(`## breaks threw Error: broken\n`);
  });

  test("a limit of states is kept to", () => {
    const { states, violation } = explore(tiny, { step, now, statesMax: 100 });
    expect(violation).toBeUndefined();
    expect(states).toBeGreaterThanOrEqual(100);
    expect(states).toBeLessThan(2304);
  });
});

describe("universes", () => {
  test("names are unique, and an unknown one lists what there is", () => {
    expect(new Set(universes.map(({ name }) => name)).size).toBe(universes.length);
    expect(() => universeNamed("none")).toThrow(/no universe none; there are: tiny, /);
  });

  test.each(universes)("$name can be encoded: its numbers fit", ({ maxSeq, ids }) => {
    expect(maxSeq).toBeLessThan(200);
    expect(ids).toBeLessThanOrEqual(8);
  });

  test("events of every type, stale and early tokens among the replies", () => {
    const world = worldAt(tiny.config, abstract(createWindow(tiny.config, "saved")));
    const texts = movesOf(tiny)({ ...world, abs: { ...world.abs, next_token: 2 } }).map(({ event }) =>
      formatEvent(event),
    );
    for (const text of ["log_read_failed(0)", "log_read_failed(1)", "log_read_failed(2)", "resumed(1,1,0)"]) {
      expect(texts).toContain(text);
    }
  });
});

describe("fingerprints", () => {
  test("numbers in the order of coming, known ones again, over many growths", () => {
    const set = new FingerprintSet();
    for (let i = 0; i < 20_000; i += 1) expect(set.add(i >>> 3, Math.imul(i, 7) >>> 0)).toBe(i);
    for (let i = 0; i < 20_000; i += 1) expect(set.add(i >>> 3, Math.imul(i, 7) >>> 0)).toBe(i);
    expect(set.size).toBe(20_000);
  });

  test("halves are both looked at", () => {
    const set = new FingerprintSet();
    expect([set.add(1, 5), set.add(2, 5), set.add(1, 6), set.add(0, 0), set.add(0, 0)]).toEqual([
      0, 1, 2, 3, 3,
    ]);
  });

  test("more than the most there may be is refused", () => {
    const set = new FingerprintSet(2);
    set.add(0, 1);
    set.add(0, 2);
    expect(set.add(0, 1)).toBe(0);
    expect(() => set.add(0, 3)).toThrow(new RangeError("more than 2 fingerprints"));
  });

  test("every bit of every word counts", () => {
    const print = new Fingerprint();
    const seen = new Set<string>();
    for (let word = 0; word < 6; word += 1) {
      for (let bit = 0; bit < 32; bit += 1) {
        const words = new Int32Array(6);
        words[word] = 1 << bit;
        print.of(words, 6);
        seen.add(`${print.high}:${print.low}`);
      }
    }
    expect(seen.size).toBe(6 * 32);
  });
});
