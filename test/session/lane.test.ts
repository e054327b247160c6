/** Where the steps of a session are published, and whether somebody drives it. */
import { appendFileSync, mkdirSync, mkdtempSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import type { LaneEvent } from "../../src/follow/index.ts";
import { createLog } from "../../src/log/index.ts";
import { createSession, followSession, readSessionOnce, stepPlaceOf } from "../../src/session/index.ts";
import { DRIVEN_KNOWN_MS } from "../../src/session/limits.ts";
import { openLog } from "../../src/sources/index.ts";

function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "hansard-lane-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

test("a session of our own is driven while its log is held for writing", async () => {
  const sessions = temporaryFolder();
  const log = await createLog({ sessions, cwd: sessions, agent: "an-agent" });
  await log.append({ kind: "turnStarted" });
  await log.append({ kind: "message", role: "user", payload: "go" });
  await log.append({ kind: "turnCommitted" });
  const path = join(sessions, log.id, "log.jsonl");
  let now = 0;
  const place = stepPlaceOf({ agent: "hansard", id: log.id, path }, () => now);
  expect(place?.steps).toBe(join(sessions, log.id, "steps"));
  expect(await place?.isDriven()).toBe(true);
  await log.close();
  now = DRIVEN_KNOWN_MS - 1;
  expect(await place?.isDriven()).toBe(true);
  now = DRIVEN_KNOWN_MS;
  expect(await place?.isDriven()).toBe(false);
  rmSync(sessions, { recursive: true });
  expect(await place?.isDriven()).toBe(false);
});

test("an agent of a workspace is driven while its newest step is not settled and grew of late", async () => {
  const workspace = temporaryFolder();
  const messages = join(workspace, "agents", "a", "messages");
  const step = join(workspace, "steps", "a", "001");
  mkdirSync(messages, { recursive: true });
  const info = { agent: "messages", id: "a", path: messages } as const;
  const driven = async (minutes = 0): Promise<boolean | undefined> =>
    stepPlaceOf(info, () => Date.now() + minutes * 60_000)?.isDriven();
  expect(await driven()).toBe(false);
  mkdirSync(step, { recursive: true });
  expect(await driven()).toBe(false);
  writeFileSync(join(step, "request.json"), "{}");
  expect(await driven()).toBe(true);
  expect(await driven(11)).toBe(false);
  writeFileSync(join(step, "response.json"), "");
  utimesSync(join(step, "request.json"), 0, 0);
  expect(await driven()).toBe(true);
  writeFileSync(join(step, "meta.json"), "{}");
  expect(await driven()).toBe(false);
});

test("agents that keep a log alone, and messages in no workspace, publish no steps", () => {
  expect(stepPlaceOf({ agent: "codex", id: "x", path: "/x" })).toBeUndefined();
  expect(stepPlaceOf({ agent: "messages", id: "x", path: join("/x", "messages") })).toBeUndefined();
});

const record = (at: number, type: string, message: object): string =>
  `${JSON.stringify({
    uuid: `u${at}`,
    parentUuid: at === 0 ? null : `u${at - 1}`,
    isSidechain: false,
    sessionId: "s",
    timestamp: new Date(Date.UTC(2026, 0, 1) + at * 1000).toISOString(),
    type,
    message,
  })}\n`;
const prompt = (at: number): string => record(at, "user", { role: "user", content: "go" });
const said = (at: number, block: object, stop = "tool_use"): string =>
  record(at, "assistant", {
    id: `m${at}`,
    role: "assistant",
    model: "a",
    stop_reason: stop,
    usage: {},
    content: [block],
  });
const call = { type: "tool_use", id: "t1", name: "Bash", input: { command: "ls" } };

async function openSession(text: string) {
  const path = join(temporaryFolder(), "s.jsonl");
  writeFileSync(path, text);
  const log = await openLog(path);
  const session = createSession(log, await log.info());
  onTestFinished(() => session.close());
  return { path, session };
}

test("the lane of a log that is rewritten ends its read and tells the step under way anew", async () => {
  const { path, session } = await openSession(prompt(0) + said(1, call));
  const stop = new AbortController();
  const lane = followSession(session, stop.signal);
  const next = async (): Promise<LaneEvent | undefined> => (await lane.next()).value ?? undefined;
  const posted = { toolUse: "t1", tool: "Bash", input: '{"command":"ls"}' };
  expect(await next()).toEqual({ type: "frame", frame: { stream: {}, tools: [posted] } });
  expect(await readSessionOnce(session)).toEqual({ stream: {}, tools: [posted] });
  const over = next();
  writeFileSync(path, prompt(0) + said(1, { type: "text", text: "Else" }));
  expect(await over).toEqual({ type: "over" });
  expect(await next()).toEqual({
    type: "frame",
    frame: { stream: { text: "Else", lastDelta: "text" }, tools: [] },
  });
  const more = next();
  appendFileSync(path, said(2, { type: "text", text: "More" }, "end_turn"));
  expect(await more).toEqual({ type: "over" });
  expect(await next()).toEqual({
    type: "frame",
    frame: { stream: { text: "More", lastDelta: "text" }, tools: [] },
  });
  stop.abort();
  await lane.return();
});
