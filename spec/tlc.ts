/**
 * The configuration files of TLC, made from the explorer's sets of constants so that they cannot differ; and `npm run spec:tlc`,
 * which runs TLC from a jar that the caller has.
 */
import type { Universe } from "./universe.ts";

const invariants = [
  "TypeOK",
  "HeldIsRecentCycles",
  "CaughtUp",
  "ReprintInOrder",
  "CtrlOWindowBound",
  "NoReadWhileClosed",
  "NoReadPendingUnsaved",
  "ScreenHoldsHeld",
  "MemoryIsHeld",
  "ShownIsWindow",
  "Ordered",
  "LiveDrawn",
  "AtStartIsStart",
  "HeldIsCapped",
] as const;

const properties = [
  "LiveNeverDropped",
  "DropOnlySaved",
  "UpdateIsLocal",
  "PaintOnceInOrder",
  "ReprintSliceBound",
  "OneReadInFlight",
  "OpenReadsNothing",
  "StaleReadIgnored",
  "NoReadWhenUnsaved",
  "RecoveredFromLog",
  "DropBetweenTurns",
  "PaintedOnce",
  "ReadBounded",
  "NoEmptyRange",
  "RepaintLiveLast",
  "ReadOnlyOnScroll",
  "ScrollBounded",
] as const;

/** What is checked: laws of states and steps under the view, or the laws of runs. */
export const checks = {
  safety: { specification: "Spec", view: "View", invariants, properties, isQuiet: false },
  runs: {
    specification: "FairSpec",
    view: undefined,
    invariants: ["TypeOK"],
    properties: ["PreviousCycleDropped", "ReprintFinishes"],
    isQuiet: true,
  },
  start: {
    specification: "OlderSpec",
    view: undefined,
    invariants: ["TypeOK"],
    properties: ["CtrlOReachesStart"],
    isQuiet: true,
  },
  end: {
    specification: "NewerSpec",
    view: undefined,
    invariants: ["TypeOK"],
    properties: ["CtrlOReachesEnd"],
    isQuiet: true,
  },
} as const;

export type Check = keyof typeof checks;

const boolean = (value: boolean): string => (value ? "TRUE" : "FALSE");
const set = (values: readonly (number | string)[]): string =>
  `{${values.map((v) => JSON.stringify(v)).join(", ")}}`;

/** A configuration file for a set of constants. */
export function formatCfg(universe: Universe, check: Check): string {
  const { config, maxSeq, ids, saves } = universe;
  const { specification, view, invariants, properties, isQuiet } = checks[check];
  const resumesTo = universe.resumesTo ?? Array.from({ length: maxSeq + 1 }, (_, i) => i);
  const lines = [
    `\\* The constants of "${universe.name}" (spec/universe.ts); made by npm run spec:tlc -- --write.`,
    `SPECIFICATION ${specification}`,
    "CONSTANTS",
    `    Window = ${config.window}`,
    `    Step = ${config.step}`,
    `    Slice = ${config.slice}`,
    `    MaxLive = ${config.maxLive}`,
    `    MaxHeld = ${config.maxHeld ?? 0}`,
    `    Follow = ${boolean(config.followWhileOpen)}`,
    `    Jump = ${boolean(config.jump)}`,
    `    Quiet = ${boolean(isQuiet)}`,
    `    MaxSeq = ${maxSeq}`,
    `    Ids = ${set(Array.from({ length: ids }, (_, i) => i))}`,
    `    Saves = ${set(saves)}`,
    `    ResumesTo = ${set(resumesTo)}`,
    ...(view === undefined ? [] : [`VIEW ${view}`]),
    "INVARIANTS",
    ...invariants.map((name) => `    ${name}`),
    "PROPERTIES",
    ...properties.map((name) => `    ${name}`),
    "CHECK_DEADLOCK FALSE",
  ];
  return `${lines.join("\n")}\n`;
}

/** The configuration files of this folder, with the constants that each has. */
export const cfgFiles: readonly {
  readonly name: string;
  readonly universe: string;
  readonly check: Check;
}[] = [
  { name: "MCTranscriptWindow", universe: "small", check: "safety" },
  { name: "MCTranscriptWindowRuns", universe: "running", check: "runs" },
  { name: "MCCtrlOReachesStart", universe: "paging", check: "start" },
  { name: "MCCtrlOReachesEnd", universe: "paging", check: "end" },
];
