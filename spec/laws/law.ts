/** What a law is. */
import type { AbstractState, WindowEffect, WindowEvent } from "../../src/window/index.ts";
import type { Step, World } from "../world.ts";

interface Named {
  readonly id: string;
  readonly name: string;
}

/** A law of states: it may only look at what makes two worlds the same for the explorer, so that each world is asked about once. */
export interface StateLaw extends Named {
  readonly kind: "state";
  readonly holds: (world: World) => boolean;
}

/** A law of steps. */
export interface StepLaw extends Named {
  readonly kind: "step";
  /** The events it speaks of; absent: all. */
  readonly on?: readonly WindowEvent["type"][];
  /** Whether it speaks of rejected steps too; the others are not asked about those. */
  readonly rejections?: true;
  readonly holds: (step: Step) => boolean;
}

/** A law of the step function: how its answers to two questions go together. Only the explorer can ask. */
export interface ShiftLaw extends Named {
  readonly kind: "shift";
}

export type Law = StateLaw | StepLaw | ShiftLaw;

type EffectOf<Type extends WindowEffect["type"]> = Extract<WindowEffect, { type: Type }>;

/** The first effect of a type. */
export function first<Type extends WindowEffect["type"]>(step: Step, type: Type): EffectOf<Type> | undefined {
  for (const effect of step.result.effects) if (effect.type === type) return effect as EffectOf<Type>;
  return undefined;
}

/** Whether every effect of a type satisfies a predicate. */
export function all<Type extends WindowEffect["type"]>(
  step: Step,
  type: Type,
  predicate: (effect: EffectOf<Type>) => boolean,
): boolean {
  for (const effect of step.result.effects) {
    if (effect.type === type && !predicate(effect as EffectOf<Type>)) return false;
  }
  return true;
}

export const hasRead = (s: AbstractState): boolean => s.ctrlo.pending.dir !== "none";
