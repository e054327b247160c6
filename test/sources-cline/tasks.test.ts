/** Tasks of Cline and Roo Code: what each row means, read in every way, followed while they are rewritten. */
import { join } from "node:path";
import { afterEach, describe, expect, test } from "vitest";
import { classifyRow } from "../../src/sources/cline/message.ts";
import { clineFormat, clineSource } from "../../src/sources/cline/source.ts";
import { expectDocumentLaws, openDocument, told } from "../support/document-agents.ts";
import { saidLines } from "../support/entry-notation.ts";
import { discoverAll, type Home, makeHome } from "../support/home.ts";

let home: Home | undefined;
afterEach(() => {
  home?.remove();
  home = undefined;
});

function said(value: unknown, index = 3): string[] {
  return saidLines(classifyRow({ value, index, start: 0, end: 1 }));
}
let clock = 1_780_000_000_000;
const say = (name: string, text: string, more: object = {}): object => ({
  ts: 7,
  type: "say",
  say: name,
  text,
  ...more,
});
const ask = (name: string, text: string, more: object = {}): object => ({
  ts: 7,
  type: "ask",
  ask: name,
  text,
  ...more,
});
const json = JSON.stringify;

describe("rows", () => {
  test.each<[string, unknown, string[]]>([
    ["the task, in newer versions", say("task", "do it"), ["say/task [start]", "  user: do it"]],
    [
      "what the person answers, with an image and a file",
      say("user_feedback", "so", { images: ["data:image/png;base64,AAAA"], files: ["/w/a.ts"] }),
      ["say/user_feedback [start]", "  user: so [image/png 3] [file /w/a.ts]"],
    ],
    [
      "the person's own edits",
      say("user_feedback_diff", "{}"),
      ["say/user_feedback_diff", "  system/edit: {}"],
    ],
    ["the model's words", say("text", "I look"), ["say/text [start automatic]", '  model: "I look"']],
    [
      "its model",
      say("text", "I look", { modelInfo: { providerId: "p", modelId: "m" } }),
      ['say/text [start automatic] {"model":"m"}', '  model m: "I look"'],
    ],
    ["a thought", say("reasoning", "hm"), ["say/reasoning [start automatic]", "  model: think(hm)"]],
    [
      "a request",
      say("api_req_started", json({ request: "…", tokensIn: 3, tokensOut: 7, cost: 0.5 })),
      ["say/api_req_started [start automatic] message=7", '  model: {"tokensIn":3,"tokensOut":7}'],
    ],
    [
      "a request that is under way",
      say("api_req_started", json({ request: "…" })),
      ["say/api_req_started [start automatic]", "  model:"],
    ],
    [
      "the end",
      say("completion_result", "Done.HAS_CHANGES"),
      ["say/completion_result [start automatic] [end]", '  model: "Done."'],
    ],
    [
      "waiting for the person's word on the end",
      ask("completion_result", ""),
      ["ask/completion_result [end]"],
    ],
    [
      "a question",
      ask("followup", json({ question: "which?", options: ["a", "b"] })),
      ["ask/followup [start automatic] [end]", '  model: "which?\n- a\n- b"'],
    ],
    [
      "a question of Roo Code",
      ask("followup", json({ question: "which?", suggest: [{ answer: "a" }] })),
      ["ask/followup [start automatic] [end]", '  model: "which?\n- a"'],
    ],
    [
      "a question of old",
      ask("followup", "which?"),
      ["ask/followup [start automatic] [end]", '  model: "which?"'],
    ],
    [
      "a plan",
      ask("plan_mode_respond", json({ response: "so" })),
      ["ask/plan_mode_respond [start automatic] [end]", '  model: "so"'],
    ],
    [
      "a request that failed",
      ask("api_req_failed", "overloaded"),
      ["ask/api_req_failed [end]", "  wounded spoke: overloaded"],
    ],
    ["a failure without a word", ask("api_req_failed", ""), ["ask/api_req_failed [end]", "  wounded mute"]],
    [
      "a file read",
      say("tool", json({ tool: "readFile", path: "a.ts", content: "/w/a.ts" })),
      ["say/tool [start automatic]", "  model: call(readFile a.ts → done)"],
    ],
    [
      "a search, with what it found",
      ask("tool", json({ tool: "searchFiles", path: ".", regex: "x", content: "a\nb" })),
      ["ask/tool [start automatic]", "  model: call(searchFiles 7 .)", "  result 7 done: a\nb"],
    ],
    [
      "a file changed",
      say("tool", json({ tool: "editedExistingFile", path: "a.ts", diff: "@@ -1 +1 @@" })),
      ["say/tool [start automatic]", "  model: call(editedExistingFile a.ts ~a.ts → done)"],
    ],
    [
      "a file made",
      say("tool", json({ tool: "newFileCreated", path: "a.ts", content: "x" })),
      ["say/tool [start automatic]", "  model: call(newFileCreated a.ts +a.ts → done)"],
    ],
    [
      "a tool that is no JSON",
      say("tool", "{bad"),
      ["say/tool [start automatic]", "  model: call(tool → done)"],
    ],
    [
      "a command",
      ask("command", "ls"),
      ["ask/command [start automatic]", "  model: call(command ls → done)"],
    ],
    [
      "a command that is still written",
      ask("command", "l", { partial: true }),
      ["ask/command [start automatic]", "  model: call(command l)"],
    ],
    ["what it wrote", say("command_output", "a"), ["say/command_output", "  system/output: a"]],
    [
      "a tool of a server",
      ask("use_mcp_server", json({ serverName: "s", toolName: "t", arguments: '{"q":"x"}' })),
      ["ask/use_mcp_server [start automatic]", "  model: call(s/t x → done)"],
    ],
    [
      "the browser",
      say("browser_action", json({ action: "click", coordinate: "1,2" })),
      ["say/browser_action [start automatic]", "  model: call(browser → done)"],
    ],
    [
      "what it showed",
      say("browser_action_result", json({ logs: "ok", screenshot: "data:image/webp;base64,AAAA" })),
      ["say/browser_action_result", "  system/browser: ok [image/webp 3]"],
    ],
    [
      "a compaction of Roo Code",
      say("condense_context", "", {
        contextCondense: { summary: "so far", prevContextTokens: 900, newContextTokens: 90 },
      }),
      ["say/condense_context [compacted]", "  compacted from 900 tokens: so far"],
    ],
    ["an error", say("error", "bad"), ["say/error", "  system/error: bad"]],
    ["a checkpoint", say("checkpoint_created", "x"), ["say/checkpoint_created"]],
    ["a task that is to go on", ask("resume_task", ""), ["ask/resume_task [end]"]],
    [
      "an unknown kind",
      say("dream", "x"),
      ["say/dream?", '  raw (unknown record kind say/dream): {"say":"dream","text":"x","ts":7,"type":"say"}'],
    ],
    ["no row", 7, ["no type?", "  raw (unknown record kind no type): 7"]],
  ])("%s", (_, value, lines) => {
    expect(said(value)).toEqual(lines);
  });

  test("the first words of a task are the person's", () => {
    expect(said(say("text", "do it"), 0)).toEqual(["say/text [start]", "  user: do it"]);
  });
});

