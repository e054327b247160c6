/** What the tail promises. */
import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { absorbFrame, emptyHeld, foldStream } from "../../src/follow/index.ts";
import { prose, Steps, textDelta, thinkingDelta, waiting } from "./support.ts";

it("appended_bytes_are_on_a_frame_with_no_derivation_between", async () => {
  const steps = new Steps();
  const reader = steps.reader();
  steps.append(textDelta("Hel"));
  expect(await reader.frame()).toEqual(prose("Hel"));
  steps.append(textDelta("lo"));
  expect(await reader.frame()).toEqual(prose("lo"));
  expect(await reader.poll()).toEqual(waiting);
});

it("a_frame_says_exactly_what_the_pull_fold_says_of_the_same_bytes", async () => {
  const steps = new Steps();
  steps.append(thinkingDelta("let me see") + textDelta("Hello"));
  const { stream } = await steps.reader().frame();
  expect(stream).toEqual(foldStream(readFileSync(steps.path("001", "response.json"), "utf8")));
  expect(stream).toEqual({ thinking: "let me see", text: "Hello", lastDelta: "text" });
});

it("reasoning_streams_and_carries_the_doing_split_with_it", async () => {
  const steps = new Steps();
  const reader = steps.reader();
  steps.append(thinkingDelta("hm"));
  expect((await reader.frame()).stream).toEqual({ thinking: "hm", lastDelta: "thinking" });
  steps.append(textDelta("so"));
  expect((await reader.frame()).stream).toEqual({ text: "so", lastDelta: "text" });
});

it("the_frames_of_a_read_sum_to_the_answer_and_carry_it_once", async () => {
  const steps = new Steps();
  const reader = steps.reader();
  const pieces = ["one ", "two ", "three"];
  const told: string[] = [];
  for (const piece of pieces) {
    steps.append(textDelta(piece));
    told.push((await reader.frame()).stream.text ?? "");
  }
  expect(told).toEqual(pieces);
});

it("absorbing_every_frame_of_a_read_is_the_fold_of_the_same_bytes", async () => {
  const steps = new Steps();
  const reader = steps.reader();
  let held = emptyHeld;
  for (const line of [thinkingDelta("a"), textDelta("b"), thinkingDelta("c"), textDelta("d")]) {
    steps.append(line);
    held = absorbFrame(held, await reader.frame());
  }
  expect(held.stream).toEqual(foldStream(readFileSync(steps.path("001", "response.json"), "utf8")));
  expect(held.stream).toEqual({ thinking: "ac", text: "bd", lastDelta: "text" });
});

it("a_read_that_starts_mid_answer_is_whole_on_its_first_frame", async () => {
  const steps = new Steps();
  const first = steps.reader();
  steps.append(textDelta("one "));
  await first.frame();
  steps.append(textDelta("two"));
  expect(await steps.reader().frame()).toEqual(prose("one two"));
});
