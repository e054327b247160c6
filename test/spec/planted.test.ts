// The proof bites: each planted bug is seen by the explorer, under the law it breaks, with the shortest script that shows it.
import { describe, expect, test } from "vitest";
import { explore } from "../../spec/explore.ts";
import { brokenLaws, laws } from "../../spec/laws.ts";
import { checkRuns, runLaws } from "../../spec/liveness.ts";
import type { PlantedBug } from "../../spec/planted.ts";
import { compileStep, plantedBugs, plantedText } from "../../spec/planted.ts";
import { parseScripts, playScript } from "../../spec/script.ts";
import { farShifts } from "../../spec/shifts.ts";
import { universeNamed } from "../../spec/universe.ts";

const now = (): number => 0;

function seen(bug: PlantedBug): void {
  const step = compileStep(plantedText(bug));
  const law = laws.find(({ id }) => id === bug.law);
  const universe = universeNamed(bug.universe ?? "tiny");
  // Only a bug of the law of counters hides from counters that are far apart.
  const { violation } = explore(bug.law === "X19" ? universe : { ...universe, shifts: farShifts }, {
    step,
    now,
    among: law === undefined ? [] : [law],
  });
  if (bug.law === "L17") {
    expect(violation?.fault).toMatch(/^threw |another answer/);
    return;
  }
  expect(violation?.laws.map(({ id }) => id)).toEqual([bug.law]);
  // The script leads to the state; the counters that show it are named in its title.
  if (bug.law === "X19") return;
  const [script] = parseScripts(violation?.script ?? "");
  const { steps } = playScript(script!, step);
  // A script does not say where the log begins, so that laws about that are silent here; some law is not.
  expect(brokenLaws(steps.at(-1)!)).not.toEqual([]);
}

function seenInRuns(bug: PlantedBug): void {
  const law = runLaws.find(({ id }) => id === bug.law)!;
  const universe = { ...law.universe, maxSeq: 3 };
  const { violation } = checkRuns({ ...law, universe }, compileStep(plantedText(bug)), now);
  expect(violation).toContain(`## ${law.id} ${law.name} never ends from here`);
  expect(parseScripts(violation!)).toHaveLength(1);
}

const isOfRuns = ({ law }: PlantedBug): boolean => runLaws.some(({ id }) => id === law);

describe("each planted bug is seen", () => {
  for (const bug of plantedBugs) {
    test(`${bug.law}: ${bug.what}`, () => (isOfRuns(bug) ? seenInRuns(bug) : seen(bug)));
  }
});

test("there is a bug for every law", () => {
  const planted = new Set(plantedBugs.map(({ law }) => law));
  const all = [...laws.map(({ id }) => id), ...runLaws.map(({ id }) => id), "L17"];
  expect(all.filter((id) => !planted.has(id))).toEqual([]);
  expect(plantedBugs.length).toBeGreaterThanOrEqual(30);
});

test("a bug that fits nowhere is an error", () => {
  expect(() => plantedText({ law: "L1", what: "x", find: "no such text", put: "" })).toThrow(
    /fits in 0 places/,
  );
});

test("the core as it is, compiled in the same way, breaks nothing", () => {
  const whole = { law: "", what: "nothing", find: "export function step(", put: "export function step(" };
  expect(
    explore({ ...universeNamed("tiny"), shifts: farShifts }, { step: compileStep(plantedText(whole)), now })
      .violation,
  ).toBeUndefined();
});
