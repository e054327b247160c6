/** A messages directory as a log: holes, pages, the tail of a running step, and how a conversation failed. */
import { mkdirSync, rmSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { placeOf } from "../../src/sources/messages/listing.ts";
import { openMessagesLog } from "../../src/sources/messages/log.ts";
import { IN_FLIGHT_MS } from "../../src/sources/messages/step-folder.ts";
import { STREAM_TEXT_MAX, StepReader } from "../../src/sources/messages/steps.ts";
import type { Log } from "../../src/sources/types.ts";
import { entryLine } from "../support/entry-notation.ts";
import { type Home, makeHome } from "../support/home.ts";
import { readBackward, readForward } from "../support/log-laws.ts";
import { createLooks, Follower, type Looks } from "../support/watched-log.ts";
import {
  AGENT,
  answer,
  call,
  deposit,
  makeWorkspace,
  result,
  says,
  thinks,
  type Workspace,
} from "./support.ts";

const NOW = 1_700_000_005_000;
let home: Home;
let ws: Workspace;
let now = NOW;
beforeEach(() => {
  home = makeHome();
  ws = makeWorkspace(home);
  now = NOW;
});
afterEach(() => home.remove());

function openLog(looks?: Looks, locks = ""): Promise<Log> {
  const locksPath = home.write("locks", locks);
  return openMessagesLog({
    place: placeOf(ws.messages),
    info: { agent: "messages", id: AGENT, path: ws.messages },
    now: () => now,
    locksPath,
    ...(looks ? { ports: looks.ports } : {}),
  });
}

async function told(): Promise<string[]> {
  return (await (await openLog()).tail(1000)).entries.map(entryLine);
}

function exchange(): void {
  ws.put("001-user.md", deposit("do it", { from: "user" }));
  ws.put("002-m.json", answer("I look", call("c1"), call("c2")));
  ws.put("003-tool.json", result("c1", "ok"));
  ws.put("004-tool.json", result("c2", "bad", true));
  ws.put("005-m.json", answer("done"));
}

describe("reading", () => {
  test("an exchange, with calls and results paired", async () => {
    exchange();
    expect(await told()).toEqual([
      "user: do it",
      'model m: "I look" call(bash c1 c1 → done) call(bash c2 c2 → failed)',
      "result c1 done: ok",
      "result c2 failed: bad",
      'model m: "done"',
    ]);
  });

  test("from either end by pages of any size, and the bytes of each place", async () => {
    exchange();
    ws.put("notes", "x");
    ws.compact(["003-tool.json"], "so far");
    const log = await openLog();
    const whole = await readBackward(log, 1000);
    expect(whole).toHaveLength(6);
    for (const limit of [1, 2, 3]) {
      expect(await readBackward(log, limit)).toEqual(whole);
      expect(await readForward(log, limit)).toEqual(whole);
    }
    const prompt = whole[0];
    const bytes = prompt?.place && (await log.raw(prompt.place));
    expect(Buffer.from(bytes ?? []).toString()).toBe(deposit("do it", { from: "user" }));
  });

  test("a place that names a file elsewhere is refused", async () => {
    writeFileSync(join(home.path, "secret"), "x");
    const log = await openLog();
    for (const file of ["../../../../secret", "/etc/passwd", "a/../../x"])
      await expect(log.raw({ start: 0, end: 10, file })).rejects.toMatchObject({ code: "not-found" });
  });

  test("folders are passed over, links to files are read, links to nothing are not", async () => {
    ws.put("001-user.md", "a");
    mkdirSync(join(ws.messages, "002-folder.md"));
    symlinkSync(join(ws.messages, "001-user.md"), join(ws.messages, "003-link.md"));
    symlinkSync(join(ws.messages, "none"), join(ws.messages, "004-broken.md"));
    expect(await told()).toEqual(["user: a", "compacted 2-2: ", "link: a"]);
  });

  test("an empty directory, and none at all, are empty", async () => {
    expect(await told()).toEqual([]);
    rmSync(ws.messages, { recursive: true });
    expect(await told()).toEqual([]);
    expect(await (await openLog()).check()).toMatchObject({ records: 0 });
  });

  test("nothing is written: no time, no file", async () => {
    exchange();
    const state = (): number[] => [
      statSync(ws.messages).mtimeMs,
      statSync(join(ws.messages, "001-user.md")).atimeMs,
      statSync(join(ws.messages, "001-user.md")).mtimeMs,
    ];
    const before = state();
    const log = await openLog();
    await log.check();
    expect([state()[0], state()[2]]).toEqual([before[0], before[2]]);
  });
});

describe("compactions", () => {
  test("bl-7bd2: each hole is marked; the whole record rides the earliest", async () => {
    exchange();
    ws.put("008-user.md", "more");
    ws.compact(["001-user.md", "003-tool.json"], "first");
    ws.compact([], "second", "002.md");
    ws.compact([], "not read", "003.txt");
    expect(await told()).toEqual([
      "compacted 1-1: first\n\nsecond",
      'model m: "I look" call(bash c1 c1 → unanswered) call(bash c2 c2 → failed)',
      "compacted 3-3: ",
      "result c2 failed: bad",
      'model m: "done"',
      "compacted 6-7: ",
      "user: more",
    ]);
    expect((await (await openLog()).tail(10)).entries.map((e) => e.name)).toContain("«006–007»");
  });

  test("where nothing is missing, no summary is read", async () => {
    exchange();
    ws.compact([], "unused");
    expect((await told()).some((l) => l.startsWith("compacted"))).toBe(false);
  });

  test("a hole without a record has none", async () => {
    ws.put("003-user.md", "x");
    expect(await told()).toEqual(["compacted 1-2: ", "user: x"]);
  });
});

describe("the tail of a running step", () => {
  test("what is being said stands at the end, and is live", async () => {
    ws.put("001-user.md", "do it");
    ws.step("001", "request.json", { model: "m" });
    ws.stream(
      "001",
      { type: "message_start", v: 1 },
      thinks("hm"),
      says("Hel"),
      says("lo"),
      '{"type":"content_delta","del',
    );
    const page = await (await openLog()).tail(10);
    expect(page.entries.map(entryLine)).toEqual(["user: do it", 'streaming: think(hm) "Hello"']);
    expect(page).toMatchObject({ turnOpen: true, live: ["«live»"] });
  });

  test("the newest step counts, by number; names of other shapes are passed over", async () => {
    for (const step of ["009", "010", "1000"]) ws.stream(step, says(`step ${step}`));
    for (const step of ["01a", "notes", "99"]) ws.stream(step, says("no"));
    expect(await told()).toEqual(['streaming: think() "step 1000"']);
  });

  test("two digits, or letters among them, are no step", async () => {
    for (const step of ["01a", "99", "notes"]) ws.stream(step, says("no"));
    expect(await told()).toEqual([]);
    ws.stream("010", says("yes"));
    expect(await told()).toEqual(['streaming: think() "yes"']);
  });

  test("a step that is settled says nothing", async () => {
    ws.stream("001", says("x"), { type: "finish", reason: "stop" }, { type: "end" });
    ws.step("001", "meta.json", "");
    expect(await (await openLog()).tail(10)).toMatchObject({ entries: [], turnOpen: false });
  });

  test("a response that rested for long counts as under way only where the driver's lock is seen", async () => {
    ws.stream("001", says("x"));
    home.write(`ws/inbox/${AGENT}/.keep`, "");
    now = 1_700_000_000_000 + IN_FLIGHT_MS - 1;
    expect(await told()).toHaveLength(1);
    now += 1;
    expect(await told()).toHaveLength(0);
    const { ino } = statSync(join(ws.path, "inbox", AGENT));
    const lock = `1: FLOCK  ADVISORY  WRITE 77 00:1f:${ino} 0 EOF\n`;
    expect((await (await openLog(undefined, lock)).tail(10)).turnOpen).toBe(true);
    // Somebody who waits for the lock does not hold it.
    expect((await (await openLog(undefined, lock.replace("1: ", "1: -> "))).tail(10)).turnOpen).toBe(false);
  });

  test("of a text longer than the limit no more is kept", async () => {
    const piece = says("x".repeat(512 * 1024));
    const read = async (): Promise<number> => {
      const state = await new StepReader(join(ws.path, "steps", AGENT)).read();
      return state?.stream.text?.length ?? 0;
    };
    ws.stream("001", ...Array.from({ length: STREAM_TEXT_MAX / (512 * 1024) }, () => piece));
    expect(await read()).toBe(STREAM_TEXT_MAX);
    ws.stream("001", piece);
    expect(await read()).toBe(STREAM_TEXT_MAX);
  });
});

describe("calls without a result", () => {
  const state = async (): Promise<string[]> =>
    (await told()).filter((l) => l.includes("call(")).map((l) => l.slice(l.lastIndexOf("→") + 2, -1));
  const drive = (): void => ws.step("002", "request.json", { model: "m" });

  test("run while a driver is at work; else they are unanswered", async () => {
    ws.put("001-m.json", answer(call("c1")));
    expect(await state()).toEqual(["unanswered"]);
    drive();
    expect(await state()).toEqual(["running"]);
  });

  test("run only where they are the last thing that was said", async () => {
    ws.put("001-m.json", answer(call("c1")));
    ws.put("002-m.json", answer(call("c2"), call("c3")));
    ws.put("003-tool.json", result("c2", "ok"));
    drive();
    expect(await told()).toEqual([
      "model m: call(bash c1 c1 → unanswered)",
      "model m: call(bash c2 c2 → done) call(bash c3 c3 → running)",
      "result c2 done: ok",
    ]);
    ws.stream("002", says("next"));
    expect(await state()).toEqual(["unanswered", "unanswered"]);
  });

  test("do not run once somebody has spoken since", async () => {
    ws.put("001-m.json", answer(call("c1")));
    ws.put("002-user.md", "stop");
    drive();
    expect(await state()).toEqual(["unanswered"]);
  });

  test("get their result also where no driver was seen at work", async () => {
    ws.put("001-m.json", answer(call("c1")));
    const watched = await watch();
    await watched.follower.look();
    ws.put("002-tool.json", result("c1", "ok"));
    await watched.follower.look();
    await expectCaughtUp(watched);
    expect(watched.follower.told.entries.map(entryLine)[0]).toBe("model m: call(bash c1 c1 → done)");
    await watched.follower.stop();
  });
});

describe("how it failed", () => {
  const request = (): void => {
    ws.step("001", "request.json", { model: "m" });
    ws.age("001/request.json", 1_700_000_000_000);
  };

  test.each<[string, object[], string[]]>([
    ["an ordinary end is none", [says("x"), { type: "finish", reason: "stop" }, { type: "end" }], []],
    [
      "the output limit",
      [says("x"), { type: "finish", reason: "length" }, { type: "end" }],
      ["wounded output-limit"],
    ],
    [
      "a refusal",
      [{ type: "error", status: 401, message: "Unauthorized" }, { type: "end" }],
      ['wounded refused: {"type":"error","status":401,"message":"Unauthorized"}'],
    ],
    [
      "any other error is told by its bytes alone",
      [{ type: "error", message: "overloaded" }, { type: "end" }],
      [],
    ],
    [
      "only the last attempt counts",
      [
        { type: "error", message: "401" },
        { type: "end" },
        says("x"),
        { type: "finish", reason: "stop" },
        { type: "end" },
      ],
      [],
    ],
    [
      "an attempt that ended without a finish is none, whatever the one before said",
      [{ type: "error", message: "401" }, { type: "end" }, says("x"), { type: "end" }],
      [],
    ],
    ["an attempt that was killed", [says("x")], []],
  ])("%s", async (_, events, lines) => {
    request();
    ws.stream("001", ...events);
    ws.step("001", "meta.json", "{}");
    expect(await told()).toEqual(lines);
  });

  test("no response at all: the last three lines of what the driver said, or that it said nothing", async () => {
    request();
    now = 1_700_000_000_000 + IN_FLIGHT_MS;
    expect(await told()).toEqual(["wounded mute"]);
    ws.stream("001");
    expect(await told()).toEqual(["wounded mute"]);
    ws.step("001", "stderr.log", " \n");
    expect(await told()).toEqual(["wounded mute"]);
    ws.step("001", "stderr.log", Array.from({ length: 600 }, (_, n) => `line ${n}\n`).join(""));
    expect(await told()).toEqual(["wounded spoke: line 597\nline 598\nline 599"]);
  });

  test("a step that its driver still drives has not failed", async () => {
    request();
    home.write(`ws/inbox/${AGENT}/.keep`, "");
    now = 1_700_000_000_000 + 2 * IN_FLIGHT_MS;
    const { ino } = statSync(join(ws.path, "inbox", AGENT));
    const log = await openLog(undefined, `1: FLOCK  ADVISORY  WRITE 77 00:1f:${ino} 0 EOF\n`);
    expect(await log.tail(10)).toMatchObject({ entries: [], turnOpen: true });
  });
});

interface Watched {
  readonly log: Log;
  readonly follower: Follower;
}

async function watch(): Promise<Watched> {
  const looks = createLooks();
  const log = await openLog(looks);
  return { log, follower: new Follower(log, looks) };
}

/**
 * Expects of a follower what reading the directory anew says. What a compactor took away stays with the follower, which was told of the
 * compaction; a new reading has a mark in its place, and does not know the taken results any more.
 */
async function expectCaughtUp({ log, follower }: Watched, isCompacted = false): Promise<void> {
  const tail = await log.tail(1000);
  const { told } = follower;
  if (isCompacted) {
    const kept = new Set(tail.entries.map((e) => e.name));
    const held = new Set(told.entries.map((e) => e.name));
    expect(told.entries.map((e) => e.name).filter((n) => kept.has(n))).toEqual(
      tail.entries.map((e) => e.name).filter((n) => held.has(n)),
    );
    expect(tail.entries.filter((e) => !held.has(e.name)).every((e) => e.kind === "compacted")).toBe(true);
    return;
  }
  expect(told.entries.map(entryLine)).toEqual(tail.entries.map(entryLine));
  expect(told.entries).toEqual(tail.entries);
  expect(told.isOpen).toBe(tail.turnOpen);
  expect([...told.live].sort()).toEqual([...tail.live].sort());
}

const finished = [{ type: "finish", reason: "stop" }, { type: "end" }];

describe("following", () => {
  test("a turn from its prompt to its last answer, without a new start", async () => {
    const watched = await watch();
    await watched.follower.look();
    const steps: (() => void)[] = [
      () => ws.put("001-user.md", "do it"),
      () => ws.step("001", "request.json", { model: "m" }),
      () => ws.stream("001", thinks("hm")),
      () => ws.stream("001", says("I lo"), '{"type":"content_delta","delta":{"text_'),
      () => ws.stream("001", 'delta":"ok"}}\n'),
      () => {
        ws.stream("001", ...finished);
        ws.step("001", "meta.json", "{}");
        ws.put("002-m.json", answer({ type: "thinking", thinking: "hm" }, "I look", call("c1")));
        ws.step("002", "request.json", { model: "m" });
      },
      () => ws.put("003-tool.json", result("c1", "ok")),
      () => ws.stream("002", says("do")),
      () => ws.stream("002", says("ne")),
      () => {
        ws.put("004-m.json", answer("done"));
        ws.stream("002", ...finished);
        ws.step("002", "meta.json", "{}");
      },
    ];
    for (const [n, step] of steps.entries()) {
      step();
      await watched.follower.look();
      await watched.follower.look();
      expect(watched.follower.told.resets, `after step ${n}`).toBe(0);
      await expectCaughtUp(watched);
    }
    await watched.follower.stop();
  });

  test("an answer that is committed before its step is settled is not told twice", async () => {
    ws.put("001-user.md", "do it");
    ws.stream("001", says("done"), ...finished);
    const watched = await watch();
    await watched.follower.look();
    expect(watched.follower.told.entries.map((e) => e.kind)).toEqual(["delivered", "streaming"]);
    ws.put("002-m.json", answer("done"));
    await watched.follower.look();
    await expectCaughtUp(watched);
    ws.step("001", "meta.json", "{}");
    await watched.follower.look();
    await expectCaughtUp(watched);
    expect(watched.follower.told.entries.map((e) => e.kind)).toEqual(["delivered", "model"]);
    expect(watched.follower.told.resets).toBe(0);
    await watched.follower.stop();
  });

  test("a message that comes between others is a new start", async () => {
    ws.put("001-user.md", "one");
    ws.put("003-m.json", answer("3"));
    const watched = await watch();
    await watched.follower.look();
    ws.put("002-kid.md", "two");
    await watched.follower.look();
    await watched.follower.look();
    expect(watched.follower.told.resets).toBe(1);
    await expectCaughtUp(watched);
    await watched.follower.stop();
  });

  test("bl-54f7: the tail grows by what was appended, under one name", async () => {
    ws.stream("001", says("a"));
    const watched = await watch();
    await watched.follower.look();
    const before = watched.follower.events.length;
    ws.stream("001", says("b"));
    await watched.follower.look();
    expect(watched.follower.events.slice(before)).toEqual(["items", "caughtUp"]);
    expect(watched.follower.told.entries.map(entryLine)).toEqual(['streaming: think() "ab"']);
    await watched.follower.stop();
  });

  test("a response that became shorter is read again from its start", async () => {
    ws.stream("001", says("long text"));
    const watched = await watch();
    await watched.follower.look();
    ws.step("001", "response.json", `${JSON.stringify(says("new"))}\n`);
    await watched.follower.look();
    expect(watched.follower.told.entries.map(entryLine)).toEqual(['streaming: think() "new"']);
    await watched.follower.stop();
  });

  test("a compaction under way, a stream that ends without a message, a directory that goes and comes back", async () => {
    exchange();
    const watched = await watch();
    await watched.follower.look();
    const steps: (() => void)[] = [
      () => ws.compact(["001-user.md", "002-m.json"], "so far"),
      () => ws.put("006-user.md", "more"),
      () => ws.stream("003", says("I th")),
      () => rmSync(join(ws.path, "steps"), { recursive: true }),
      () => ws.put("007-m.json", answer("done")),
      () => rmSync(ws.messages, { recursive: true }),
      () => ws.put("001-user.md", "anew"),
    ];
    for (const step of steps) {
      step();
      for (let n = 0; n < 3; n++) await watched.follower.look();
      if (step !== steps[5]) await expectCaughtUp(watched, true);
    }
    expect(watched.follower.events).toContain("gone");
    expect(watched.follower.told.marks).toContain("compacted");
    await watched.follower.stop();
  });

  test("whatever is done to the directory, a follower holds what a new reading says", async () => {
    const action = fc.oneof(
      {
        weight: 4,
        arbitrary: fc.record({
          do: fc.constant("add" as const),
          kind: fc.constantFrom("user.md", "kid.md", "m.json", "tool.json", "x.bin"),
          call: fc.nat(9),
        }),
      },
      {
        weight: 2,
        arbitrary: fc.record({ do: fc.constant("say" as const), text: fc.constantFrom("a", "é😀", "") }),
      },
      { weight: 1, arbitrary: fc.record({ do: fc.constant("settle" as const) }) },
      { weight: 1, arbitrary: fc.record({ do: fc.constant("next" as const) }) },
      { weight: 1, arbitrary: fc.record({ do: fc.constant("take" as const), at: fc.nat(20) }) },
      { weight: 1, arbitrary: fc.record({ do: fc.constant("grow" as const) }) },
    );
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.array(action, { minLength: 1, maxLength: 3 }), { maxLength: 12 }),
        async (looks) => {
          home.remove();
          home = makeHome();
          ws = makeWorkspace(home);
          const names: string[] = [];
          const calls: string[] = [];
          let seq = 0;
          let step = 1;
          let isCompacted = false;
          const watched = await watch();
          await watched.follower.look();
          for (const actions of looks) {
            for (const a of actions) {
              if (a.do === "add") {
                seq += 1;
                const name = `${String(seq).padStart(3, "0")}-${a.kind}`;
                names.push(name);
                if (a.kind === "m.json") {
                  calls.push(`c${seq}`);
                  ws.put(name, answer(`m${seq}`, call(`c${seq}`)));
                } else
                  ws.put(
                    name,
                    a.kind === "tool.json"
                      ? result(calls.at(a.call % Math.max(1, calls.length)) ?? "none", "ok")
                      : `text ${seq}`,
                  );
              } else if (a.do === "say") ws.stream(String(step).padStart(3, "0"), says(a.text));
              else if (a.do === "settle") ws.step(String(step).padStart(3, "0"), "meta.json", "{}");
              else if (a.do === "next") step += 1;
              else if (a.do === "take" && names.length > 0) {
                ws.compact(names.splice(a.at % names.length, 1), "so far");
                isCompacted = true;
              } else if (a.do === "grow" && names.length > 0)
                ws.put(names.at(-1) ?? "", answer(`grown ${seq}`));
            }
            for (let n = 0; n < 3; n++) await watched.follower.look();
            await expectCaughtUp(watched, isCompacted);
          }
          await watched.follower.stop();
        },
      ),
      { numRuns: 60 },
    );
  });

  test("a look at an unchanged directory says nothing", async () => {
    exchange();
    const watched = await watch();
    await watched.follower.look();
    const before = watched.follower.events.length;
    for (let n = 0; n < 5; n++) await watched.follower.look();
    expect(watched.follower.events).toHaveLength(before);
    await watched.follower.stop();
  });
});
