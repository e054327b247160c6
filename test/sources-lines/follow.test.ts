/** Following a line log on a disk that only the test moves. */
import { afterEach, describe, expect, test } from "vitest";
import { followFile } from "../../src/lines/index.ts";
import { openJsonlLog } from "../../src/sources/jsonl-log.ts";
import type { Log, LogEvent } from "../../src/sources/types.ts";
import { FakeDisk, settle } from "../lines/support.ts";
import { end, type Row, rowClassifier, start, written } from "./support.ts";

const PATH = "memory.jsonl";
const stop = new AbortController();
let disk = new FakeDisk();
let log: Log | undefined;

afterEach(async () => {
  await log?.close();
  log = undefined;
});

async function opened(rows: readonly Row[]): Promise<Log> {
  disk = new FakeDisk();
  disk.write(written(rows));
  log = await openJsonlLog({
    agent: "codex",
    path: PATH,
    classifier: rowClassifier,
    source: await disk.ports.open(PATH),
    follow: (from, signal) => followFile(PATH, { from, signal, ports: disk.ports }),
    reopen: () => disk.ports.open(PATH),
  });
  return log;
}

/** Events from a position on, up to the next of a kind, each in words. */
function follower(from: Log, after: string): (until: LogEvent["type"]) => Promise<string[]> {
  const events = from.follow(after, stop.signal)[Symbol.asyncIterator]();
  return async (until) => {
    const told: string[] = [];
    for (;;) {
      const next = await events.next();
      if (next.done === true) return [...told, "over"];
      told.push(...words(next.value));
      if (next.value.type === until) return told;
    }
  };
}

function words(event: LogEvent): string[] {
  switch (event.type) {
    case "items":
      return event.items.map((item) => {
        switch (item.type) {
          case "entry":
            return `${item.live ? "live " : ""}${item.entry.name}`;
          case "changed":
            return `${item.live ? "live " : ""}changed ${item.entry.name}`;
          case "damage":
            return `damage ${item.note.reason} ${item.note.start}-${item.note.end}`;
          default:
            return item.type;
        }
      });
    case "reset":
      return [`reset: ${event.reason}`];
    case "notice":
      return [`notice: ${event.text}`];
    default:
      return [event.type];
  }
}

describe("growth", () => {
  test("records as they come, turns around them, calls that are answered", async () => {
    const from = await opened([{ say: ["a"] }]);
    const next = follower(from, (await from.tail(5)).end);
    expect(await next("caughtUp")).toEqual(["caughtUp"]);
    const offset = disk.bytes?.length ?? 0;
    disk.append(written([{ say: ["go"], marks: [start] }, { call: "t" }]));
    disk.hint();
    const call = `@${offset + written([{ say: ["go"], marks: [start] }]).length}`;
    expect(await next("caughtUp")).toEqual(["turnStarted", `@${offset}`, `live ${call}`, "caughtUp"]);
    const result = `@${disk.bytes?.length}`;
    disk.append(written([{ result: "t" }, { text: "done", marks: [end] }]));
    disk.hint();
    const answer = `@${Number(result.slice(1)) + written([{ result: "t" }]).length}`;
    expect(await next("caughtUp")).toEqual([`changed ${call}`, result, answer, "turnEnded", "caughtUp"]);
  });

  test("a call without an answer is settled when its turn ends", async () => {
    const from = await opened([{ say: ["go"], marks: [start] }, { call: "t" }]);
    const tail = await from.tail(5);
    expect(tail.live).toHaveLength(1);
    const next = follower(from, tail.end);
    await next("caughtUp");
    disk.append(written([{ marks: [end] }]));
    disk.hint();
    expect(await next("caughtUp")).toEqual([`changed ${tail.live[0]}`, "turnEnded", "caughtUp"]);
  });

  test("qwen#6316, agentwatch#8: half a record is nothing yet, and is lost by no reading", async () => {
    const from = await opened([{ say: ["a"] }]);
    const next = follower(from, (await from.tail(5)).end);
    await next("caughtUp");
    const offset = disk.bytes?.length;
    const line = written([{ say: ["split"] }]);
    disk.append(line.subarray(0, 9));
    disk.hint();
    await settle();
    disk.append(line.subarray(9));
    disk.hint();
    expect(await next("items")).toContain(`@${offset}`);
  });

  test("an entry told again as it grew changes under its first name", async () => {
    const from = await opened([
      { say: ["go"], marks: [start] },
      { text: "a", key: "k" },
    ]);
    const tail = await from.tail(5);
    const next = follower(from, tail.end);
    await next("caughtUp");
    disk.append(written([{ text: "ab", key: "k" }]));
    disk.hint();
    expect(await next("caughtUp")).toEqual(
      [`live changed ${tail.entries[1]?.name}`, "caughtUp"].map((w) => w.replace("live ", "")),
    );
  });

  test("following from the middle of a record tells its other entries first", async () => {
    const from = await opened([{ say: ["a", "b", "c"] }, { say: ["d"] }]);
    const next = follower(from, "0.1");
    expect((await next("caughtUp")).slice(0, 3)).toEqual([
      "@0.1",
      "@0.2",
      `@${written([{ say: ["a", "b", "c"] }]).length}`,
    ]);
  });

  test("damage is told with its bytes, and shown as an entry", async () => {
    const from = await opened([{ say: ["a"] }]);
    const at = disk.bytes?.length ?? 0;
    const next = follower(from, (await from.tail(5)).end);
    await next("caughtUp");
    disk.append(Buffer.concat([Buffer.from("bad line\n"), written([{ say: ["b"] }])]));
    disk.hint();
    expect(await next("caughtUp")).toEqual([
      `damage not-json ${at}-${at + 8}`,
      `@${at}`,
      `@${at + 9}`,
      "caughtUp",
    ]);
  });
});

