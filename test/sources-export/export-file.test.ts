/** A JSON export is a session again: what it was exported from and it are shown alike. */
import { appendFile, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { createJsonExporter } from "../../src/export/index.ts";
import { EXPORT_LINE_BYTES_MAX } from "../../src/sources/export-file/limits.ts";
import { discoverAll, openLog } from "../../src/sources/index.ts";
import type { Entry } from "../../src/transcript/index.ts";
import { claudeLines, jsonLines, run, tempFolder, tempHome } from "../cli/support.ts";

test("of every agent: shown, paged, checked and exported as the session is", async () => {
  const home = await tempHome();
  const folder = await tempFolder();
  let sessions = 0;
  for await (const { path, agent } of discoverAll(home.around)) {
    sessions += 1;
    const out = join(folder, `${sessions}.json`);
    expect((await run(home, ["export", path, "--to", "json", "--out", out])).code).toBe(0);
    const whole = await run(home, ["show", path, "--json"]);
    expect(await run(home, ["show", out, "--json"])).toMatchObject({ code: 0, out: whole.out });
    expect((await run(home, ["check", out, "--json"])).out).toContain(`"agent":"${agent}"`);
    const again = join(folder, `${sessions}-again.json`);
    expect((await run(home, ["export", out, "--to", "json", "--out", again])).code).toBe(0);
    const lines = async (file: string): Promise<readonly string[]> =>
      (await readFile(file, "utf8")).split("\n").slice(1);
    expect(await lines(again)).toEqual(await lines(out));
  }
  expect(sessions).toBeGreaterThan(5);
});

async function exportOf(entries: readonly Entry[]): Promise<string> {
  const path = join(await tempFolder(), "e.json");
  const exporter = createJsonExporter();
  const info = { agent: "claude-code", id: "s", path: "/s", title: "A title", startedAt: 5 } as const;
  const text = entries.map((entry, at) => exporter.item({ entry, position: String(at) })).join("");
  await writeFile(path, exporter.start(info) + text + exporter.end());
  return path;
}

const said = (body: string, at: number): Entry => ({
  kind: "delivered",
  name: `@${at}`,
  sender: "user",
  body,
});

test("any text comes back; pages from the end and from the start hold each entry once", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.string({ unit: "binary", maxLength: 20 }), { maxLength: 12 }),
      fc.integer({ min: 1, max: 5 }),
      async (texts, limit) => {
        const entries = texts.map(said);
        const log = await openLog(await exportOf(entries));
        const forward: Entry[] = [];
        const backward: Entry[] = [];
        let page = await log.first(limit);
        forward.push(...page.entries);
        while (!page.atEnd) {
          page = await log.newer(page.end, limit);
          forward.push(...page.entries);
        }
        page = await log.tail(limit);
        backward.unshift(...page.entries);
        while (!page.atStart) {
          page = await log.older(page.start, limit);
          backward.unshift(...page.entries);
        }
        expect(forward).toEqual(entries);
        expect(backward).toEqual(entries);
        expect(await log.info()).toMatchObject({
          agent: "claude-code",
          id: "s",
          title: "A title",
          startedAt: 5,
        });
        await log.close();
      },
    ),
    { numRuns: 25 },
  );
});

test("--raw keeps the records", async () => {
  const home = await tempHome();
  const folder = await tempFolder();
  const [path, out] = [join(folder, "s.jsonl"), join(folder, "e.json")];
  const [first] = claudeLines(1);
  await writeFile(path, `${claudeLines(1).join("\n")}\n`);
  await run(home, ["export", path, "--to", "json", "--raw", "--out", out]);
  const log = await openLog(out);
  const place = (await log.first(1)).entries[0]?.place;
  expect(new TextDecoder().decode(await log.raw(place ?? { start: 0, end: 0 })).trimEnd()).toBe(first);
  await log.close();
});

describe("what is no export", () => {
  test("a torn one and foreign lines are shown with what is damaged", async () => {
    const path = await exportOf([said("one", 0), said("two", 1)]);
    const text = await readFile(path, "utf8");
    await writeFile(path, text.slice(0, -12));
    let log = await openLog(path);
    expect((await log.check()).damaged.map(({ reason }) => reason)).toEqual(["not-json", "torn"]);
    expect((await log.tail(5)).entries).toMatchObject([{ body: "one" }, { kind: "raw", damaged: true }]);
    await log.close();
    const hostile = [
      '{"position":"0","kind":"model","name":"@9","blocks":7,"usage":{}}',
      '{"position":"1","kind":"model","name":"@9"}',
      '{"position":"1","kind":"nothing","name":"@9"}',
      "[1]",
      "null",
      '{"position":"0","kind":"delivered","name":"x","sender":"user","body":"a place used again"}',
      '{"position":"","kind":"delivered","name":"x","sender":"user","body":"none"}',
    ];
    await writeFile(path, text.replace("\n]}", `,\n${hostile.join(",\n")}\n]}`));
    log = await openLog(path);
    const page = await log.first(20);
    expect(page.entries.map(({ kind }) => kind)).toEqual([
      "delivered",
      "delivered",
      ...Array.from({ length: 5 }, () => "raw"),
      "delivered",
      "delivered",
    ]);
    expect(new Set(page.positions).size).toBe(page.positions.length);
    expect(page.damage).toHaveLength(5);
    await log.close();
  });

  test.each([
    ['{"hansardExport":2,"session":{"agent":"codex"},"entries":[\n]}', "a later version"],
    ['{"hansardExport":1,"session":{"agent":"nobody","id":"x"},"entries":[\n]}', "not known"],
    ['{"hansardExport":1,"sess', "is none"],
    ['{"hansardExport":1,\n"session":{}}', "is none"],
    ['{"hansardExport":null}', "is none"],
  ])("%s", async (text, why) => {
    const path = join(await tempFolder(), "e.json");
    await writeFile(path, text);
    const home = await tempHome();
    expect(await run(home, ["show", path])).toMatchObject({ out: "", err: expect.stringContaining(why) });
  });

  test("at the limit: a line that is too large is told, and what follows it is read", async () => {
    const path = await exportOf([said("one", 0)]);
    const text = await readFile(path, "utf8");
    await writeFile(path, text.replace("\n]}\n", ",\n"));
    await appendFile(path, Buffer.alloc(EXPORT_LINE_BYTES_MAX + 1, 0x20));
    const last = JSON.stringify({ position: "2", ...said("two", 2) });
    await appendFile(path, `\n${last}\n]}\n`);
    const log = await openLog(path);
    const page = await log.first(5);
    expect(page.entries).toMatchObject([{ body: "one" }, { damaged: true }, { body: "two" }]);
    expect(page.damage.map(({ reason }) => reason)).toEqual(["too-large"]);
    await log.close();
  });
});

test("followed, it is caught up at once and ends with the signal", async () => {
  const log = await openLog(await exportOf([said("one", 0)]));
  const stop = new AbortController();
  const events: string[] = [];
  for await (const { type } of log.follow("end", stop.signal)) {
    events.push(type);
    stop.abort();
  }
  expect(events).toEqual(["caughtUp"]);
  await log.close();
});

test("the command's own lines are those of `show --json`", async () => {
  const home = await tempHome();
  const path = await exportOf([said("one", 0)]);
  expect(jsonLines((await run(home, ["show", path, "--json"])).out)).toEqual([
    { position: "0", ...said("one", 0) },
  ]);
});
