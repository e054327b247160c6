/** The built program in a real terminal (tmux): typed keys, captured screens. */
import { appendFile, mkdtemp, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { startTmux, type Tmux } from "../support/terminal/tmux.ts";
import { startTraced, type TracedTmux } from "../support/traces.ts";

let folder = "";
let path = "";
let terminal: TracedTmux | undefined;
let serial = 0;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "hansard-e2e-"));
  path = join(folder, "session.jsonl");
  serial = 0;
});

afterEach(async () => {
  const ended = terminal;
  terminal = undefined;
  try {
    await ended?.end();
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
});

function row(fields: object): string {
  const uuid = `u${serial}`;
  const parentUuid = serial === 0 ? null : `u${serial - 1}`;
  serial += 1;
  const envelope = {
    uuid,
    parentUuid,
    isSidechain: false,
    sessionId: "s",
    timestamp: "2026-01-01T10:00:00.000Z",
  };
  return `${JSON.stringify({ ...envelope, ...fields })}\n`;
}

function prompt(text: string): string {
  return row({ type: "user", message: { role: "user", content: text } });
}

function answer(text: string): string {
  const message = {
    id: `m${serial}`,
    role: "assistant",
    model: "a-model",
    stop_reason: "end_turn",
    usage: {},
  };
  return row({ type: "assistant", message: { ...message, content: [{ type: "text", text }] } });
}

async function open(
  options: { columns?: number; rows?: number; flags?: string; after?: string } = {},
): Promise<Tmux> {
  const { columns = 80, rows = 24, flags = "", after = "echo CODE $?; cat" } = options;
  const command = `printf 'before one\\nbefore two\\n'; ${process.execPath} bin/hansard.js open ${path} ${flags}; ${after}`;
  terminal = await startTraced(folder, { columns, rows, command });
  return terminal;
}

const turns = (count: number): string =>
  Array.from({ length: count }, (_, index) => prompt(`question ${index}`) + answer(`answer ${index}`)).join(
    "",
  );

describe("open in tmux", () => {
  test("shows the end, follows what is appended, and leaves the transcript with the way back", async () => {
    await writeFile(path, turns(3));
    const t = await open();
    await t.until((text) => text.includes("answer 2") && text.includes("idle"));
    await appendFile(path, prompt("question 3") + answer("answer 3"));
    await t.until((text) => text.includes("answer 3"));
    await t.keys("q");
    await t.until((text) => text.includes("CODE 0"));
    const lines = await t.lines();
    expect(lines.slice(0, 2)).toEqual(["before one", "before two"]);
    const said = lines
      .filter((line) => /› question|^ {3}answer/.test(line))
      .map((line) => line.replace(/\s+/g, " ").trim());
    expect(said.map((line) => /(?:question|answer) \d/.exec(line)?.[0])).toEqual(
      [0, 1, 2, 3].flatMap((index) => [`question ${index}`, `answer ${index}`]),
    );
    expect(lines.join("\n")).toContain(`hansard open ${path}`);
  });

  test("cc#48002: the history goes to the first prompt and back, over a session longer than memory holds", async () => {
    await writeFile(path, turns(600));
    const t = await open();
    await t.until((text) => text.includes("answer 599"));
    await t.keys("C-o");
    await t.until((text) => text.includes("history"));
    await t.keys("Home");
    await t.until((text) => text.includes("question 0 ") && text.includes("start"));
    await t.keys("/");
    await t.keys("-l", "question 321");
    await t.keys("Enter");
    await t.until((text) => text.includes("question 321"));
    await t.keys("End");
    await t.until((text) => text.includes("answer 599"));
    await t.keys("q");
    await t.until((text) => text.includes("Ctrl+O history"));
  });

  test.each(["adopt", "reprint"])(
    "cc#84247, codex#8642: resized again and again, each line is there once (%s)",
    async (way) => {
      await writeFile(path, turns(30));
      const t = await open({ flags: `--resize ${way}` });
      await t.until((text) => text.includes("answer 29"));
      const sizes = [60, 100, 33, 20, 80, 51];
      for (const [index, columns] of sizes.entries()) {
        await t.resize(columns, 12 + index * 2);
        await appendFile(path, prompt(`question ${30 + index}`) + answer(`answer ${30 + index}`));
        await t.until((text) => text.includes(`answer ${30 + index}`));
      }
      await t.keys("q");
      await t.until((text) => text.includes("CODE 0"));
      const text = (await t.lines()).join("\n");
      const found = [...text.matchAll(/answer (\d+)/g)].map((match) => Number(match[1]));
      expect(found).toEqual(Array.from({ length: 30 + sizes.length }, (_, index) => index));
      if (way === "adopt") expect(text.startsWith("before one\nbefore two")).toBe(true);
    },
  );

  test("Ctrl+Z gives the shell back, fg goes on", async () => {
    await writeFile(path, turns(2));
    const shell = `bash --norc --noprofile -i`;
    terminal = await startTraced(folder, { columns: 80, rows: 24, command: shell, env: { PS1: "$ " } });
    const t = terminal;
    await t.until((text) => /[$#]/.test(text));
    await t.keys("-l", `${process.execPath} bin/hansard.js open ${path}`);
    await t.keys("Enter");
    await t.until((text) => text.includes("answer 1") && text.includes("idle"));
    await t.keys("C-z");
    await t.until((text) => text.includes("Stopped"));
    await t.keys("-l", "echo shell is back");
    await t.keys("Enter");
    await t.until((text) => /^shell is back/m.test(text));
    await appendFile(path, prompt("question 2") + answer("answer 2"));
    await t.keys("-l", "fg");
    await t.keys("Enter");
    await t.until((text) => text.includes("answer 2") && text.includes("idle"));
    await t.keys("q");
    await t.until((text) => /[$#]\s*$/.test(text));
  });

  test.each([
    ["TERM", 143],
    ["HUP", 129],
    ["INT", 130],
  ] as const)("cc#84029: SIG%s ends it with code %i and the terminal sane", async (signal, code) => {
    await writeFile(path, turns(2));
    const t = await open({ after: "echo CODE $?; stty -a | grep -o ' -\\?echo '; cat" });
    await t.until((text) => text.includes("idle"));
    const shell = await t.pid();
    const children = await readFile(`/proc/${shell}/task/${shell}/children`, "utf8");
    process.kill(Number(children.trim().split(" ")[0]), `SIG${signal}`);
    const text = await t.until((shown) => shown.includes(`CODE ${code}`) && /^ echo/m.test(shown));
    expect(text).toContain("answer 1");
  });

  test("the file is only read: its bytes and times stay", async () => {
    await writeFile(path, turns(5));
    const before = await stat(path, { bigint: true });
    const t = await open();
    await t.until((text) => text.includes("idle"));
    await t.keys("C-o");
    await t.until((text) => text.includes("history"));
    await t.keys("Home");
    await t.keys("q");
    await t.keys("q");
    await t.until((text) => text.includes("CODE 0"));
    const after = await stat(path, { bigint: true });
    expect(after.mtimeNs).toBe(before.mtimeNs);
    expect(after.ctimeNs).toBe(before.ctimeNs);
    expect(await readFile(path, "utf8")).toContain("answer 4");
  });

  test("keys from a pipe: a sentence and a documented code", async () => {
    await writeFile(path, turns(1));
    const command = `${process.execPath} bin/hansard.js open ${path} < /dev/null; echo CODE $?; cat`;
    // No session is shown, and so nothing is traced.
    const t = await startTmux({ columns: 80, rows: 24, command });
    try {
      const text = await t.until((shown) => shown.includes("CODE"));
      expect(text).toContain("standard input is not a terminal");
      expect(text).toContain("CODE 8");
    } finally {
      await t.kill();
    }
  });
});
