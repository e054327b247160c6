/** What the calls of the newest step are, asked at once: the pull side. */
import { mkdirSync } from "node:fs";
import { expect, it } from "vitest";
import type { ToolEvent } from "../../src/follow/index.ts";
import { Steps } from "./support.ts";

async function toolsOf(steps: Steps): Promise<readonly ToolEvent[]> {
  return (await steps.once()).tools;
}

it("input only = in flight", async () => {
  const steps = new Steps();
  steps.call("t1", "input", { id: "t1", name: "Bash", input: { command: "make" } });
  expect(await toolsOf(steps)).toEqual([{ toolUse: "t1", tool: "Bash", input: '{"command":"make"}' }]);
});

it.each([
  ["nameless", '{"id":"t1","input":{"command":"make"}}', { input: '{"command":"make"}' }],
  ["a name that is no text", '{"name":7}', {}],
  ["torn", '{"name":"Bash","inp', {}],
  ["not an object", '["Bash"]', {}],
  ["empty", "", {}],
])("nameless/malformed record -> no name: %s", async (_, record, told) => {
  const steps = new Steps();
  steps.call("t1", "input", record);
  expect(await toolsOf(steps)).toEqual([{ toolUse: "t1", ...told }]);
});

it("input+output = complete", async () => {
  const steps = new Steps();
  steps.call("t1", "input", { name: "Bash" });
  steps.call("t1", "output", { stdout: "made", exit_code: 0 });
  expect(await toolsOf(steps)).toEqual([
    { toolUse: "t1", tool: "Bash" },
    { toolUse: "t1", exitCode: 0 },
  ]);
});

it("absent steps/tools -> empty", async () => {
  const steps = new Steps();
  expect(await toolsOf(steps)).toEqual([]);
  mkdirSync(steps.steps);
  expect(await toolsOf(steps)).toEqual([]);
  mkdirSync(steps.path("001"));
  expect(await toolsOf(steps)).toEqual([]);
  mkdirSync(steps.path("001", "tools"));
  expect(await toolsOf(steps)).toEqual([]);
});

it("dir without input skipped", async () => {
  const steps = new Steps();
  mkdirSync(steps.path("001", "tools", "t1"), { recursive: true });
  steps.call("t2", "output", { exit_code: 0 });
  steps.call("t3", "input", {});
  expect(await toolsOf(steps)).toEqual([{ toolUse: "t3" }]);
});

it("stray files skipped", async () => {
  const steps = new Steps();
  steps.put("001", "tools/input.json", { name: "Bash" });
  steps.put("001", "notes.txt", "x");
  steps.put("", "004", "a file with a step's name");
  steps.call("t1", "input", {});
  expect(await toolsOf(steps)).toEqual([{ toolUse: "t1" }]);
});

it("only latest step read", async () => {
  const steps = new Steps();
  steps.call("old", "input", {}, "999");
  steps.call("new", "input", {}, "1000");
  expect(await toolsOf(steps)).toEqual([{ toolUse: "new" }]);
  mkdirSync(steps.path("1001"));
  expect(await toolsOf(steps)).toEqual([]);
});

it("sorted by id", async () => {
  const steps = new Steps();
  for (const id of ["t10", "t2", "B", "a", "_"]) steps.call(id, "input", {});
  expect((await toolsOf(steps)).map(({ toolUse }) => toolUse)).toEqual(["B", "_", "a", "t10", "t2"]);
});
