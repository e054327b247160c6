// Random runs of a window, for properties. A run is a list of choices, each read against the state it meets, so that most events are
// allowed where they fall, some are not, and a shorter list is still a run.
import fc from "fast-check";
import type { StepFunction } from "../../spec/explore.ts";
import type { Step, World } from "../../spec/world.ts";
import { advance, worldAt } from "../../spec/world.ts";
import type { SaveMode, WindowConfig, WindowEvent } from "../../src/window/index.ts";
import { abstract, createWindow } from "../../src/window/index.ts";

export interface Choice {
  /** Which kind of event, by weight. */
  readonly kind: number;
  /** Its argument: small numbers are the usual ones. */
  readonly arg: number;
}

export interface RunSpec {
  readonly config: WindowConfig;
  readonly save: SaveMode;
  readonly choices: readonly Choice[];
}

const CHOICES_MAX = 120;

export const configs: fc.Arbitrary<WindowConfig> = fc
  .record({
    window: fc.integer({ min: 1, max: 5 }),
    step: fc.integer({ min: 1, max: 5 }),
    slice: fc.integer({ min: 1, max: 4 }),
    maxLive: fc.integer({ min: 1, max: 3 }),
    maxHeld: fc.option(fc.integer({ min: 1, max: 6 }), { nil: undefined }),
    followWhileOpen: fc.boolean(),
    jump: fc.boolean(),
  })
  .map(({ maxHeld, step, ...rest }) => ({
    ...rest,
    step: Math.min(step, rest.window),
    ...(maxHeld === undefined ? {} : { maxHeld }),
  }));

export const runs: fc.Arbitrary<RunSpec> = fc.record({
  config: configs,
  save: fc.constantFrom<SaveMode>("saved", "saved", "saved", "unsaved"),
  choices: fc.array(fc.record({ kind: fc.nat({ max: 99 }), arg: fc.nat({ max: 99 }) }), {
    maxLength: CHOICES_MAX,
    size: "max",
  }),
});

/** A reply to the pending read: mostly what a true log would say, else anything. */
function reply(world: World, arg: number): WindowEvent {
  const { abs, config, logFirst } = world;
  const { pending, anchor } = abs.ctrlo;
  const isTrue = arg % 4 !== 0;
  const token = arg % 9 === 8 ? abs.next_token - 1 - (arg % 3) : pending.token;
  if (!isTrue || logFirst === undefined) {
    return { type: "log_read_done", token, count: arg % 7, met: arg % 5 === 0 };
  }
  const from = anchor === "start" ? logFirst + pending.from : pending.from;
  const below = (end: number): number => Math.max(0, end - from);
  switch (pending.dir) {
    case "first": {
      const before = abs.held_first - logFirst;
      const count = Math.min(config.window, before);
      return { type: "log_read_done", token, count, met: count === before };
    }
    case "newer": {
      const count = Math.min(config.step, below(anchor === "start" ? abs.held_first : abs.saved_through));
      return { type: "log_read_done", token, count, met: from + count === abs.held_first };
    }
    default:
      return { type: "log_read_done", token, count: Math.min(config.step, Math.max(0, from - logFirst)) };
  }
}

function eventOf(world: World, { kind, arg }: Choice): WindowEvent {
  const { abs } = world;
  const id = arg % 10 === 9 ? arg - 50.5 : arg % 4;
  if (kind < 8) return { type: "turn_started" };
  if (kind < 18) return { type: "turn_ended" };
  if (kind < 24) return { type: "block_opened", id };
  if (kind < 27) return { type: "block_changed", id };
  if (kind < 42) return { type: "block_finished", id: arg % 2 === 0 ? (abs.live[0] ?? id) : id };
  if (kind < 52) return { type: "saved_through", seq: abs.next_seq + 1 - (arg < 60 ? 1 : arg % 5) };
  if (kind < 57) return { type: "compacted" };
  if (kind < 60) return { type: "resized" };
  if (kind < 66) return { type: "reprint_tick" };
  if (kind < 70) return { type: "ctrlo_opened" };
  if (kind < 80) return { type: "ctrlo_scrolled", dir: arg < 70 ? "older" : "newer" };
  if (kind < 84) return { type: "ctrlo_jumped", to: arg < 70 ? "start" : "end" };
  if (kind < 85) return { type: "ctrlo_closed" };
  if (kind < 95) return reply(world, arg);
  if (kind < 97) return { type: "log_read_failed", token: abs.ctrlo.pending.token + (arg % 3 === 2 ? 1 : 0) };
  const nextSeq = abs.next_seq + (arg % 6) - 1;
  return { type: "resumed", cycle: abs.cycle + 1, cycleFirst: nextSeq - (arg % 5), nextSeq };
}

/** The steps of a run. */
export function* stepsOf(run: RunSpec, step: StepFunction): Generator<Step> {
  let state = createWindow(run.config, run.save);
  let world = worldAt(run.config, abstract(state), run.save === "saved" ? 0 : undefined);
  for (const choice of run.choices) {
    const event = eventOf(world, choice);
    const result = step(state, event);
    // A log that is met again begins where it did, or has lost everything before the cycle.
    const keeps = choice.arg % 2 === 0 && (world.logFirst ?? 0) <= abstract(result.state).cycle_first;
    const logFirst = keeps ? (world.logFirst ?? 0) : abstract(result.state).cycle_first;
    const after = advance(world, event, result, logFirst);
    yield { before: world, event, result, after };
    state = result.state;
    world = after;
  }
}
