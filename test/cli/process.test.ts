// The built tool as a process: exit codes, closed pipes, signals, other programs' files.
import { execFile, spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { closeSync, openSync } from "node:fs";
import { appendFile, mkdir, readdir, readFile, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { emptyHomeEnv, type Home } from "../support/agents-home.ts";
import { fixturePath } from "../support/fixtures.ts";
import { bin, claudeLines, jsonLines, run, start, tempFolder, tempHome } from "./support.ts";

test("--version answers with the package's version", async () => {
  const about = JSON.parse(await readFile(new URL("../../package.json", import.meta.url), "utf8")) as {
    version: string;
  };
  const { code, out, err } = await start(["--version"], emptyHomeEnv(await tempFolder())).ended;
  expect({ code, out, err }).toEqual({ code: 0, out: `${about.version}\n`, err: "" });
});

test("exit codes reach the shell", async () => {
  const home = await tempHome();
  const empty = join(home.path, "empty.jsonl");
  await writeFile(empty, "");
  const expected: readonly (readonly [readonly string[], number])[] = [
    [["list"], 0],
    [["list", "--colour"], 2],
    [["show", home.sessions.titled.path, "--before", "x"], 2],
    [["show", join(home.path, "none.jsonl")], 3],
    [["show", "2026"], 4],
    [["show", "/dev/null"], 5],
    [["show", home.path], 5],
    [["show", empty], 6],
    [["check", fixturePath("lines/glued-objects.jsonl")], 7],
  ];
  for (const [argv, code] of expected) {
    const ended = await start(argv, home.env).ended;
    expect({ argv, code: ended.code }).toEqual({ argv, code });
    if (code !== 0 && code !== 7) expect(ended.err).toMatch(/^(hansard|error): ./);
    expect(ended.err).not.toMatch(/\n +at /);
  }
});

test("without a terminal, `open` prints the newest entries and ends", async () => {
  const home = await tempHome();
  const { code, out, err } = await start(["open", "last"], home.env).ended;
  expect({ code, err }).toEqual({ code: 0, err: "" });
  expect(out.length).toBeGreaterThan(100);
  expect(out).not.toContain("\u001b");
});

test.each([{}, { HOME: "" }])(
  "without a home in the environment %o the working folder is not taken for it",
  async (env) => {
    const home = await tempHome();
    const { code, out } = await start(["list", "--json", "--agent", "claude-code"], env, home.path).ended;
    expect(code).toBe(0);
    expect(out).not.toContain(home.sessions.titled.id);
  },
);

test("a home directory without any agent: the plain list says so, and ends well", async () => {
  const { code, out, err } = await start([], emptyHomeEnv(await tempFolder())).ended;
  expect({ code, err }).toEqual({ code: 0, err: "" });
  expect(out).toContain("No sessions found.");
});

async function longSession(turns: number): Promise<string> {
  const path = join(await tempFolder(), "long.jsonl");
  await writeFile(path, `${claudeLines(turns, (n) => `answer ${n} ${"word ".repeat(200)}`).join("\n")}\n`);
  return path;
}

test.each([
  ["show", []],
  ["show", ["--json"]],
  ["show", ["--limit", "3000"]],
] as const)("a pipe closed early: %s %j ends quietly with 0", async (command, options) => {
  const path = await longSession(2000);
  const running = start([command, path, ...options], emptyHomeEnv(await tempFolder()));
  await running.until("\n");
  running.child.stdout.destroy();
  expect(await running.ended).toMatchObject({ code: 0, signal: null, err: "" });
});

test("`| head -1` in a shell", async () => {
  const path = await longSession(2000);
  const folder = await tempFolder();
  const script = `{ "$NODE" "$BIN" show "$SESSION" --json; echo $? > "$FOLDER/code"; } | head -1`;
  const env = { ...process.env, NODE: process.execPath, BIN: bin, SESSION: path, FOLDER: folder };
  const { stdout, stderr } = await new Promise<{ stdout: string; stderr: string }>((resolve, reject) => {
    execFile("sh", ["-c", script], { env }, (error, stdout, stderr) =>
      error ? reject(error) : resolve({ stdout, stderr }),
    );
  });
  expect(jsonLines(stdout)).toHaveLength(1);
  expect(stderr).toBe("");
  expect(await readFile(join(folder, "code"), "utf8")).toBe("0\n");
});

test("a pipe closed before the first word", async () => {
  const home = await tempHome();
  for (const argv of [["list"], ["show", "last"], ["check", "last"], ["demo"], ["--version"], ["--help"]]) {
    const running = start(argv, home.env);
    running.child.stdout.destroy();
    expect(await running.ended).toMatchObject({ code: 0, signal: null, err: "" });
  }
});

test("a full disk: a sentence and an exit code", async () => {
  const home = await tempHome();
  const full = openSync("/dev/full", "w");
  onTestFinished(() => closeSync(full));
  for (const argv of [
    ["list"],
    ["show", "last"],
    ["show", "last", "--json"],
    ["check", "last"],
    ["--help"],
    ["--version"],
  ]) {
    const child = spawn(process.execPath, [bin, ...argv], { env: home.env, stdio: ["ignore", full, "pipe"] });
    let err = "";
    child.stderr?.setEncoding("utf8").on("data", (chunk: string) => {
      err += chunk;
    });
    const code = await new Promise((resolve) => child.on("close", resolve));
    expect({ argv, code }).toEqual({ argv, code: 5 });
    expect(err).toMatch(/^hansard: the output cannot be written: .*ENOSPC/);
    expect(err).not.toMatch(/\n +at /);
  }
});

const signals = [
  ["SIGINT", 130],
  ["SIGTERM", 143],
  ["SIGHUP", 129],
] as const;

test.each(signals)("%s ends plain following with %i", async (signal, code) => {
  const path = await longSession(3);
  const running = start(["open", "--plain", path], emptyHomeEnv(await tempFolder()));
  await running.until("answer 3");
  running.child.kill(signal);
  expect(await running.ended).toMatchObject({ code, signal: null, err: "" });
});

test.each(signals)("%s in the plain demo ends it with %i and leaves nothing behind", async (signal, code) => {
  const folder = await tempFolder();
  const env = { ...emptyHomeEnv(folder), TMPDIR: folder };
  const running = start(["demo", "--plain"], env);
  await running.until("fix the resize bug");
  running.child.kill(signal);
  expect(await running.ended).toMatchObject({ code, signal: null, err: "" });
  expect(await readdir(folder)).toEqual([]);
});

test("plain following tells each appended record once, a record in two halves when it is whole", async () => {
  const path = await longSession(1);
  const [, , prompt = "", answer = ""] = claudeLines(2);
  const running = start(["open", "--plain", path], emptyHomeEnv(await tempFolder()));
  await running.until("answer 1");
  await appendFile(path, `${prompt}\n`);
  await running.until("prompt 2");
  const half = answer.indexOf("answer 2") + 3;
  await appendFile(path, answer.slice(0, half));
  await appendFile(path, `${answer.slice(half)}\n`);
  await running.until("answer 2");
  running.child.kill("SIGINT");
  const { out } = await running.ended;
  for (const text of ["prompt 1", "answer 1", "prompt 2", "answer 2"])
    expect(out.split(text)).toHaveLength(2);
});

test("plain following of a session that is written anew says so and tells it again", async () => {
  const path = await longSession(3);
  const running = start(["open", "--plain", path], emptyHomeEnv(await tempFolder()));
  await running.until("answer 3");
  await writeFile(path, `${claudeLines(1, () => "quite another answer").join("\n")}\n`);
  await running.until("quite another answer");
  running.child.kill("SIGINT");
  const { code, err } = await running.ended;
  expect(code).toBe(130);
  expect(err).toMatch(/^hansard: the session was rewritten/);
});

test("the reader of plain following goes away: it ends with the next word", async () => {
  const path = await longSession(1);
  const running = start(["open", "--plain", path], emptyHomeEnv(await tempFolder()));
  await running.until("answer 1");
  running.child.stdout.destroy();
  await appendFile(path, `${claudeLines(2).slice(2).join("\n")}\n`);
  expect(await running.ended).toMatchObject({ code: 0, signal: null, err: "" });
});

interface Trace {
  readonly path: string;
  readonly content: string;
  readonly times: readonly bigint[];
}

/** All below a folder; the access time of files, not of folders, which a listing may touch. */
async function traces(folder: string): Promise<Trace[]> {
  const found: Trace[] = [];
  for (const entry of await readdir(folder, { recursive: true, withFileTypes: true })) {
    const path = join(entry.parentPath, entry.name);
    const { atimeNs, mtimeNs, ctimeNs, ino } = await stat(path, { bigint: true });
    if (entry.isDirectory()) found.push({ path, content: "", times: [mtimeNs, ctimeNs, ino] });
    else found.push({ path, content: "", times: [atimeNs, mtimeNs, ctimeNs, ino] });
  }
  return found;
}

/** Read last of all: reading for a comparison would itself set access times. */
async function contents(home: Home): Promise<Record<string, string>> {
  const sums: Record<string, string> = {};
  for (const { path } of await traces(home.path)) {
    if ((await stat(path)).isFile())
      sums[path] = createHash("sha256")
        .update(await readFile(path))
        .digest("hex");
  }
  return sums;
}

test("cc#62250: other programs' files are left as they are: content, times, and nothing beside them", async () => {
  const home = await tempHome();
  const twin = await tempHome();
  const before = await traces(home.path);
  const argvs: string[][] = [[], ["list"], ["list", "--json"], ["show", "Calmon fromour"], ["open", "last"]];
  for (const { path } of Object.values(home.sessions))
    argvs.push(["show", path], ["show", path, "--json", "--limit", "3"], ["check", path], ["open", path]);
  for (const argv of argvs) expect(await run(home, argv)).toMatchObject({ code: 0, err: "" });
  expect(await start(["list"], home.env).ended).toMatchObject({ code: 0, err: "" });
  expect(await traces(home.path)).toEqual(before);
  const relative = (sums: Record<string, string>, root: string): Record<string, string> =>
    Object.fromEntries(Object.entries(sums).map(([path, sum]) => [path.slice(root.length), sum]));
  expect(relative(await contents(home), home.path)).toEqual(relative(await contents(twin), twin.path));
});

test("following leaves the followed file as it is", async () => {
  const path = await longSession(3);
  const running = start(["open", "--plain", path], emptyHomeEnv(await tempFolder()));
  await running.until("answer 3");
  await appendFile(path, `${claudeLines(4).slice(6).join("\n")}\n`);
  const written = await stat(path, { bigint: true });
  await running.until("answer 4");
  running.child.kill("SIGINT");
  await running.ended;
  const after = await stat(path, { bigint: true });
  for (const key of ["atimeNs", "mtimeNs", "ctimeNs", "size", "ino"] as const)
    expect(after[key]).toBe(written[key]);
});

test("a working folder that is gone", async () => {
  const home = await tempHome();
  const gone = join(await tempFolder(), "gone");
  await mkdir(gone);
  const script = `cd "$GONE" && rmdir "$GONE" && "$NODE" "$BIN" list --json`;
  const env = { ...home.env, PATH: process.env["PATH"] ?? "", NODE: process.execPath, BIN: bin, GONE: gone };
  const { code, err } = await new Promise<{ code: number; err: string }>((resolve) => {
    const child = execFile("sh", ["-c", script], { env }, (_error, _out, err) =>
      resolve({ code: child.exitCode ?? -1, err }),
    );
  });
  expect(err).not.toMatch(/\n +at /);
  expect(code).toBe(0);
});
