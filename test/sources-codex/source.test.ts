/** Where rollouts are found, what is known of one without reading it, and packed ones. */
import { readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, describe, expect, test } from "vitest";
import { codexClassifier } from "../../src/sources/codex/classifier.ts";
import { openRollout } from "../../src/sources/codex/open.ts";
import { CODEX_HEAD_BYTES, CODEX_INDEX_BYTES_MAX, codexSource } from "../../src/sources/codex/source.ts";
import type { FoundSession, SessionInfo } from "../../src/sources/types.ts";
import { entryLine } from "../support/entry-notation.ts";
import { fixture } from "../support/fixtures.ts";
import { discoverAll, type Home, lines, makeHome } from "../support/home.ts";
import { logOf, readBackward } from "../support/log-laws.ts";
import { frame } from "../zstd/support.ts";

let home: Home | undefined;
afterEach(() => home?.remove());

const ID = "6a5f557f-4d67-4125-adfd-1d0e7a5108fb";
const NAME = `rollout-2026-06-18T00-52-03-${ID}.jsonl`;
const DAY = ".codex/sessions/2026/06/18";
const rollout = fixture("sources/codex/rollout-1.jsonl");
const packed = fixture("sources/codex/two-compactions.jsonl.zst");
const unpacked = fixture("sources/codex/two-compactions.jsonl.gz");

async function describeOnly(made: Home): Promise<SessionInfo> {
  const { found } = await discoverAll(codexSource, made.around);
  expect(found).toHaveLength(1);
  return codexSource.describe(found[0] as FoundSession);
}

describe("finding", () => {
  test("sessions by day and archived ones, each by its name and size", async () => {
    home = makeHome();
    home.write(`${DAY}/${NAME}`, rollout);
    home.write(`${DAY}/notes.txt`, "x");
    home.write(`.codex/archived_sessions/rollout-2026-01-01T00-00-00-old.jsonl`, "");
    home.write(`.codex/sessions/.tmp/rollout-compression.lock`, "");
    const { found, problems } = await discoverAll(codexSource, home.around);
    expect(problems).toEqual([]);
    expect(found).toEqual([
      {
        agent: "codex",
        id: ID,
        path: join(home.path, DAY, NAME),
        bytes: rollout.length,
        modifiedAt: 1_700_000_000_000,
      },
      {
        agent: "codex",
        id: "old",
        path: expect.stringContaining("archived_sessions"),
        bytes: 0,
        modifiedAt: 1_700_000_000_000,
        archived: true,
      },
    ]);
  });

  test("CODEX_HOME moves the home; an empty one does not", async () => {
    home = makeHome();
    home.write(`elsewhere/sessions/2026/06/18/${NAME}`, rollout);
    const at = { ...home.around, env: { CODEX_HOME: join(home.path, "elsewhere") } };
    expect((await discoverAll(codexSource, at)).found.map((f) => f.id)).toEqual([ID]);
    expect(codexSource.roots({ ...home.around, env: { CODEX_HOME: "" } })[0]).toBe(
      join(home.path, ".codex", "sessions"),
    );
  });

  test("a plain file wins over its packed sibling; a packed one alone is found", async () => {
    home = makeHome();
    home.write(`${DAY}/${NAME}`, rollout);
    home.write(`${DAY}/${NAME}.zst`, packed);
    home.write(`${DAY}/rollout-2026-06-18T01-00-00-alone.jsonl.zst`, packed);
    const { found } = await discoverAll(codexSource, home.around);
    expect(found.map((f) => [f.id, f.path.endsWith(".zst")])).toEqual([
      [ID, false],
      ["alone", true],
    ]);
  });

  test("no home at all is no problem", async () => {
    home = makeHome();
    expect(await discoverAll(codexSource, home.around)).toEqual({ found: [], problems: [] });
  });
});

