/** What each kind of record of a rollout means. */
import { describe, expect, test } from "vitest";
import { codexClassifier } from "../../src/sources/codex/classifier.ts";
import { saidLines } from "../support/entry-notation.ts";

function said(value: unknown, start = 100): string[] {
  return saidLines(codexClassifier.classify({ type: "record", start, end: start + 1, value }));
}

function item(payload: object): unknown {
  return { timestamp: "2026-06-01T00:00:00.000Z", type: "response_item", payload };
}

function event(payload: object): unknown {
  return { timestamp: "2026-06-01T00:00:00.000Z", type: "event_msg", payload };
}

const text = (type: string, words: string): object => ({ type, text: words });

describe("items", () => {
  test.each<[string, object, string[]]>([
    [
      "an answer",
      {
        type: "message",
        role: "assistant",
        phase: "final_answer",
        content: [text("output_text", "Done."), text("output_text", "Bye.")],
      },
      ["response_item/message", '  model: "Done." "Bye."'],
    ],
    [
      "an answer of a time without phases may be the last of its turn",
      { type: "message", role: "assistant", content: [text("output_text", "Done.")] },
      ["response_item/message [end implied]", '  model: "Done."'],
    ],
    [
      "a prompt is told by its event, not by its item",
      { type: "message", role: "user", content: [text("input_text", "do it")] },
      ["response_item/message"],
    ],
    [
      "injected context is a note",
      {
        type: "message",
        role: "user",
        content: [
          text("input_text", "# AGENTS.md instructions for /x\n\nbe kind"),
          text("input_text", "<environment_context>\n</environment_context>"),
        ],
      },
      [
        "response_item/message",
        "  system/instructions: # AGENTS.md instructions for /x\n\nbe kind\n\n<environment_context>\n</environment_context>",
      ],
    ],
    [
      "instructions of the developer",
      {
        type: "message",
        role: "developer",
        content: [text("input_text", "<permissions instructions>ask</permissions instructions>")],
      },
      [
        "response_item/message",
        "  system/instructions: <permissions instructions>ask</permissions instructions>",
      ],
    ],
    [
      "reasoning with a summary",
      {
        type: "reasoning",
        summary: [text("summary_text", "**Plan**"), text("summary_text", "go")],
        encrypted_content: "gAAA",
      },
      ["response_item/reasoning", "  model: think(**Plan**\n\ngo)"],
    ],
    [
      "reasoning that is only encrypted says nothing",
      { type: "reasoning", summary: [], encrypted_content: "gAAA" },
      ["response_item/reasoning"],
    ],
    [
      "raw reasoning",
      { type: "reasoning", summary: [], content: [text("reasoning_text", "hm")] },
      ["response_item/reasoning", "  model: think(hm)"],
    ],
    [
      "a command",
      {
        type: "function_call",
        name: "exec_command",
        call_id: "c1",
        arguments: '{"cmd":"ls -l","workdir":"/x"}',
      },
      ["response_item/function_call [start implied automatic]", "  model: call(exec_command c1 ls -l)"],
    ],
    [
      "a command in a shell's words",
      {
        type: "function_call",
        name: "shell",
        call_id: "c1",
        arguments: '{"command":["bash","-lc","make test"]}',
      },
      ["response_item/function_call [start implied automatic]", "  model: call(shell c1 make test)"],
    ],
    [
      "arguments that are cut are shown as they are",
      { type: "function_call", name: "exec_command", call_id: "c1", arguments: '{"cmd":"ls' },
      ["response_item/function_call [start implied automatic]", '  model: call(exec_command c1 {"cmd":"ls)'],
    ],
    [
      "a call of a server's tool",
      {
        type: "function_call",
        namespace: "mcp__db",
        name: "_query",
        call_id: "c1",
        arguments: '{"query":"select 1"}',
      },
      ["response_item/function_call [start implied automatic]", "  model: call(mcp__db__query c1 select 1)"],
    ],
    [
      "what is typed into a running process",
      {
        type: "function_call",
        name: "write_stdin",
        call_id: "c1",
        arguments: '{"session_id":7,"chars":"y\\n"}',
      },
      [
        "response_item/function_call [start implied automatic]",
        '  model: call(write_stdin c1 process 7: "y\\n")',
      ],
    ],
    [
      "a plan's current step",
      {
        type: "function_call",
        name: "update_plan",
        call_id: "c1",
        arguments: '{"plan":[{"step":"read","status":"completed"},{"step":"write","status":"in_progress"}]}',
      },
      ["response_item/function_call [start implied automatic]", "  model: call(update_plan c1 write)"],
    ],
    [
      "a patch with its files",
      {
        type: "custom_tool_call",
        name: "apply_patch",
        call_id: "c1",
        input:
          "*** Begin Patch\n*** Update File: a.ts\n@@\n-x\n+y\n*** Add File: b.ts\n+new\n*** Delete File: c.ts\n*** End Patch",
      },
      [
        "response_item/custom_tool_call [start implied automatic]",
        "  model: call(apply_patch c1 a.ts and 2 more ~a.ts +b.ts +c.ts)",
      ],
    ],
    [
      "a shell call of the provider's own",
      {
        type: "local_shell_call",
        call_id: "c1",
        status: "completed",
        action: { type: "exec", command: ["ls"] },
      },
      ["response_item/local_shell_call [start implied automatic]", "  model: call(local_shell c1 ls)"],
    ],
    [
      "a web search ends in its own record",
      { type: "web_search_call", status: "completed", action: { type: "search", query: "cats" } },
      ["response_item/web_search_call [start implied automatic]", "  model: call(web_search cats → done)"],
    ],
    [
      "a search for tools, and what it found",
      {
        type: "tool_search_output",
        call_id: "c1",
        status: "completed",
        tools: [{ type: "namespace", name: "db", tools: [{ name: "query" }] }, { name: "solo" }],
      },
      ["response_item/tool_search_output", "  result c1 done: db: query\nsolo"],
    ],
    [
      "an image that was made",
      {
        type: "image_generation_call",
        id: "i1",
        status: "completed",
        revised_prompt: "a cat",
        result: "AAAA",
      },
      ["response_item/image_generation_call", '  model: "a cat" [image/png 3]'],
    ],
    [
      "a message between agents",
      { type: "agent_message", author: "/lead/a", content: [text("input_text", "found it")] },
      ["response_item/agent_message", "  /lead/a: found it"],
    ],
    [
      "encrypted context of a compaction says nothing",
      { type: "compaction", encrypted_content: "gAAA" },
      ["response_item/compaction"],
    ],
    [
      "a snapshot for undo says nothing",
      { type: "ghost_snapshot", ghost_commit: {} },
      ["response_item/ghost_snapshot"],
    ],
    [
      "an unknown item is shown",
      { type: "dream", z: 1, a: 2 },
      [
        "response_item/dream?",
        '  raw (unknown record kind response_item/dream): {"a":2,"type":"dream","z":1}',
      ],
    ],
  ])("%s", (_, payload, lines) => {
    expect(said(item(payload))).toEqual(lines);
  });
});

