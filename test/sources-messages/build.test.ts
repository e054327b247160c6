/** A messages directory read as a whole: order, marks, calls, and what is behind each entry. */
import { mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { ENTRY_PARTS_MAX } from "../../src/sources/limits.ts";
import { placeOf } from "../../src/sources/messages/listing.ts";
import { openMessagesLog } from "../../src/sources/messages/log.ts";
import type { TailPage } from "../../src/sources/types.ts";
import { isToolInProgress, rowsOf } from "../../src/transcript/index.ts";
import { entryLine } from "../support/entry-notation.ts";
import { type Home, makeHome } from "../support/home.ts";
import { createLooks, Follower } from "../support/watched-log.ts";
import { AGENT, answer, call, deposit, makeWorkspace, says, thinks, type Workspace } from "./support.ts";

const NOW = 1_700_000_005_000;
let home: Home;
let ws: Workspace;
beforeEach(() => {
  home = makeHome();
  ws = makeWorkspace(home);
});
afterEach(() => home.remove());

async function openLog(looks?: ReturnType<typeof createLooks>): ReturnType<typeof openMessagesLog> {
  return openMessagesLog({
    place: placeOf(ws.messages),
    info: { agent: "messages", id: AGENT, path: ws.messages },
    now: () => NOW,
    locksPath: home.write("locks", ""),
    ...(looks ? { ports: looks.ports } : {}),
  });
}

async function build(): Promise<TailPage> {
  return (await openLog()).tail(1000);
}

async function told(): Promise<readonly string[]> {
  return (await build()).entries.map(entryLine);
}

const settle = (step: string): void => {
  ws.stream(step, { type: "finish", reason: "stop" }, { type: "end" });
  ws.step(step, "meta.json", "{}");
};

describe("the committed half", () => {
  test("is ordered by the counter of the names; what is no file is skipped; an absent directory is empty", async () => {
    ws.put("010-user.md", "ten");
    ws.put("009-user.md", "nine");
    mkdirSync(join(ws.messages, "011-user.md"));
    expect((await told()).slice(1)).toEqual(["user: nine", "user: ten"]);
    rmSync(ws.messages, { recursive: true });
    expect(await told()).toEqual([]);
  });

  test("past 999 the order is still that of the counters, and no hole is made up", async () => {
    for (const n of ["0998", "0999", "1000", "1001"].map((name) => name.replace(/^0/, "")))
      ws.put(`${n}-user.md`, n);
    expect(await told()).toEqual(["compacted 1-997: ", "user: 998", "user: 999", "user: 1000", "user: 1001"]);
  });

  test("an array-shaped result with an opaque id retires the running call", async () => {
    ws.put("020-gpt-5.4.json", [{ type: "tool_use", id: "call_9", name: "bash", input: {} }]);
    const running = (await build()).entries;
    expect(isToolInProgress(running, "call_9")).toBe(true);
    ws.put("021-tool.json", [{ type: "tool_result", tool_use_id: "call_9", content: "ok" }]);
    const { entries } = await build();
    expect(isToolInProgress(entries, "call_9")).toBe(false);
    expect(rowsOf(entries, { speaker: "Koi" }).map((row) => row.prefix)).toEqual([
      "✂ 19 entries compacted away — 001–019",
      "⚙ bash",
      "✔ tool result — ok",
    ]);
  });

  test("is all that is read of a settled conversation: its response is not", async () => {
    ws.put("001-user.md", "do it");
    ws.stream("001", thinks("hm"), says("never shown"));
    settle("001");
    expect(await told()).toEqual(["user: do it"]);
  });
});

describe("the live tail", () => {
  test("is folded while a call is in flight alone", async () => {
    ws.put("001-user.md", "do it");
    ws.stream("001", thinks("hm"), says("so"));
    expect(await told()).toEqual(["user: do it", 'streaming: think(hm) "so"']);
    settle("001");
    expect(await told()).toEqual(["user: do it"]);
  });

  test("is not folded for an agent without steps, nor outside of a workspace", async () => {
    ws.put("001-user.md", "do it");
    expect(await told()).toEqual(["user: do it"]);
    home.write("loose/001-user.md", "do it");
    home.write("steps/loose/001/response.json", `${JSON.stringify(says("so"))}\n`);
    const path = join(home.path, "loose");
    const log = await openMessagesLog({ place: placeOf(path), info: { agent: "messages", id: "x", path } });
    expect((await log.tail(10)).entries.map(entryLine)).toEqual(["user: do it"]);
  });
});

describe("nothing is dropped", () => {
  test("names that cannot be parsed go to the raw bucket", async () => {
    const names = ["README", "readme.md", "-x.md", "abc-x.md", "003-.md", "001-note.txt"];
    for (const name of names) ws.put(name, name);
    const { entries } = await build();
    expect(entries.map((e) => [e.kind, e.name]).sort()).toEqual(names.sort().map((name) => ["raw", name]));
  });

  test("a raw entry keeps its verbatim bytes", async () => {
    const bytes = Buffer.from([0x7b, 0xff, 0x00, 0x0d, 0x0a]);
    home.write(`ws/agents/${AGENT}/messages/001-m.json`, bytes);
    const log = await openLog();
    const [entry] = (await log.tail(1)).entries;
    expect(entry?.kind).toBe("raw");
    expect(entry?.place && Buffer.from(await log.raw(entry.place))).toEqual(bytes);
  });

  test("a sender keeps its hyphens, and an envelope alone is a child's end", async () => {
    ws.put("001-box-2-kid.md", deposit("", { from: "kid", epitaph: "died" }));
    expect(await told()).toEqual(["box-2-kid ended died: "]);
  });
});

describe("the record of the compactions", () => {
  test("is every readable .md file in path order: no folder, no other file, a bad byte replaced", async () => {
    ws.put("004-user.md", "x");
    const summary = `ws/agents/${AGENT}/summary`;
    home.write(`${summary}/002.md`, Buffer.from([0x62, 0xff]));
    home.write(`${summary}/001.md`, "a");
    home.write(`${summary}/notes.txt`, "no");
    home.write(`${summary}/.md`, "no");
    mkdirSync(join(home.path, summary, "003.md"));
    home.write(`${summary}/010-any name.md`, "c");
    expect(await told()).toEqual(["compacted 1-3: a\n\nb\ufffd\n\nc", "user: x"]);
  });

  test("a hole in the middle is marked whole, by its name", async () => {
    ws.put("001-user.md", "a");
    ws.put("005-user.md", "b");
    expect((await build()).entries.map((e) => e.name)).toEqual(["001-user.md", "«002–004»", "005-user.md"]);
  });

  test("a wholly compacted directory has nothing to tell", async () => {
    ws.compact([], "all of it");
    expect(await told()).toEqual([]);
  });
});

describe("a file with several results", () => {
  const several = [
    { type: "text", text: "not one" },
    { tool_use_id: "c1", content: "1" },
    { tool_use_id: "c2", content: [{ type: "text", text: "2" }], is_error: true },
    { tool_use_id: "elsewhere", content: "3" },
  ];

  test("ends each of its calls", async () => {
    ws.put("001-m.json", answer(call("c1"), call("c2"), call("c3")));
    ws.put("002-tool.json", several);
    const { entries } = await build();
    expect(entryLine(entries[0]!)).toBe(
      "model m: call(bash c1 c1 → done) call(bash c2 c2 → failed) call(bash c3 c3 → unanswered)",
    );
    expect(entries[1]).toMatchObject({
      toolUseId: "c1",
      further: [
        { toolUseId: "c2", content: "2", isError: true, call: { entry: "001-m.json" } },
        { toolUseId: "elsewhere", content: "3", isError: false },
      ],
    });
    expect(await (await openLog()).check()).toMatchObject({
      toolCalls: 3,
      toolResults: 3,
      unansweredCalls: 1,
      orphanResults: 1,
    });
  });

  test("ends calls of messages further up, and tells a follower so", async () => {
    ws.put("001-m.json", answer(call("c1")));
    ws.put("002-m.json", answer(call("c2")));
    const looks = createLooks();
    const log = await openLog(looks);
    const follower = new Follower(log, looks);
    await follower.look();
    ws.put("003-tool.json", several);
    await follower.look();
    expect(follower.told.entries).toEqual((await log.tail(10)).entries);
    expect(follower.told.entries.slice(0, 2).map(entryLine)).toEqual([
      "model m: call(bash c1 c1 → done)",
      "model m: call(bash c2 c2 → failed)",
    ]);
    const alone = await log.tail(1);
    expect(alone.entries).toEqual(follower.told.entries.slice(2));
    await follower.stop();
  });
});

test("of a file with more results than an entry has parts, each ends its call; of the last ones only the size is told", async () => {
  const ids = Array.from({ length: ENTRY_PARTS_MAX + 2 }, (_, n) => `c${n}`);
  ws.put("001-m.json", answer(...ids.slice(0, ENTRY_PARTS_MAX).map((id) => call(id))));
  ws.put(
    "002-tool.json",
    ids.map((id) => ({ tool_use_id: id, content: id })),
  );
  const [calls, results] = (await build()).entries;
  expect(
    calls?.kind === "model" && new Set(calls.blocks.map((b) => b.kind === "tool-use" && b.outcome?.state)),
  ).toEqual(new Set(["done"]));
  expect(results?.kind === "tool-result" && results.further?.slice(-2).map((r) => r.content)).toEqual([
    `c${ENTRY_PARTS_MAX}`,
    "\n… [4 more characters are in the log]",
  ]);
});

describe("exactly as written", () => {
  test("an input summary keeps the spelling of its numbers and has its keys in order", async () => {
    ws.put(
      "001-m.json",
      '[{"type":"tool_use","id":"c","name":"n","input":{"b":1.0,"a":12345678901234567890}}]',
    );
    const [entry] = (await build()).entries;
    expect(entry?.kind === "model" && entry.blocks[0]).toMatchObject({
      inputSummary: '{"a":12345678901234567890,"b":1.0}',
    });
  });

  test("a counter is one by how its own value is written, whatever else has its name", async () => {
    ws.put(
      "001-m.json",
      '{"content":[{"type":"tool_use","input":{"n":5}}],"usage":{"n":5.0,"big":18446744073709551615,"over":18446744073709551616,"zero":0}}',
    );
    const [entry] = (await build()).entries;
    expect(entry?.kind === "model" && entry.usage).toEqual({ big: 2 ** 64, zero: 0 });
  });

  test("what is nested too deep is raw", async () => {
    ws.put("001-m.json", `${"[".repeat(128)}${"]".repeat(128)}`);
    expect((await build()).entries[0]).toMatchObject({ kind: "raw", reason: "not JSON" });
  });
});
