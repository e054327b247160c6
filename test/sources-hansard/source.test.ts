/** Our own sessions on a real disk: found, described, opened, followed, checked, and paged by their cycles. */
import { appendFileSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import {
  createLog,
  type LogWriter,
  type RecordSpec,
  sessionsFolder,
  stateFolder,
} from "../../src/log/index.ts";
import { SHOWN_BLOB_BYTES_MAX } from "../../src/sources/hansard/decoder.ts";
import { type HansardLog, openHansardLog } from "../../src/sources/hansard/open.ts";
import { HANSARD_HEAD_BYTES, HANSARD_TAIL_BYTES, hansardSource } from "../../src/sources/hansard/source.ts";
import { detectSource, type Log, openLog, SourceError } from "../../src/sources/index.ts";
import { entryLine } from "../support/entry-notation.ts";
import { discoverAll, type Home, makeHome } from "../support/home.ts";
import { readBackward } from "../support/log-laws.ts";

let home: Home;
let sessions: string;
beforeEach(() => {
  home = makeHome({ HANSARD_HOME: undefined });
  sessions = sessionsFolder(stateFolder(home.around));
});
afterEach(() => home.remove());

const prompt = (text: string): RecordSpec => ({ kind: "message", role: "user", payload: { text } });
const turn = (text: string): RecordSpec[] => [
  { kind: "turnStarted" },
  prompt(text),
  { kind: "message", role: "assistant", payload: { content: [{ type: "text", text: `on ${text}` }] } },
  { kind: "turnCommitted" },
];

async function write(
  id: string,
  work: (log: LogWriter) => Promise<unknown> = async () => {},
): Promise<string> {
  const log = await createLog({ sessions, id, cwd: "/w", agent: "fake" });
  await work(log);
  await log.close();
  return join(sessions, id, "log.jsonl");
}

async function lines(log: Log): Promise<string[]> {
  return (await log.tail(1000)).entries.map(entryLine);
}

test("sessions are found by their folders; what has no log or no name of one is none", async () => {
  await write("one");
  home.write(".local/state/hansard/sessions/empty/notes.txt", "x");
  home.write(".local/state/hansard/sessions/.new-1/log.jsonl", "x");
  const { found, problems } = await discoverAll(hansardSource, { ...home.around, platform: "linux" });
  expect(problems).toEqual([]);
  expect(found.map(({ agent, id }) => [agent, id])).toEqual([["hansard", "one"]]);
});

describe("describing", () => {
  async function infoOf(id: string): Promise<object> {
    const { found } = await discoverAll(hansardSource, home.around);
    const session = found.find((each) => each.id === id);
    if (session === undefined) throw new Error("not found");
    return hansardSource.describe(session);
  }

  test("by its session record and first prompt", async () => {
    await write("one", (log) => log.append(turn("\n  hello   there\nmore")));
    expect(await infoOf("one")).toMatchObject({
      agent: "hansard",
      id: "one",
      cwd: "/w",
      title: "hello there",
      startedAt: expect.any(Number),
    });
    expect(await infoOf("one")).not.toHaveProperty("titled");
  });

  test("by the newest settings, also where they lie far above the end, or were taken back", async () => {
    const filler = prompt("x".repeat(1000));
    const long = Array.from({ length: (HANSARD_HEAD_BYTES + HANSARD_TAIL_BYTES) / 500 }, () => filler);
    await write("far", async (log) => {
      await log.append([{ kind: "set", key: "title", value: "first" }, ...turn("hello")]);
      await log.append(long);
      await log.append([
        { kind: "set", key: "title", value: "last" },
        { kind: "set", key: "model", value: "m" },
      ]);
      for (let i = 0; i < 3; i += 1) await log.append(long);
    });
    expect(await infoOf("far")).toMatchObject({ title: "last", titled: true, model: "m", cwd: "/w" });
    await write("gone", async (log) => {
      await log.append([{ kind: "set", key: "title", value: "first" }, ...turn("hello")]);
      await log.append(long);
      await log.append({ kind: "set", key: "title", value: null });
    });
    expect(await infoOf("gone")).toMatchObject({ title: "hello" });
  });

  test("where one long record hides the newest snapshot, a longer end is read", async () => {
    await write("long", async (log) => {
      await log.append([{ kind: "set", key: "title", value: "named" }, ...turn("hello")]);
      await log.append(Array.from({ length: 100 }, () => prompt("y".repeat(1000))));
      // Many texts, none of them long enough for a blob.
      const payload = Object.fromEntries(Array.from({ length: 12 }, (_, i) => [`k${i}`, "z".repeat(20_000)]));
      await log.append({ kind: "custom", customType: "wide", data: payload });
    });
    expect(await infoOf("long")).toMatchObject({ title: "named", titled: true });
  });
});

test("a session's log is told from other files by its content, and opened", async () => {
  const path = await write("one", (log) => log.append(turn("hello")));
  const elsewhere = home.write("copy.jsonl", readFileSync(path));
  expect((await detectSource(elsewhere)).agent).toBe("hansard");
  const log = await openLog(elsewhere);
  expect(await lines(log)).toEqual(["user: hello", 'model: "on hello"']);
  await log.close();
  const damaged = home.write("damaged.jsonl", Buffer.concat([Buffer.from("??\n"), readFileSync(path)]));
  expect((await detectSource(damaged)).agent).toBe("hansard");
});

test("an open log tells its facts anew", async () => {
  const path = await write("one", (log) => log.append(turn("hello")));
  const log = await hansardSource.open(path);
  expect(await log.info()).toMatchObject({ id: "one", title: "hello", cwd: "/w", path });
  await log.close();
});

test("long texts come out of their blobs, verified; one that is damaged or too long is told by its beginning", async () => {
  const long = `begin ${"w".repeat(100_000)} end`;
  const path = await write("one", async (log) => {
    await log.append([prompt(long), prompt("v".repeat(SHOWN_BLOB_BYTES_MAX + 1))]);
  });
  const log = await openHansardLog(path);
  const [first, second] = (await log.tail(10)).entries;
  expect(first).toMatchObject({ kind: "delivered", body: long });
  expect(second).toMatchObject({
    body: expect.stringContaining("the whole text of 2097153 bytes is in blob"),
  });
  await log.close();
  rmSync(join(sessions, "one", "blobs"), { recursive: true });
  const without = await openHansardLog(path);
  const [bare] = (await without.tail(10)).entries;
  expect(bare).toMatchObject({
    body: expect.stringMatching(/^begin w+\n… \[the rest of 100010 bytes cannot be shown/),
  });
  await without.close();
});

test("a log is followed while it is written, each record once it was acknowledged", async () => {
  const writer = await createLog({ sessions, id: "one" });
  await writer.append({ kind: "turnStarted" });
  const log = await openHansardLog(join(sessions, "one", "log.jsonl"));
  const tail = await log.tail(10);
  expect(tail.turnOpen).toBe(true);
  const stop = new AbortController();
  const events = log.follow(tail.end, stop.signal)[Symbol.asyncIterator]();
  const told: string[] = [];
  const next = async (wanted: number): Promise<void> => {
    while (told.length < wanted) {
      const { value } = (await events.next()) as { value: { type: string; items?: readonly object[] } };
      for (const item of value.items ?? []) told.push((item as { type: string }).type);
    }
  };
  await writer.append(prompt("hello"));
  await next(1);
  await writer.append({ kind: "turnCommitted" });
  await next(2);
  expect(told).toEqual(["entry", "turnEnded"]);
  stop.abort();
  await log.close();
  await writer.close();
});

describe("damage", () => {
  async function damagedLog(): Promise<{ path: string; bytes: Buffer }> {
    const path = await write("one", async (log) => {
      for (const text of ["a", "b", "c"]) await log.append(turn(text));
    });
    return { path, bytes: readFileSync(path) };
  }

  test("a changed byte is shown as damage in its place, and the rest is told", async () => {
    const { path, bytes } = await damagedLog();
    const at = bytes.indexOf('"on b"') + 4;
    bytes[at] = 0x7a;
    writeFileSync(path, bytes);
    const log = await openHansardLog(path);
    const page = await log.tail(100);
    const told = page.entries.map(entryLine);
    expect(told[3]).toMatch(/^raw \(\d+ bytes that are not what was written: their checksum is wrong\)/);
    expect(told.filter((line) => !line.startsWith("raw"))).toEqual([
      "user: a",
      'model: "on a"',
      "user: b",
      "user: c",
      'model: "on c"',
    ]);
    const report = await log.check();
    expect(report.damaged.map(({ reason }) => reason)).toContain("checksum");
    expect(report.damaged.every(({ start, end }) => start < end)).toBe(true);
    await log.close();
  });

  test("a line that is gone is reported as missing numbers", async () => {
    const { path, bytes } = await damagedLog();
    const rows = bytes.toString().split("\n");
    rows.splice(5, 1);
    writeFileSync(path, rows.join("\n"));
    const log = await openHansardLog(path);
    expect((await log.check()).damaged.map(({ reason }) => reason)).toEqual(["sequence"]);
    await log.close();
  });

  test("a torn end is no entry while it may still grow, and is reported", async () => {
    const { path } = await damagedLog();
    appendFileSync(path, '{"v":1,"seq":99,"ts":1,"kind":"mess');
    const log = await openHansardLog(path);
    expect((await lines(log)).at(-1)).toBe('model: "on c"');
    expect((await log.check()).damaged.map(({ reason }) => reason)).toEqual(["torn"]);
    await log.close();
  });
});

describe("cycles", () => {
  const compaction: RecordSpec = {
    kind: "compactionSummary",
    summary: "so far",
    tokensBefore: 9,
    firstKeptTurnId: "",
  };

  async function cycled(): Promise<HansardLog> {
    const path = await write("one", async (log) => {
      await log.append(turn("a"));
      await log.append(compaction);
      await log.append([...turn("b").slice(0, 2), compaction, ...turn("b").slice(2)]);
    });
    return openHansardLog(path);
  }

  test("are paged newest first, and together hold every entry", async () => {
    const log = await cycled();
    const spans = [];
    for await (const cycle of log.cycles()) spans.push(cycle);
    expect(spans.map(({ cycle }) => cycle)).toEqual([2, 1, 0]);
    const heads = [];
    for (const { start } of spans) {
      const [entry] = (await log.newer(start, 1)).entries;
      heads.push(entry === undefined ? "" : entryLine(entry));
    }
    expect(heads).toEqual(["user: b", "compacted from 9 tokens: so far", "user: a"]);
    expect(spans.at(-1)?.start).toBe("0");
    expect((await readBackward(log, 2)).length).toBe(6);
    await log.close();
  });

  test("end with a word where the chain is broken", async () => {
    const log = await cycled();
    const bytes = readFileSync(log.path);
    bytes[bytes.indexOf("so far")] = 0x53;
    writeFileSync(log.path, bytes);
    const failure: unknown = await (async () => {
      for await (const _ of log.cycles());
    })().catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(SourceError);
    await log.close();
  });
});

test("a page costs what the page costs, whatever lies above it", async () => {
  const reads = async (turns: number): Promise<number> => {
    const id = `of-${turns}`;
    const path = await write(id, async (log) => {
      for (let i = 0; i < turns; i += 1) await log.append(turn("x".repeat(200)));
    });
    const log = await openHansardLog(path);
    const page = await log.tail(20);
    await log.close();
    return Number(page.end) - Number(page.start);
  };
  expect(await reads(400)).toBeLessThan((await reads(20)) * 1.5);
});
