/** A step as the driver of an agent publishes it, followed and answered from another seat. */
import { expect, it } from "vitest";
import { StepWriter } from "../../src/agent/step-writer.ts";
import { absorbFrame, emptyHeld, followWorld, stepsFolder, type ToolEvent } from "../../src/follow/index.ts";
import { answerParked, nodeWatcherPorts, openStepWorld } from "../../src/follow/node/index.ts";
import { nodePorts } from "../../src/log/index.ts";
import { temporaryFolder } from "./support.ts";

it("what the driver publishes is what the lane tells, and an answer from the lane's side reaches it", async () => {
  const folder = temporaryFolder();
  const problems: string[] = [];
  let serial = 0;
  const writer = new StepWriter({
    ports: { files: nodePorts.files, randomId: () => `t${serial++}` },
    folder,
    onProblem: (code) => problems.push(code),
  });
  const world = openStepWorld({
    steps: stepsFolder(folder),
    isDriven: () => Promise.resolve(true),
    ports: nodeWatcherPorts,
  });
  const lane = followWorld(world);
  let held = emptyHeld;
  const until = async (isThere: (events: readonly ToolEvent[]) => boolean): Promise<void> => {
    while (!isThere(held.tools)) {
      const next = await lane.next();
      if (next.done || next.value.type === "over") throw new Error("the read ended");
      held = absorbFrame(held, next.value.frame);
    }
  };
  await writer.publish({ type: "begun", time: 1 });
  await writer.publish({ type: "thinking", text: "hm" });
  await writer.publish({ type: "text", text: "I look." });
  const step = await writer.park({
    tool_use_id: "t/1",
    tool: "Bash",
    reason: "Bash wants to run: ls",
    input: "ls",
    options: [{ id: "yes", label: "Allow", kind: "allow-once" }],
    asked_at: "1970-01-01T00:00:00.001Z",
  });
  await until((events) => events.some((event) => event.held !== undefined));
  const answer = { option: "yes", by: "the page", at: "1970-01-01T00:00:01.000Z" };
  const at = { steps: stepsFolder(folder) };
  expect(await answerParked({ at, callId: "t/1", answer })).toEqual({ state: "taken" });
  expect(await writer.answer(step ?? "", "t/1", { option: "no", by: "the terminal" })).toEqual(answer);
  await until((events) => events.some((event) => event.answered !== undefined));
  await writer.unpark(step ?? "", "t/1");
  await writer.publish({ type: "posted", id: "t/1", name: "Bash", input: { command: "ls" } });
  await writer.publish({ type: "landed", id: "t/1", output: "a", exitCode: 0, endedAt: 2 });
  await until((events) => events.some((event) => event.exitCode !== undefined));
  expect(held.stream).toEqual({ text: "I look.", thinking: "hm", lastDelta: "text" });
  expect(held.tools.map(({ toolUse: _, ...rest }) => Object.keys(rest).sort().join(" "))).toEqual([
    "held input options tool",
    "answered",
    "input tool",
    "exitCode",
  ]);
  expect(new Set(held.tools.map((event) => event.toolUse))).toEqual(new Set(["t/1"]));
  await writer.publish({ type: "over", reason: "stop", time: 3 });
  expect((await lane.next()).value).toEqual({ type: "over" });
  expect(problems).toEqual([]);
  world.close();
  await lane.return();
});
