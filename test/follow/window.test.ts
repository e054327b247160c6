/** The tool window. */
import { mkdirSync, rmSync } from "node:fs";
import { expect, it } from "vitest";
import {
  absorbFrame,
  emptyHeld,
  emptyWindow,
  FRAME_EVENTS_MAX,
  type Frame,
  lookAtCalls,
  type ToolEvent,
} from "../../src/follow/index.ts";
import { WINDOW_CALLS_MAX } from "../../src/follow/limits.ts";
import { over, Steps, textDelta, waiting } from "./support.ts";

const uptime = { id: "toolu_01", name: "box2_Bash", input: { command: "uptime" } };
const posted: ToolEvent = { toolUse: "toolu_01", tool: "box2_Bash", input: '{"command":"uptime"}' };
const tools = (...events: ToolEvent[]): Frame => ({ stream: {}, tools: events });

it("a_command_running_on_a_machine_is_on_a_frame_though_the_prose_says_nothing", async () => {
  const steps = new Steps();
  const reader = steps.reader();
  steps.call("toolu_01", "input", uptime);
  steps.stands("live");
  expect(await reader.frame()).toEqual(tools(posted));
  expect(await reader.poll()).toEqual(waiting);
  steps.call("toolu_01", "output", { stdout: "", exit_code: 1 });
  expect(await reader.frame()).toEqual(tools({ toolUse: "toolu_01", exitCode: 1 }));
  expect(await reader.poll()).toEqual(waiting);
});

it("prose_and_a_tool_event_from_one_look_are_one_frame", async () => {
  const steps = new Steps();
  steps.append(textDelta("looking"));
  steps.call("toolu_01", "input", uptime);
  expect(await steps.reader().frame()).toEqual({
    stream: { text: "looking", lastDelta: "text" },
    tools: [posted],
  });
});

it("the_lane_holds_through_the_tool_phase_of_a_step", async () => {
  const steps = new Steps();
  const reader = steps.reader();
  steps.append(textDelta("now"));
  await reader.frame();
  steps.stands("live");
  expect(await reader.poll()).toEqual(waiting);
  steps.call("toolu_01", "input", uptime);
  expect(await reader.frame()).toEqual(tools(posted));
  steps.call("toolu_01", "output", { exit_code: 0 });
  expect(await reader.frame()).toEqual(tools({ toolUse: "toolu_01", exitCode: 0 }));
  steps.stands("quiescent");
  expect(await reader.poll()).toEqual(over);
});

it("between the calls of a step the prose is not opened", async () => {
  const steps = new Steps();
  steps.append(textDelta("committed already"));
  steps.stands("live");
  expect(await steps.reader().poll()).toEqual(waiting);
});

it("a_settled_conversation_opens_no_window", async () => {
  const steps = new Steps();
  steps.call("toolu_01", "input", uptime);
  steps.stands("quiescent");
  expect(await steps.reader().poll()).toEqual(waiting);
});

it("a_call_opens_on_one_look_and_closes_on_the_next", async () => {
  const steps = new Steps();
  const reader = steps.reader();
  steps.call("toolu_01", "input", uptime);
  expect(await reader.frame()).toEqual(tools(posted));
  steps.call("toolu_01", "output", { exit_code: 0 });
  expect(await reader.frame()).toEqual(tools({ toolUse: "toolu_01", exitCode: 0 }));
  expect(await reader.poll()).toEqual(waiting);
});

it("a_call_that_finished_between_two_looks_yields_both_halves_at_once", async () => {
  const steps = new Steps();
  steps.call("toolu_01", "input", uptime);
  steps.call("toolu_01", "output", { exit_code: 0 });
  expect(await steps.reader().frame()).toEqual(tools(posted, { toolUse: "toolu_01", exitCode: 0 }));
});

