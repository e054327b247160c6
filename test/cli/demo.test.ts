// The demo without a terminal: the whole script at once, as text.
import { mkdir, readdir } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { emptyHomeEnv } from "../support/agents-home.ts";
import { run, start, tempFolder } from "./support.ts";

test("it tells the whole made session and ends", async () => {
  const path = await tempFolder();
  const { code, out, err } = await run(
    { around: { env: emptyHomeEnv(path), home: path, platform: "linux" } },
    ["demo"],
  );
  expect({ code, err }).toEqual({ code: 0, err: "" });
  const order = [
    "fix the resize bug in the painter",
    "does it hold for wide text",
    "what is left",
    "Nothing is left.",
  ];
  const places = order.map((text) => out.indexOf(text));
  expect(places.every((place) => place >= 0)).toBe(true);
  expect([...places].sort((a, b) => a - b)).toEqual(places);
});

test("its hostile text draws nothing", async () => {
  const path = await tempFolder();
  const { out } = await run({ around: { env: emptyHomeEnv(path), home: path, platform: "linux" } }, ["demo"]);
  expect(out).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/);
});

test("it is one and the same each time, but for the hours of the clock", async () => {
  const path = await tempFolder();
  const home = { around: { env: emptyHomeEnv(path), home: path, platform: "linux" } };
  const withoutFolder = (text: string): string => text.replaceAll(/hansard-demo-\w+/g, "hansard-demo");
  expect(withoutFolder((await run(home, ["demo"])).out)).toBe(withoutFolder((await run(home, ["demo"])).out));
});

test("it leaves nothing behind", async () => {
  const folder = await tempFolder();
  const { code, err } = await start(["demo"], { ...emptyHomeEnv(folder), TMPDIR: folder }).ended;
  expect({ code, err }).toEqual({ code: 0, err: "" });
  expect(await readdir(folder)).toEqual([]);
});

test("nowhere to write it: a sentence, not a crash", async () => {
  const folder = await tempFolder();
  const none = join(folder, "none");
  await mkdir(join(folder, "home"));
  const { code, out, err } = await start(["demo"], { ...emptyHomeEnv(join(folder, "home")), TMPDIR: none })
    .ended;
  expect({ code, out }).toEqual({ code: 5, out: "" });
  expect(err).toMatch(/^hansard: .*demo/);
  expect(err).toContain("TMPDIR");
  expect(err).not.toMatch(/\n +at /);
});
