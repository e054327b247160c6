/** `run` and `resume` without a terminal: one prompt, one answer. */
import { spawnSync } from "node:child_process";
import { copyFile, mkdir, readdir, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { Scenario } from "../../src/agent/fake/scenario.ts";
import { fakeCommand } from "../agent/drive.ts";
import { bin, tempFolder } from "../cli/support.ts";

async function place(scenario: Scenario) {
  const home = await tempFolder();
  const { program, args } = await fakeCommand(scenario, home);
  const env = { PATH: process.env["PATH"] ?? "", HOME: home, HANSARD_HOME: join(home, "state") };
  const tool = (words: readonly string[], input = "hello") => {
    const { status, stdout, stderr } = spawnSync(process.execPath, [bin, ...words], {
      cwd: home,
      env,
      input,
      encoding: "utf8",
    });
    return { status, stdout, stderr };
  };
  return { home, program, args, tool };
}

describe("an agent that dies", () => {
  it("what it said is on the standard output, why it died is told once, and the session is kept", async () => {
    const { program, args, tool } = await place({
      prompts: [
        [
          { type: "text", text: "I begin" },
          { type: "exit", code: 3 },
        ],
      ],
    });
    const { status, stdout, stderr } = tool(["run", "--", program, ...args]);
    expect([status, stdout]).toEqual([9, "I begin\n"]);
    expect(stderr.match(/ended with code 3/g)).toHaveLength(1);
    expect(stderr).toMatch(/Session \S+ is saved\.\nhansard: hansard resume \S+ carries it on\n$/);
  });
});

describe("a state folder that cannot be", () => {
  it("the conversation goes on; what is not saved is said, and no way back is told that leads nowhere", async () => {
    const { home, program, args } = await place({ prompts: [[{ type: "echo" }]] });
    await writeFile(join(home, "afile"), "");
    const env = { PATH: process.env["PATH"] ?? "", HOME: home, HANSARD_HOME: join(home, "afile") };
    const { status, stdout, stderr } = spawnSync(process.execPath, [bin, "run", "--", program, ...args], {
      cwd: home,
      env,
      input: "hello",
      encoding: "utf8",
    });
    expect([status, stdout]).toEqual([0, "hello\n"]);
    expect(stderr).toContain("was NOT saved");
    expect(stderr).not.toContain("carries it on");
  });
});

describe("resume", () => {
  it("needs no command: the session knows how its agent was started, from wherever that was", async () => {
    const { home, program, args, tool } = await place({ prompts: [[{ type: "echo" }]] });
    await mkdir(join(home, "work"));
    await copyFile(args[1] ?? "", join(home, "echo.json"));
    // The scenario is named from here, and the agent works elsewhere.
    const first = tool(["run", "--cwd", "work", "--", program, args[0] ?? "", "echo.json"]);
    expect([first.status, first.stdout]).toEqual([0, "hello\n"]);
    const second = tool(["resume"], "and now");
    expect([second.status, second.stdout.endsWith("\n\nand now\n")]).toEqual([0, true]);
    expect(await readdir(join(home, "state", "sessions"))).toHaveLength(1);
  });

  it("an agent that is gone is named, and the session stays as it was", async () => {
    const { home, program, args, tool } = await place({ prompts: [[{ type: "echo" }]] });
    const script = join(home, "agent");
    await writeFile(script, `#!/bin/sh\nexec "${program}" "${args[0]}" "${args[1]}"\n`, { mode: 0o755 });
    expect(tool(["run", "--", "./agent"]).stdout).toBe("hello\n");
    await rm(script);
    const { status, stdout, stderr } = tool(["resume"]);
    expect([status, stdout]).toEqual([9, ""]);
    expect(stderr).toContain(`the command ${script} is not there any more`);
  });
});