describe("outputs", () => {
  test.each<[string, unknown, string]>([
    [
      "with a header",
      "Chunk ID: ab\nWall time: 0.5000 seconds\nProcess exited with code 2\nOriginal token count: 3\nOutput:\nno\n",
      "result c1 failed 2 500ms: no\n",
    ],
    [
      "with the older header",
      "Exit code: 0\nWall time: 1.2 seconds\nOutput:\nok",
      "result c1 done 0 1200ms: ok",
    ],
    [
      "of a process that goes on",
      "Wall time: 1 seconds\nProcess running with session ID 7\nOutput:\nhi",
      "result c1 done 1000ms (goes on as process 7): hi",
    ],
    ["a text that only looks like one", "Output:\nx", "result c1 done: Output:\nx"],
    [
      "JSON of the older tools",
      '{"output":"bad","metadata":{"exit_code":1,"duration_seconds":0.25}}',
      "result c1 failed 1 250ms: bad",
    ],
    ["JSON that is the command's own", '{"output":"bad"}', 'result c1 done: {"output":"bad"}'],
    [
      "refused by the person",
      "exec command rejected by user",
      "result c1 denied: exec command rejected by user",
    ],
    [
      "stopped by the person",
      "aborted by user after 3.2s",
      "result c1 interrupted: aborted by user after 3.2s",
    ],
    [
      "in pieces, with an image",
      [text("input_text", "see"), { type: "input_image", image_url: "data:image/png;base64,AAAA" }],
      "result c1 done: see [image/png 3]",
    ],
    ["that failed", { content: "boom", success: false }, "result c1 failed: boom"],
    ["of another shape", 42, "result c1 done: 42"],
    ["that is absent", undefined, "result c1 done: "],
  ])("%s", (_, output, line) => {
    expect(said(item({ type: "function_call_output", call_id: "c1", output }))[1]).toBe(`  ${line}`);
  });
});

