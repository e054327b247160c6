// What a whole log holds: counted by hand for the sessions of the test's home directory, and for damage of every kind.
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { decompress } from "fzstd";
import { expect, test } from "vitest";
import type { CheckReport } from "../../src/sources/index.ts";
import type { HomeSessionName } from "../support/agents-home.ts";
import { fixture, fixturePath } from "../support/fixtures.ts";
import { claudeLines, run, tempFolder, tempHome } from "./support.ts";

const around = { env: {}, home: "/nowhere", platform: "linux" };

async function check(path: string): Promise<{ code: number; report: CheckReport }> {
  const { code, out, err } = await run({ around }, ["check", path, "--json"]);
  expect(err).toBe("");
  expect(out.endsWith("\n")).toBe(true);
  expect(out.trimEnd()).not.toContain("\n");
  return { code, report: JSON.parse(out) as CheckReport };
}

const counted: Readonly<Partial<Record<HomeSessionName, Partial<CheckReport>>>> = {
  titled: {
    agent: "claude-code",
    records: 16,
    recordKinds: { "last-prompt": 1, "custom-title": 1, assistant: 5, user: 2 },
    toolCalls: 1,
    toolResults: 1,
    unansweredCalls: 0,
    orphanResults: 0,
    compactions: 0,
    modelMessages: 2,
    outputTokens: 814,
    turns: 1,
  },
  compacted: {
    agent: "claude-code",
    records: 54,
    recordKinds: { "system/compact_boundary": 1, "system/stop_hook_summary": 2, "file-history-snapshot": 3 },
    toolCalls: 10,
    toolResults: 10,
    unansweredCalls: 0,
    orphanResults: 0,
    compactions: 1,
    // A message that the agent's own program made up (`<synthetic>`) is none of the model's.
    modelMessages: 12,
    outputTokens: 2038,
    turns: 2,
  },
  pending: {
    agent: "claude-code",
    records: 6,
    toolCalls: 1,
    toolResults: 0,
    unansweredCalls: 1,
    modelMessages: 1,
    outputTokens: 4,
    turns: 1,
    openTurn: true,
  },
  codexLive: {
    agent: "codex",
    records: 45,
    recordKinds: {
      session_meta: 1,
      turn_context: 1,
      "event_msg/token_count": 4,
      "response_item/reasoning": 4,
    },
    toolCalls: 11,
    toolResults: 11,
    unansweredCalls: 0,
    orphanResults: 0,
    compactions: 0,
    outputTokens: 1059,
    turns: 1,
    openTurn: true,
  },
  codexArchived: { agent: "codex", records: 40, toolCalls: 8, toolResults: 8, outputTokens: 1314, turns: 1 },
  codexCold: { agent: "codex", records: 60, toolCalls: 13, toolResults: 13, outputTokens: 2433, turns: 1 },
  geminiChat: { agent: "gemini", toolCalls: 1, toolResults: 1, unansweredCalls: 0, modelMessages: 3 },
  geminiLegacy: { agent: "gemini", toolCalls: 3, toolResults: 3, modelMessages: 4 },
  pi: {
    agent: "pi",
    records: 13,
    toolCalls: 4,
    toolResults: 4,
    unansweredCalls: 0,
    orphanResults: 0,
    compactions: 0,
    modelMessages: 4,
    outputTokens: 113 + 72 + 205 + 56,
    turns: 1,
    openTurn: false,
  },
  messages: { agent: "messages", toolCalls: 1, toolResults: 1, unansweredCalls: 0, compactions: 1 },
};

test.each(Object.keys(counted) as HomeSessionName[])(
  "%s: one object with the counts of its records",
  async (name) => {
    const home = await tempHome();
    const { code, report } = await check(home.sessions[name].path);
    expect(code).toBe(0);
    expect(report).toMatchObject({ damaged: [], recovered: 0, ...counted[name] });
    expect(report.bytes).toBeGreaterThan(0);
    expect(Object.values(report.recordKinds).reduce((sum, n) => sum + n, 0)).toBe(report.records);
  },
);

test("two objects glued on one line: both are found, the line is named, the exit code says damage", async () => {
  const path = fixturePath("lines/glued-objects.jsonl");
  const text = await readFile(path, "utf8");
  const { code, report } = await check(path);
  expect(code).toBe(7);
  expect(report).toMatchObject({
    agent: "claude-code",
    records: 4,
    recovered: 2,
    recordKinds: { assistant: 3, "file-history-snapshot": 1 },
    modelMessages: 1,
    outputTokens: 1,
  });
  const line = text.split("\n").find((each) => each.includes('}{"')) ?? "";
  const start = Buffer.byteLength(text.slice(0, text.indexOf(line)));
  expect(report.damaged).toEqual([{ start, end: start + Buffer.byteLength(line), reason: "glued" }]);
});

const lines = claudeLines(3);
const [first, second, third, ...rest] = lines as [string, string, string, ...string[]];
const join0 = (...parts: readonly string[]): string => `${parts.join("\n")}\n`;

interface Harm {
  readonly bytes: Buffer;
  readonly records: number;
  readonly recovered: number;
  readonly reasons: readonly string[];
}

