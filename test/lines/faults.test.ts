/** The field's faults of following a log, each by its name. docs/faults.md lists them all. */
import { afterEach, expect, it } from "vitest";
import { type FollowEvent, followFile } from "../../src/lines/index.ts";
import { chunkBytes, chunkGrowthMax } from "../../src/lines/limits.ts";
import { bytes, FakeDisk, itemsOf, notation, settle, until, untilCaughtUp } from "./support.ts";

let stop = new AbortController();
let events: AsyncIterator<FollowEvent> | undefined;

afterEach(async () => {
  stop.abort();
  await events?.return?.();
  stop = new AbortController();
  events = undefined;
});

function follow(disk: FakeDisk, from = 0): AsyncIterator<FollowEvent> {
  events = followFile("/log", { from, signal: stop.signal, ports: disk.ports });
  return events;
}

it.each([
  ["cc#45508: \u5927", "\u5927"],
  ["cc#59804: an emoji", "\u{1f600}"],
  ["a joined emoji", "\u{1f468}\u200d\u{1f469}\u200d\u{1f466}"],
])("%s, cut at each of its bytes, is read whole", async (_, text) => {
  const line = Buffer.from(`{"t":"${text}\u3002**b**"}\n`);
  for (let cut = 6; cut < line.length; cut++) {
    const disk = new FakeDisk();
    disk.write(bytes('{"a":1}\n'));
    const next = follow(disk);
    await untilCaughtUp(next);
    disk.append(line.subarray(0, cut));
    disk.hint();
    const told = until(next, (event) => event.type === "items");
    await settle();
    disk.append(line.subarray(cut));
    disk.hint();
    const [record] = itemsOf(await told);
    expect(record).toMatchObject({ type: "record", value: { t: `${text}\u3002**b**` } });
    expect(record).not.toHaveProperty("recovered");
    await next.return?.();
  }
});

it("ccbot#25: from a place within a line on, that line is told whole, once, and the place it begins at; then what follows", async () => {
  const disk = new FakeDisk();
  disk.write(bytes('{"a":1}\n{"b":2}\n'));
  const next = follow(disk, 11);
  const told = await untilCaughtUp(next);
  expect(told.filter((event) => event.type === "resynced")).toEqual([
    { type: "resynced", from: 11, start: 8 },
  ]);
  expect(notation(itemsOf(told))).toEqual(['record 8-15 {"b":2}']);
  disk.append('{"c":3}\n');
  disk.hint();
  const later = await untilCaughtUp(next);
  expect(notation(itemsOf(later))).toEqual(['record 16-23 {"c":3}']);
  expect(later.some((event) => event.type === "resynced")).toBe(false);
});

it("pixel-agents#253, ClaudeLens#22: a line of 32 MB is caught up at once, in large reads, with nothing told of it meanwhile", async () => {
  const disk = new FakeDisk();
  disk.write(bytes('{"a":1}\n'));
  const next = follow(disk);
  await untilCaughtUp(next);
  const length = 32 * 1024 * 1024;
  const before = disk.reads;
  disk.append(`{"t":"${"x".repeat(length)}"}\n{"b":2}\n`);
  disk.hint();
  const told = await untilCaughtUp(next);
  expect(told.map((event) => event.type).filter((type) => type !== "caughtUp")).toEqual(
    told.flatMap((event) => (event.type === "items" ? ["items"] : [])),
  );
  const items = itemsOf(told);
  expect(items.map((item) => item.type)).toEqual(["record", "record"]);
  expect(items[0]).toMatchObject({ start: 8, end: 8 + length + 8 });
  // Reads grow to their limit; a few more look for changes.
  expect(disk.reads - before).toBeLessThan(length / (chunkBytes * chunkGrowthMax) + 20);
});

it("claude-code-history-viewer#294, claude-code-history-viewer#367: a watcher that tells of reads causes none", async () => {
  const disk = new FakeDisk();
  disk.write(bytes('{"a":1}\n'));
  disk.onRead = () => disk.hint();
  const next = follow(disk);
  await untilCaughtUp(next);
  disk.append('{"b":2}\n');
  disk.hint();
  await untilCaughtUp(next);
  const waiting = next.next();
  await settle();
  const before = disk.reads;
  for (let turn = 0; turn < 20; turn++) {
    disk.hint();
    await settle();
    disk.ring();
    await settle();
  }
  expect(disk.reads).toBe(before);
  stop.abort();
  await waiting;
});

it("WSL#3292, WSL#216, watchexec#153, vscode-remote-release#870: behind a watcher that says nothing, the sweep finds what is appended", async () => {
  const disk = new FakeDisk();
  disk.write(bytes('{"a":1}\n'));
  const next = follow(disk);
  await untilCaughtUp(next);
  for (let turn = 0; turn < 5; turn++) {
    const told = next.next();
    await settle();
    disk.append(`{"n":${turn}}\n`);
    await settle();
    expect(disk.watches).not.toEqual([]);
    expect(disk.ring()).toBe(true);
    expect((await told).value).toMatchObject({ type: "items", items: [{ value: { n: turn } }] });
    await untilCaughtUp(next);
  }
});
