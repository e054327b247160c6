/** `hansard doctor`: verdicts on logs of every agent, repairs of our own, repaired copies of the others'. */
import {
  appendFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { run } from "../cli/support.ts";
import { fixture } from "../support/fixtures.ts";
import { makeStateHome, prompt, type StateHome, turn } from "./support.ts";

let home: StateHome;
beforeEach(() => {
  home = makeStateHome();
});
afterEach(() => home.remove());

const session = (id: string): Promise<string> =>
  home.session(id, async (log) => {
    for (const text of ["one", "two"]) await log.append(turn(text));
  });

function damage(path: string, word: string): void {
  const bytes = readFileSync(path);
  bytes[bytes.indexOf(word)] = 0x21;
  writeFileSync(path, bytes);
}

interface Finding {
  readonly id: string;
  readonly state: string;
  readonly words: readonly string[];
}
const findings = (out: string): Finding[] =>
  out
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line) as Finding);

describe("our own logs", () => {
  test("sound, torn, damaged and newer ones are told apart; the files stay as they are", async () => {
    const paths = await Promise.all(["a-sound", "b-torn", "c-damaged", "d-newer"].map(session));
    appendFileSync(paths[1] ?? "", '{"v":1,"seq"');
    damage(paths[2] ?? "", "on one");
    appendFileSync(paths[3] ?? "", '{"v":2,"seq":12,"kind":"x"}\n');
    const before = paths.map((path) => readFileSync(path));
    const { code, out } = await run(home, ["doctor", "--json"]);
    expect(code).toBe(7);
    expect(
      findings(out)
        .map(({ id, state }) => [id, state])
        .sort(),
    ).toEqual([
      ["a-sound", "sound"],
      ["b-torn", "torn"],
      ["c-damaged", "damaged"],
      ["d-newer", "newer"],
    ]);
    expect(paths.map((path) => readFileSync(path))).toEqual(before);
  });

  test("a damaged one is repaired on request: what is good is kept, what is not is told, the original stays", async () => {
    const path = await session("s");
    damage(path, "on one");
    const original = readFileSync(path);
    const { code, out } = await run(home, ["doctor", "s", "--repair"]);
    expect(code).toBe(0);
    expect(out).toMatch(/^repaired +hansard +s\n/);
    const kept = readdirSync(dirname(path)).filter((name) => name.startsWith("log.jsonl.damaged-"));
    expect(kept).toHaveLength(1);
    expect(readFileSync(join(dirname(path), kept[0] ?? ""))).toEqual(original);
    expect((await run(home, ["show", "s"])).out).toContain("1 record is missing here: it was damaged");
    expect((await run(home, ["doctor", "s"])).code).toBe(0);
  });

  test("a blob that is gone is damage that no repair brings back", async () => {
    const path = await home.session("s", (log) => log.append(prompt("w".repeat(100_000), "t")));
    rmSync(join(dirname(path), "blobs"), { recursive: true });
    const { code, out } = await run(home, ["doctor", "s", "--repair", "--json"]);
    expect(code).toBe(7);
    expect(findings(out)[0]?.words[0]).toMatch(/^blob [0-9a-f]{64} is not there$/);
  });

  test("a turn that was open when the session was taken from its owner says so, and not that it crashed", async () => {
    const { openLogForWrite } = await import("../../src/log/index.ts");
    const path = await session("s");
    const owner = await openLogForWrite({ sessions: home.sessions, id: "s" });
    await owner.append([{ kind: "turnStarted" }, prompt("go", "t9")]);
    await owner.flush();
    const thief = await openLogForWrite({ sessions: home.sessions, id: "s", steal: true });
    await thief.close();
    await owner.close();
    expect(readFileSync(path, "utf8")).toContain('"kind":"turnInterrupted","turn":3,"reason":"taken-over"');
    expect((await run(home, ["show", "s"])).out).toContain("another process took the session over");
  });

  test("one that is being written is judged all the same, and says by whom", async () => {
    await session("s");
    const { openLogForWrite } = await import("../../src/log/index.ts");
    const writer = await openLogForWrite({ sessions: home.sessions, id: "s" });
    const { out } = await run(home, ["doctor", "s"]);
    expect(out).toContain(`is written now by process ${process.pid}`);
    await writer.close();
  });
});

