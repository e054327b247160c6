/** Where sessions of Copilot CLI are found, and what is known of one without reading it. */
import { join } from "node:path";
import { afterEach, describe, expect, test } from "vitest";
import { copilotSource } from "../../src/sources/copilot/source.ts";
import { fixture } from "../support/fixtures.ts";
import { discoverAll, type Home, lines, makeHome } from "../support/home.ts";

let home: Home | undefined;
afterEach(() => home?.remove());
const real = fixture("sources/copilot/events-1.jsonl");

describe("finding", () => {
  test("a folder per session, and the older files of their own", async () => {
    home = makeHome();
    home.write(".copilot/session-state/one/events.jsonl", real);
    home.write(".copilot/session-state/one/other.jsonl", "{}");
    home.write(".copilot/session-state/one/workspace.yaml", "name: x\n");
    home.write(".copilot/session-state/two.jsonl", real);
    home.write(".copilot/history-session-state/three.jsonl", real);
    const { found, problems } = await discoverAll(copilotSource, home.around);
    expect(problems).toEqual([]);
    expect(found.map((f) => f.id).sort()).toEqual(["one", "three", "two"]);
  });

  test("COPILOT_HOME moves them", () => {
    const around = { env: { COPILOT_HOME: "/c" }, home: "/h", platform: "linux" };
    expect(copilotSource.roots(around)[0]).toBe(join("/c", "session-state"));
    expect(copilotSource.roots({ ...around, env: {} })[0]).toBe(join("/h", ".copilot", "session-state"));
  });
});

describe("describing", () => {
  async function infoOf(content: string | Uint8Array, yaml?: string): Promise<unknown> {
    home = makeHome();
    home.write(".copilot/session-state/one/events.jsonl", content);
    if (yaml !== undefined) home.write(".copilot/session-state/one/workspace.yaml", yaml);
    const [found] = (await discoverAll(copilotSource, home.around)).found;
    return found && copilotSource.describe(found);
  }

  test("by its start, its model and its first prompt", async () => {
    const info = await infoOf(real);
    expect(info).toEqual({
      agent: "copilot",
      id: "one",
      path: expect.any(String),
      bytes: real.length,
      modifiedAt: 1_700_000_000_000,
      startedAt: 1_774_896_953_441,
      agentVersion: "1.0.12",
      cwd: "/Oilwe/pumphost/doseme/test-whoab/test-word/boltmix-get-listme",
      gitBranch: "test-listme",
      model: "claude-sonnet-4.6",
      title: "drewan a hunt ab know whatgo push lessin know us for flatnet boltmix get",
    });
  });

  test.each([
    ["name: Fix it\nsummary: other\n", "Fix it"],
    ['summary: "a \\"b\\""\n', 'a "b"'],
    ["summary: 'it''s'\r\n", "it's"],
  ])("a title in the file beside it wins: %j", async (yaml, title) => {
    expect(await infoOf(real, yaml)).toMatchObject({ title, titled: true });
  });

  test.each(["summary: |-\n  more\n", "summary:\n", "nested:\n  name: x\n", "name: null\n", ""])(
    "a value that is not read: %j",
    async (yaml) => {
      expect(await infoOf(real, yaml)).not.toHaveProperty("titled");
    },
  );

  test("an empty file is described by its name", async () => {
    expect(await infoOf("")).toMatchObject({ id: "one", bytes: 0 });
  });
});

test.each<[string, string | Uint8Array, boolean]>([
  ["a session", real, true],
  ["behind a byte order mark", `\ufeff${real.toString()}`, true],
  ["without its start", real.toString().split("\n").slice(3).join("\n"), true],
  ["an empty file", "", false],
  ["a rollout", fixture("sources/codex/rollout-1.jsonl").subarray(0, 4096), false],
  ["another agent's event", lines({ type: "session.start", data: { app: "x" }, id: "1" }), false],
])("a session is told from other files: %s", async (_, content, expected) => {
  expect(await copilotSource.detects("x", Buffer.from(content as string))).toBe(expected);
});

test("an open session tells its facts and the bytes of its entries", async () => {
  home = makeHome();
  const path = home.write(".copilot/session-state/one/events.jsonl", real);
  const log = await copilotSource.open(path);
  expect(await log.info()).toMatchObject({ agent: "copilot", id: "one", model: "claude-sonnet-4.6" });
  const [entry] = (await log.tail(10)).entries;
  const bytes = await log.raw(entry?.place ?? { start: 0, end: 0 });
  expect(JSON.parse(Buffer.from(bytes).toString())).toMatchObject({ type: "user.message" });
  await log.close();
});
