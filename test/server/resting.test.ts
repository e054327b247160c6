/** A session whose agent is at rest, served by a process that does not drive it. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { createLog } from "../../src/log/index.ts";
import { servedSession } from "../../src/server/index.ts";
import { createSession } from "../../src/session/index.ts";
import { openLog } from "../../src/sources/index.ts";

test("takes prompts from the start, as long as a process drives it", async () => {
  const folder = await mkdtemp(join(tmpdir(), "hansard-resting-"));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  const sessions = join(folder, "sessions");
  const log = await createLog({ sessions, id: "s1", cwd: "/w" });
  await log.append({ kind: "message", role: "user", payload: { text: "go" } });
  await log.flush();
  const source = await openLog(join(sessions, "s1", "log.jsonl"));
  const session = createSession(source, await source.info());
  const begin = () => {
    const stop = new AbortController();
    const drivers = servedSession(session).drivers?.(stop.signal)[Symbol.asyncIterator]();
    return { stop, next: drivers?.next() };
  };
  const driven = begin();
  expect(await driven.next).toMatchObject({ done: false, value: { phase: "ready", approvals: [] } });
  driven.stop.abort();
  await log.close();
  const over = begin();
  over.stop.abort();
  expect(await over.next).toMatchObject({ done: true });
  await session.close();
});
