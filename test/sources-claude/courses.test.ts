/** How transcripts go, by name: turns, branches, compactions, subagents, repeats, and the faults met in the field. */
import { describe, expect, test } from "vitest";
import { createClaudeClassifier } from "../../src/sources/claude-code/classifier.ts";
import type { CheckReport, TailPage } from "../../src/sources/types.ts";
import { entryLine } from "../support/entry-notation.ts";
import { lines } from "../support/home.ts";
import { expectFollowed, expectOneReading, followPieces, logOf } from "../support/log-laws.ts";

const classifier = createClaudeClassifier(false);

function row(uuid: string, parentUuid: string | null, type: string, more: object): object {
  const seconds = Number.parseInt(uuid.replace(/\D/g, "") || "0", 10);
  const timestamp = new Date(1_780_000_000_000 + seconds * 1000).toISOString();
  return { parentUuid, isSidechain: false, type, uuid, timestamp, sessionId: "s", ...more };
}
const prompt = (uuid: string, parent: string | null, text: string, more: object = {}): object =>
  row(uuid, parent, "user", { message: { role: "user", content: text }, ...more });
const say = (uuid: string, parent: string | null, id: string, block: object, message: object = {}): object =>
  row(uuid, parent, "assistant", {
    message: { id, model: "m", content: [block], ...message },
    requestId: `req ${id}`,
  });
const text = (uuid: string, parent: string | null, id: string, words: string, message: object = {}): object =>
  say(uuid, parent, id, { type: "text", text: words }, message);
const call = (uuid: string, parent: string, id: string, tool: string): object =>
  say(uuid, parent, id, { type: "tool_use", id: tool, name: "Bash", input: { command: "ls" } });
const result = (uuid: string, parent: string, tool: string, words = "ok"): object =>
  row(uuid, parent, "user", {
    message: { content: [{ type: "tool_result", tool_use_id: tool, content: words }] },
  });

async function tailOf(log: string | Buffer, limit = 1000): Promise<TailPage> {
  return (await logOf("claude-code", classifier, Buffer.from(log))).tail(limit);
}
async function told(log: string | Buffer): Promise<string[]> {
  return (await tailOf(log)).entries.map(entryLine);
}
async function check(log: string | Buffer): Promise<CheckReport> {
  return (await logOf("claude-code", classifier, Buffer.from(log))).check();
}
/** Read by pages, from either end, and byte by byte as it grows: always the same. */
async function expectOne(log: string | Buffer, mayReset = false): Promise<void> {
  const bytes = Buffer.from(log);
  await expectOneReading("claude-code", classifier, bytes);
  const places = Array.from({ length: 40 }, (_, i) => i / 40);
  await expectFollowed("claude-code", classifier, bytes, places, mayReset);
}