describe("a file that changes otherwise", () => {
  test.each<[string, (rows: Buffer) => void, string]>([
    ["cmux#6565: replaced by another", (rows) => disk.replace(rows), "another file took its place"],
    ["cut shorter", () => disk.write(written([{ say: ["x"] }])), "the file became shorter"],
  ])("%s: one reset, and the new records from a new tail", async (_, change, reason) => {
    const from = await opened([{ say: ["a"] }, { say: ["b"] }]);
    const next = follower(from, (await from.tail(5)).end);
    await next("caughtUp");
    change(written([{ say: ["x"] }, { say: ["y"] }, { say: ["z"] }]));
    disk.hint();
    const told = await next("reset");
    expect(told.at(-1)).toBe(`reset: ${reason}`);
    expect(await next("caughtUp")).toEqual(["over"]);
    const tail = await from.tail(5);
    expect(tail.entries[0]).toMatchObject({ body: "x" });
    await expect(from.newer("9999", 1)).rejects.toMatchObject({ code: "bad-position" });
  });

  test("qwen#12091: deleted and back: gone is said once, then a reset", async () => {
    const from = await opened([{ say: ["a"] }]);
    const next = follower(from, (await from.tail(5)).end);
    await next("caughtUp");
    disk.write(undefined);
    disk.hint();
    expect(await next("gone")).toEqual(["gone"]);
    disk.replace(written([{ say: ["new"] }]));
    disk.hint();
    expect((await next("reset")).at(-1)).toBe("reset: the file came back");
    expect((await from.tail(5)).entries).toMatchObject([{ body: "new" }]);
  });

  test("node#1666: a watcher that cannot be set up is told once, and the file is still followed", async () => {
    const from = await opened([{ say: ["a"] }]);
    disk.watchFailure = new Error("no space left on device");
    const next = follower(from, (await from.tail(5)).end);
    const told = [...(await next("notice"))];
    expect(told.filter((w) => w.startsWith("notice"))).toEqual([
      "notice: The file system tells no changes (no space left on device); the file is looked at regularly instead.",
    ]);
    if (!told.includes("caughtUp")) await next("caughtUp");
    disk.append(written([{ say: ["b"] }]));
    disk.ring();
    expect(await next("items")).toHaveLength(1);
  });

  test("closing a log that was renewed closes the newest file", async () => {
    const from = await opened([{ say: ["a"] }]);
    const next = follower(from, (await from.tail(5)).end);
    await next("caughtUp");
    disk.replace(written([{ say: ["b"] }]));
    disk.hint();
    await next("reset");
    await next("caughtUp");
    await from.close();
    log = undefined;
    expect(disk.openSources).toBe(0);
  });
});
