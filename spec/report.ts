/** What `npm run spec` prints: the explorations, and for each law how it was checked, how often, and the result. */
import type { Exploration } from "./explore.ts";
import type { Law } from "./laws.ts";
import { laws } from "./laws.ts";
import type { RunCheck, RunLaw } from "./liveness.ts";
import { runLaws } from "./liveness.ts";
import { universeNamed } from "./universe.ts";

export interface ExplorationOf {
  readonly universe: string;
  readonly exploration: Exploration;
}

export interface RunCheckOf {
  readonly law: string;
  readonly check: RunCheck;
}

const number = (value: number): string => value.toLocaleString("en-US");

function table(rows: readonly (readonly string[])[]): string {
  const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)));
  const isNumber = (cell: string): boolean => /^[\d,.]+$/.test(cell);
  return rows
    .map((row) =>
      row
        .map((cell, i) => (isNumber(cell) ? cell.padStart(widths[i] ?? 0) : cell.padEnd(widths[i] ?? 0)))
        .join("  ")
        .trimEnd(),
    )
    .join("\n");
}

function stepsOf({ steps }: Exploration, law?: Law): number {
  let sum = 0;
  for (const [type, { accepted, rejected }] of Object.entries(steps)) {
    if (law?.kind === "step" && law.on !== undefined && !law.on.some((one) => one === type)) continue;
    sum += accepted;
    if (law === undefined || (law.kind === "step" && law.rejections === true)) sum += rejected;
  }
  return sum;
}

/** The counts of each exploration. */
export function formatExplorations(found: readonly ExplorationOf[]): string {
  const rows = found.map(({ universe, exploration }) => [
    universe,
    number(exploration.states),
    number(stepsOf(exploration)),
    number(acceptedOf(exploration)),
    number(exploration.depth),
    (exploration.milliseconds / 1000).toFixed(1),
    exploration.violation === undefined ? "holds" : "BROKEN",
  ]);
  return table([["constants", "states", "steps", "accepted", "depth", "seconds", "result"], ...rows]);
}

function acceptedOf({ steps }: Exploration): number {
  return Object.values(steps).reduce((sum, { accepted }) => sum + accepted, 0);
}

function lawRow(law: Law, found: readonly ExplorationOf[]): readonly string[] {
  const isBroken = found.some(({ exploration }) =>
    exploration.violation?.laws.some(({ id }) => id === law.id),
  );
  const count = found.reduce((sum, { universe, exploration }) => {
    if (law.kind === "shift")
      return sum + stepsOf(exploration) * (universeNamed(universe).shifts?.length ?? 0);
    return sum + (law.kind === "state" ? exploration.states : stepsOf(exploration, law));
  }, 0);
  const how =
    law.kind === "state"
      ? "every state"
      : law.kind === "shift"
        ? "every step, counters shifted"
        : law.on === undefined
          ? "every step"
          : `every ${law.on.map((type) => type.replaceAll("_", " ")).join(", ")}`;
  return [law.id, law.name, how, number(count), isBroken ? "BROKEN" : "holds"];
}

function runRow(law: RunLaw, checks: readonly RunCheckOf[]): readonly string[] {
  const check = checks.find((one) => one.law === law.id)?.check;
  const result = check === undefined ? "not asked" : check.violation === undefined ? "holds" : "BROKEN";
  return [law.id, law.name, "every fair run", number(check?.states ?? 0), result];
}

/** In the document's order: letters apart, then by number. */
function byId([a = ""]: readonly string[], [b = ""]: readonly string[]): number {
  const letters = "LXER";
  const at = (id: string): number => letters.indexOf(id.charAt(0)) * 1000 + Number.parseInt(id.slice(1), 10);
  return at(a) - at(b) || a.localeCompare(b);
}

/** One row for each law. */
export function formatLaws(
  found: readonly ExplorationOf[],
  checks: readonly RunCheckOf[],
  purity: { readonly files: number; readonly isHeld: boolean },
): string {
  const pure = ["L17", "PureCore", "source scan, inputs frozen, asked twice", number(purity.files)];
  const rows = [
    ...laws.map((law) => lawRow(law, found)),
    ...runLaws.map((law) => runRow(law, checks)),
    [...pure, purity.isHeld && !found.some(isFaulty) ? "holds" : "BROKEN"],
  ].sort(byId);
  return table([["law", "name", "how", "checked", "result"], ...rows]);
}

/** An input that was changed, an exception, another answer the second time: purity is broken. */
function isFaulty({ exploration }: ExplorationOf): boolean {
  return exploration.violation?.fault !== undefined;
}
