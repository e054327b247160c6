/** The log on a real disk, with real processes. */
import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import {
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import {
  checkLog,
  createLog,
  forkLog,
  type LogRecord,
  openLogForRead,
  openLogForWrite,
  readHolder,
  takeOverLog,
} from "../../src/log/index.ts";
import { randomFrom } from "./sim-disk.ts";

const id = "real";
let root: string;
let sessions: string;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), "hansard-log-"));
  sessions = join(root, "state", "sessions");
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

async function messages(): Promise<string[]> {
  const reader = await openLogForRead({ sessions, id });
  const ids: string[] = [];
  for await (const item of reader.items()) {
    if (item.type === "record" && item.record.kind === "message")
      ids.push((item.record as LogRecord & { readonly turnId: string }).turnId);
  }
  await reader.close();
  return ids;
}

/** A writing process; `lines` grows with what it acknowledged. */
function startWriter(name: string): {
  readonly child: ChildProcess;
  readonly lines: string[];
  waitFor(count: number): Promise<void>;
} {
  const child = spawn(process.execPath, ["test/log/child-writer.js", sessions, id, name], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const lines: string[] = [];
  const reader = createInterface({ input: child.stdout });
  reader.on("line", (line) => lines.push(line));
  return {
    child,
    lines,
    async waitFor(count) {
      while (lines.length < count) await once(reader, "line");
    },
  };
}

describe("kill -9", () => {
  test("in the midst of writing, again and again: what was said to be written is there, in order", async () => {
    await (await createLog({ sessions, id })).close();
    const random = randomFrom(11);
    const acknowledged: string[] = [];
    for (let round = 0; round < 5; round += 1) {
      const { child, lines, waitFor } = startWriter(`r${round}`);
      await waitFor(2 + Math.floor(random() * 60));
      child.kill("SIGKILL");
      await once(child, "close");
      acknowledged.push(...lines.slice(1));
    }
    const writer = await openLogForWrite({ sessions, id });
    expect((await writer.close()).saved).toBe(true);
    const found = await messages();
    // The process may have written one more than it came to say.
    expect(found.filter((turnId) => acknowledged.includes(turnId))).toEqual(acknowledged);
    expect(found.length - acknowledged.length).toBeLessThanOrEqual(5);
    expect(await checkLog(join(sessions, id, "log.jsonl"))).toMatchObject({
      damageCount: 0,
      invalidCount: 0,
    });
  });

  test("of the writer: one who waits takes over within a second", async () => {
    await (await createLog({ sessions, id })).close();
    const { child, waitFor } = startWriter("owner");
    await waitFor(2);
    expect(await readHolder({ sessions, id })).toMatchObject({ state: "held", owner: { pid: child.pid } });
    await expect(openLogForWrite({ sessions, id })).rejects.toMatchObject({
      code: "busy",
      details: { pid: child.pid },
    });
    const taking = takeOverLog({ sessions, id });
    const closed = once(child, "close");
    child.kill("SIGKILL");
    await closed;
    const from = performance.now();
    // The waiting timer keeps no process alive; the test does.
    const alive = setInterval(() => {}, 1000);
    const writer = await taking;
    clearInterval(alive);
    expect(performance.now() - from).toBeLessThan(1000);
    await writer.close();
  });
});

describe("on a real disk", () => {
  const spec = { kind: "message", turnId: "m1", role: "user", payload: "L".repeat(70_000) } as const;

  test("files are their owner's only, payloads read-only; a fork shares them", async () => {
    const writer = await createLog({ sessions, id });
    await writer.append(spec);
    await writer.close();
    const mode = (...names: readonly string[]): string =>
      (statSync(join(sessions, ...names)).mode & 0o777).toString(8);
    const [blob = ""] = readdirSync(join(sessions, id, "blobs"));
    expect([mode(), mode(id), mode(id, "log.jsonl"), mode(id, "blobs"), mode(id, "blobs", blob)]).toEqual([
      "700",
      "700",
      "600",
      "700",
      "400",
    ]);
    await forkLog({ sessions, parentId: id, parentTurnId: "m1", id: "child" });
    expect(statSync(join(sessions, "child", "blobs", blob)).nlink).toBe(2);
    expect(readdirSync(sessions).sort()).toEqual(["child", id]);
    expect(readdirSync(join(sessions, id)).sort()).toEqual(["blobs", "lease", "log.jsonl"]);
  });

  test("a link, a folder and a missing file in the log's place are told in a sentence", async () => {
    await (await createLog({ sessions, id })).close();
    const log = join(sessions, id, "log.jsonl");
    rmSync(log);
    await expect(openLogForWrite({ sessions, id })).rejects.toMatchObject({ code: "not-found" });
    symlinkSync("/dev/null", log);
    await expect(openLogForWrite({ sessions, id })).rejects.toMatchObject({
      code: "not-writable",
      message: expect.stringContaining("the log is a symbolic link") as string,
    });
    await expect(openLogForRead({ sessions, id })).rejects.toMatchObject({ code: "not-a-log" });
    rmSync(log);
    await expect(checkLog(join(sessions, id))).rejects.toMatchObject({ code: "not-a-log" });
  });

  test("a state folder that cannot be made: the session is held in memory, says so, and is saved once it can be", async () => {
    const state = join(root, "state");
    writeFileSync(state, "in the way");
    const notices: string[] = [];
    const writer = await createLog({
      sessions,
      id,
      listener: { notice: ({ code }) => void notices.push(code) },
    });
    expect(await writer.append(spec)).toMatchObject({ state: "held" });
    rmSync(state);
    expect(await writer.close()).toMatchObject({ saved: true });
    expect(notices).toEqual(["write-failed", "write-recovered"]);
    expect(await messages()).toEqual(["m1"]);
  });
});

test("the example of the documentation runs as it stands", async () => {
  const page = readFileSync("docs/log.md", "utf8");
  const code = /```ts\n([\s\S]*?)```/.exec(page)?.[1] ?? "";
  expect(code.split("\n").length).toBeLessThan(20);
  const example = code
    .replace('"hansard/log"', JSON.stringify(join(process.cwd(), "dist/log/index.js")))
    .replace('"/var/lib/agent/sessions"', JSON.stringify(sessions));
  const run = spawnSync(process.execPath, ["--input-type=module", "-e", example], { encoding: "utf8" });
  expect(run.stderr).toBe("");
  expect(run.stdout).toMatch(/^Session [\w-]+ is saved\.\n/);
  expect(run.stdout).toContain("hello");
});