describe("turns", () => {
  const open = lines(prompt("1", null, "go"), call("2", "1", "a", "t1"), call("3", "2", "a", "t2"));

  test("calls without a result run while the turn is open", async () => {
    const page = await tailOf(open + lines(result("4", "3", "t2")));
    expect(page).toMatchObject({ turnOpen: true, live: [page.entries[1]?.name] });
    expect(page.entries.map(entryLine)).toEqual([
      "user: go",
      "model m: call(Bash t1 ls → running)",
      "model m: call(Bash t2 ls → done)",
      "result t2 done 1000ms: ok",
    ]);
  });

  test.each<[string, object]>([
    ["an interruption", prompt("5", "4", "[Request interrupted by user]")],
    ["the time of the turn", row("5", "4", "system", { subtype: "turn_duration" })],
    ["hooks that ran after it", row("5", "4", "system", { subtype: "stop_hook_summary" })],
    ["an answer that says so", text("5", "4", "b", "done", { stop_reason: "end_turn" })],
    ["a failed request", row("5", "4", "assistant", { isApiErrorMessage: true, message: { content: [] } })],
  ])("%s ends the turn, and no call of it is answered any more", async (_, end) => {
    const page = await tailOf(open + lines(end));
    expect(page).toMatchObject({ turnOpen: false, live: [] });
    expect(page.entries.slice(1, 3).map(entryLine)).toEqual([
      "model m: call(Bash t1 ls → unanswered)",
      "model m: call(Bash t2 ls → unanswered)",
    ]);
    await expectOne(open + lines(end));
  });

  test("a call that a later message left behind is not running (claude-code-trace#67)", async () => {
    const log = open + lines(result("4", "3", "t2"), text("5", "4", "b", "so"));
    expect((await told(log))[1]).toBe("model m: call(Bash t1 ls → unanswered)");
    await expectOne(log);
  });

  test("a last answer without an end may go on; what follows it ends that", async () => {
    const log = lines(prompt("1", null, "go"), text("2", "1", "a", "I thi"));
    const page = await tailOf(log);
    expect(page).toMatchObject({ turnOpen: true, live: [page.entries[1]?.name] });
    expect((await tailOf(log + lines(call("3", "2", "a", "t1")))).live).toHaveLength(1);
    await expectOne(log + lines(call("3", "2", "a", "t1"), result("4", "3", "t1")));
  });

  test("work without a prompt is no turn of a person", async () => {
    const log = lines(
      prompt("1", null, "go"),
      text("2", "1", "a", "done", { stop_reason: "end_turn" }),
      prompt("3", "2", "<task-notification><summary>ready</summary></task-notification>"),
      text("4", "3", "b", "I see", { stop_reason: "end_turn" }),
    );
    expect(await check(log)).toMatchObject({ turns: 1, openTurn: false, modelMessages: 2 });
    await expectOne(log);
  });

  test("a prompt typed while the agent worked is shown once, in its place, and opens no turn", async () => {
    const queued = "and the docs";
    const log = lines(
      prompt("1", null, "go"),
      call("2", "1", "a", "t1"),
      { type: "queue-operation", operation: "enqueue", content: queued, sessionId: "s" },
      result("3", "2", "t1"),
      { type: "queue-operation", operation: "remove", content: queued, sessionId: "s" },
      row("4", "3", "attachment", {
        attachment: { type: "queued_command", prompt: queued, commandMode: "prompt" },
      }),
      text("5", "4", "b", "both", { stop_reason: "end_turn" }),
    );
    expect((await told(log)).filter((line) => line.includes(queued))).toEqual([`user: ${queued}`]);
    expect(await check(log)).toMatchObject({ turns: 1 });
    await expectOne(log);
  });
});

