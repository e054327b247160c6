// Linear text, and one entry a line as JSON, a page at a time and whole.
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { SHOW_PAGE_ENTRIES } from "../../src/cli/show.ts";
import type { HomeSessionName } from "../support/agents-home.ts";
import { claudeLines, jsonLines, run, tempFolder, tempHome } from "./support.ts";

const everySession: readonly HomeSessionName[] = [
  "pi",
  "titled",
  "codexLive",
  "geminiChat",
  "compacted",
  "messages",
  "geminiLegacy",
  "codexArchived",
  "codexCold",
  "pending",
];

test.each(everySession)("%s: JSON of every entry, with its position, name and place", async (name) => {
  const home = await tempHome();
  const { path, agent } = home.sessions[name];
  const { code, out, err } = await run(home, ["show", path, "--json"]);
  expect({ code, err }).toEqual({ code: 0, err: "" });
  const entries = jsonLines(out);
  expect(entries.length).toBeGreaterThan(2);
  expect(new Set(entries.map((entry) => entry["name"])).size).toBe(entries.length);
  expect(new Set(entries.map((entry) => entry["position"])).size).toBe(entries.length);
  let reached = 0;
  for (const entry of entries) {
    const place = entry["place"] as { start: number; end: number } | undefined;
    if (place === undefined) continue;
    expect(place.start).toBeLessThan(place.end);
    if (agent !== "messages" && agent !== "gemini") {
      expect(place.start).toBeGreaterThanOrEqual(reached);
      reached = place.start;
    }
  }
  expect(entries.some((entry) => entry["place"] !== undefined)).toBe(true);
});

test.each(everySession)("%s: pages of --before put together are the whole", async (name) => {
  const home = await tempHome();
  const { path } = home.sessions[name];
  const whole = jsonLines((await run(home, ["show", path, "--json"])).out);
  for (const limit of [1, 7]) {
    const together: Record<string, unknown>[] = [];
    let before: string[] = [];
    for (;;) {
      const { code, out, err } = await run(home, [
        "show",
        path,
        "--json",
        "--limit",
        String(limit),
        ...before,
      ]);
      expect({ code, err }).toEqual({ code: 0, err: "" });
      const page = jsonLines(out);
      expect(page.length).toBeLessThanOrEqual(limit);
      if (page.length === 0) break;
      together.unshift(...page);
      before = ["--before", page[0]?.["position"] as string];
    }
    expect(together).toEqual(whole);
  }
});

test.each(everySession)("%s: --limit gives the newest ones, in log order", async (name) => {
  const home = await tempHome();
  const { path } = home.sessions[name];
  const whole = jsonLines((await run(home, ["show", path, "--json"])).out);
  const newest = jsonLines((await run(home, ["show", path, "--json", "--limit", "5"])).out);
  expect(newest).toEqual(whole.slice(-5));
  const more = jsonLines((await run(home, ["show", path, "--json", "--limit", "100000"])).out);
  expect(more).toEqual(whole);
});

test.each(everySession)(
  "%s: text without a terminal holds no control character but the line feed",
  async (name) => {
    const home = await tempHome();
    const { code, out } = await run(home, ["show", home.sessions[name].path]);
    expect(code).toBe(0);
    expect(out.length).toBeGreaterThan(80);
    expect(out).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f]/);
  },
);

test("text tells prompts, answers, tools and what a compaction left", async () => {
  const home = await tempHome();
  const { out } = await run(home, ["show", home.sessions.messages.path]);
  const order = ["How long has the machine been up?", "uptime", "up 41 days", "Forty-one days."];
  const places = order.map((text) => out.indexOf(text));
  expect(places.every((place) => place >= 0)).toBe(true);
  expect([...places].sort((a, b) => a - b)).toEqual(places);
});

test("a page that does not reach the start says how to see what precedes it, and that command does", async () => {
  const home = await tempHome();
  const { path } = home.sessions.compacted;
  const { out } = await run(home, ["show", path, "--limit", "3"]);
  const hint = /^… earlier entries: hansard (show \S+ --before \S+)\n/.exec(out);
  expect(hint).not.toBeNull();
  const earlier = await run(home, [...(hint?.[1]?.split(" ") ?? []), "--json"]);
  expect(earlier.code).toBe(0);
  const whole = jsonLines((await run(home, ["show", path, "--json"])).out);
  expect(jsonLines(earlier.out)).toEqual(whole.slice(0, -3));
});