it("calls_are_tracked_one_watermark_each", async () => {
  const steps = new Steps();
  const reader = steps.reader();
  steps.call("b", "input", { name: "B" });
  expect((await reader.frame()).tools).toEqual([{ toolUse: "b", tool: "B" }]);
  steps.call("a", "input", { name: "A" });
  expect((await reader.frame()).tools).toEqual([{ toolUse: "a", tool: "A" }]);
  steps.call("b", "output", { exit_code: 3 });
  expect((await reader.frame()).tools).toEqual([{ toolUse: "b", exitCode: 3 }]);
  steps.call("a", "output", { exit_code: 4 });
  expect((await reader.frame()).tools).toEqual([{ toolUse: "a", exitCode: 4 }]);
});

it("the_one_shot_answer_is_the_held_read_s_frames_concatenated", async () => {
  const steps = new Steps();
  const reader = steps.reader();
  let held = emptyHeld;
  const take = async (): Promise<void> => {
    held = absorbFrame(held, await reader.frame());
    expect(await steps.once()).toEqual(held);
  };
  steps.append(textDelta("first "));
  await take();
  steps.append(textDelta("second"));
  steps.call("toolu_01", "input", uptime);
  await take();
  steps.call("toolu_01", "output", { exit_code: 0 });
  await take();
  steps.stands("quiescent");
  expect(await steps.once()).toEqual(emptyHeld);
});

it("only the newest step is looked at", async () => {
  const steps = new Steps();
  steps.call("old", "input", {}, "001");
  steps.call("new", "input", {}, "002");
  expect((await steps.reader().frame()).tools).toEqual([{ toolUse: "new" }]);
});

it("folders and files that are no calls are passed over", async () => {
  const steps = new Steps();
  mkdirSync(steps.path("001", "tools", "bare"), { recursive: true });
  steps.put("001", "tools/stray.json", "{}");
  steps.call("early", "output", { exit_code: 0 });
  expect(await steps.reader().poll()).toEqual(waiting);
  rmSync(steps.path("001", "tools"), { recursive: true });
  expect(await steps.reader().poll()).toEqual(waiting);
});

it("ids of any characters stay within the folder and come back as they are", async () => {
  const steps = new Steps();
  const ids = [
    "../../etc/passwd",
    "",
    ".",
    "..",
    "a b/c",
    "Ünïcode",
    "%0041",
    "x".repeat(300),
    `${"x".repeat(300)}y`,
  ];
  for (const id of ids) steps.call(id, "input", { id });
  const told = (await steps.reader().frame()).tools.map((event) => event.toolUse);
  expect(new Set(told)).toEqual(new Set(ids));
});

it("a frame carries a bounded number of events and the next ones the rest", async () => {
  const steps = new Steps();
  for (let call = 0; call <= FRAME_EVENTS_MAX; call++)
    steps.call(`call_${String(call).padStart(4, "0")}`, "input", {});
  const frames = await steps.reader().frames();
  expect(frames.map((frame) => frame.tools.length)).toEqual([FRAME_EVENTS_MAX, 1]);
  steps.stands("quiescent");
});

it("what is owed is told before the end", async () => {
  const steps = new Steps();
  const reader = steps.reader();
  for (let call = 0; call <= FRAME_EVENTS_MAX; call++) steps.call(`c${call}`, "input", {});
  await reader.frame();
  steps.stands("quiescent");
  expect((await reader.frame()).tools).toHaveLength(1);
  expect(await reader.poll()).toEqual(over);
});

it("a step of more calls than the window holds tells the first ones", () => {
  const calls = Array.from({ length: WINDOW_CALLS_MAX + 2 }, (_, n) => ({
    folder: `c${String(n).padStart(6, "0")}`,
    input: "{}",
  }));
  const { window, events } = lookAtCalls(emptyWindow, calls);
  expect([window.size, events.length]).toEqual([WINDOW_CALLS_MAX, WINDOW_CALLS_MAX]);
  expect(lookAtCalls(window, calls).events).toEqual([]);
});
