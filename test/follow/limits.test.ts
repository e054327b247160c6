/** Each bound of following: the test that stands at it. */
import { expect, it } from "vitest";
import { followWorld, holdRead, type Look, type World } from "../../src/follow/index.ts";
import * as limits from "../../src/follow/limits.ts";
import * as nodeLimits from "../../src/follow/node/limits.ts";
import { expectHeld } from "../support/held-limits.ts";

const { HOLD_MS, HOLD_TICK_MS, REASK_MS } = limits;

it("each bound has its test", async () => {
  await expectHeld(
    limits,
    {
      READ_BYTES_MAX: ["reading.test.ts", "a read takes at most its bound a look"],
      LINE_BYTES_MAX: ["reading.test.ts", "a line over the limit is stepped over"],
      GUARD_BYTES: ["laws.test.ts", "a file goes on where the bytes before the offset"],
      EVENT_INPUT_MAX: ["tool-event.test.ts", "a_long_input_is_bounded_at_both_ends"],
      ELIDE_MIN: ["tool-event.test.ts", "nothing is made shorter than the least"],
      EVENT_WORDS_MAX: ["tool-event.test.ts", "words and options of a park are bounded"],
      EVENT_OPTIONS_MAX: ["tool-event.test.ts", "words and options of a park are bounded"],
      FRAME_EVENTS_MAX: ["window.test.ts", "a frame carries a bounded number of events"],
      WINDOW_CALLS_MAX: ["window.test.ts", "a step of more calls than the window holds"],
      FRAME_BYTES_MAX: ["tool-event.test.ts", "a frame over the limit is refused"],
      HOLD_TICK_MS: ["limits.test.ts", "HOLD_MS, HOLD_TICK_MS"],
      HOLD_MS: ["limits.test.ts", "HOLD_MS, HOLD_TICK_MS"],
      REASK_MS: ["limits.test.ts", "REASK_MS"],
      ONCE_LOOKS_MAX: ["node.test.ts", "an answer at once ends"],
    },
    import.meta.url,
  );
  await expectHeld(
    nodeLimits,
    {
      RECORD_BYTES_MAX: ["node.test.ts", "a record over the limit"],
      LOOK_RECORD_BYTES_MAX: ["node.test.ts", "a look reads so many bytes of records"],
      WATCHED_CALLS_MAX: ["node.test.ts", "so many folders of calls are watched"],
      WATCHED_TICK_MS: ["node.test.ts", "a watcher tells hints once"],
      LATE_STEPS_MAX: ["node.test.ts", "who comes when the agent has gone on"],
      PROMPT_BYTES_MAX: ["node.test.ts", "an inbox holds so many prompts"],
      INBOX_PROMPTS_MAX: ["node.test.ts", "an inbox holds so many prompts"],
    },
    import.meta.url,
  );
});

/** A world in which nothing happens, and the waits in it. */
function stillWorld(): World & { readonly waits: number[] } {
  const waits: number[] = [];
  const look: Look = { isDriven: false, isCalling: false };
  return {
    waits,
    tickMs: HOLD_TICK_MS,
    look: async () => look,
    wait: async (ms) => {
      waits.push(ms);
      return false;
    },
  };
}

it("HOLD_MS, HOLD_TICK_MS: a quiet read ends after 30 s of looks, 1,875 of them", async () => {
  const world = stillWorld();
  const read = holdRead(world);
  expect((await read.next()).value).toMatchObject({ reason: "quiet" });
  expect(HOLD_MS).toBe(1875 * HOLD_TICK_MS);
  // The first look is before any wait.
  expect(world.waits).toEqual(new Array(1874).fill(HOLD_TICK_MS));
});

it("REASK_MS: after a read that told nothing the next one begins so much later", async () => {
  const world = stillWorld();
  const stop = { aborted: false };
  const waits: number[] = [];
  const lane = followWorld(
    {
      ...world,
      wait: async (ms) => {
        waits.push(ms);
        stop.aborted = waits.filter((each) => each === REASK_MS).length === 3;
        return false;
      },
    },
    { holdMs: 2 * HOLD_TICK_MS, stop },
  );
  expect((await lane.next()).done).toBe(true);
  expect(waits).toEqual([HOLD_TICK_MS, REASK_MS, HOLD_TICK_MS, REASK_MS, HOLD_TICK_MS, REASK_MS]);
});
