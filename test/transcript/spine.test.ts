/** The rail beside the transcript: seats, pins, cards. */
import { describe, expect, test } from "vitest";
import {
  type Child,
  cohortsOf,
  type Entry,
  type Notch,
  pinEntries,
  type SpineStep,
  spineOf,
} from "../../src/transcript/index.ts";
import { delivered, model, result } from "./entries.ts";

const COMMIT = "0123456789abcdef";
const whole = (name: string): SpineStep => ({ name, isComplete: true, commit: COMMIT });
const broken = (name: string): SpineStep => ({ name, isComplete: false });

const loop: readonly Entry[] = [
  delivered("001-user.md"),
  model("002-m.json", ["!c1"]),
  result("003-tool.json", "c1"),
  model("004-m.json", ["!c2"]),
  result("005-tool.json", "c2"),
  model("006-m.json", ["done"]),
];

/** `001 at tx/001-user.md#0 of 1`, or `001 nowhere`. */
function seats(entries: readonly Entry[], steps: readonly SpineStep[]): readonly string[] {
  return spineOf(entries, steps).map(({ step, seat }) =>
    seat === undefined ? `${step} nowhere` : `${step} at ${seat.key} of ${seat.cut}`,
  );
}

describe("places", () => {
  test("a tool loop gives each call its own rule", () => {
    expect(seats(loop, ["001", "002", "003"].map(whole))).toEqual([
      "001 at tx/001-user.md#0 of 1",
      "002 at tx/003-tool.json#0 of 3",
      "003 at tx/005-tool.json#0 of 5",
    ]);
  });

  test("two drains make one rule", () => {
    const entries = [delivered("001-user.md"), delivered("002-kid.md"), model("003-m.json", ["ok"])];
    expect(seats(entries, [whole("001")])).toEqual(["001 at tx/001-user.md#0 of 2"]);
  });

  test("pinning cuts the transcript to what the model saw", () => {
    const notches = spineOf(loop, ["001", "002"].map(whole));
    expect(notches.map((notch) => pinEntries(loop, notch).map((entry) => entry.name))).toEqual([
      ["001-user.md"],
      ["001-user.md", "002-m.json", "003-tool.json"],
    ]);
    expect(pinEntries(loop, { step: "009", label: "—", hasRule: false })).toBe(loop);
  });

  test("a running call marks the tail", () => {
    const entries = loop.slice(0, 3);
    expect(seats(entries, [whole("001"), broken("002")])).toEqual([
      "001 at tx/001-user.md#0 of 1",
      "002 at tx/003-tool.json#0 of 3",
    ]);
  });

  test("a superseded call has no seat", () => {
    expect(seats(loop.slice(0, 2), [broken("001"), whole("002")])).toEqual([
      "001 nowhere",
      "002 at tx/001-user.md#0 of 1",
    ]);
  });

  test("a step ahead of the transcript has no seat", () => {
    expect(seats(loop.slice(0, 3), [whole("001"), whole("002")])).toEqual([
      "001 at tx/001-user.md#0 of 1",
      "002 nowhere",
    ]);
    expect(seats(loop.slice(0, 2), [whole("001"), broken("002")])[1]).toBe("002 nowhere");
  });
});

describe("rules", () => {
  test("stand at a seat that was committed; no commit, no rule", () => {
    const rules = (step: SpineStep, entries = loop): readonly (string | boolean)[] =>
      spineOf(entries, [step]).flatMap(({ label, hasRule }) => [label, hasRule]);
    expect(rules(whole("001"))).toEqual(["0123456", true]);
    expect(rules({ name: "001", isComplete: true })).toEqual(["—", false]);
    expect(rules(whole("001"), [])).toEqual(["0123456", false]);
  });
});

describe("cards", () => {
  const notches: readonly Notch[] = spineOf(loop, ["001", "002"].map(whole));
  const child = (id: string, bornAt: string, forkLabel?: string): Child => ({
    id,
    name: `name of ${id}`,
    state: "live",
    bornAt,
    ...(forkLabel === undefined ? {} : { forkLabel }),
  });

  test("a child alone has a card with its own label, state, tokens and tail, and no header", () => {
    expect(cohortsOf(notches, [{ ...child("a", "002", "try"), tokens: 1200, tail: "so" }])).toEqual([
      {
        step: "002",
        cards: [
          { id: "a", name: "name of a", label: "try", state: "live", tokens: "1200 tokens", tail: "so" },
        ],
      },
    ]);
  });

  test("a cohort says how many and their common label once", () => {
    expect(cohortsOf(notches, [child("a", "001", "try"), child("b", "001", "try")])).toEqual([
      {
        step: "001",
        header: "×2 try",
        cards: [
          { id: "a", name: "name of a", state: "live" },
          { id: "b", name: "name of b", state: "live" },
        ],
      },
    ]);
  });

  test("labels that differ are mixed, and each card says its own", () => {
    const [cohort] = cohortsOf(notches, [child("a", "001", "x"), child("b", "001"), child("c", "001", "y")]);
    expect(cohort?.header).toBe("×3 mixed");
    expect(cohort?.cards.map((card) => card.label)).toEqual(["x", undefined, "y"]);
  });

  test("children without a label are counted; those of no notch are left out", () => {
    const cohorts = cohortsOf(notches, [child("a", "002"), child("b", "002"), child("c", "009")]);
    expect(cohorts.map(({ step, header, cards }) => [step, header, cards.length])).toEqual([
      ["002", "×2", 2],
    ]);
  });
});
