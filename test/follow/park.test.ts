/** Calls that wait for the person. */
import { rmSync } from "node:fs";
import { expect, it } from "vitest";
import { poll, startLane, type ToolEvent } from "../../src/follow/index.ts";
import { over, Steps, textDelta, waiting } from "./support.ts";

const id = "toolu_02";
const park = { tool_use_id: id, tool: "box2_service_status", reason: "classified opaque" };
const parked: ToolEvent = { toolUse: id, tool: "box2_service_status", held: "classified opaque" };
const options = [
  { id: "yes", label: "Allow", kind: "allow-once" },
  { id: "no", label: "Reject", kind: "reject-once" },
] as const;

it("a_park_is_a_frame_and_never_the_end_of_the_stream", async () => {
  const steps = new Steps();
  const reader = steps.reader();
  steps.append(textDelta("asking"));
  await reader.frame();
  steps.stands("live");
  steps.call(id, "parked", park);
  expect((await reader.frame()).tools).toEqual([parked]);
  expect(await reader.poll()).toEqual(waiting);
});

it("an answer whose record cannot be read is one all the same", async () => {
  const steps = new Steps();
  const reader = steps.reader();
  steps.stands("live");
  steps.call(id, "parked", park);
  await reader.frame();
  steps.call(id, "answer", "{");
  expect((await reader.frame()).tools).toEqual([{ toolUse: id, answered: { by: "the driver" } }]);
});

it("a park keeps the stream live where no driver is seen", () => {
  const calls = [{ folder: id, parked: JSON.stringify(park) }];
  const look = { isDriven: false, isCalling: false, step: { id: "s", calls } };
  const first = poll(startLane(), look);
  expect(first.outcome).toEqual({ type: "ready", frame: { stream: {}, tools: [parked] } });
  const second = poll(first.state, look);
  expect(second.outcome).toEqual(waiting);
  expect(poll(second.state, { ...look, step: { id: "s", calls: [] } }).outcome).toEqual(over);
});

it("a_read_opened_on_an_already_parked_conversation_is_answered_it", async () => {
  const steps = new Steps();
  steps.call(id, "parked", { ...park, options, input: { unit: "web" } });
  steps.stands("live");
  expect((await steps.reader().frame()).tools).toEqual([{ ...parked, options, input: '{"unit":"web"}' }]);
});

it("an_answered_park_runs_the_same_call_under_the_same_id", async () => {
  const steps = new Steps();
  const reader = steps.reader();
  steps.stands("live");
  steps.call(id, "parked", park);
  await reader.frame();
  steps.call(id, "input", { id, name: "box2_service_status", input: {} });
  const { tools } = await reader.frame();
  expect(tools).toEqual([{ toolUse: id, tool: "box2_service_status", input: "{}" }]);
});

it("an answer is told to who was told of the park, once, before the call runs", async () => {
  const steps = new Steps();
  const reader = steps.reader();
  steps.stands("live");
  steps.call(id, "parked", park);
  await reader.frame();
  steps.call(id, "answer", { option: "yes", by: "the phone", at: "t" });
  steps.call(id, "input", { id, name: "n" });
  expect((await reader.frame()).tools).toEqual([
    { toolUse: id, answered: { by: "the phone", option: "yes" } },
    { toolUse: id, tool: "n" },
  ]);
  expect(await reader.poll()).toEqual(waiting);
  expect((await steps.reader().frame()).tools).toEqual([{ toolUse: id, tool: "n" }]);
});

it("a park that was refused does not keep the step alive", async () => {
  const steps = new Steps();
  const reader = steps.reader();
  steps.stands("live");
  steps.call(id, "parked", park);
  await reader.frame();
  steps.call(id, "answer", { by: "the driver" });
  expect((await reader.frame()).tools).toEqual([{ toolUse: id, answered: { by: "the driver" } }]);
  steps.stands("quiescent");
  expect(await reader.poll()).toEqual(over);
});

it("a call that was posted already can be asked about, and one that was answered again", async () => {
  const steps = new Steps();
  const reader = steps.reader();
  const next = async (): Promise<readonly ToolEvent[]> => (await reader.frame()).tools;
  steps.stands("live");
  steps.call(id, "input", { name: "n" });
  expect(await next()).toEqual([{ toolUse: id, tool: "n" }]);
  steps.call(id, "parked", { ...park, asked_at: "1" });
  expect(await next()).toEqual([parked]);
  steps.call(id, "answer", { option: "yes", by: "me" });
  expect(await next()).toEqual([{ toolUse: id, answered: { by: "me", option: "yes" } }]);
  expect(await reader.poll()).toEqual(waiting);
  rmSync(steps.path("001", "tools", id, "answer.json"));
  steps.call(id, "parked", { ...park, asked_at: "2", reason: "once more" });
  expect(await next()).toEqual([{ ...parked, held: "once more" }]);
  steps.call(id, "parked", { ...park, asked_at: "3", reason: "asked anew between two looks" });
  expect(await next()).toEqual([{ ...parked, held: "asked anew between two looks" }]);
  rmSync(steps.path("001", "tools", id, "parked.json"));
  expect(await next()).toEqual([{ toolUse: id, answered: { by: "the driver" } }]);
  steps.call(id, "output", { exit_code: 0 });
  expect(await next()).toEqual([{ toolUse: id, exitCode: 0 }]);
});

it("a park whose driver died is no park", async () => {
  const steps = new Steps();
  const reader = steps.reader();
  steps.stands("live");
  steps.call(id, "parked", park);
  await reader.frame();
  steps.stands("quiescent");
  expect((await reader.frame()).tools).toEqual([{ toolUse: id, answered: { by: "the driver" } }]);
  expect(await reader.poll()).toEqual(over);
  expect(await steps.reader().poll()).toEqual(waiting);
});

it("a_quiescent_conversation_with_no_park_is_still_the_end_of_the_stream", async () => {
  const steps = new Steps();
  const reader = steps.reader();
  steps.append(textDelta("x"));
  await reader.frame();
  steps.stands("quiescent");
  expect(await reader.poll()).toEqual(over);
});

it("the_one_shot_answer_carries_the_park", async () => {
  const steps = new Steps();
  steps.stands("live");
  steps.call("toolu_01", "input", { name: "Bash" });
  steps.call(id, "parked", park);
  expect((await steps.once()).tools).toEqual([{ toolUse: "toolu_01", tool: "Bash" }, parked]);
});

it.each([["{"], ["[]"], ["{}"], ['{"tool_use_id":1,"tool":"x"}'], ['{"tool_use_id":"toolu_02"}']])(
  "%s is no park",
  async (text) => {
    const steps = new Steps();
    steps.stands("live");
    steps.call(id, "parked", text);
    expect(await steps.reader().poll()).toEqual(waiting);
  },
);

it("a park without a reason has an empty one", async () => {
  const steps = new Steps();
  steps.stands("live");
  steps.call(id, "parked", { tool_use_id: id, tool: "t" });
  expect((await steps.reader().frame()).tools).toEqual([{ toolUse: id, tool: "t", held: "" }]);
});
