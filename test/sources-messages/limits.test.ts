/** Each bound of reading messages directories, at its limit. */
import { afterEach, beforeEach, expect, test } from "vitest";
import { readSummaries } from "../../src/sources/messages/files.ts";
import { readFraming } from "../../src/sources/messages/framing.ts";
import { placeOf } from "../../src/sources/messages/listing.ts";
import { openMessagesLog, PAIR_ROWS_MAX } from "../../src/sources/messages/log.ts";
import { NAMED_STATES_MAX } from "../../src/sources/named-states.ts";
import type { Log } from "../../src/sources/types.ts";
import { entryLine } from "../support/entry-notation.ts";
import { type Home, makeHome } from "../support/home.ts";
import { AGENT, answer, call, makeWorkspace, result, type Workspace } from "./support.ts";

let home: Home;
let ws: Workspace;
beforeEach(() => {
  home = makeHome();
  ws = makeWorkspace(home);
});
afterEach(() => home.remove());

function open(fileBytesMax?: number): Promise<Log> {
  return openMessagesLog({
    place: placeOf(ws.messages),
    info: { agent: "messages", id: AGENT, path: ws.messages },
    ...(fileBytesMax === undefined ? {} : { fileBytesMax }),
  });
}

test("a file at the size limit is read; one byte more is told by its size and its first bytes", async () => {
  ws.put("001-user.md", "x".repeat(100));
  const lines = async (max: number): Promise<string[]> =>
    (await (await open(max)).tail(5)).entries.map(entryLine);
  expect(await lines(100)).toEqual([`user: ${"x".repeat(100)}`]);
  expect(await lines(99)).toEqual([`raw (a message of 100 bytes, too large to read): ${"x".repeat(100)}`]);
  const log = await open(99);
  expect(await log.check()).toMatchObject({
    bytes: 100,
    damaged: [{ start: 0, end: 100, reason: "too-large" }],
  });
  const [entry] = (await log.tail(1)).entries;
  expect(entry?.place && Buffer.from(await log.raw(entry.place, 10)).toString()).toBe("x".repeat(10));
});

test("a call and its result are paired as many files apart as the limit says", async () => {
  const name = (n: number, rest: string): string => `${String(n).padStart(3, "0")}-${rest}`;
  for (const gap of [PAIR_ROWS_MAX - 1, PAIR_ROWS_MAX]) {
    home.remove();
    home = makeHome();
    ws = makeWorkspace(home);
    ws.put("001-m.json", answer(call("c1")));
    for (let n = 0; n < gap; n++) ws.put(name(n + 2, "kid.md"), "x");
    ws.put(name(gap + 2, "tool.json"), result("c1", "ok"));
    const log = await open();
    const [first] = (await log.first(1)).entries;
    const [last] = (await log.tail(1)).entries;
    const isPaired = gap < PAIR_ROWS_MAX;
    expect(first && entryLine(first)).toContain(isPaired ? "→ done" : "→ unanswered");
    expect(last?.kind === "tool-result" && last.call !== undefined).toBe(isPaired);
  }
});

test("of the states that positions were given from, the newest are remembered; from an older one following still goes on", async () => {
  ws.put("001-user.md", "one");
  const log = await open();
  const { end } = await log.tail(1);
  for (let n = 0; n < NAMED_STATES_MAX; n++) await log.tail(1);
  ws.put("002-m.json", answer("two"));
  const stop = new AbortController();
  for await (const event of log.follow(end, stop.signal)) {
    if (event.type !== "items") continue;
    expect(event.items.flatMap((i) => (i.type === "entry" ? [entryLine(i.entry)] : []))).toEqual([
      'model m: "two"',
    ]);
    stop.abort();
  }
});

test("a position that was not given is refused", async () => {
  ws.put("001-user.md", "one");
  const log = await open();
  for (const position of ["", "x".repeat(2000), ">", "zz", ">nothing.md"])
    await expect(log.older(position, 1)).rejects.toMatchObject({ code: "bad-position" });
});

test("a position at a file that a compactor took away is where its counter was", async () => {
  for (let n = 1; n <= 4; n++) ws.put(`00${n}-user.md`, `text ${n}`);
  const log = await open();
  const { end } = await log.first(2);
  ws.compact(["002-user.md"], "so far");
  expect((await log.newer(end, 10)).entries.map(entryLine)).toEqual([
    "compacted 2-2: so far",
    "user: text 3",
    "user: text 4",
  ]);
});

test("the record of the compactions stops at its bound", async () => {
  ws.compact([], "1234");
  ws.compact([], "567890", "002.md");
  const folder = placeOf(ws.messages).summary;
  expect(await readSummaries(folder, 10)).toBe("1234\n\n567890");
  expect(await readSummaries(folder, 9)).toBe("1234\n\n56789");
  expect(await readSummaries(folder, 4)).toBe("1234");
});

test.each<[string, string, unknown]>([
  ["nothing", "", { type: "open" }],
  ["no whole line", '{"type":"end"}', { type: "open" }],
  ["an end alone", '{"type":"end"}\n', { type: "open" }],
  ["a finish", '{"type":"finish","reason":"stop"}\n{"type":"end"}\n', { type: "whole" }],
  ["a finish without a reason", '{"type":"finish"}\n\n{"type":"end"}\n', { type: "whole" }],
  ["the output limit", '{"type":"finish","reason":"length"}\n{"type":"end"}\n', { type: "output-limit" }],
  [
    "an error",
    '{"type":"error","a":1}\n{"type":"end"}\n',
    { type: "failed", words: '{"type":"error","a":1}' },
  ],
  ["more after the end", '{"type":"finish"}\n{"type":"end"}\n{"type":"message_start"}\n', { type: "open" }],
])("how a response ended: %s", (_, text, ending) => {
  expect(readFraming(text).ending).toEqual(ending);
});
