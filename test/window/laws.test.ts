// Every law of states and steps, by name, over random runs. Each must have had something to say: a law that is never at stake proves
// nothing.
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { Law } from "../../spec/laws.ts";
import { brokenLaws, laws } from "../../spec/laws.ts";
import type { Step } from "../../spec/world.ts";
import type { WindowEffect, WindowEvent } from "../../src/window/index.ts";
import { formatEvent, step } from "../../src/window/index.ts";
import { runs, stepsOf } from "./random-runs.ts";

const RUNS = 150;

const has =
  (...types: readonly WindowEffect["type"][]) =>
  ({ result }: Step): boolean =>
    result.effects.some((effect) => types.includes(effect.type));
const is =
  (...types: readonly WindowEvent["type"][]) =>
  ({ event, result }: Step): boolean =>
    types.includes(event.type) && result.rejected === undefined;
const isRejected = ({ result }: Step): boolean => result.rejected !== undefined;
const isOpen = ({ after }: Step): boolean => after.abs.ctrlo.open;

/** When a law is at stake; where it is not listed, on every step. */
const stakes: Readonly<Record<string, (step: Step) => boolean>> = {
  L1: ({ after }) => !after.abs.turn_open && after.abs.cycle > 0,
  L2: (one) => has("drop")(one) && one.before.abs.live.length > 0,
  L3: (one) => has("drop")(one) && one.after.abs.save === "saved",
  L4: is("block_changed"),
  L5: has("paint_final"),
  L6: ({ after }) => after.abs.reprinting && after.abs.painted_through > after.abs.held_first,
  L7: has("reprint_slice"),
  L8: isOpen,
  L9: has("read_log"),
  L10: is("ctrlo_opened"),
  L11: (one) => isRejected(one) && one.event.type === "log_read_done",
  L12: (one) => one.after.abs.save === "unsaved" && isOpen(one),
  L13: is("resumed"),
  L18: has("drop"),
  L19: ({ after }) => !after.abs.reprinting && after.abs.next_seq > after.abs.held_first,
  L20: has("paint_final", "reprint_slice"),
  L21: is("log_read_done"),
  X2: isOpen,
  X3: ({ after }) => after.abs.ctrlo.open && after.abs.ctrlo.lo < after.abs.held_first,
  X4: has("ctrlo_show"),
  X5: is("ctrlo_scrolled"),
  X6: is("log_read_done"),
  X7: has("read_log"),
  X9: has("drop", "reprint_slice"),
  X10: ({ after }) => !after.abs.reprinting && after.abs.live.length > 0,
  X11: ({ after }) => after.abs.ctrlo.at_start && after.truthful,
  X14: has("repaint_live", "reprint_begin"),
  X15: has("read_log"),
  X17: isRejected,
  X18: is("ctrlo_scrolled"),
  E1: (one) => is("block_finished")(one) && has("ctrlo_show")(one),
  E2: ({ after }) => after.config.maxHeld !== undefined && after.abs.save === "saved",
  E2b: has("drop"),
  E3: is("ctrlo_jumped"),
  E3b: (one) =>
    is("log_read_done")(one) && one.before.abs.ctrlo.pending.dir === "first" && one.after.truthful,
  R1: isRejected,
};

const scriptOf = (steps: readonly Step[]): string => steps.map(({ event }) => formatEvent(event)).join(" ");

describe("over random runs", () => {
  for (const law of laws) {
    test(`${law.id} ${law.name}`, () => {
      const isAtStake = stakes[law.id] ?? (() => true);
      let atStake = 0;
      fc.assert(
        fc.property(runs, (run) => {
          const steps: Step[] = [];
          for (const one of stepsOf(run, step)) {
            steps.push(one);
            if (isAtStake(one)) atStake += 1;
            if (brokenLaws(one, [law]).length > 0) throw new Error(scriptOf(steps));
          }
        }),
        { numRuns: RUNS },
      );
      expect(atStake).toBeGreaterThan(0);
    });
  }
});

test("each law has its own id, and speaks of rejected steps only where it says so", () => {
  const ids = laws.map((law: Law) => law.id);
  expect(new Set(ids).size).toBe(ids.length);
  for (const id of Object.keys(stakes)) expect(ids).toContain(id);
});