test("the hint quotes a name for the shell", async () => {
  const home = await tempHome();
  const { out } = await run(home, ["show", "Calmon fromour bus hunt", "--limit", "1"]);
  expect(out).toMatch(/^… earlier entries: hansard show 'Calmon fromour bus hunt' --before \S+\n/);
});

test("the whole text has no hint", async () => {
  const home = await tempHome();
  expect((await run(home, ["show", home.sessions.pi.path])).out).not.toContain("… earlier entries");
});

test.each([
  "x",
  "-1",
  "1e3",
  "01",
  "0x10",
  "12.0",
  "99999999999999999999",
  "",
  " 5",
  "5\n",
  "before:nothing",
])("a wrong position %j: a sentence and exit code 2", async (position) => {
  const home = await tempHome();
  for (const name of ["titled", "codexCold", "geminiChat", "messages"] as const) {
    const { code, out, err } = await run(home, [
      "show",
      home.sessions[name].path,
      "--json",
      `--before=${position}`,
    ]);
    expect({ name, code, out }).toEqual({ name, code: 2, out: "" });
    expect(err).toMatch(/^hansard: .*[Pp]osition/);
    expect(err.trimEnd().split("\n").length).toBeGreaterThanOrEqual(2);
  }
});

test("a position inside a record, or past the end, is of another log", async () => {
  const home = await tempHome();
  for (const position of ["7", "999999999"]) {
    const { code, err } = await run(home, ["show", home.sessions.titled.path, "--before", position]);
    expect(code).toBe(2);
    expect(err).toMatch(/position/i);
  }
});

const pageSizes = [
  1,
  SHOW_PAGE_ENTRIES - 1,
  SHOW_PAGE_ENTRIES,
  SHOW_PAGE_ENTRIES + 1,
  2 * SHOW_PAGE_ENTRIES + 3,
];

test("a session of many pages is whole, and any number of newest entries is", async () => {
  const folder = await tempFolder();
  const path = join(folder, "long.jsonl");
  const turns = SHOW_PAGE_ENTRIES + 40;
  await writeFile(path, `${claudeLines(turns).join("\n")}\n`);
  const home = { around: { env: {}, home: folder, platform: "linux" } };
  const whole = jsonLines((await run(home, ["show", path, "--json"])).out);
  expect(whole).toHaveLength(2 * turns);
  for (const limit of pageSizes) {
    const newest = jsonLines((await run(home, ["show", path, "--json", "--limit", String(limit)])).out);
    expect(newest).toEqual(whole.slice(-limit));
  }
  const middle = whole[turns]?.["position"] as string;
  const before = jsonLines((await run(home, ["show", path, "--json", "--before", middle])).out);
  expect(before).toEqual(whole.slice(0, turns));
});

test("the reader of a long text goes away: no further page is read", async () => {
  const folder = await tempFolder();
  const path = join(folder, "long.jsonl");
  await writeFile(path, `${claudeLines(2 * SHOW_PAGE_ENTRIES).join("\n")}\n`);
  const home = { around: { env: {}, home: folder, platform: "linux" } };
  const { code, writes, err } = await run(home, ["show", path], { writesMax: 1 });
  expect({ code, writes, err }).toEqual({ code: 0, writes: 2, err: "" });
});

test.each([1, 2, 3, 8, 20, 79, 300])("text for a terminal of %i columns", async (columns) => {
  const home = await tempHome();
  const { code, out } = await run(home, ["show", home.sessions.geminiChat.path], { isTTY: true, columns });
  expect(code).toBe(0);
  expect(out).toMatch(/[a-z]/i);
});

test("field faults case 10: lone surrogates and separators of other line rules leave JSON of one entry a line", async () => {
  const folder = await tempFolder();
  const path = join(folder, "odd.jsonl");
  const text = "half \\ud83d then \u2028 and \u0085 and \\u0000 and \\n end";
  await writeFile(path, `${claudeLines(2).join("\n").replaceAll("answer 1", text)}\n`);
  const home = { around: { env: {}, home: folder, platform: "linux" } };
  const { out } = await run(home, ["show", path, "--json"]);
  expect(jsonLines(out)).toHaveLength(4);
  expect(Buffer.from(out, "utf8").toString("utf8")).toBe(out);
});
