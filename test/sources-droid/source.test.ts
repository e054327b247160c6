/** Where sessions of Factory Droid are found, and what is known of one without reading it. */
import { afterEach, expect, test } from "vitest";
import { droidSource } from "../../src/sources/droid/source.ts";
import { fixture } from "../support/fixtures.ts";
import { discoverAll, type Home, lines, makeHome } from "../support/home.ts";

let home: Home | undefined;
afterEach(() => home?.remove());
const real = fixture("sources/droid/session.jsonl");

test("a session is found under the folder of its working directory, and its settings name the model", async () => {
  home = makeHome();
  home.write(".factory/sessions/-w/one.jsonl", real);
  home.write(".factory/sessions/-w/one.settings.json", JSON.stringify({ model: "m", tokenUsage: {} }));
  home.write(".factory/sessions/two.jsonl", real);
  const { found, problems } = await discoverAll(droidSource, home.around);
  expect(problems).toEqual([]);
  expect(found.map((f) => f.id).sort()).toEqual(["one", "two"]);
  const [one] = found.filter((f) => f.id === "one");
  expect(one && (await droidSource.describe(one))).toMatchObject({
    agent: "droid",
    id: "one",
    title: "Cup Vicewet",
    titled: true,
    cwd: "/Oilwe/pumphost/doseme/test-whoab/test-word/youdo-listme",
    model: "m",
    bytes: real.length,
  });
});

test.each(["not json", "", '{"model":7}'])("settings that say nothing: %j", async (settings) => {
  home = makeHome();
  home.write(".factory/sessions/-w/one.settings.json", settings);
  home.write(".factory/sessions/-w/one.jsonl", real);
  const [one] = (await discoverAll(droidSource, home.around)).found;
  expect(one && (await droidSource.describe(one))).not.toHaveProperty("model");
});

test.each<[string, string | Uint8Array, boolean]>([
  ["a session", real, true],
  ["its messages without its start", real.toString().split("\n").slice(1).join("\n"), true],
  ["an empty file", "", false],
  ["a session of pi", fixture("sources/pi/session-v3.jsonl"), false],
  [
    "a message of pi alone",
    fixture("sources/pi/session-v3.jsonl").toString().split("\n").slice(3).join("\n"),
    false,
  ],
  ["a start of another agent", lines({ type: "session_start", at: 1 }), false],
])("a session is told from other files: %s", async (_, content, expected) => {
  expect(await droidSource.detects("x", Buffer.from(content as string))).toBe(expected);
});