describe("turns of the other file", () => {
  const turn = (role: string, ...content: object[]): object => ({ role, content, ts: 7 });
  const text = (words: string): object => ({ type: "text", text: words });
  test.each<[string, unknown, string[]]>([
    [
      "the task and what stands around it",
      turn("user", text("<task>\ndo it\n</task>"), text("<environment_details>x</environment_details>")),
      [
        "message/user [start]",
        "  system/context: <environment_details>x</environment_details>",
        "  user: do it",
      ],
    ],
    [
      "a result in words",
      turn("user", text("[read_file for 'a.ts'] Result:"), text("<feedback>so</feedback>")),
      ["message/user [start]", "  system/output: [read_file for 'a.ts'] Result:", "  user: so"],
    ],
    [
      "a result of its own",
      turn("user", { type: "tool_result", tool_use_id: "c", content: "a" }),
      ["message/user", "  result c done: a"],
    ],
    [
      "a call in words",
      turn("assistant", text("I look\n<read_file>\n<path>a.ts</path>\n</read_file>")),
      [
        "message/assistant [start automatic]",
        '  model: "I look\n<read_file>\n<path>a.ts</path>\n</read_file>"',
      ],
    ],
    [
      "a call of its own",
      turn("assistant", { type: "tool_use", id: "c", name: "read_file", input: { path: "a.ts" } }),
      ["message/assistant [start automatic]", "  model: call(read_file c a.ts)"],
    ],
    [
      "the end",
      turn("assistant", text("<attempt_completion>\n<result>Done.</result>\n</attempt_completion>")),
      [
        "message/assistant [start automatic] [end]",
        '  model: "<attempt_completion>\n<result>Done.</result>\n</attempt_completion>"',
      ],
    ],
    [
      "a summary",
      { role: "assistant", content: "so far", isSummary: true },
      ["message/assistant [compacted]", "  compacted: so far"],
    ],
    [
      "an unknown role",
      { role: "oracle", content: "x" },
      ["message/oracle?", '  raw (unknown record kind message/oracle): {"content":"x","role":"oracle"}'],
    ],
  ])("%s", (_, value, lines) => {
    expect(said(value)).toEqual(lines);
  });
});