describe("describing", () => {
  test("a rollout: place, model, version and the first prompt as its title", async () => {
    home = makeHome();
    home.write(`${DAY}/${NAME}`, rollout);
    const info = await describeOnly(home);
    expect(info).toMatchObject({
      id: ID,
      agentVersion: "0.140.0",
      startedAt: Date.parse("2026-06-18T00:52:03.755Z"),
    });
    expect(info.title).toBe("calmon ideato-leadme-seamy sortme we cellin peakdo, ask warad dearlens");
    expect(info.titled).toBeUndefined();
    expect(info.model).toBeDefined();
  });

  test("the newest name of the index wins over the first prompt", async () => {
    home = makeHome();
    home.write(`${DAY}/${NAME}`, rollout);
    home.write(
      ".codex/session_index.jsonl",
      `${lines({ id: ID, thread_name: "first" }, { id: "other", thread_name: "x" }, { id: ID, thread_name: "second" })}{"id":"torn`,
    );
    expect(await describeOnly(home)).toMatchObject({ title: "second", titled: true });
    home.write(".codex/session_index.jsonl", lines({ id: ID, thread_name: "third, and longer" }));
    expect((await describeOnly(home)).title).toBe("third, and longer");
  });

  test("of a longer index only the end is read", async () => {
    home = makeHome();
    home.write(`${DAY}/${NAME}`, rollout);
    const early = lines({ id: ID, thread_name: "early" });
    const filler = lines({ id: "other", thread_name: "x".repeat(1000) }).repeat(
      Math.ceil(CODEX_INDEX_BYTES_MAX / 1000),
    );
    home.write(".codex/session_index.jsonl", early + filler);
    expect((await describeOnly(home)).titled).toBeUndefined();
    home.write(".codex/session_index.jsonl", early + filler + lines({ id: ID, thread_name: "late" }));
    expect((await describeOnly(home)).title).toBe("late");
  });

  test("a first prompt behind long instructions is found", async () => {
    home = makeHome();
    const meta = {
      timestamp: "2026-06-01T00:00:00.000Z",
      type: "session_meta",
      payload: { id: "x", base_instructions: { text: "y".repeat(CODEX_HEAD_BYTES) } },
    };
    const prompt = {
      timestamp: "2026-06-01T00:00:01.000Z",
      type: "event_msg",
      payload: { type: "user_message", message: "hello\nthere" },
    };
    home.write(`${DAY}/${NAME}`, lines(meta, prompt) + " ".repeat(CODEX_HEAD_BYTES));
    expect((await describeOnly(home)).title).toBe("hello");
  });

  test("a packed rollout, from its first bytes", async () => {
    home = makeHome();
    home.write(`${DAY}/${NAME}.zst`, packed);
    const info = await describeOnly(home);
    expect(info.id).toBe(ID);
    expect(info.title).toMatch(/^campleadask safelet know/);
    expect(info.model).toBeDefined();
  });
});

describe("telling a rollout from other files", () => {
  const detects = (text: string | Uint8Array): Promise<boolean> =>
    codexSource.detects("x", Buffer.from(text as string));

  test.each<[string, string | Uint8Array, boolean]>([
    ["a rollout", rollout.subarray(0, 4096), true],
    [
      "a rollout behind a byte order mark",
      Buffer.concat([Buffer.from("\ufeff"), rollout.subarray(0, 4096)]),
      true,
    ],
    ["a rollout whose first record is longer than what was read", rollout.subarray(0, 500), true],
    [
      "one of the oldest",
      lines({ id: "a", timestamp: "2025-05-01T00:00:00.000Z", instructions: "", git: {} }),
      true,
    ],
    ["a packed one", packed.subarray(0, 65536), true],
    ["an empty file", "", false],
    ["a pi session", fixture("sources/pi/session-v3.jsonl"), false],
    ["a Gemini chat", fixture("sources/gemini/legacy-2.json"), false],
    ["other JSON", lines({ type: "message", id: 1 }), false],
  ])("%s", async (_, bytes, expected) => {
    expect(await detects(bytes)).toBe(expected);
  });

  test("noise that begins as an archive does", async () => {
    home = makeHome();
    const noise = Buffer.from([0x28, 0xb5, 0x2f, 0xfd, 1, 2, 3]);
    expect(await codexSource.detects(home.write("x.zst", noise), noise)).toBe(false);
  });

  test("an archive whose first block is longer than what was read", async () => {
    home = makeHome();
    const path = home.write(
      "x.jsonl.zst",
      frame(Buffer.concat([rollout, Buffer.alloc(60_000, "x ")]), { blockBytes: 128 * 1024 }),
    );
    expect(await codexSource.detects(path, readFileSync(path).subarray(0, 64 * 1024))).toBe(true);
  });
});

