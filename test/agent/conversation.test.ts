/** What a person does while an agent works: answers, cancels, queues, changes the mode; and what other processes see and do of it. */
import { existsSync } from "node:fs";
import { link, mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { Act, Scenario } from "../../src/agent/fake/scenario.ts";
import { foldStream } from "../../src/follow/index.ts";
import { drive, fakeCommand, finished, makeFolder, type Watched } from "./drive.ts";

const diff = { path: "a.txt", oldText: "one\n", newText: "two\n" };

const asks: Act = {
  type: "ask",
  id: "e1",
  title: "Edit a.txt",
  kind: "edit",
  input: { path: "a.txt" },
  diff,
  answers: {
    allow: [
      { type: "update", id: "e1", status: "completed", diff },
      { type: "text", text: "changed" },
    ],
    reject: [
      { type: "update", id: "e1", status: "failed", output: "not allowed" },
      { type: "text", text: "left" },
    ],
    cancelled: [{ type: "text", text: "stopped" }],
  },
};

async function asking(scenario: Partial<Scenario> = {}): Promise<{ watched: Watched; folder: string }> {
  const folder = await makeFolder();
  const command = await fakeCommand({ prompts: [[asks]], ...scenario }, folder);
  const watched = await drive(command, folder);
  await watched.driven.prompt("go");
  await watched.untilState(({ approvals }) => approvals.length === 1);
  return { watched, folder };
}

function stepsOf(watched: Watched): string {
  return join(watched.driven.path ?? "", "..", "steps");
}

describe("approvals", () => {
  it("ask with what the call would change, and allow", async () => {
    const { watched } = await asking();
    const [approval] = watched.driven.driver.approvals;
    expect(approval).toMatchObject({
      call: { id: "e1", name: "Edit", subject: "a.txt", inputSummary: '{"path":"a.txt"}' },
      changes: [diff],
      options: [
        { id: "allow", label: "Allow", kind: "allow-once" },
        { id: "always", kind: "allow-always" },
        { id: "reject", kind: "reject-once" },
      ],
    });
    await expect(watched.driven.answer(approval?.id ?? "", "nonsense", "me")).rejects.toMatchObject({
      code: "bad-choice",
    });
    expect(await watched.driven.answer(approval?.id ?? "", "allow", "me")).toEqual({ taken: true });
    await watched.turnEnd();
    expect(finished(watched)).toEqual([
      "user: go",
      "call(Edit a.txt, done)",
      'result(done, "")',
      "text(changed)",
    ]);
    expect(watched.driven.driver.approvals).toEqual([]);
  });

  it("reject: the call counts as denied", async () => {
    const { watched } = await asking();
    const [approval] = watched.driven.driver.approvals;
    await watched.driven.answer(approval?.id ?? "", "reject", "me");
    await watched.turnEnd();
    expect(finished(watched).slice(1)).toEqual([
      "call(Edit a.txt, denied)",
      'result(denied, "not allowed")',
      "text(left)",
    ]);
  });

  it("are parked in the step directory, where the first answer of any process counts", async () => {
    const { watched } = await asking();
    const call = join(stepsOf(watched), "001", "tools", "e1");
    expect(JSON.parse(await readFile(join(call, "parked.json"), "utf8"))).toMatchObject({
      tool_use_id: "e1",
      tool: "Edit",
      reason: "Edit wants to run: a.txt",
      options: [{ id: "allow" }, { id: "always" }, { id: "reject" }],
    });
    expect(existsSync(join(call, "input.json"))).toBe(false);
    // Another process answers as the layout says: by a link that must not be there.
    await writeFile(
      join(call, ".other.tmp"),
      '{"option":"allow","by":"phone","at":"2026-01-01T00:00:00Z"}\n',
    );
    await link(join(call, ".other.tmp"), join(call, "answer.json"));
    const [approval] = watched.driven.driver.approvals;
    expect(await watched.driven.answer(approval?.id ?? "", "reject", "me")).toEqual({
      taken: false,
      by: "phone",
    });
    await watched.turnEnd();
    expect(finished(watched).at(-1)).toBe("text(changed)");
    expect(existsSync(join(call, "parked.json"))).toBe(false);
    expect(JSON.parse(await readFile(join(call, "input.json"), "utf8"))).toMatchObject({
      id: "e1",
      name: "Edit",
    });
    expect(JSON.parse(await readFile(join(call, "output.json"), "utf8"))).toMatchObject({ exit_code: 0 });
  });

  it("are answered by another process alone", async () => {
    const { watched } = await asking();
    const call = join(stepsOf(watched), "001", "tools", "e1");
    await writeFile(join(call, ".other.tmp"), '{"option":"reject","by":"phone"}');
    await link(join(call, ".other.tmp"), join(call, "answer.json"));
    await watched.turnEnd();
    expect(finished(watched).at(-1)).toBe("text(left)");
  });

  it("dismiss an answer that was not offered, and go on waiting", async () => {
    const { watched } = await asking();
    const call = join(stepsOf(watched), "001", "tools", "e1");
    await writeFile(join(call, "answer.json"), '{"option":"maybe","by":"phone"}');
    await watched.until((change) => change.type === "notice" && change.text.includes("not offered"));
    const [approval] = watched.driven.driver.approvals;
    await watched.driven.answer(approval?.id ?? "", "allow", "me");
    await watched.turnEnd();
    expect(finished(watched).at(-1)).toBe("text(changed)");
  });

  it("tell the same question twice with two ids", async () => {
    const twice: Act = { ...asks, answers: { ...asks.answers, allow: [asks] } };
    const { watched } = await asking({ prompts: [[twice]] });
    const [first] = watched.driven.driver.approvals;
    await watched.driven.answer(first?.id ?? "", "allow", "me");
    const state = await watched.untilState(
      ({ approvals }) => approvals[0] !== undefined && approvals[0].id !== first?.id,
    );
    const [second] = state.approvals;
    expect(await watched.driven.answer(first?.id ?? "", "allow", "you")).toEqual({ taken: false, by: "me" });
    expect(await watched.driven.answer(second?.id ?? "", "allow", "me")).toEqual({ taken: true });
    await watched.turnEnd();
    expect(finished(watched).at(-1)).toBe("text(changed)");
  });
});

describe("cancel", () => {
  it("an agent that ends a cancelled turn with another word is not believed where a call still ran", async () => {
    const folder = await makeFolder();
    const command = await fakeCommand(
      {
        prompts: [
          [
            { type: "call", id: "c", title: "sleep 60", status: "in_progress" },
            { type: "wait", for: "cancel" },
          ],
        ],
      },
      folder,
    );
    const watched = await drive(command, folder);
    await watched.driven.prompt("go");
    await watched.until((change) => change.type === "blockOpened" || change.type === "blockChanged");
    await watched.driven.cancel();
    await watched.turnEnd();
    expect(watched.driven.driver.lastTurn?.stopReason).toBe("cancelled");
    expect(finished(watched).slice(1)).toEqual([
      "call(sleep 60, interrupted)",
      expect.stringMatching(/^result\(interrupted/),
      "wound(interrupted, cancelled)",
    ]);
  });

  it("ends the turn, answers what waits as cancelled, and the next turn works", async () => {
    const { watched } = await asking({ prompts: [[asks], [{ type: "text", text: "next" }]] });
    await watched.driven.cancel();
    await watched.turnEnd();
    expect(watched.driven.driver.approvals).toEqual([]);
    expect(watched.driven.driver.lastTurn?.stopReason).toBe("cancelled");
    expect(finished(watched)).toEqual([
      "user: go",
      "call(Edit a.txt, interrupted)",
      'result(interrupted, "")',
      "wound(interrupted, cancelled)",
    ]);
    await watched.driven.prompt("more");
    await watched.turnEnd(2);
    expect(finished(watched).at(-1)).toBe("text(next)");
  });

  it("stops what is being said, and does nothing where no turn runs", async () => {
    const folder = await makeFolder();
    const command = await fakeCommand(
      {
        prompts: [
          [
            { type: "text", text: "on and" },
            { type: "wait", for: "cancel" },
            { type: "text", text: " on" },
          ],
        ],
      },
      folder,
    );
    const watched = await drive(command, folder);
    await watched.driven.cancel();
    await watched.driven.prompt("go");
    await watched.until((change) => change.type === "blockOpened");
    await watched.driven.cancel();
    await watched.turnEnd();
    expect(finished(watched)).toEqual(["user: go", "text(on and)", "wound(interrupted, cancelled)"]);
  });

  it("that the agent ignores lets the turn end as the agent says", async () => {
    const folder = await makeFolder();
    const command = await fakeCommand(
      {
        onCancel: "ignore",
        prompts: [
          [
            { type: "text", text: "a" },
            { type: "wait", for: "cancel" },
            { type: "text", text: "b" },
          ],
        ],
      },
      folder,
    );
    const watched = await drive(command, folder);
    await watched.driven.prompt("go");
    await watched.until((change) => change.type === "blockOpened");
    await watched.driven.cancel();
    await watched.turnEnd();
    expect(finished(watched)).toEqual(["user: go", "text(ab)"]);
  });
});

describe("what an agent tells of itself", () => {
  it("modes, commands, plans and a title arrive in the state and in the log", async () => {
    const folder = await makeFolder();
    const command = await fakeCommand(
      {
        name: "Fable",
        version: "2.1",
        modes: {
          currentModeId: "ask",
          availableModes: [
            { id: "ask", name: "Ask" },
            { id: "auto", name: "Auto" },
          ],
        },
        opened: [{ type: "commands", commands: [{ name: "review", description: "Look" }] }],
        prompts: [
          [
            {
              type: "plan",
              steps: [
                { text: "think", state: "completed" },
                { text: "act", state: "in_progress" },
              ],
            },
            { type: "title", title: "A title" },
            { type: "mode", id: "auto" },
            { type: "usage", used: 10, size: 100 },
            { type: "send", update: { sessionUpdate: "notice", severity: "warning", title: "Careful" } },
            {
              type: "send",
              update: {
                sessionUpdate: "compaction_summary_chunk",
                compactionId: "k",
                content: { type: "text", text: "so far" },
              },
            },
            {
              type: "send",
              update: { sessionUpdate: "compaction_update", compactionId: "k", status: "completed" },
            },
            { type: "text", text: "ok" },
          ],
        ],
      },
      folder,
    );
    const watched = await drive(command, folder);
    await watched.untilState(({ commands }) => commands.length === 2);
    expect(watched.driven.driver).toMatchObject({
      phase: "ready",
      agent: { name: "Fable", version: "2.1" },
      modeId: "ask",
      commands: [{ name: "review", description: "Look" }, { name: "handoff" }],
    });
    await watched.driven.prompt("go");
    await watched.turnEnd();
    expect(watched.driven.driver).toMatchObject({
      modeId: "auto",
      plan: [
        { text: "think", state: "done" },
        { text: "act", state: "at-work" },
      ],
    });
    expect(watched.driven.info.title).toBe("A title");
    expect(watched.told()).toContain("warning: Careful");
    expect(watched.told()).toContain("compacted");
    expect(finished(watched)).toEqual(["user: go", "compacted(so far)", "text(ok)"]);
    await watched.driven.setMode("ask");
    expect(watched.driven.driver.modeId).toBe("ask");
    await expect(watched.driven.setMode("none")).rejects.toMatchObject({ code: "bad-choice" });
  });

  it.each([
    ["max_tokens", "wound(output-limit)"],
    ["refusal", "wound(refused)"],
  ])("a turn that ends with %s has a wound, as its log reads", async (reason, wound) => {
    const folder = await makeFolder();
    const command = await fakeCommand(
      {
        prompts: [
          [
            { type: "text", text: "half" },
            { type: "stop", reason },
          ],
          [{ type: "stop", reason }],
        ],
      },
      folder,
    );
    const watched = await drive(command, folder);
    await watched.driven.prompt("go");
    await watched.driven.prompt("go");
    await watched.turnEnd(2);
    expect(finished(watched)).toEqual(["user: go", "text(half)", wound, "user: go", wound]);
    const page = await watched.driven.tail(10);
    expect(page.entries.map(({ name }) => name)).toEqual(
      watched.changes.flatMap((c) => (c.type === "blockFinished" ? [c.entry.name] : [])),
    );
  });
});

describe("prompts", () => {
  it("queue behind the running turn, in order", async () => {
    const folder = await makeFolder();
    const go = join(folder, "go");
    const command = await fakeCommand(
      { prompts: [[{ type: "wait", forFile: go }, { type: "echo" }], [{ type: "echo" }]] },
      folder,
    );
    const watched = await drive(command, folder);
    await watched.driven.prompt("one");
    const two = watched.driven.prompt("two");
    const three = watched.driven.prompt("three");
    await watched.untilState(({ queued }) => queued === 2);
    await writeFile(go, "");
    await Promise.all([two, three]);
    await watched.turnEnd(3);
    expect(finished(watched)).toEqual([
      "user: one",
      "text(one)",
      "user: two",
      "text(two)",
      "user: three",
      "text(three)",
    ]);
    expect(watched.driven.driver.queued).toBe(0);
  });

  it("are bounded in number and size", async () => {
    const folder = await makeFolder();
    const command = await fakeCommand({ prompts: [[{ type: "wait", for: "cancel" }]] }, folder);
    const watched = await drive(command, folder);
    await expect(watched.driven.prompt("x".repeat(1024 * 1024 + 1))).rejects.toMatchObject({
      code: "too-much",
    });
    await watched.driven.prompt("one");
    const waiting = Array.from({ length: 64 }, (_, n) => watched.driven.prompt(`p${n}`));
    await expect(watched.driven.prompt("one too many")).rejects.toMatchObject({ code: "too-much" });
    const refused = Promise.allSettled(waiting);
    await watched.driven.close();
    expect((await refused).map(({ status }) => status)).toEqual(Array(64).fill("rejected"));
  });

  it("of other processes are taken from the inbox in the order of their names, each once", async () => {
    const folder = await makeFolder();
    const command = await fakeCommand({ prompts: [[{ type: "echo" }]] }, folder);
    const watched = await drive(command, folder);
    const inbox = join(watched.driven.path ?? "", "..", "inbox");
    await mkdir(inbox, { recursive: true });
    const place = async (name: string, text: string): Promise<void> => {
      await writeFile(join(inbox, `.${name}.tmp`), text);
      await link(join(inbox, `.${name}.tmp`), join(inbox, name));
    };
    await place("1-nonsense.json", "{");
    await place("2.json", '{"text":"first","by":"phone","at":"2026-01-01T00:00:00Z"}');
    await place("3.json", '{"text":"second","by":"tablet","at":"2026-01-01T00:00:00Z"}');
    await watched.turnEnd(2);
    expect(finished(watched)).toEqual(["phone: first", "text(first)", "tablet: second", "text(second)"]);
    expect((await readdir(inbox)).filter((name) => !name.startsWith("."))).toEqual([]);
  });
});

describe("the step directory", () => {
  it("publishes a call of the model and the tools it ran, step by step", async () => {
    const folder = await makeFolder();
    const gate = join(folder, "gate");
    const command = await fakeCommand(
      {
        prompts: [
          [
            { type: "thinking", text: "hm" },
            { type: "text", text: "I look", chunk: 1 },
            { type: "call", id: "t/1", title: "ls", status: "in_progress", input: { command: "ls" } },
            { type: "update", id: "t/1", status: "completed", output: "a b", rawOutput: { exitCode: 0 } },
            { type: "text", text: "Two files" },
            { type: "wait", forFile: gate },
          ],
        ],
      },
      folder,
    );
    const watched = await drive(command, folder);
    await watched.driven.prompt("go");
    await watched.until(
      (change) => change.type === "blockOpened" && JSON.stringify(change.entry).includes("Two files"),
    );
    const steps = stepsOf(watched);
    const read = (name: string): Promise<string> => readFile(join(steps, name), "utf8");
    expect(foldStream(await read("001/response.json"))).toMatchObject({ thinking: "hm", text: "I look" });
    expect(JSON.parse(await read("001/tools/t%002f1/input.json"))).toEqual({
      id: "t/1",
      name: "tool",
      input: { command: "ls" },
    });
    expect(JSON.parse(await read("001/tools/t%002f1/output.json"))).toMatchObject({
      stdout: "a b",
      exit_code: 0,
    });
    expect(existsSync(join(steps, "001/over.json"))).toBe(true);
    expect(existsSync(join(steps, "002/over.json"))).toBe(false);
    await writeFile(gate, "");
    await watched.turnEnd();
    expect(foldStream(await read("002/response.json"))).toMatchObject({ text: "Two files" });
    expect((await read("002/response.json")).trimEnd().split("\n").slice(-2)).toEqual([
      '{"type":"finish","reason":"stop"}',
      '{"type":"end"}',
    ]);
    expect(existsSync(join(steps, "002/meta.json"))).toBe(true);
  });

  it("keeps the newest steps only", async () => {
    const folder = await makeFolder();
    const command = await fakeCommand({ prompts: [[{ type: "text", text: "x" }]] }, folder);
    const watched = await drive(command, folder);
    for (let turn = 1; turn <= 10; turn += 1) {
      await watched.driven.prompt("go");
      await watched.turnEnd(turn);
    }
    expect((await readdir(stepsOf(watched))).sort()).toEqual([
      "003",
      "004",
      "005",
      "006",
      "007",
      "008",
      "009",
      "010",
    ]);
  });
});

describe("a session that is not saved", () => {
  it("writes and reads nothing", async () => {
    const folder = await makeFolder();
    const command = await fakeCommand({ prompts: [[asks]] }, folder);
    const watched = await drive(command, folder, { unsaved: true });
    await watched.driven.prompt("go");
    const state = await watched.untilState(({ approvals }) => approvals.length === 1);
    await watched.driven.answer(state.approvals[0]?.id ?? "", "allow", "me");
    await watched.turnEnd();
    expect(finished(watched)).toEqual([
      "user: go",
      "call(Edit a.txt, done)",
      'result(done, "")',
      "text(changed)",
    ]);
    expect(watched.told()).not.toContain("saved");
    expect(watched.driven.id).toBeUndefined();
    expect((await readdir(folder)).filter((name) => !name.startsWith("scenario"))).toEqual([]);
    await watched.driven.close();
    expect(watched.driven.closeMessage).toBe("The session was not saved, as asked.");
  });
});