function row(type: "say" | "ask", name: string, text: string, more: object = {}): object {
  clock += 1000;
  return { ts: clock, type, [type]: name, text, ...more };
}
const task = row("say", "text", "one é😀");
const asked = row("say", "api_req_started", json({ request: "…" }));
const answered = { ...asked, text: json({ request: "…", tokensIn: 3, tokensOut: 7 }) };
const half = row("say", "text", "I l", { partial: true });
const full = { ...half, text: "I look", partial: false };
const tool = row("say", "tool", json({ tool: "listFilesTopLevel", path: ".", content: "a\nb" }));
const command = row("ask", "command", "ls", { partial: true });
const ran = { ...command, partial: false };
const output = row("say", "command_output", "a", {});
const finished = row("say", "completion_result", "Done.");
const waits = row("ask", "completion_result", "");
const more = row("say", "user_feedback", "two");
const states = [
  [task],
  [task, asked],
  [task, asked, half],
  [task, answered, full],
  [task, answered, full, tool],
  [task, answered, full, tool, command],
  [task, answered, full, tool, ran, output],
  [task, answered, full, tool, ran, output, finished, waits],
  [task, answered, full, tool, ran, output, finished, waits, more],
].map((rows) => json(rows));
const history = json([
  { role: "user", content: [{ type: "text", text: "<task>\none\n</task>" }] },
  { role: "assistant", content: [{ type: "tool_use", id: "c", name: "read_file", input: { path: "a" } }] },
  { role: "user", content: [{ type: "tool_result", tool_use_id: "c", content: "x" }] },
  { role: "assistant", content: [{ type: "text", text: "Done." }] },
]);

expectDocumentLaws({
  kinds: {
    shown: [
      "ask/command",
      "message/assistant",
      "message/user",
      "say/api_req_started",
      "say/command_output",
      "say/completion_result",
      "say/text",
      "say/tool",
      "say/user_feedback",
    ],
    silent: ["ask/completion_result"],
    unknown: [],
  },
  format: clineFormat,
  sessions: { "a task": states.at(-1) ?? "", "its turns": history, "no row yet": "[]" },
  states,
  promptOf: (words) => json([row("say", "task", words)]),
  largeOf: (count) => json(Array.from({ length: count }, () => row("say", "text", "x".repeat(1000)))),
});

