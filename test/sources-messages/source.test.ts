/** Where messages directories are found, what is known of one, and how one is counted. */
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { messagesSource } from "../../src/sources/messages/source.ts";
import { discoverAll, type Home, makeHome } from "../support/home.ts";
import { AGENT, answer, call, deposit, makeWorkspace, result } from "./support.ts";

let home: Home;
beforeEach(() => {
  home = makeHome();
});
afterEach(() => home.remove());

test("the agents of the workspaces that the environment names, children under their parents", async () => {
  const ws = makeWorkspace(home);
  ws.put("001-user.md", "hello");
  makeWorkspace(home, `${AGENT}-kid`);
  makeWorkspace(home, `${AGENT}-kid-grandkid`);
  mkdirSync(join(home.path, "ws/agents/bare"));
  const around = { ...home.around, env: { HANSARD_WORKSPACES: `${ws.path}:${join(home.path, "none")}:` } };
  const { found, problems } = await discoverAll(messagesSource, around);
  expect(problems).toEqual([]);
  expect(found.map(({ id, bytes, parentId }) => [id, bytes, parentId])).toEqual([
    [AGENT, 5, undefined],
    [`${AGENT}-kid`, 0, AGENT],
    [`${AGENT}-kid-grandkid`, 0, `${AGENT}-kid`],
  ]);
  expect((await discoverAll(messagesSource, home.around)).found).toEqual([]);
});

test("a path means a workspace, an agent, its messages, or any folder of message files", async () => {
  const ws = makeWorkspace(home);
  ws.put("001-user.md", "hello");
  home.write("loose/001-user.md", "a");
  home.write("loose/002-m.json", "[]");
  home.write("other/readme.md", "x");
  for (const path of [ws.path, join(ws.path, "agents", AGENT), ws.messages, `${ws.messages}/`]) {
    expect(await messagesSource.detects(path, new Uint8Array(0))).toBe(true);
    const log = await messagesSource.open(path);
    expect(await log.info()).toMatchObject({
      agent: "messages",
      id: AGENT,
      path: ws.messages,
      title: "hello",
    });
  }
  expect(await messagesSource.detects(join(home.path, "loose"), new Uint8Array(0))).toBe(true);
  for (const path of ["other", "none", "loose/001-user.md"])
    expect(await messagesSource.detects(join(home.path, path), new Uint8Array(0))).toBe(false);
  await expect(messagesSource.open(join(home.path, "other"))).rejects.toMatchObject({
    code: "unknown-format",
  });
});

test("an empty directory of a workspace is one too", async () => {
  const ws = makeWorkspace(home);
  expect(await messagesSource.detects(ws.messages, new Uint8Array(0))).toBe(true);
  const log = await messagesSource.open(ws.messages);
  expect((await log.tail(10)).entries).toEqual([]);
});

test("it is described by its first text and the last model", async () => {
  const ws = makeWorkspace(home);
  ws.put("001-user.md", deposit("do it\nnow", { deposited_at: "2026-06-01T00:00:00Z" }));
  ws.put("002-gpt-5.4.json", answer("x"));
  ws.put("003-tool.json", result("c", "ok"));
  const log = await messagesSource.open(ws.messages);
  expect(await log.info()).toMatchObject({
    title: "do it",
    model: "gpt-5.4",
    startedAt: Date.parse("2026-06-01T00:00:00Z"),
    cwd: join(ws.path, "agents", AGENT),
  });
});

describe("counting", () => {
  test("files, calls and results by distinct id, holes, and what is no message", async () => {
    const ws = makeWorkspace(home);
    ws.put("001-user.md", "do it");
    ws.put("002-m.json", { ...answer(call("c1"), call("c2"), call("")), usage: { output_tokens: 5 } });
    ws.put("003-tool.json", result("c1", "ok"));
    ws.put("004-tool.json", result("c1", "again"));
    ws.put("005-tool.json", result("zz", "whose?"));
    ws.put("006-kid.md", deposit("", { epitaph: "died" }));
    ws.put("009-m.json", { ...answer("done"), usage: { output_tokens: 7 } });
    ws.put("010-m.json", "{");
    ws.put("notes.txt", "x");
    const report = await (await messagesSource.open(ws.messages)).check();
    expect(report).toMatchObject({
      records: 8,
      recovered: 0,
      recordKinds: { delivered: 2, model: 2, "tool-result": 3 },
      toolCalls: 3,
      toolResults: 2,
      unansweredCalls: 2,
      orphanResults: 1,
      compactions: 1,
      modelMessages: 2,
      outputTokens: 12,
      turns: 1,
    });
    expect(report.damaged).toHaveLength(1);
    expect(report.unknownKinds).toHaveLength(1);
    expect("openTurn" in report).toBe(false);
  });

  test("nothing is counted that was never recorded", async () => {
    const ws = makeWorkspace(home);
    ws.put("001-m.json", answer("x"));
    expect("outputTokens" in (await (await messagesSource.open(ws.messages)).check())).toBe(false);
  });
});
