/** The steps of a conversation beside its transcript: where each stands, what was committed with it, who was born at it. Pure. */
import type { Entry } from "./entry.ts";
import { rowKey } from "./key.ts";

/** A step: one call of the model and the tools it ran. */
export interface SpineStep {
  readonly name: string;
  /** Its answer is whole: it stands in the transcript. */
  readonly isComplete: boolean;
  readonly commit?: string;
}

/** Where a step stands in the transcript. */
export interface Seat {
  /** The row it begins at. */
  readonly key: string;
  /** How many entries there were when it was asked: the transcript as the model saw it. */
  readonly cut: number;
}

export interface Notch {
  readonly step: string;
  /** The first seven characters of the commit, or a dash. */
  readonly label: string;
  /** Absent for a step that was superseded before it was whole, and for one that the transcript does not show yet. */
  readonly seat?: Seat;
  /** Whether a rule is drawn at its seat: only a step that stands somewhere and was committed has one. */
  readonly hasRule: boolean;
}

const COMMIT_LABEL_CHARS = 7;

/**
 * One notch for each step, in their order. A whole step owns the next message of the model, and stands at the first entry since the one
 * before; a step that is not whole stands at the end, if it is the last one. Linear in both.
 */
export function spineOf(entries: readonly Entry[], steps: readonly SpineStep[]): readonly Notch[] {
  let from = 0;
  return steps.map((step, index) => {
    const isLast = index === steps.length - 1;
    let cut: number | undefined;
    if (step.isComplete) {
      const at = entries.findIndex((entry, i) => i >= from && entry.kind === "model");
      if (at !== -1) cut = at;
    } else if (isLast) cut = entries.length;
    const first = entries[from];
    const seat = cut === undefined || first === undefined ? undefined : { key: rowKey(first.name, 0), cut };
    if (step.isComplete && cut !== undefined) from = cut + 1;
    return {
      step: step.name,
      label: step.commit === undefined ? "—" : step.commit.slice(0, COMMIT_LABEL_CHARS),
      ...(seat === undefined ? {} : { seat }),
      hasRule: seat !== undefined && step.commit !== undefined,
    };
  });
}

/** The transcript as it was when the step was asked; all of it for a step without a seat. */
export function pinEntries(entries: readonly Entry[], notch: Notch): readonly Entry[] {
  return notch.seat === undefined ? entries : entries.slice(0, notch.seat.cut);
}

/** A conversation that another one started. */
export interface Child {
  readonly id: string;
  readonly name: string;
  /** What it was started with, in words of who started it. */
  readonly forkLabel?: string;
  readonly state: string;
  readonly tokens?: number;
  /** The end of what it said. */
  readonly tail?: string;
  /** The step it was started by. */
  readonly bornAt: string;
}

export interface Card {
  readonly id: string;
  readonly name: string;
  /** Its own fork label, where the header of its cohort does not say it. */
  readonly label?: string;
  readonly state: string;
  readonly tokens?: string;
  readonly tail?: string;
}

/** The children of one notch. */
export interface Cohort {
  readonly step: string;
  /** How many, and what they have in common; absent for a child alone. */
  readonly header?: string;
  readonly cards: readonly Card[];
}

/** The children by the notch of their birth, in the order of the notches. A child of no notch is left out. */
export function cohortsOf(notches: readonly Notch[], children: readonly Child[]): readonly Cohort[] {
  return notches.flatMap(({ step }) => {
    const born = children.filter((child) => child.bornAt === step);
    return born.length === 0 ? [] : [cohortOf(step, born)];
  });
}

function cohortOf(step: string, born: readonly Child[]): Cohort {
  if (born.length === 1) return { step, cards: born.map((child) => cardOf(child, child.forkLabel)) };
  const labels = new Set(born.map((child) => child.forkLabel));
  const [common] = labels;
  const isMixed = labels.size > 1;
  const said = isMixed ? "mixed" : common;
  return {
    step,
    header: said === undefined ? `×${born.length}` : `×${born.length} ${said}`,
    cards: born.map((child) => cardOf(child, isMixed ? child.forkLabel : undefined)),
  };
}

function cardOf(child: Child, label: string | undefined): Card {
  return {
    id: child.id,
    name: child.name,
    ...(label === undefined ? {} : { label }),
    state: child.state,
    ...(child.tokens === undefined ? {} : { tokens: `${child.tokens} tokens` }),
    ...(child.tail === undefined ? {} : { tail: child.tail }),
  };
}