describe("packed rollouts", () => {
  const quiet = { watch: () => ({ close: () => undefined }), wait: (): Promise<void> => Promise.resolve() };
  const open = (path: string, ports = quiet): ReturnType<typeof openRollout> =>
    openRollout(path, async (real) => ({ agent: "codex", id: "x", path: real }), ports);

  test("say what the plain one says", async () => {
    home = makeHome();
    const log = await open(home.write("a.jsonl.zst", packed));
    const plain = await logOf("codex", codexClassifier, unpacked);
    const lastTurn = (line: string): string => line.replace("→ running", "→ unanswered");
    expect((await readBackward(log, 1000)).map(entryLine)).toEqual(
      (await readBackward(plain, 1000)).map(entryLine).map(lastTurn),
    );
    const { path: _p, ...figures } = await plain.check();
    expect(await log.check()).toMatchObject(figures);
    expect(await log.tail(5)).toMatchObject({ turnOpen: false, live: [] });
    await log.close();
  });

  test("under a plain name are told by their content", async () => {
    home = makeHome();
    const log = await open(home.write("a.jsonl", packed));
    expect((await log.tail(5)).entries).toHaveLength(5);
    await log.close();
  });

  test("cut in the middle give their first half, and a note of where they end", async () => {
    home = makeHome();
    const log = await open(home.write("a.jsonl.zst", packed.subarray(0, packed.length >> 1)));
    const page = await log.tail(1000);
    expect(page.atStart).toBe(true);
    expect(page.entries.length).toBeGreaterThan(50);
    expect(page.damage.at(-1)).toMatchObject({ reason: "torn" });
    const { damaged, records } = await log.check();
    expect(records).toBeGreaterThan(100);
    expect(damaged.at(-1)?.reason).toBe("torn");
    // Older pages do not repeat what is wrong at the end.
    expect((await log.first(10)).damage).toEqual([]);
    await log.close();
  });

  test("that cannot be read at all are empty, with a note", async () => {
    home = makeHome();
    const log = await open(home.write("a.jsonl.zst", packed.subarray(0, 100)));
    expect(await log.tail(10)).toMatchObject({ entries: [], damage: [{ start: 0, end: 0, reason: "torn" }] });
    await log.close();
  });

  test("no call runs in one, though its last turn was open", async () => {
    home = makeHome();
    const log = await open(home.write("a.jsonl.zst", frame(rollout)));
    const last = (await log.tail(1)).entries[0];
    expect(last && entryLine(last)).toContain("→ unanswered");
    await log.close();
  });

  test("a rollout that was packed since it was listed is opened all the same, and the other way round", async () => {
    home = makeHome();
    const plain = home.write("a.jsonl", rollout);
    writeFileSync(`${plain}.zst`, frame(rollout));
    rmSync(plain);
    const first = await open(plain);
    expect((await first.info()).path).toBe(`${plain}.zst`);
    expect((await first.tail(3)).entries).toHaveLength(3);
    await first.close();
    renameSync(`${plain}.zst`, `${plain}.gone`);
    writeFileSync(plain, rollout);
    const second = await open(`${plain}.zst`);
    expect((await second.info()).path).toBe(plain);
    await second.close();
    await expect(open(join(home.path, "none.jsonl"))).rejects.toMatchObject({ code: "not-found" });
  });

  test("following one says that it is caught up, and tells when the session goes on in a plain file", async () => {
    home = makeHome();
    const path = home.write("a.jsonl.zst", packed);
    let looks = 0;
    const log = await open(path, {
      ...quiet,
      wait: async () => {
        looks += 1;
        if (looks === 2) writeFileSync(path.slice(0, -4), unpacked);
      },
    });
    const { end } = await log.tail(1);
    const events = [];
    for await (const event of log.follow(end, new AbortController().signal)) events.push(event);
    expect(events).toEqual([
      { type: "caughtUp" },
      { type: "notice", text: expect.stringContaining("goes on in") },
    ]);
    await log.close();
  });
});
