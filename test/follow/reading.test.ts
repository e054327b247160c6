/** How bytes are gathered, and when a read ends. */
import { mkdirSync, renameSync, rmSync, truncateSync, writeFileSync } from "node:fs";
import { expect, it } from "vitest";
import { holdRead, LINE_BYTES_MAX, READ_BYTES_MAX } from "../../src/follow/index.ts";
import { jsonDelta, messageStart, over, prose, Steps, scriptedWorld, textDelta, waiting } from "./support.ts";

it("a_step_that_has_opened_no_response_file_is_waited_on", async () => {
  const steps = new Steps();
  const reader = steps.reader();
  mkdirSync(steps.path("001"), { recursive: true });
  expect(await reader.poll()).toEqual(waiting);
  steps.append(textDelta("here"));
  expect(await reader.frame()).toEqual(prose("here"));
});

it("a_half_written_line_waits_for_its_newline", async () => {
  const steps = new Steps();
  const reader = steps.reader();
  const line = textDelta("naïve 🎉");
  const bytes = Buffer.from(line);
  for (const byte of bytes.subarray(0, -1)) {
    steps.append(Buffer.from([byte]) as unknown as string);
    expect(await reader.poll()).toEqual(waiting);
  }
  steps.append("\n");
  expect(await reader.frame()).toEqual(prose("naïve 🎉"));
});

it("an_event_the_operator_cannot_see_is_not_a_frame", async () => {
  const steps = new Steps();
  const reader = steps.reader();
  steps.append(messageStart + jsonDelta('{"pa'));
  expect(await reader.poll()).toEqual(waiting);
  expect(await reader.poll()).toEqual(waiting);
});

it("a_file_that_shrank_is_read_again_from_the_start", async () => {
  const steps = new Steps();
  const reader = steps.reader();
  steps.append(textDelta("a long first answer"));
  await reader.frame();
  writeFileSync(steps.path("001", "response.json"), textDelta("other"));
  expect(await reader.frame()).toEqual({ ...prose("other"), again: true });
});

it("a file cut to nothing takes back what it said", async () => {
  const steps = new Steps();
  const reader = steps.reader();
  steps.append(textDelta("gone"));
  await reader.frame();
  truncateSync(steps.path("001", "response.json"));
  expect(await reader.frame()).toEqual({ stream: {}, tools: [], again: true });
  expect(await reader.poll()).toEqual(waiting);
});

it.each([
  ["of the same length", "AAAA", "BBBB"],
  ["that is longer", "AAAA", "BBBBBBBB"],
])("a file in the place of the one that was read, %s, is told anew", async (_, before, after) => {
  const steps = new Steps();
  const reader = steps.reader();
  steps.append(textDelta(before));
  await reader.frame();
  const fresh = steps.path("001", "fresh");
  writeFileSync(fresh, textDelta(after));
  renameSync(fresh, steps.path("001", "response.json"));
  expect(await reader.frame()).toEqual({ ...prose(after), again: true });
});

it("a file written anew in its place is told anew by the bytes before the offset", async () => {
  const steps = new Steps();
  const reader = steps.reader();
  steps.append(textDelta("AAAA"));
  await reader.frame();
  writeFileSync(steps.path("001", "response.json"), textDelta("BBBB") + textDelta("CCCC"));
  expect(await reader.frame()).toEqual({ ...prose("BBBBCCCC"), again: true });
});

it("retries in one file go on in the same stream", async () => {
  const steps = new Steps();
  const reader = steps.reader();
  steps.append(`${textDelta("half ")}{"type":"error","message":"overloaded"}\n{"type":"end"}\n`);
  expect(await reader.frame()).toEqual(prose("half "));
  steps.append(messageStart + textDelta("whole"));
  expect(await reader.frame()).toEqual(prose("whole"));
});

it("a_settled_step_is_not_followed", async () => {
  const steps = new Steps();
  steps.append(textDelta("done"));
  steps.stands("quiescent");
  expect(await steps.reader().poll()).toEqual(waiting);
});

it("a step marked as over is not followed, whoever drives", async () => {
  const steps = new Steps();
  steps.append(textDelta("done"));
  steps.put("001", "over.json", {});
  expect(await steps.reader().poll()).toEqual(waiting);
});