describe("branches", () => {
  test("cc#35024: progress, results and attachments beside an answer are no branches", async () => {
    const log = lines(
      prompt("1", null, "go"),
      call("2", "1", "a", "t1"),
      call("3", "2", "a", "t2"),
      row("4", "2", "progress", { data: { type: "bash_progress" } }),
      result("5", "2", "t1"),
      row("6", "4", "attachment", { attachment: { type: "hook_success", content: "ok" } }),
      result("7", "3", "t2"),
      text("8", "7", "b", "done", { stop_reason: "end_turn" }),
    );
    expect((await told(log)).filter((line) => line.startsWith("(left)"))).toEqual([]);
    await expectOne(log);
  });

  test("cc#88597: a turn taken up again leaves the other one in its place, marked", async () => {
    const log = lines(
      prompt("1", null, "go"),
      text("2", "1", "a", "one", { stop_reason: "end_turn" }),
      prompt("3", "2", "left"),
      text("4", "3", "b", "left too", { stop_reason: "end_turn" }),
      prompt("5", "2", "taken"),
      text("6", "5", "c", "on", { stop_reason: "end_turn" }),
    );
    expect(await told(log)).toEqual([
      "user: go",
      'model m: "one"',
      "(left) user: left",
      '(left) model m: "left too"',
      "user: taken",
      'model m: "on"',
    ]);
    await expectOne(log);
  });

  test("the first prompt taken up again, under a row that begins the session", async () => {
    const log = lines(
      row("1", null, "attachment", { attachment: { type: "hook_success", content: "hello" } }),
      prompt("2", "1", "left"),
      result("3", "2", "t9"),
      prompt("4", "1", "taken"),
      prompt("5", "4", "more"),
    );
    expect((await told(log)).slice(0, 3)).toEqual([
      "system/hook: hello",
      "(left) user: left",
      "(left) result t9 done: ok",
    ]);
    await expectOne(log);
  });

  test("a branch that was left and is taken up again lies on the path; a follower begins anew", async () => {
    const log = lines(
      prompt("1", null, "go"),
      prompt("2", "1", "first"),
      prompt("3", "1", "second"),
      prompt("4", "2", "first again"),
    );
    expect(await told(log)).toEqual(["user: go", "user: first", "(left) user: second", "user: first again"]);
    await expectOne(log, true);
    const ends = [...log].flatMap((c, i) => (c === "\n" ? [i + 1] : []));
    const pieces = ends.map((end, i) => Buffer.from(log.slice(ends[i - 1] ?? 0, end)));
    expect((await followPieces("claude-code", classifier, pieces)).resets).toBe(1);
  });

  test("an unfinished text on a branch that is left stays marked as left", async () => {
    const log = lines(prompt("0", null, "go"), text("1", "0", "a", "I thi"), prompt("2", "0", "again"));
    expect((await told(log))[1]).toBe('(left) model m: "I thi"');
    await expectOne(log);
  });

  test("a stub before a record that leaves a branch lies on the branch", async () => {
    const log = `${lines(row("1", null, "attachment", { attachment: { type: "x" } }), prompt("2", "1", "left"))}{"type":"us${lines(prompt("3", "1", "taken"), result("4", "3", "t"))}`;
    expect((await tailOf(log)).entries.map((e) => e.offPath ?? false)).toEqual([
      false,
      true,
      true,
      false,
      false,
    ]);
    await expectOne(log);
  });

  test("cc#46603, cc#58554: a parent that was never written joins a row to the one before it", async () => {
    const log = lines(
      prompt("1", null, "go"),
      text("2", "never-written", "a", "one", { stop_reason: "end_turn" }),
      prompt("3", "never-written", "two"),
      text("4", "3", "b", "three", { stop_reason: "end_turn" }),
    );
    expect((await told(log)).filter((line) => line.startsWith("(left)"))).toEqual([]);
    await expectOne(log);
  });

  test("cc#22245: rows whose ids form a circle are read to the end", async () => {
    const log = lines(
      prompt("1", "3", "go"),
      text("2", "1", "a", "one"),
      prompt("3", "2", "two"),
      prompt("1", "3", "go again"),
      prompt("3", "1", "and again"),
    );
    expect(await told(log)).toHaveLength(5);
    await expectOne(log, true);
  });

  test("cc#24304: a snapshot's id that equals a message's is no parent", async () => {
    const log = lines(
      prompt("1", null, "go"),
      { type: "file-history-snapshot", messageId: "1", snapshot: { messageId: "1" } },
      text("2", "1", "a", "one", { stop_reason: "end_turn" }),
    );
    expect(await told(log)).toEqual(["user: go", 'model m: "one"']);
  });
});

