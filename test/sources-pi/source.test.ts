/** Where sessions of pi and its relatives are found, and what is known of one without reading it. */
import { join } from "node:path";
import { afterEach, describe, expect, test } from "vitest";
import { PI_HEAD_BYTES, PI_TAIL_BYTES, piSource } from "../../src/sources/pi/source.ts";
import { fixture } from "../support/fixtures.ts";
import { discoverAll, type Home, lines, makeHome } from "../support/home.ts";

let home: Home | undefined;
afterEach(() => home?.remove());

const v1 = fixture("sources/pi/session-v1.jsonl.gz");
const v3 = fixture("sources/pi/session-v3.jsonl");

describe("finding", () => {
  test("pi's own, its relatives', and a subagent's under its session", async () => {
    home = makeHome();
    home.write(".pi/agent/sessions/--w--/2026_one.jsonl", v3);
    home.write(".omp/agent/sessions/--w--/2026_two.jsonl", v3);
    home.write(".omp/agent/sessions/--w--/2026_two/0-Task.jsonl", v3);
    home.write(".openclaw/agents/main/sessions/three.jsonl", v3);
    home.write(".openclaw/agents/main/sessions/sessions.json", "{}");
    const { found, problems } = await discoverAll(piSource, home.around);
    expect(problems).toEqual([]);
    expect(found.map(({ id, parentId }) => [id, parentId])).toEqual([
      ["one", undefined],
      ["two", undefined],
      ["0-Task", "two"],
      ["three", undefined],
    ]);
  });

  test.each([
    ["PI_CODING_AGENT_DIR", "moved", "moved/sessions"],
    ["PI_CODING_AGENT_DIR", "~/moved", "moved/sessions"],
    ["PI_CODING_AGENT_SESSION_DIR", "~/kept", "kept"],
  ])("%s=%s moves the sessions", async (variable, value, folder) => {
    home = makeHome();
    home.write(`${folder}/--w--/2026_one.jsonl`, v3);
    const env = { [variable]: value.startsWith("~") ? value : join(home.path, value) };
    const { found } = await discoverAll(piSource, { ...home.around, env });
    expect(found.map((f) => f.path)).toEqual([join(home.path, folder, "--w--", "2026_one.jsonl")]);
  });

  test("only a leading tilde stands for the home", () => {
    const roots = (value: string): string | undefined =>
      piSource.roots({ env: { PI_CODING_AGENT_DIR: value }, home: "/h", platform: "linux" })[0];
    expect([roots("~"), roots("~/x"), roots("~user/x"), roots("/a/~/b"), roots("")]).toEqual([
      join("/h", "sessions"),
      join("/h", "x", "sessions"),
      join("~user", "x", "sessions"),
      join("/a", "~", "b", "sessions"),
      join("/h", ".pi", "agent", "sessions"),
    ]);
  });
});

describe("describing", () => {
  async function infoOf(content: string | Uint8Array): Promise<unknown> {
    home = makeHome();
    home.write(".pi/agent/sessions/--w--/2026_one.jsonl", content);
    const [found] = (await discoverAll(piSource, home.around)).found;
    return found && piSource.describe(found);
  }
  const header = {
    type: "session",
    version: 3,
    id: "inside",
    timestamp: "2026-06-01T00:00:00.000Z",
    cwd: "/w",
  };
  const prompt = {
    type: "message",
    id: "a",
    parentId: null,
    message: { role: "user", content: "\n hello  there\nmore" },
  };
  const filler = lines({ type: "custom", id: "f", parentId: "a", data: "x".repeat(1000) }).repeat(
    Math.ceil((PI_HEAD_BYTES + PI_TAIL_BYTES) / 1000),
  );

  test("by its name, header, model and first prompt; the id inside is a hint only", async () => {
    expect(
      await infoOf(lines(header, prompt, { type: "model_change", id: "b", modelId: "m" })),
    ).toMatchObject({
      id: "one",
      cwd: "/w",
      startedAt: 1_780_272_000_000,
      model: "m",
      title: "hello there",
    });
  });

  test("the last name wins over the prompt, also at the end of a long session", async () => {
    const name = (words: string): string => lines({ type: "session_info", id: "n", name: words });
    expect(await infoOf(lines(header, prompt) + name("first") + filler + name("last"))).toMatchObject({
      title: "last",
      titled: true,
      cwd: "/w",
    });
    home?.remove();
    expect(await infoOf(lines(header, prompt) + name("first") + filler)).toMatchObject({
      title: "first",
      titled: true,
    });
  });

  test("a file without messages, and an empty one, are described by their names", async () => {
    expect(await infoOf(lines(header))).toMatchObject({ id: "one", cwd: "/w" });
    home?.remove();
    expect(await infoOf("")).toEqual({
      agent: "pi",
      id: "one",
      path: expect.any(String),
      bytes: 0,
      modifiedAt: 1_700_000_000_000,
    });
  });

  test("version 1", async () => {
    expect(await infoOf(v1)).toMatchObject({
      cwd: "/Oilwe/mostface/beltlaneon/as-lead",
      title: "/wife",
      model: expect.any(String),
    });
  });
});

test.each<[string, string | Uint8Array, boolean]>([
  ["version 1", v1.subarray(0, 4096), true],
  ["version 3", v3, true],
  ["with a title before the header", lines({ type: "title", title: "x" }) + v3.toString(), true],
  ["behind a byte order mark", `\ufeff${v3.toString()}`, true],
  ["without its header", v3.toString().split("\n").slice(5).join("\n"), true],
  ["an empty file", "", false],
  ["a rollout", fixture("sources/codex/rollout-1.jsonl").subarray(0, 4096), false],
  [
    "another agent's session record",
    lines({ type: "session", sessionId: "x", id: "y", timestamp: "2026-06-01T00:00:00.000Z" }),
    false,
  ],
])("a pi session is told from other files: %s", async (_, content, expected) => {
  expect(await piSource.detects("x", Buffer.from(content as string))).toBe(expected);
});

test("an open session tells its facts anew", async () => {
  home = makeHome();
  const path = home.write(".pi/agent/sessions/--w--/2026_one.jsonl", v3);
  const log = await piSource.open(path);
  expect(await log.info()).toMatchObject({
    agent: "pi",
    id: "one",
    bytes: v3.length,
    cwd: "/Oilwe/pumphost/doseme/test-whoab/test-word",
  });
  expect((await log.tail(100)).entries).toHaveLength(9);
  await log.close();
});
