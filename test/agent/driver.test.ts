import { describe, expect, it } from "vitest";
import { drive, exampleCommand, fakeCommand, finished, makeFolder, tellEntry } from "./drive.ts";

describe("a driven session", () => {
  it("tells, records and reads back a turn with a tool", async () => {
    const folder = await makeFolder();
    const command = await fakeCommand(
      {
        prompts: [
          [
            { type: "thinking", text: "Let me see." },
            { type: "text", text: "I look.", chunk: 2 },
            { type: "call", id: "c1", title: "Read a.txt", status: "in_progress", input: { path: "a.txt" } },
            { type: "update", id: "c1", status: "completed", output: "one\ntwo\n" },
            { type: "text", text: "Two lines." },
            { type: "stop", reason: "end_turn", usage: { totalTokens: 42 } },
          ],
        ],
      },
      folder,
    );
    const watched = await drive(command, folder);
    await watched.driven.prompt("how many lines?");
    await watched.turnEnd();
    expect(finished(watched)).toEqual([
      "user: how many lines?",
      "thinking(Let me see.) text(I look.)",
      "call(Read a.txt, done)",
      'result(done, "one\\ntwo\\n")',
      "text(Two lines.)",
    ]);
    expect(watched.driven.driver.lastTurn).toMatchObject({ stopReason: "end_turn", tokens: 42 });
    const told = watched.told();
    expect(told.indexOf("saved")).toBeLessThan(told.indexOf("turnEnded"));
    const page = await watched.driven.tail(10);
    expect(page.entries.map(tellEntry)).toEqual(finished(watched));
    expect(page.live).toEqual([]);
    const names = watched.changes.flatMap((c) => (c.type === "blockFinished" ? [c.entry.name] : []));
    expect(page.entries.map(({ name }) => name)).toEqual(names);
    const starts = watched.changes.flatMap((c) => (c.type === "blockFinished" ? [c.start] : []));
    expect(page.positions).toEqual(starts);
    await watched.driven.close();
    expect(watched.driven.closeMessage).toMatch(/is saved/);
  });

  it("drives the example agent of the older SDK, with its question answered", {
    timeout: 60_000,
  }, async () => {
    const folder = await makeFolder();
    const watched = await drive(exampleCommand, folder, { agent: "example" });
    await watched.driven.prompt("hello");
    const state = await watched.untilState(({ approvals }) => approvals.length === 1);
    const [approval] = state.approvals;
    expect(approval?.options.map(({ kind }) => kind)).toEqual(["allow-once", "reject-once"]);
    expect(await watched.driven.answer(approval?.id ?? "", "allow", "me")).toEqual({ taken: true });
    expect(await watched.driven.answer(approval?.id ?? "", "allow", "you")).toEqual({
      taken: false,
      by: "me",
    });
    await watched.turnEnd();
    expect(finished(watched).map((line) => line.slice(0, 40))).toMatchInlineSnapshot(`
      [
        "user: hello",
        "text(I'll help you with that. Let me sta",
        "call(Reading project files /project/READ",
        "result(done, "# My Project\\n\\nThis is a ",
        "text( Now I understand the project struc",
        "call(Modifying critical configuration fi",
        "result(done, "Configuration updated")",
        "text( Perfect! I've successfully updated",
      ]
    `);
  });
});