describe("messages", () => {
  test("ccusage#389, ccusage#901, cc#6805: one message over many rows counts once, with its greatest count", async () => {
    const usage = (n: number): object => ({ usage: { output_tokens: n } });
    const log = lines(
      prompt("1", null, "go"),
      text("2", "1", "a", "x", usage(9)),
      say("3", "2", "a", { type: "tool_use", id: "t1", name: "Bash", input: {} }, usage(159)),
      result("4", "3", "t1"),
      say("5", "4", "a", { type: "tool_use", id: "t2", name: "Bash", input: {} }, usage(9)),
      text("6", "5", "b", "y", usage(1)),
    );
    expect(await check(log)).toMatchObject({ modelMessages: 2, outputTokens: 160, toolCalls: 2 });
  });

  test("without a request's id, the message's own is enough (tokscale#563)", async () => {
    const bare = (uuid: string, n: number): object =>
      row(uuid, null, "assistant", {
        message: { id: "a", content: [{ type: "text", text: uuid }], usage: { output_tokens: n } },
      });
    expect(await check(lines(bare("1", 3), bare("2", 7)))).toMatchObject({
      modelMessages: 1,
      outputTokens: 7,
    });
  });

  test("a block told again as it grew is one entry under its first name", async () => {
    const log = lines(
      prompt("1", null, "go"),
      text("2", "1", "a", "I th"),
      text("3", "2", "a", "I think"),
      text("4", "3", "a", "I think so"),
      text("5", "4", "a", "and more"),
    );
    const { entries } = await tailOf(log);
    expect(entries.map(entryLine)).toEqual(["user: go", 'model m: "I think so"', 'model m: "and more"']);
    expect(entries[1]?.name).toBe(`@${log.indexOf("\n") + 1}`);
    await expectOne(log);
  });

  test("qwen#8382, qwen#9573: a call's id that is used again never hides the second call", async () => {
    const log = lines(
      prompt("1", null, "go"),
      call("2", "1", "a", "t0"),
      result("3", "2", "t0", "first"),
      say("4", "3", "b", { type: "tool_use", id: "t0", name: "Bash", input: { command: "pwd" } }),
    );
    expect(await told(log)).toEqual([
      "user: go",
      "model m: call(Bash t0 ls → done)",
      "result t0 done 1000ms: first",
      "model m: call(Bash t0 pwd → running)",
    ]);
    await expectOne(log);
  });

  test("a call with a used id takes no result that stands above it, wherever a page begins", async () => {
    const again = say("8", "7", "d", { type: "tool_use", id: "t0", name: "Bash", input: { command: "pwd" } });
    const log = lines(
      call("1", "0", "a", "t0"),
      prompt("2", "1", "go"),
      prompt("3", "2", "on"),
      call("4", "3", "b", "t3"),
      prompt("5", "4", "and on"),
      result("6", "5", "t0"),
      result("7", "6", "t3"),
      again,
    );
    const running = "model m: call(Bash t0 pwd → running)";
    for (const limit of [1, 2, 3, 100])
      expect((await tailOf(log, limit)).entries.map(entryLine).at(-1)).toBe(running);
    await expectOne(log);
  });

  test("cc#45286, cop#3183, goose#2951, oc#5750: parallel calls of which one was never answered", async () => {
    const log = lines(
      prompt("1", null, "go"),
      call("2", "1", "a", "t1"),
      call("3", "2", "a", "t2"),
      result("4", "3", "t2"),
      prompt("5", "4", "next"),
    );
    expect((await told(log))[1]).toBe("model m: call(Bash t1 ls → unanswered)");
    expect(await check(log)).toMatchObject({
      toolCalls: 2,
      toolResults: 1,
      unansweredCalls: 1,
      orphanResults: 0,
    });
  });

  test("cass#85: content as text or as a list, old rows without most fields", async () => {
    const log = lines(
      { type: "user", uuid: "1", isSidechain: false, message: { role: "user", content: "old" } },
      {
        type: "assistant",
        uuid: "2",
        isSidechain: false,
        costUSD: 0.1,
        message: { role: "assistant", content: "answer" },
      },
    );
    expect(await told(log)).toEqual(["user: old", 'model: "answer"']);
  });
});

describe("compactions", () => {
  const before = lines(prompt("1", null, "go"), text("2", "1", "a", "one", { stop_reason: "end_turn" }));
  const compaction = (boundary: string, summary: string, parent: string): string =>
    lines(
      row(boundary, null, "system", {
        subtype: "compact_boundary",
        logicalParentUuid: parent,
        compactMetadata: { trigger: "manual", preTokens: 100 },
      }),
      prompt(summary, boundary, "This session is being continued…", { isCompactSummary: true }),
    );

  test("cc#18204, omp#6068: a divider with its summary; all rows stay", async () => {
    const log = before + compaction("3", "4", "2") + lines(prompt("5", "4", "next"));
    expect(await told(log)).toEqual([
      "user: go",
      'model m: "one"',
      "compacted from 100 tokens by manual: This session is being continued…",
      "user: next",
    ]);
    expect(await check(log)).toMatchObject({ compactions: 1, turns: 2 });
    await expectOne(log);
  });

  test("goose#4529: two compactions with nothing between are two dividers", async () => {
    const log = before + compaction("3", "4", "2") + compaction("5", "6", "4");
    expect((await told(log)).slice(2)).toEqual([
      "compacted from 100 tokens by manual: This session is being continued…",
      "compacted from 100 tokens by manual: This session is being continued…",
    ]);
    await expectOne(log);
  });

  test("a compaction in the middle of a turn does not end it", async () => {
    const log =
      lines(prompt("1", null, "go"), call("2", "1", "a", "t1"), result("3", "2", "t1")) +
      compaction("4", "5", "3");
    expect(await tailOf(log)).toMatchObject({ turnOpen: true });
  });

  test("what went on before a compaction is not left, though its parent is not in the file", async () => {
    const log = before + compaction("3", "4", "elsewhere") + lines(prompt("5", "4", "next"));
    expect((await told(log)).filter((line) => line.startsWith("(left)"))).toEqual([]);
    await expectOne(log);
  });
});