describe("events", () => {
  test.each<[string, object, string[]]>([
    [
      "a prompt",
      {
        type: "user_message",
        message: "do it",
        images: ["data:image/png;base64,AAAA"],
        local_images: ["/tmp/a.png"],
      },
      ["event_msg/user_message [start implied]", "  user: do it [image/png 3] [image/* /tmp/a.png]"],
    ],
    ["a turn begins", { type: "task_started", turn_id: "t" }, ["event_msg/task_started [start]"]],
    [
      "a turn begins, by its newer name",
      { type: "turn_started", turn_id: "t" },
      ["event_msg/turn_started [start]"],
    ],
    [
      "a turn ends",
      { type: "task_complete", turn_id: "t", last_agent_message: "x" },
      ["event_msg/task_complete [end]"],
    ],
    [
      "a turn ends, by its newer name",
      { type: "turn_complete", turn_id: "t" },
      ["event_msg/turn_complete [end]"],
    ],
    [
      "a turn is stopped",
      { type: "turn_aborted", reason: "interrupted" },
      ["event_msg/turn_aborted [end]", "  wounded interrupted"],
    ],
    [
      "a turn is replaced",
      { type: "turn_aborted", reason: "replaced" },
      ["event_msg/turn_aborted [end]", "  wounded interrupted: replaced"],
    ],
    [
      "an error",
      { type: "error", message: "stream cut" },
      ["event_msg/error [end]", "  wounded spoke: stream cut"],
    ],
    [
      "a refusal",
      { type: "error", message: "401 Unauthorized" },
      ["event_msg/error [end]", "  wounded refused: 401 Unauthorized"],
    ],
    ["the answer again", { type: "agent_message", message: "Done." }, ["event_msg/agent_message"]],
    ["reasoning again", { type: "agent_reasoning", text: "hm" }, ["event_msg/agent_reasoning"]],
    ["a compaction again", { type: "context_compacted" }, ["event_msg/context_compacted"]],
    [
      "a command's end again",
      { type: "exec_command_end", call_id: "c1", exit_code: 0 },
      ["event_msg/exec_command_end"],
    ],
    [
      "the running total of tokens",
      { type: "token_count", info: { total_token_usage: { output_tokens: 12 } }, rate_limits: null },
      ["event_msg/token_count total=12"],
    ],
    ["limits alone", { type: "token_count", info: null, rate_limits: {} }, ["event_msg/token_count"]],
    [
      "turns undone",
      { type: "thread_rolled_back", num_turns: 2 },
      ["event_msg/thread_rolled_back [back 2]", "  system/rollback: The last 2 turns were undone."],
    ],
    [
      "the session's name",
      { type: "thread_name_updated", thread_name: "Fix it" },
      ['event_msg/thread_name_updated {"title":"Fix it","titled":true}'],
    ],
    [
      "a review's findings",
      {
        type: "exited_review_mode",
        review_output: { overall_explanation: "Fine.", findings: [{ title: "Nit", body: "x" }] },
      },
      ["event_msg/exited_review_mode", "  system/review: Fine.\n- Nit\nx"],
    ],
    [
      "a plan",
      { type: "item_completed", item: { type: "Plan", text: "1. go" } },
      ["event_msg/item_completed", "  system/plan: 1. go"],
    ],
    [
      "any other finished item repeats one",
      { type: "item_completed", item: { type: "AgentMessage", text: "x" } },
      ["event_msg/item_completed"],
    ],
    ["a warning", { type: "warning", message: "slow" }, ["event_msg/warning", "  system/warning: slow"]],
    [
      "an unknown event is shown",
      { type: "dream" },
      ["event_msg/dream?", '  raw (unknown record kind event_msg/dream): {"type":"dream"}'],
    ],
  ])("%s", (_, payload, lines) => {
    expect(said(event(payload))).toEqual(lines);
  });
});

