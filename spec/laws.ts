/**
 * The laws of the window: L1-L21 of the document that speak of states and steps, the further laws X1-X19, those of the extensions
 * (E1-E3), and that the reference model agrees (R1, R2). Tests, the explorer and the trace checker ask these same laws.
 */
import type { WindowEvent } from "../src/window/index.ts";
import { documentLaws } from "./laws/document.ts";
import { extensionLaws, modelLaws } from "./laws/extensions.ts";
import { furtherLaws } from "./laws/further.ts";
import type { Law, ShiftLaw, StateLaw, StepLaw } from "./laws/law.ts";
import type { Step, World } from "./world.ts";

export { isSameEffects, isSameState } from "./laws/equal.ts";
export type { Law, ShiftLaw, StateLaw, StepLaw } from "./laws/law.ts";

/** Counters are only compared and counted: spec/shifts.ts asks. */
export const shiftLaw: ShiftLaw = { kind: "shift", id: "X19", name: "CountersOnlyCounted" };

/** Every law of states and steps, in the documents' order. */
export const laws: readonly Law[] = [
  ...documentLaws,
  ...furtherLaws,
  shiftLaw,
  ...extensionLaws,
  ...modelLaws,
];

const none: readonly Law[] = [];

/** A choice of laws, sorted by what they are asked about. */
export class LawBook {
  private readonly ofStates: readonly StateLaw[];
  private readonly ofSteps = new Map<WindowEvent["type"], readonly StepLaw[]>();
  private readonly ofRejections = new Map<WindowEvent["type"], readonly StepLaw[]>();
  private readonly stepLaws: readonly StepLaw[];

  constructor(among: readonly Law[]) {
    this.ofStates = among.filter((law) => law.kind === "state");
    this.stepLaws = among.filter((law) => law.kind === "step");
  }

  /** The laws that a world breaks; empty when all hold. */
  brokenByState(world: World): readonly Law[] {
    let broken: Law[] | undefined;
    for (const law of this.ofStates) {
      if (law.holds(world)) continue;
      broken ??= [];
      broken.push(law);
    }
    return broken ?? none;
  }

  /** The laws of steps that a step breaks; empty when all hold. */
  brokenByStep(step: Step): readonly Law[] {
    const isRejected = step.result.rejected !== undefined;
    const book = isRejected ? this.ofRejections : this.ofSteps;
    const { type } = step.event;
    let asked = book.get(type);
    if (asked === undefined) {
      asked = this.stepLaws.filter(
        (law) => (!isRejected || law.rejections === true) && law.on?.includes(type) !== false,
      );
      book.set(type, asked);
    }
    let broken: Law[] | undefined;
    for (const law of asked) {
      if (law.holds(step)) continue;
      broken ??= [];
      broken.push(law);
    }
    return broken ?? none;
  }
}

/** The laws that a step breaks, at the step or where it led; empty when all hold. */
export function brokenLaws(step: Step, among: readonly Law[] = laws): readonly Law[] {
  const book = new LawBook(among);
  return [...book.brokenByStep(step), ...book.brokenByState(step.after)];
}