describe("subagents in the same file", () => {
  const side = { isSidechain: true, agentId: "helper" };
  const log = lines(
    prompt("1", null, "go"),
    call("2", "1", "a", "t1"),
    prompt("3", null, "explore", side),
    row("4", "3", "assistant", {
      ...side,
      message: { id: "x", model: "m2", content: [{ type: "text", text: "found" }], stop_reason: "end_turn" },
    }),
    result("5", "2", "t1"),
  );

  test("their rows carry their name and do not end the session's turn", async () => {
    const page = await tailOf(log);
    expect(page.entries.map((e) => e.subagent)).toEqual([
      undefined,
      undefined,
      "helper",
      "helper",
      undefined,
    ]);
    expect(page.turnOpen).toBe(true);
    await expectOne(log);
  });

  test("they count as messages, not as turns", async () => {
    expect(await check(log)).toMatchObject({ turns: 1, modelMessages: 2, openTurn: true });
  });
});

describe("damage", () => {
  const one = lines(prompt("1", null, "one"));
  const two = lines(prompt("2", "1", "two"));
  const three = lines(prompt("3", "2", "three"));
  const users = async (log: Buffer): Promise<string[]> =>
    (await told(log)).filter((line) => line.startsWith("user"));
  const bytes = (...parts: readonly (string | Buffer)[]): Buffer =>
    Buffer.concat(parts.map((p) => Buffer.from(p)));

  test.each<[string, Buffer, readonly string[]]>([
    ["cc#49876: a run of NUL bytes", bytes(one, Buffer.alloc(300), "\n", two), ["nul-run"]],
    [
      "cc#50347: a record cut in half, good ones after it",
      bytes(one, three.slice(0, 40), "\n", two),
      ["torn"],
    ],
    ["cc#53821: a last record cut short", bytes(one, two, three.slice(0, 40)), ["torn"]],
    ["cc#52387: a stub and the next record on one line", bytes('{"a":1,"b', one, two), ["resync", "resync"]],
    ["two records glued on one line", bytes(one.trimEnd(), two), ["glued"]],
    ["cop#2649: a record split by a raw line feed", bytes(one, two.replace("two", "t\nwo")), ["split"]],
    ["a byte order mark", bytes("\ufeff", one, two), ["bom"]],
    ["CRLF", bytes(one.replace("\n", "\r\n"), two.replace("\n", "\r\n")), []],
    ["cop#2490: U+2028 inside a string", bytes(one, two.replace("two", "t\u2028wo")), []],
    ["git-ai#2268: a byte that is no UTF-8", bytes(one, two.replace("two", "t"), ""), []],
  ])("%s", async (_, log, reasons) => {
    const page = await tailOf(log);
    expect(page.damage.map((d) => d.reason)).toEqual(reasons);
    expect((await users(log)).length).toBe(2);
    await expectOne(log);
  });

  test("git-ai#2268: one bad byte costs one character", async () => {
    const log = bytes(
      one.replace("one", "o").slice(0, one.indexOf('"one"') + 2),
      Buffer.from([0xff]),
      `"}}\n`,
      two,
    );
    expect(log.includes(0xff)).toBe(true);
    expect((await users(log)).at(-1)).toBe("user: two");
  });

  test("cc#68325: a lone surrogate between letters stays one character", async () => {
    const log = one.replace("one", "\\uac00\\ud99c\\uac00");
    expect(await told(log)).toEqual(["user: 가\ud99c가"]);
  });

  test("codex#37719, claudecodeui#1099: images are told by kind and size, never kept", async () => {
    const data = "A".repeat(4_000_000);
    const log = lines(
      row("1", null, "user", {
        message: {
          content: [
            { type: "text", text: "look" },
            { type: "image", source: { type: "base64", media_type: "image/png", data } },
          ],
        },
      }),
    );
    const { entries } = await tailOf(log);
    expect(entries).toMatchObject([
      { body: "look", attachments: [{ mediaType: "image/png", bytes: 3_000_000 }] },
    ]);
    expect(JSON.stringify(entries).length).toBeLessThan(500);
  });
});