describe("one that cannot be judged does not hide the others", () => {
  test("an emptied log, without --all too", async () => {
    const [empty = ""] = await Promise.all(["a-empty", "b-sound"].map(session));
    writeFileSync(empty, "");
    const { code, out } = await run(home, ["doctor", "--json"]);
    expect(code).toBe(7);
    expect(findings(out).map(({ id, state }) => [id, state])).toEqual(
      expect.arrayContaining([
        ["a-empty", "damaged"],
        ["b-sound", "sound"],
      ]),
    );
  });

  test("an archive whose list of files is damaged is named, by list too", async () => {
    const folder = join(dirname(home.sessions), "archive", "claude-code", "s1");
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, "archive.json"), '{"v":1,');
    const { code, out } = await run(home, ["doctor", "--all", "--json"]);
    expect(code).toBe(7);
    expect(findings(out)).toMatchObject([
      { id: "s1", state: "unreadable", words: [expect.stringContaining("missing or damaged")] },
    ]);
    expect((await run(home, ["list"])).err).toContain("archive.json: is missing or damaged");
  });

  test("an emptied log named by its id is judged, and the fault told", async () => {
    writeFileSync(await session("a-empty"), "");
    const { code, out } = await run(home, ["doctor", "a-empty", "--json"]);
    expect(code).toBe(7);
    expect(findings(out)).toMatchObject([{ id: "a-empty", state: "damaged", words: ["bytes 0-0: empty"] }]);
  });

  test("a fork of a log that begins with a newer format, or with none, says so", async () => {
    const [newer = "", headless = ""] = await Promise.all(["d-newer", "e-headless"].map(session));
    const lines = readFileSync(newer, "utf8");
    writeFileSync(newer, lines.replaceAll('{"v":1', '{"v":2'));
    writeFileSync(headless, lines.slice(lines.indexOf("\n") + 1));
    const said = [await run(home, ["fork", "d-newer"]), await run(home, ["fork", "e-headless"])];
    expect(said.map(({ code }) => code)).toEqual([5, 7]);
    expect(said[0]?.err).toContain("newer Hansard");
    expect(said[1]?.err).toContain("damaged");
  });

  test("a folder whose log is gone is named", async () => {
    const gone = await session("c-gone");
    writeFileSync(join(dirname(gone), "settings"), "x");
    rmSync(gone);
    const { code, out } = await run(home, ["doctor", "--json"]);
    expect(code).toBe(7);
    expect(findings(out)).toMatchObject([
      { id: "c-gone", state: "damaged", words: [expect.stringContaining("log.jsonl is not there")] },
    ]);
  });
});

describe("logs of other agents", () => {
  const good = fixture("sources/codex/rollout-1.jsonl").toString();
  const lines = good.trimEnd().split("\n");

  test("are only read; with --all every session is looked at", async () => {
    await session("ours");
    const path = home.write(
      ".codex/sessions/2026/01/01/rollout-2026-01-01T00-00-00-x.jsonl",
      `${good}{"torn`,
    );
    const { code, out } = await run(home, ["doctor", "--all", "--json"]);
    expect(code).toBe(7);
    expect(
      findings(out)
        .map(({ id, state }) => [id, state])
        .sort(),
    ).toEqual([
      ["ours", "sound"],
      ["x", "damaged"],
    ]);
    expect(readFileSync(path, "utf8")).toBe(`${good}{"torn`);
    expect(readdirSync(dirname(path))).toHaveLength(1);
  });

  test("a repaired copy holds every record that can be had, whole, and is found sound", async () => {
    const bad = `${lines[0]}\n${lines[1]}${lines[2]}\n\0\0\0\n${lines.slice(3).join("\n")}\n{"torn`;
    const path = home.write("session.jsonl", bad);
    const { code, out } = await run(home, ["doctor", path, "--repair", "--out", "repaired.jsonl"]);
    expect([code, out.slice(0, 8)]).toEqual([0, "repaired"]);
    expect(readFileSync(join(home.path, "repaired.jsonl"), "utf8")).toBe(`${lines.join("\n")}\n`);
    expect(readFileSync(path, "utf8")).toBe(bad);
    expect((await run(home, ["check", "./repaired.jsonl"])).code).toBe(0);
  });

  test("without --out nothing is written, and it is said how", async () => {
    const path = home.write("session.jsonl", `${good}{"torn`);
    const { code, out } = await run(home, ["doctor", path, "--repair"]);
    expect(code).toBe(7);
    expect(out).toContain("--out FILE writes a repaired copy");
  });

  test("a copy goes over no file that is there, and into no folder that is not", async () => {
    const path = home.write("session.jsonl", `${good}{"torn`);
    const there = home.write("there.jsonl", "mine");
    const told = await run(home, ["doctor", path, "--repair", "--out", there]);
    expect([told.code, readFileSync(there, "utf8")]).toEqual([5, "mine"]);
    expect(told.err).toContain("is there already");
    const nowhere = join(home.path, "nowhere", "x.jsonl");
    expect((await run(home, ["doctor", path, "--repair", "--out", nowhere])).code).toBe(5);
    expect(existsSync(nowhere)).toBe(false);
  });
});

test.each([
  [["doctor", "x", "--all"], "Give a session or --all, not both."],
  [["doctor", "--all", "--repair", "--out", "x"], "--out goes with --repair and one session."],
])("%j is refused", async (argv, words) => {
  const told = await run(home, argv);
  expect([told.code, told.err]).toEqual([2, `hansard: ${words}\n`]);
});

test("with nothing to look at it says so", async () => {
  expect((await run(home, ["doctor"])).out).toBe("No sessions found to look at.\n");
});