const harms: Readonly<Record<string, Harm>> = {
  "a record torn in the middle of the log": {
    bytes: Buffer.from(join0(first, second.slice(0, 80), third, ...rest)),
    records: 5,
    recovered: 0,
    reasons: ["torn"],
  },
  "a torn tail": {
    bytes: Buffer.from(join0(...lines) + first.slice(0, 60)),
    records: 6,
    recovered: 0,
    reasons: ["torn"],
  },
  "a run of NUL bytes after a crash": {
    bytes: Buffer.concat([
      Buffer.from(join0(first, second)),
      Buffer.alloc(500),
      Buffer.from(`\n${join0(third, ...rest)}`),
    ]),
    records: 6,
    recovered: 0,
    reasons: ["nul-run"],
  },
  "a stub with the next record on its line": {
    bytes: Buffer.from(join0(first, second.slice(0, 57) + second, third, ...rest)),
    records: 6,
    recovered: 1,
    reasons: ["resync"],
  },
  "an invalid byte in a string": {
    bytes: Buffer.concat([
      Buffer.from(first.slice(0, first.indexOf("prompt"))),
      Buffer.from([0xff]),
      Buffer.from(first.slice(first.indexOf("prompt"))),
      Buffer.from(`\n${join0(second, third, ...rest)}`),
    ]),
    records: 6,
    recovered: 1,
    reasons: ["invalid-utf8"],
  },
  "a line that is no JSON": {
    bytes: Buffer.from(join0(first, "oops, not a record", second, third, ...rest)),
    records: 6,
    recovered: 0,
    reasons: ["not-json"],
  },
  "one object over several lines": {
    bytes: Buffer.from(join0(first, JSON.stringify(JSON.parse(second), null, 2), third, ...rest)),
    records: 6,
    recovered: 1,
    reasons: ["split"],
  },
};

test.each(Object.keys(harms))("%s is named with its bytes", async (name) => {
  const harm = harms[name] as Harm;
  const path = join(await tempFolder(), "harmed.jsonl");
  await writeFile(path, harm.bytes);
  const { code, report } = await check(path);
  expect(code).toBe(7);
  expect(report).toMatchObject({ records: harm.records, recovered: harm.recovered });
  expect([...new Set(report.damaged.map((note) => note.reason))]).toEqual(harm.reasons);
  for (const { start, end } of report.damaged) {
    expect(start).toBeLessThan(end);
    expect(end).toBeLessThanOrEqual(harm.bytes.length);
  }
  // Whoever is not asked for JSON is told the same, and every record is still shown.
  const text = await run({ around }, ["check", path]);
  expect(text.code).toBe(7);
  for (const { start, end, reason } of report.damaged)
    expect(text.out).toContain(`bytes ${start}-${end}: ${reason}`);
  const shown = await run({ around }, ["show", path]);
  expect(shown.code).toBe(0);
  expect(shown.out).toContain("answer 3");
});

const sound: Readonly<Record<string, string>> = {
  "no line feed at the end": lines.join("\n"),
  "line ends of another system": `${lines.join("\r\n")}\r\n`,
  "separators that other readers take for line ends": join0(
    ...lines.map((line) => line.replace("answer", "a\u2028n\u2029s\u0085wer")),
  ),
  "blank lines": lines.join("\n\n"),
};

test.each(Object.keys(sound))("%s: no damage", async (name) => {
  const path = join(await tempFolder(), "sound.jsonl");
  await writeFile(path, sound[name] as string);
  const { code, report } = await check(path);
  expect({ code, damaged: report.damaged, records: report.records }).toEqual({
    code: 0,
    damaged: [],
    records: 6,
  });
});

test("a record of a kind nobody knows is counted, named, and no damage", async () => {
  const path = join(await tempFolder(), "newer.jsonl");
  await writeFile(path, join0(...lines, JSON.stringify({ type: "mood-ring", colour: "green" })));
  const { code, report } = await check(path);
  expect(code).toBe(0);
  expect(report).toMatchObject({ records: 7, unknownKinds: ["mood-ring"], recordKinds: { "mood-ring": 1 } });
  const { out } = await run({ around }, ["check", path]);
  expect(out).toMatch(/1 +mood-ring +\(unknown: shown as it is\)/);
});

test("more damage than is told one by one is counted; JSON has it all", async () => {
  const path = join(await tempFolder(), "wreck.jsonl");
  const wrecks = 60;
  const rows: string[] = [];
  for (let n = 0; n < wrecks; n += 1) rows.push(lines[n % 2] as string, "not json");
  await writeFile(path, join0(...rows));
  expect((await check(path)).report.damaged).toHaveLength(wrecks);
  const { out } = await run({ around }, ["check", path]);
  expect(out).toContain(`damage           ${wrecks} places`);
  expect(out).toContain("… 10 more (--json lists all)");
});

test("text: every count once, none that was not recorded", async () => {
  const home = await tempHome();
  const { code, out } = await run(home, ["check", home.sessions.compacted.path]);
  expect(code).toBe(0);
  for (const line of [
    "agent            claude-code",
    "records          54",
    "compactions      1",
    "no damage",
  ])
    expect(out).toContain(`  ${line}\n`);
  expect(out).not.toMatch(/undefined|NaN/);
});

test("the packed rollout counts as the plain one does", async () => {
  const { report } = await check(fixturePath("home/codex-cold.jsonl.zst"));
  const path = join(await tempFolder(), "plain.jsonl");
  await writeFile(path, decompress(fixture("home/codex-cold.jsonl.zst")));
  const plain = (await check(path)).report;
  expect({ ...report, path: "", bytes: 0 }).toEqual({ ...plain, path: "", bytes: 0 });
});
