// Every fault a person can cause: a sentence that says what and where, what to do next, and a documented exit code.
import { execFileSync } from "node:child_process";
import { truncateSync, writeFileSync } from "node:fs";
import { mkdir, rename, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { SHOW_PAGE_ENTRIES } from "../../src/cli/show.ts";
import { claudeLines, jsonLines, run, tempFolder } from "./support.ts";

const reading = [
  ["show"],
  ["show", "--json"],
  ["check"],
  ["check", "--json"],
  ["open"],
  ["open", "--plain"],
] as const;

/** Makes the path below a folder that a person will give. */
type Make = (folder: string) => Promise<string>;

function file(name: string, bytes: string | Uint8Array): Make {
  return async (folder) => {
    await writeFile(join(folder, name), bytes);
    return join(folder, name);
  };
}

const png = Buffer.concat([Buffer.from("89504e470d0a1a0a0000000d49484452", "hex"), Buffer.alloc(3000, 7)]);

const faults: readonly (readonly [string, Make, number, RegExp])[] = [
  ["a missing file", async (folder) => join(folder, "none.jsonl"), 3, /there is no such file/],
  [
    "a path through a file",
    async (folder) => join(await file("a.jsonl", `${claudeLines(1).join("\n")}\n`)(folder), "b.jsonl"),
    3,
    /there is no such file/,
  ],
  ["a path that is too long", async (folder) => join(folder, "x".repeat(300)), 5, /cannot be read/],
  [
    "a link to itself",
    async (folder) => {
      const path = join(folder, "loop.jsonl");
      await symlink(path, path);
      return path;
    },
    5,
    /cannot be read/,
  ],
  [
    "a link to nothing",
    async (folder) => {
      const path = join(folder, "dangling.jsonl");
      await symlink(join(folder, "gone"), path);
      return path;
    },
    3,
    /there is no such file/,
  ],
  [
    "a directory",
    async (folder) => {
      await mkdir(join(folder, "sessions"));
      return join(folder, "sessions");
    },
    5,
    /folder|directory/,
  ],
  ["a device", async () => "/dev/null", 5, /no regular file/],
  [
    "a pipe that nobody writes to",
    async (folder) => {
      execFileSync("mkfifo", [join(folder, "pipe")]);
      return join(folder, "pipe");
    },
    5,
    /no regular file/,
  ],
  ["an empty file", file("empty.jsonl", ""), 6, /empty/],
  ["blank lines alone", file("blank.jsonl", "\n\n  \n"), 6, /session/],
  ["an image", file("image.png", png), 6, /image/],
  ["an image named as a session", file("image.jsonl", png), 6, /image/],
  ["NUL bytes alone", file("zeros.jsonl", Buffer.alloc(100_000)), 6, /binary|text|session/],
  ["prose", file("notes.md", "# Notes\n\nNothing in here is a session.\n"), 6, /session/],
  ["a program's settings", file("package.json", '{"name":"x","version":"1.0.0"}\n'), 6, /session/],
  ["JSON lines of another kind", file("log.jsonl", '{"level":"info","msg":"up"}\n'.repeat(50)), 6, /session/],
  ["one number", file("one.json", "1\n"), 6, /session/],
  [
    "an archive of something else",
    file("x.jsonl.zst", Buffer.from("28b52ffd2004210000616263640a", "hex")),
    6,
    /./,
  ],
];

test.each(faults)("%s", async (_name, make, exit, sentence) => {
  const folder = await tempFolder();
  const path = await make(folder);
  const home = { around: { env: {}, home: folder, platform: "linux" } };
  for (const words of reading) {
    const [command, ...options] = words;
    const { code, out, err } = await run(home, [command, path, ...options]);
    expect({ words, code, out }).toEqual({ words, code: exit, out: "" });
    const [first, next] = err.split("\n");
    expect(first).toMatch(/^hansard: ./);
    expect(first).toMatch(sentence);
    expect(first).toContain(path.slice(0, 60));
    expect(next, "what to do next").toMatch(/\S/);
    expect(err).not.toMatch(/\n +at |Error:/);
  }
});

const others: readonly (readonly [string, string, string])[] = [
  [
    "Cursor",
    "cursor",
    `${JSON.stringify({ role: "user", message: { content: [{ type: "text", text: "<user_query>\nhello\n</user_query>" }] } })}\n${JSON.stringify({ role: "assistant", message: { content: [{ type: "text", text: "hello" }] } })}\n`,
  ],
  [
    "OpenCode",
    "opencode",
    JSON.stringify(
      {
        info: { id: "ses_1", slug: "s", projectID: "p", directory: "/w", title: "t", version: "1.2.0" },
        messages: [],
      },
      null,
      2,
    ),
  ],
];

test.each(others)("a session of %s is one under any name", async (_agent, name, text) => {
  const folder = await tempFolder();
  const path = await file("session.jsonl", text)(folder);
  const home = { around: { env: {}, home: folder, platform: "linux" } };
  const { code, out } = await run(home, ["check", path, "--json"]);
  expect([code, (JSON.parse(out) as { agent?: unknown }).agent]).toEqual([0, name]);
  expect((await run(home, ["show", path])).code).toBe(0);
});

test("what a file is, its content tells: a session under any name", async () => {
  const folder = await tempFolder();
  const home = { around: { env: {}, home: folder, platform: "linux" } };
  for (const name of ["session", "session.txt", "session.json", "rollout-x.jsonl", "session.jsonl.zst"]) {
    const path = await file(name, `${claudeLines(2).join("\n")}\n`)(folder);
    const { code, out } = await run(home, ["show", path, "--json"]);
    expect({ name, code, entries: jsonLines(out).length }).toEqual({ name, code: 0, entries: 4 });
  }
});

test("a session of one torn record, or of a header alone, opens with what is there", async () => {
  const folder = await tempFolder();
  const home = { around: { env: {}, home: folder, platform: "linux" } };
  const summary = await file(
    "summary.jsonl",
    `${JSON.stringify({ type: "summary", summary: "s", leafUuid: "l" })}\n`,
  )(folder);
  expect((await run(home, ["show", summary])).code).toBe(0);
  const header = await file(
    "pi.jsonl",
    `${JSON.stringify({ type: "session", version: 3, id: "i", timestamp: "2026-04-24T20:33:40.331Z", cwd: "/w" })}\n`,
  )(folder);
  expect((await run(home, ["check", header])).code).toBe(0);
});

const bigLineBytes = 20 * 1024 * 1024;

test("a line of 20 MB is read, shown and counted", async () => {
  const folder = await tempFolder();
  const home = { around: { env: {}, home: folder, platform: "linux" } };
  const lines = claudeLines(3, (n) => (n === 2 ? `start ${"x".repeat(bigLineBytes)} stop` : `answer ${n}`));
  const path = await file("big.jsonl", `${lines.join("\n")}\n`)(folder);
  const shown = await run(home, ["show", path, "--json"]);
  expect({ code: shown.code, err: shown.err }).toEqual({ code: 0, err: "" });
  const entries = jsonLines(shown.out);
  expect(entries).toHaveLength(6);
  const place = entries[3]?.["place"] as { start: number; end: number };
  expect(place.end - place.start).toBeGreaterThan(bigLineBytes);
  expect(shown.out.length).toBeLessThan(bigLineBytes / 4);
  const report = JSON.parse((await run(home, ["check", path, "--json"])).out) as {
    records: number;
    damaged: unknown[];
  };
  expect(report).toMatchObject({ records: 6, damaged: [] });
  const last = await run(home, ["show", path, "--limit", "1"]);
  expect(last.out).toContain("answer 3");
});

test("an image of megabytes inside a record is told by kind and size, not printed", async () => {
  const folder = await tempFolder();
  const home = { around: { env: {}, home: folder, platform: "linux" } };
  const data = Buffer.alloc(3_000_000, 1).toString("base64");
  const [prompt, ...rest] = claudeLines(1) as [string, ...string[]];
  const withImage = JSON.parse(prompt) as { message: { content: unknown } };
  withImage.message.content = [
    { type: "text", text: "what is this?" },
    { type: "image", source: { type: "base64", media_type: "image/png", data } },
  ];
  const path = await file("image.jsonl", `${[JSON.stringify(withImage), ...rest].join("\n")}\n`)(folder);
  for (const options of [[], ["--json"]]) {
    const { code, out } = await run(home, ["show", path, ...options]);
    expect(code).toBe(0);
    expect(out).toContain("image/png");
    expect(out.length).toBeLessThan(10_000);
  }
});

const longTurns = 2 * SHOW_PAGE_ENTRIES;

test.each([
  ["cut to nothing", (path: string) => truncateSync(path, 0)],
  ["cut in the middle of a record", (path: string) => truncateSync(path, 5000)],
  ["written anew and shorter", (path: string) => writeFileSync(path, `${claudeLines(3).join("\n")}\n`)],
  [
    "written anew with other records",
    (path: string) =>
      writeFileSync(path, `${claudeLines(longTurns, (n) => `other ${n} answer`).join("\n")}\n`),
  ],
])("a session %s while it is printed: an end, and no bug", async (_how, rewrite) => {
  const folder = await tempFolder();
  const home = { around: { env: {}, home: folder, platform: "linux" } };
  const path = await file("live.jsonl", `${claudeLines(longTurns).join("\n")}\n`)(folder);
  for (const options of [["--json"], ["--json", "--limit", String(2 * longTurns - 10)]]) {
    await file("live.jsonl", `${claudeLines(longTurns).join("\n")}\n`)(folder);
    const { code, out, err } = await run(home, ["show", path, ...options], {
      onWrite: (writes) => {
        if (writes === 1) rewrite(path);
      },
    });
    expect([0, 5]).toContain(code);
    if (code === 5) expect(err).toMatch(/^hansard: The session was rewritten while it was read\.\n./);
    const entries = jsonLines(out);
    expect(entries.length).toBeLessThanOrEqual(2 * longTurns + 1);
    expect(new Set(entries.map((entry) => entry["position"])).size).toBe(entries.length);
  }
});

test("a session replaced by rename while it is printed: the one that was opened is printed whole", async () => {
  const folder = await tempFolder();
  const home = { around: { env: {}, home: folder, platform: "linux" } };
  const path = await file("live.jsonl", `${claudeLines(longTurns).join("\n")}\n`)(folder);
  const other = await file("other.jsonl", `${claudeLines(3).join("\n")}\n`)(folder);
  let renamed: Promise<void> | undefined;
  const { code, out } = await run(home, ["show", path, "--json"], {
    onWrite: () => {
      renamed ??= rename(other, path);
    },
  });
  await renamed;
  expect(code).toBe(0);
  expect(jsonLines(out)).toHaveLength(2 * longTurns);
});