it("the_stream_ends_when_the_call_does_and_the_last_bytes_come_out_first", async () => {
  const steps = new Steps();
  const reader = steps.reader();
  steps.append(textDelta("it begins"));
  await reader.frame();
  steps.append(textDelta(" and ends"));
  steps.stands("quiescent");
  expect(await reader.frame()).toEqual(prose(" and ends"));
  expect(await reader.poll()).toEqual(over);
});

it("a_step_advancing_ends_the_stream", async () => {
  const steps = new Steps();
  const reader = steps.reader();
  steps.append(textDelta("one"));
  await reader.frame();
  steps.append(textDelta("two"), "002");
  expect(await reader.poll()).toEqual(over);
});

it("step 1000 comes after 999, and what is no step is passed over", async () => {
  const steps = new Steps();
  steps.append(textDelta("old"), "999");
  steps.append(textDelta("new"), "1000");
  for (const name of ["notes", "01a", "+12", "12"]) mkdirSync(steps.path(name), { recursive: true });
  writeFileSync(steps.path("9999"), "a file");
  expect(await steps.reader().frame()).toEqual(prose("new"));
});

it("a_tree_that_went_away_ends_the_stream", async () => {
  const steps = new Steps();
  const reader = steps.reader();
  steps.append(textDelta("one"));
  await reader.frame();
  rmSync(steps.steps, { recursive: true });
  expect(await reader.poll()).toEqual(over);
});

it("a_quiet_hold_expires_and_a_frame_resets_it", async () => {
  const response = (start: number, text: string) => ({
    id: "s",
    calls: [],
    response: { identity: "f", start, bytes: new TextEncoder().encode(text), isEnd: true },
  });
  const line = textDelta("x");
  const quiet = response(line.length, "");
  const world = scriptedWorld([response(0, ""), response(0, line), quiet, quiet]);
  const read = holdRead(world, { holdMs: 2 });
  expect(await read.next()).toEqual({ done: false, value: prose("x") });
  expect(await read.next()).toEqual({ done: true, value: { reason: "quiet", step: "s" } });
  // One wait before the frame and one after it: two quiet looks in a row end it, not two in all.
  expect(world.waits).toBe(2);
});

it("a_stream_that_is_over_ends_the_hold_at_once", async () => {
  const steps = new Steps();
  const world = steps.world();
  const read = holdRead(world, { holdMs: Number.POSITIVE_INFINITY });
  steps.append(textDelta("one"));
  expect((await read.next()).value).toEqual(prose("one"));
  steps.append(textDelta("two"), "002");
  expect(await read.next()).toEqual({ done: true, value: { reason: "over", step: steps.path("001") } });
});

it("a read takes at most its bound a look and is not over before all of it is told", async () => {
  const steps = new Steps();
  const reader = steps.reader();
  const half = "x".repeat(READ_BYTES_MAX * 0.6);
  steps.append(textDelta(half) + textDelta(half));
  expect((await reader.frame()).stream.text).toBe(half);
  steps.stands("quiescent");
  expect((await reader.frame()).stream.text).toBe(half);
  expect(await reader.poll()).toEqual(over);
});

it("what says nothing for longer than a look takes does not end a read that has more", async () => {
  const steps = new Steps();
  const reader = steps.reader();
  steps.append(textDelta("a"));
  await reader.frame();
  const silent = jsonDelta("x".repeat(READ_BYTES_MAX / 2));
  steps.append(silent + silent + silent + textDelta("b"));
  steps.stands("quiescent");
  expect(await reader.poll()).toEqual({ type: "waiting", isBehind: true });
  expect(await reader.frame()).toEqual(prose("b"));
  expect(await reader.poll()).toEqual(over);
});

it("a line over the limit is stepped over, and the next one is read", async () => {
  const steps = new Steps();
  steps.append(textDelta("x".repeat(LINE_BYTES_MAX)) + textDelta("after"));
  expect(await steps.reader().frames()).toEqual([prose("after")]);
  const longest = "y".repeat(LINE_BYTES_MAX - textDelta("").length + 1);
  const fitting = new Steps();
  fitting.append(textDelta(longest));
  expect(await fitting.reader().frames()).toEqual([prose(longest)]);
});
