// A session whose log is rewritten between the reading of a page and the following from it.
import { appendFile, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { type Change, createSession, type Session } from "../../src/session/index.ts";
import { openLog } from "../../src/sources/index.ts";
import { claudeLines } from "../cli/support.ts";

async function open(turns: number): Promise<{ session: Session; path: string }> {
  const folder = await mkdtemp(join(tmpdir(), "hansard-session-"));
  const path = join(folder, "session.jsonl");
  await writeFile(path, `${claudeLines(turns).join("\n")}\n`);
  const log = await openLog(path);
  const session = createSession(log, await log.info());
  onTestFinished(async () => {
    await session.close();
    await rm(folder, { recursive: true, force: true });
  });
  return { session, path };
}

async function nextChange(session: Session, page: Parameters<Session["changes"]>[0]): Promise<Change> {
  const stop = new AbortController();
  try {
    for await (const change of session.changes(page, stop.signal)) return change;
  } finally {
    stop.abort();
  }
  throw new Error("it ended without a change");
}

test("rewritten shorter after the page was read: a reset, and the new records from then on", async () => {
  const { session, path } = await open(4);
  const page = await session.tail(10);
  await writeFile(path, `${claudeLines(1, () => "another, and a longer one than there was").join("\n")}\n`);
  expect(await nextChange(session, page)).toMatchObject({ type: "reset" });
  const again = await session.tail(10);
  expect(again.entries).toHaveLength(2);
  await appendFile(path, `${claudeLines(2).slice(2).join("\n")}\n`);
  expect((await nextChange(session, again)).type).not.toBe("reset");
});

test("ccbot#25: rewritten longer, so that the page's end lies inside a record: a reset", async () => {
  const { session, path } = await open(2);
  const page = await session.tail(10);
  await writeFile(path, `${claudeLines(4, (n) => `another answer, the ${n}th`).join("\n")}\n`);
  expect(await nextChange(session, page)).toMatchObject({ type: "reset" });
});

test("a position that the caller made up stays the caller's error", async () => {
  const { session } = await open(2);
  await expect(session.older("17", 5)).rejects.toMatchObject({ code: "bad-position" });
});
