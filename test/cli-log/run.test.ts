/** `run` and `resume` without a terminal: one prompt, one answer. */
import { spawnSync } from "node:child_process";
import { copyFile, mkdir, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { Scenario } from "../../src/agent/fake/scenario.ts";
import { nameOf } from "../../src/cli/drive.ts";
import { openLogForWrite } from "../../src/log/index.ts";
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
    expect([status, stdout]).toEqual([5, "hello\n"]);
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

  it("of a session that another process writes: a piped prompt is not sent, and that is said", async () => {
    const { home, program, args, tool } = await place({ prompts: [[{ type: "echo" }]] });
    expect(tool(["run", "--", program, ...args]).status).toBe(0);
    const sessions = join(home, "state", "sessions");
    const [id = ""] = await readdir(sessions);
    const writer = await openLogForWrite({ sessions, id });
    const { status, stdout, stderr } = tool(["resume", id], "mine");
    await writer.close();
    expect([status, stdout]).toEqual([5, ""]);
    expect(stderr).toContain(`is being written by process ${process.pid}; the prompt was not sent.`);
  });

  it("of a log that cannot be carried on says why, before it asks for a command", async () => {
    const { home, tool } = await place({ prompts: [] });
    const sessions = join(home, "state", "sessions");
    const bodies = {
      "a-empty": "",
      "b-newer": '{"v":2,"seq":1,"ts":1,"kind":"session","id":"b-newer","crc":"00000000"}\n',
    };
    for (const [id, text] of Object.entries(bodies)) {
      await mkdir(join(sessions, id), { recursive: true });
      await writeFile(join(sessions, id, "log.jsonl"), text);
    }
    const said = Object.keys(bodies).map((id) => tool(["resume", id]).stderr);
    expect(said[0]).toContain("The log of session a-empty is damaged");
    expect(said[1]).toContain("was written by a newer Hansard");
    for (const text of said) expect(text).not.toContain("whose command is not known");
  });
});

describe("a reader that closes the pipe early", () => {
  it("ends the turn and the command, which is no failure; what was said is in the log", async () => {
    const { home, program, args } = await place({
      prompts: [
        [
          { type: "text", text: "one" },
          { type: "call", id: "c", status: "completed", output: "x" },
          { type: "text", text: "two" },
          { type: "call", id: "d", status: "completed", output: "x" },
          { type: "wait", for: "cancel" },
        ],
      ],
    });
    const env = { PATH: process.env["PATH"] ?? "", HOME: home, HANSARD_HOME: join(home, "state") };
    const script = '"$@" | head -c 1 >/dev/null; echo $PIPESTATUS';
    const { stdout } = spawnSync(
      "bash",
      ["-c", script, "bash", process.execPath, bin, "run", "--", program, ...args],
      {
        cwd: home,
        env,
        input: "hello",
        encoding: "utf8",
        timeout: 30_000,
      },
    );
    expect(stdout).toBe("0\n");
    const [id = ""] = await readdir(join(home, "state", "sessions"));
    const log = await readFile(join(home, "state", "sessions", id, "log.jsonl"), "utf8");
    expect(log).toContain('"text":"two"');
    expect(log).toContain('"kind":"closed"');
  });
});

describe("a refusal in a turn", () => {
  it("is told once, in the agent's own words, whatever its code", async () => {
    const { program, args, tool } = await place({
      prompts: [[{ type: "fail", code: -32000, message: "rate limit reached" }]],
    });
    const { status, stderr } = tool(["run", "--", program, ...args]);
    expect(status).toBe(9);
    expect(stderr.match(/rate limit reached/g)).toHaveLength(1);
    expect(stderr).toContain("fake refused: rate limit reached.");
  });
});

it.each([
  ["node", ["agent.js"], "node"],
  ["/usr/bin/node", ["--flag", "./tools/wizard.mjs", "x.json"], "wizard"],
  ["python3", ["-u", "/opt/oracle/main.py"], "oracle"],
  ["node", ["-e", "process.exit(3)"], "node"],
  ["./my-agent.exe", ["a.js"], "my-agent"],
])("the agent of %s %j is %s", (program, args, name) => {
  expect(nameOf(program, args)).toBe(name);
});
