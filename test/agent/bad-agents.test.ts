/** Agents that are not there, die, or say nonsense: a clear sentence each, and nothing that was said is lost. */
import { mkdir, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { describe, expect, it } from "vitest";
import { createDriven } from "../../src/agent/index.ts";
import { openLogForRead } from "../../src/log/index.ts";
import { drive, fakeCommand, finished, makeFolder } from "./drive.ts";

const client = { name: "hansard-test", version: "0" };

async function records(folder: string, id: string): Promise<readonly string[]> {
  const reader = await openLogForRead({ sessions: join(folder, "sessions"), id });
  const page = await reader.tail(1000);
  await reader.close();
  return page.items.map((item) => {
    if (item.type !== "record") return item.type;
    const record = item.record as { kind: string; role?: string; reason?: string };
    return [record.kind, record.role, record.reason].filter((word) => word !== undefined).join(" ");
  });
}

describe("an agent that does not start", () => {
  it("is missing: the command is named, nothing is left behind", async () => {
    const folder = await makeFolder();
    const started = drive({ program: "no-such-agent-command", args: [] }, folder);
    await expect(started).rejects.toMatchObject({
      name: "AgentError",
      code: "agent-missing",
      message: "there is no command no-such-agent-command",
    });
    expect(await readdir(folder)).toEqual([]);
  });

  it("cannot be run", async () => {
    const folder = await makeFolder();
    const program = join(folder, "agent.sh");
    await writeFile(program, "not a program", { mode: 0o644 });
    await expect(drive({ program, args: [] }, folder)).rejects.toMatchObject({ code: "agent-start" });
  });

  it("dies at once: its last words are told", async () => {
    const folder = await makeFolder();
    const command = await fakeCommand(
      {
        prompts: [],
        start: [
          { type: "stderr", text: "no licence here" },
          { type: "exit", code: 3 },
        ],
      },
      folder,
    );
    await expect(drive(command, folder)).rejects.toMatchObject({
      code: "agent-start",
      message: "fake ended with code 3: no licence here",
    });
    expect(await readdir(folder)).toHaveLength(1);
  });

  it.each([[7], ["1"], [undefined]])("speaks version %j of the protocol", async (version) => {
    const folder = await makeFolder();
    const command = await fakeCommand({ prompts: [], protocolVersion: version ?? null }, folder);
    await expect(drive(command, folder)).rejects.toMatchObject({
      code: "agent-protocol",
      message: expect.stringMatching(/^fake speaks version .+; Hansard speaks version 1$/),
    });
  });

  it("wants a login", async () => {
    const folder = await makeFolder();
    const command = await fakeCommand({ prompts: [], login: true }, folder);
    await expect(drive(command, folder)).rejects.toMatchObject({
      code: "agent-login",
      message: "fake wants a login: Authentication required",
    });
  });

  it("has no folder to work in", async () => {
    const folder = await makeFolder();
    const command = await fakeCommand({ prompts: [] }, folder);
    await expect(
      createDriven({ command, agent: "fake", cwd: join(folder, "none"), env: process.env, client }),
    ).rejects.toMatchObject({ code: "bad-folder" });
  });
});

describe("an agent that dies", () => {
  it("in the middle of a turn: what it said is kept, the turn is interrupted", async () => {
    const folder = await makeFolder();
    const command = await fakeCommand(
      {
        prompts: [
          [
            { type: "text", text: "I begin" },
            { type: "stderr", text: "out of memory" },
            { type: "exit", code: 9 },
          ],
        ],
      },
      folder,
    );
    const watched = await drive(command, folder);
    await watched.driven.prompt("go");
    await watched.turnEnd();
    const state = await watched.untilState(({ phase }) => phase === "ended");
    expect(state.failure).toBe("fake ended with code 9: out of memory");
    expect(finished(watched)).toEqual([
      "user: go",
      "text(I begin)",
      "wound(interrupted, fake ended with code 9: out of memory)",
    ]);
    await expect(watched.driven.prompt("more")).rejects.toMatchObject({
      code: "agent-ended",
      message: "fake ended with code 9: out of memory",
    });
    expect(await records(folder, watched.driven.id ?? "")).toEqual([
      "session",
      "set",
      "turnStarted",
      "message user",
      "message assistant",
      "turnInterrupted fake ended with code 9: out of memory",
    ]);
  });

  it("in the middle of a tool: the call was recorded before, and may have partly run", async () => {
    const folder = await makeFolder();
    const command = await fakeCommand(
      {
        prompts: [
          [
            {
              type: "call",
              id: "c",
              title: "rm -r build",
              status: "in_progress",
              input: { command: "rm -r build" },
            },
            { type: "exit", code: 1 },
          ],
        ],
      },
      folder,
    );
    const watched = await drive(command, folder);
    await watched.driven.prompt("go");
    await watched.turnEnd();
    expect(finished(watched).slice(1, 3)).toEqual([
      "call(tool rm -r build, interrupted)",
      'result(interrupted, "")',
    ]);
    const result = watched.changes.find((c) => c.type === "blockFinished" && c.entry.kind === "tool-result");
    expect(result).toMatchObject({ entry: { outcome: { note: "it may have partly run" } } });
    expect(await records(folder, watched.driven.id ?? "")).toContain("message tool_call");
  });

  it("between turns", async () => {
    const folder = await makeFolder();
    const command = await fakeCommand(
      {
        prompts: [[{ type: "text", text: "ok" }]],
        opened: [
          { type: "wait", forFile: join(folder, "die") },
          { type: "exit", code: 2 },
        ],
      },
      folder,
    );
    const watched = await drive(command, folder);
    await watched.driven.prompt("go");
    await watched.turnEnd();
    await writeFile(join(folder, "die"), "");
    const state = await watched.untilState(({ phase }) => phase === "ended");
    expect(state.failure).toBe("fake ended with code 2");
    expect(watched.told()).toContain("error: fake ended with code 2.");
  });
});

describe("an agent that says nonsense", () => {
  it("writes lines that are no messages: they are told, a few, and the turn goes on", async () => {
    const folder = await makeFolder();
    const command = await fakeCommand(
      {
        prompts: [
          [
            { type: "repeat", times: 9, acts: [{ type: "line", text: "Loading\u001b[2J model {" }] },
            { type: "line", text: "[1,2]" },
            { type: "line", text: '{"jsonrpc":"1.0","method":"x"}' },
            { type: "line", text: '{"jsonrpc":"2.0","id":99,"result":{}}' },
            { type: "line", text: '{"jsonrpc":"2.0","method":"session/update","params":7}' },
            { type: "line", text: '{"jsonrpc":"2.0","method":"_vendor/thing","params":{}}' },
            { type: "line", text: "" },
            { type: "text", text: "done" },
          ],
        ],
      },
      folder,
    );
    const watched = await drive(command, folder);
    await watched.driven.prompt("go");
    await watched.turnEnd();
    expect(finished(watched)).toEqual(["user: go", "text(done)"]);
    const warnings = watched.told().filter((line) => line.startsWith("warning: "));
    expect(warnings).toEqual([
      ...Array<string>(5).fill(
        `warning: fake wrote a line that is no message: ${JSON.stringify("Loading\u001b[2J model {")}`,
      ),
      "warning: fake writes more lines that are no messages; they are passed over.",
      "warning: fake sent a message that is no JSON-RPC 2.0.",
      "warning: fake answered something that it was not asked.",
    ]);
  });

  it("tells updates of unknown kinds: kept as they are, up to a number", async () => {
    const folder = await makeFolder();
    const command = await fakeCommand(
      {
        prompts: [
          [
            {
              type: "repeat",
              times: 52,
              acts: [{ type: "send", update: { sessionUpdate: "mood", level: 3 } }],
            },
          ],
        ],
      },
      folder,
    );
    const watched = await drive(command, folder);
    await watched.driven.prompt("go");
    await watched.turnEnd();
    expect(finished(watched)).toEqual(["user: go", ...Array<string>(50).fill("raw(unknown update mood)")]);
    expect(watched.told()).toContain(
      "information: 2 more updates of unknown kinds came in this turn; they are not kept.",
    );
  });

  it("fails a prompt: the turn is interrupted with its words, and the next one works", async () => {
    const folder = await makeFolder();
    const command = await fakeCommand(
      { prompts: [[{ type: "fail", code: -32603, message: "overloaded" }], [{ type: "text", text: "now" }]] },
      folder,
    );
    const watched = await drive(command, folder);
    await watched.driven.prompt("go");
    await watched.turnEnd();
    await watched.driven.prompt("again");
    await watched.turnEnd(2);
    expect(finished(watched)).toEqual([
      "user: go",
      "wound(interrupted, fake refused: overloaded)",
      "user: again",
      "text(now)",
    ]);
  });

  it("stays after its input was closed and ignores SIGTERM: it is killed", { timeout: 20_000 }, async () => {
    const folder = await makeFolder();
    const command = await fakeCommand({ prompts: [[{ type: "text", text: "hi" }]], onClose: "stay" }, folder);
    const watched = await drive(command, folder);
    await watched.driven.prompt("go");
    await watched.turnEnd();
    await watched.driven.close();
    expect(watched.driven.closeMessage).toMatch(/is saved/);
  });
});

describe("output and floods", () => {
  it("keeps 1 MiB of a long output with the call and the whole of it in a blob", async () => {
    const folder = await makeFolder();
    const bytes = 3 * 1024 * 1024;
    const command = await fakeCommand(
      {
        prompts: [
          [
            { type: "call", id: "c", title: "cat", status: "in_progress" },
            { type: "update", id: "c", status: "completed", bytes },
          ],
        ],
      },
      folder,
    );
    const watched = await drive(command, folder);
    await watched.driven.prompt("go");
    await watched.turnEnd();
    const reader = await openLogForRead({ sessions: join(folder, "sessions"), id: watched.driven.id ?? "" });
    const { items } = await reader.tail(10);
    const item = items.find(
      (i) => i.type === "record" && (i.record as { role?: string }).role === "tool_result",
    );
    if (item?.type !== "record") throw new Error("no result");
    const record = (await reader.inflate(item.record as never)) as unknown as {
      payload: { text: string; note: string; attachments: { bytes: number; sha256: string }[] };
    };
    expect(record.payload.text).toHaveLength(1024 * 1024);
    expect(record.payload.note).toBe("the whole output is attached");
    expect(record.payload.attachments).toMatchObject([{ bytes }]);
    const { sha256 } = record.payload.attachments[0] ?? { sha256: "" };
    expect((await reader.blob({ sha256, bytes })).length).toBe(bytes);
    await reader.close();
  });

  it("keeps the start of a message of 100 MB, whose call ends, says so, in bounded memory", {
    timeout: 60_000,
  }, async () => {
    const folder = await makeFolder();
    const bytes = 100_000_000;
    const command = await fakeCommand(
      {
        prompts: [
          [
            { type: "call", id: "c", title: "cat", status: "in_progress" },
            { type: "update", id: "c", status: "completed", bytes },
            { type: "text", text: "done" },
          ],
        ],
      },
      folder,
    );
    const watched = await drive(command, folder);
    const before = process.memoryUsage().rss;
    let peak = before;
    const timer = setInterval(() => {
      peak = Math.max(peak, process.memoryUsage().rss);
    }, 20);
    await watched.driven.prompt("go");
    await watched.turnEnd();
    clearInterval(timer);
    expect(finished(watched).slice(1, 3)).toEqual([
      "call(cat, done)",
      expect.stringMatching(/^result\(done, "the quick brown fox/),
    ]);
    expect(finished(watched).at(-1)).toBe("text(done)");
    expect((peak - before) / 1024 / 1024).toBeLessThan(240);
    expect(
      watched.told().filter((line) => /sent a message of \d{9} bytes, above the limit of 32 MiB/.test(line)),
    ).toHaveLength(1);
    await watched.driven.close();
    // The call keeps 1 MiB, a blob what was kept of the message.
    const path = watched.driven.path ?? "";
    const blobs = await readdir(join(dirname(path), "blobs"));
    const texts = await Promise.all(
      blobs.map((name) => readFile(join(dirname(path), "blobs", name), "utf8")),
    );
    const whole = texts.find((text) => text.length > 2 * 1024 * 1024) ?? "";
    expect(whole.length).toBeGreaterThan(7 * 1024 * 1024);
    expect(whole.slice(-40)).toMatch(/… \[\d+ bytes left out\]$/);
  });

  it("takes a flood without keeping it all", { timeout: 60_000 }, async () => {
    const folder = await makeFolder();
    const command = await fakeCommand(
      {
        prompts: [
          [
            { type: "flood", chunks: 30_000, chars: 100 },
            { type: "text", text: "end" },
          ],
        ],
      },
      folder,
    );
    const watched = await drive(command, folder);
    await watched.driven.prompt("go");
    await watched.turnEnd();
    const texts = watched.changes.flatMap((change) =>
      change.type === "blockFinished" && change.entry.kind === "model"
        ? change.entry.blocks.map((block) => ("text" in block ? block.text.length : 0))
        : [],
    );
    // A message is at most a mebibyte of characters; the rest goes on in a further one.
    expect(texts).toEqual([1024 * 1024, 1024 * 1024, 3_000_003 - 2 * 1024 * 1024]);
  });
});

describe("a state directory that goes", () => {
  it("vanishes in mid-session: it is said, the conversation goes on and ends up whole in the log", async () => {
    const folder = await makeFolder();
    const command = await fakeCommand(
      { prompts: [[{ type: "text", text: "one" }], [{ type: "text", text: "two" }]] },
      folder,
    );
    const watched = await drive(command, folder);
    await watched.driven.prompt("first");
    await watched.turnEnd();
    await rm(join(folder, "sessions"), { recursive: true, force: true });
    await watched.driven.prompt("second");
    await watched.turnEnd(2);
    expect(finished(watched)).toEqual(["user: first", "text(one)", "user: second", "text(two)"]);
    expect(watched.told().some((line) => /^(error|warning): /.test(line))).toBe(true);
    await mkdir(join(folder, "sessions"), { recursive: true });
    await watched.driven.close();
    expect(watched.driven.closeMessage).toBeDefined();
  });
});