test("entries of a task and of its turns", async () => {
  expect(await told(clineFormat, states.at(-1) ?? "")).toEqual([
    "user: one é😀",
    'model: {"tokensIn":3,"tokensOut":7}',
    'model: "I look"',
    expect.stringMatching(/^model: call\(listFilesTopLevel \d+ \. → done\)$/),
    expect.stringMatching(/^result \d+ done 0ms: a\nb$/),
    "model: call(command ls → done)",
    "system/output: a",
    'model: "Done."',
    "user: two",
  ]);
  expect(await told(clineFormat, states[5] ?? "")).toContain("model: call(command ls → running)");
  expect(await told(clineFormat, history)).toEqual([
    "user: one",
    "model: call(read_file c a → done)",
    "result c done: x",
    'model: "Done."',
  ]);
});

test("what is in a task is counted", async () => {
  const { log } = await openDocument(clineFormat, states.at(-1) ?? "");
  expect(await log.check()).toMatchObject({
    agent: "cline",
    records: 9,
    unknownKinds: [],
    modelMessages: 1,
    outputTokens: 7,
    turns: 2,
    openTurn: true,
  });
});

describe("finding", () => {
  const folder = ".config/Code/User/globalStorage/saoudrizwan.claude-dev/tasks/1780000000000";
  test("a task is a folder, told once by the rows where they are there, else by the turns", async () => {
    home = { ...makeHome(), around: { env: {}, home: "", platform: "linux" } };
    const around = { env: {}, home: home.path, platform: "linux" };
    home.write(`${folder}/ui_messages.json`, states[3] ?? "");
    home.write(`${folder}/api_conversation_history.json`, history);
    home.write(
      `${folder}/task_metadata.json`,
      json({ model_usage: [{ model_id: "m0" }, { model_id: "m" }] }),
    );
    home.write(".cline/data/tasks/two/api_conversation_history.json", history);
    const roo = ".config/VSCodium/User/globalStorage/rooveterinaryinc.roo-cline/tasks/three";
    home.write(`${roo}/ui_messages.json`, states[3] ?? "");
    home.write(`${roo}/history_item.json`, json({ id: "three", task: "do it\nnow", workspace: "/w" }));
    const { found, problems } = await discoverAll(clineSource, around);
    expect(problems).toEqual([]);
    expect(found.map((f) => f.id)).toEqual(["two", "1780000000000", "three"]);
    const infos = await Promise.all(found.map((f) => clineSource.describe(f)));
    expect(infos).toMatchObject([
      { title: "one" },
      {
        path: join(home.path, folder, "ui_messages.json"),
        title: "one é😀",
        model: "m",
        startedAt: 1_780_000_000_000,
      },
      { title: "do it", cwd: "/w" },
    ]);
  });

  test.each([
    ["darwin", {}, join("/h", "Library", "Application Support", "Code", "User")],
    ["win32", { APPDATA: "/a" }, join("/a", "Code", "User")],
    ["linux", { XDG_CONFIG_HOME: "/x" }, join("/x", "Code", "User")],
  ])("where editors keep their settings on %s", (platform, env, start) => {
    const roots = clineSource.roots({ env, home: "/h", platform });
    expect(roots.some((root) => root.startsWith(start))).toBe(true);
  });

  test.each<[string, string, boolean]>([
    ["rows", states[3] ?? "", true],
    ["rows, pretty-printed", JSON.stringify(JSON.parse(states[3] ?? ""), null, 2), true],
    ["rows whose type comes first", json([{ type: "say", ts: 1, say: "text" }]), true],
    ["turns", history, true],
    ["messages of anything else", json([{ role: "user", content: "hi" }]), false],
    ["a list of anything else", json([{ a: 1 }]), false],
    ["an empty file", "", false],
  ])("a task is told from other files: %s", async (_, content, expected) => {
    expect(await clineSource.detects("x", Buffer.from(content))).toBe(expected);
  });
});