describe("other records", () => {
  const meta = {
    id: "t1",
    timestamp: "2026-06-01T00:00:00.000Z",
    cwd: "/work",
    cli_version: "0.140.0",
    git: { branch: "main" },
    base_instructions: { text: "long" },
  };
  const facts = '{"startedAt":1780272000000,"cwd":"/work","agentVersion":"0.140.0","gitBranch":"main"}';

  test("the first header tells of the session, also behind a byte order mark", () => {
    const record = { timestamp: "2026-06-01T00:00:00.000Z", type: "session_meta", payload: meta };
    expect(said(record, 0)).toEqual([`session_meta ${facts}`]);
    expect(said(record, 3)).toEqual([`session_meta ${facts}`]);
  });

  test("a later header is a copy of another session's, and tells nothing", () => {
    expect(said({ type: "session_meta", payload: meta })).toEqual(["session_meta"]);
  });

  test("hermes#68510: a subagent belongs to the session that spawned it; a fork is a session of its own", () => {
    const info = (payload: object): unknown =>
      codexClassifier.classify({ type: "record", start: 0, end: 1, value: { type: "session_meta", payload } })
        .info;
    const spawn = { subagent: { thread_spawn: { parent_thread_id: "p", depth: 1 } } };
    expect(info({ id: "t", source: spawn })).toEqual({ parentId: "p" });
    expect(info({ id: "t", source: spawn, forked_from_id: "p" })).toEqual({
      parentId: "p",
      forkedFromId: "p",
    });
    expect(info({ id: "t", parent_thread_id: "p", source: { subagent: "review" } })).toEqual({
      parentId: "p",
    });
    expect(info({ id: "t", forked_from_id: "p", source: "cli" })).toEqual({ forkedFromId: "p" });
  });

  test("a turn's context tells where it works and with which model", () => {
    expect(
      said({ type: "turn_context", payload: { cwd: "/other", model: "m", user_instructions: "x" } }),
    ).toEqual(['turn_context {"cwd":"/other","model":"m"}']);
  });

  test("a compaction is a divider; the history it repeats is not told again", () => {
    const history = [{ type: "message", role: "user", content: [text("input_text", "old")] }];
    expect(said({ type: "compacted", payload: { message: "so far", replacement_history: history } })).toEqual(
      ["compacted [compacted]", "  compacted: so far"],
    );
  });

  test("state of the world says nothing, a message between agents does", () => {
    expect(said({ type: "world_state", payload: { a: 1 } })).toEqual(["world_state"]);
    expect(said({ type: "inter_agent_communication", payload: { content: "hi" } })).toEqual([
      "inter_agent_communication",
      "  system/agent: hi",
    ]);
  });

  test("an unknown kind and a value that is no object are shown", () => {
    expect(said({ type: "dream", payload: {} })).toEqual([
      "dream?",
      '  raw (unknown record kind dream): {"payload":{},"type":"dream"}',
    ]);
    expect(said([1])).toEqual(["not an object?", "  raw (unknown record kind not an object): [1]"]);
  });
});

describe("the oldest files, without envelopes", () => {
  test.each<[string, unknown, number, string[]]>([
    [
      "header",
      { id: "t", timestamp: "2025-05-01T00:00:00.000Z", instructions: null, git: {} },
      0,
      ['header {"startedAt":1746057600000}'],
    ],
    ["state", { record_type: "state" }, 50, ["state"]],
    [
      "a prompt is told by its item",
      {
        type: "message",
        role: "user",
        content: [
          text("input_text", "<environment_context>\nx\n</environment_context>"),
          text("input_text", "do it"),
        ],
      },
      50,
      [
        "message [start implied]",
        "  system/context: <environment_context>\nx\n</environment_context>",
        "  user: do it",
      ],
    ],
    [
      "an answer",
      { type: "message", role: "assistant", id: null, content: [text("output_text", "ok")] },
      50,
      ["message [end implied]", '  model: "ok"'],
    ],
    [
      "a call",
      { type: "function_call", name: "shell", arguments: '{"command":["ls"]}', call_id: "c" },
      50,
      ["function_call [start implied automatic]", "  model: call(shell c ls)"],
    ],
  ])("%s", (_, value, start, lines) => {
    expect(said(value, start)).toEqual(lines);
  });
});
