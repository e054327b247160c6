/** Generates sessions of any size in the agents' own formats, with a known first prompt and a known last line. */

import { once } from "node:events";
import { createWriteStream } from "node:fs";
import { mkdir } from "node:fs/promises";
import { dirname } from "node:path";
import { createRandom } from "./random.ts";

/** The last line of the first prompt: a title holds only the first one. */
export const firstPromptEnd = "FIRST-PROMPT ends here";
const firstPrompt = `the generated session\n${firstPromptEnd}`;
export const lastLine = "LAST-LINE of the generated session";

type Turn = (n: number) => string[];

function claudeTurns(seed: number): Turn {
  const random = createRandom(seed);
  let serial = 0;
  let parent: string | null = null;
  const uuid = (): string => {
    serial += 1;
    return `${serial.toString(16).padStart(8, "0")}-0000-4000-8000-000000000000`;
  };
  const chain = (type: string, rest: object): string => {
    const id = uuid();
    const line = JSON.stringify({
      parentUuid: parent,
      isSidechain: false,
      userType: "external",
      cwd: "/home/user/project",
      sessionId: "0b5c0000-0000-4000-8000-000000000000",
      version: "2.1.0",
      gitBranch: "main",
      type,
      uuid: id,
      timestamp: new Date(1_780_000_000_000 + serial * 1000).toISOString(),
      ...rest,
    });
    parent = id;
    return line;
  };
  return (n) => {
    const lines = [
      chain("user", {
        message: { role: "user", content: n === 0 ? firstPrompt : `turn ${n}: ${random.words(20)}` },
      }),
    ];
    const steps = 1 + random.below(6);
    for (let step = 0; step < steps; step += 1) {
      const message = `msg_${n}_${step}`;
      const usage = {
        input_tokens: 1000,
        output_tokens: 100 + random.below(400),
        cache_read_input_tokens: 50_000,
      };
      const assistant = (block: object, stop: string | null): string =>
        chain("assistant", {
          requestId: `req_${n}_${step}`,
          message: {
            id: message,
            type: "message",
            role: "assistant",
            model: "claude-bench-1",
            content: [block],
            stop_reason: stop,
            usage,
          },
        });
      lines.push(assistant({ type: "text", text: random.words(30 + random.below(120)) }, null));
      const call = `toolu_${n}_${step}`;
      lines.push(
        assistant(
          { type: "tool_use", id: call, name: "Bash", input: { command: `run ${random.words(4)}` } },
          "tool_use",
        ),
      );
      const size = random.below(20) === 0 ? 6000 : 60 + random.below(600);
      const output = random.words(size);
      lines.push(
        chain("user", {
          message: { role: "user", content: [{ type: "tool_result", tool_use_id: call, content: output }] },
          toolUseResult: { stdout: output, stderr: "", interrupted: false, isImage: false },
        }),
      );
    }
    lines.push(
      chain("assistant", {
        requestId: `req_${n}_end`,
        message: {
          id: `msg_${n}_end`,
          type: "message",
          role: "assistant",
          model: "claude-bench-1",
          content: [{ type: "text", text: random.words(80) }],
          stop_reason: "end_turn",
          usage: { input_tokens: 900, output_tokens: 90 },
        },
      }),
    );
    lines.push(chain("system", { subtype: "turn_duration", durationMs: 1000 * (n % 90), isMeta: false }));
    return lines;
  };
}

function codexTurns(seed: number): Turn {
  const random = createRandom(seed);
  let at = 1_780_000_000_000;
  let total = 0;
  const line = (type: string, payload: object): string => {
    at += 1000;
    return JSON.stringify({ timestamp: new Date(at).toISOString(), type, payload });
  };
  return (n) => {
    const lines: string[] = [];
    if (n === 0) {
      lines.push(
        line("session_meta", {
          id: "0b5c0000-0000-4000-8000-000000000001",
          timestamp: new Date(at).toISOString(),
          cwd: "/home/user/project",
          originator: "codex_cli_rs",
          cli_version: "0.140.0",
          source: "cli",
          model_provider: "openai",
          base_instructions: { text: random.words(3000) },
        }),
      );
    }
    const turn = `turn-${n}`;
    const prompt = n === 0 ? firstPrompt : `turn ${n}: ${random.words(20)}`;
    lines.push(line("event_msg", { type: "task_started", turn_id: turn }));
    lines.push(
      line("turn_context", {
        turn_id: turn,
        cwd: "/home/user/project",
        approval_policy: "never",
        model: "gpt-bench-1",
        effort: "high",
        summary: "auto",
      }),
    );
    lines.push(
      line("response_item", {
        type: "message",
        role: "user",
        content: [{ type: "input_text", text: prompt }],
      }),
    );
    lines.push(line("event_msg", { type: "user_message", message: prompt, images: [] }));
    const steps = 1 + random.below(6);
    for (let step = 0; step < steps; step += 1) {
      lines.push(
        line("response_item", {
          type: "reasoning",
          summary: [{ type: "summary_text", text: random.words(20) }],
          encrypted_content: random.words(80),
        }),
      );
      const call = `call_${n}_${step}`;
      lines.push(
        line("response_item", {
          type: "function_call",
          name: "exec_command",
          arguments: JSON.stringify({ cmd: `run ${random.words(4)}` }),
          call_id: call,
        }),
      );
      const size = random.below(20) === 0 ? 6000 : 60 + random.below(600);
      lines.push(
        line("response_item", {
          type: "function_call_output",
          call_id: call,
          output: `Wall time: 0.5 seconds\nProcess exited with code 0\nOutput:\n${random.words(size)}`,
        }),
      );
      total += 300;
      lines.push(
        line("event_msg", {
          type: "token_count",
          info: {
            total_token_usage: {
              input_tokens: total * 10,
              cached_input_tokens: total * 8,
              output_tokens: total,
              reasoning_output_tokens: 0,
              total_tokens: total * 11,
            },
            last_token_usage: { input_tokens: 3000, output_tokens: 300 },
            model_context_window: 258_400,
          },
          rate_limits: null,
        }),
      );
    }
    const answer = random.words(80);
    lines.push(line("event_msg", { type: "agent_message", message: answer }));
    lines.push(
      line("response_item", {
        type: "message",
        role: "assistant",
        content: [{ type: "output_text", text: answer }],
      }),
    );
    lines.push(line("event_msg", { type: "task_complete", turn_id: turn, last_agent_message: answer }));
    return lines;
  };
}

/** Writes a session of at least `bytesMin` at `path`; answers its size. The last text block of it ends with `lastLine`. */
export async function generate(
  agent: "claude-code" | "codex",
  path: string,
  bytesMin: number,
  seed = 1,
): Promise<number> {
  await mkdir(dirname(path), { recursive: true });
  const turns = agent === "claude-code" ? claudeTurns(seed) : codexTurns(seed);
  const out = createWriteStream(path, { highWaterMark: 1 << 22 });
  let bytes = 0;
  const put = async (lines: readonly string[]): Promise<void> => {
    const chunk = `${lines.join("\n")}\n`;
    bytes += Buffer.byteLength(chunk);
    if (!out.write(chunk)) await once(out, "drain");
  };
  let n = 0;
  let batch: string[] = [];
  let pending = 0;
  while (bytes + pending < bytesMin) {
    const lines = turns(n++);
    for (const line of lines) pending += line.length + 1;
    batch.push(...lines);
    if (pending > 1 << 20) {
      await put(batch);
      batch = [];
      pending = 0;
    }
  }
  await put([...batch, ...(agent === "claude-code" ? claudeEnding() : codexEnding())]);
  out.end();
  await once(out, "finish");
  return bytes;
}

function claudeEnding(): string[] {
  const base = {
    isSidechain: false,
    userType: "external",
    cwd: "/home/user/project",
    sessionId: "0b5c0000-0000-4000-8000-000000000000",
    version: "2.1.0",
  };
  return [
    JSON.stringify({
      ...base,
      parentUuid: null,
      type: "user",
      uuid: "ffffffff-0000-4000-8000-000000000001",
      timestamp: "2027-01-01T00:00:00.000Z",
      message: { role: "user", content: "the last prompt" },
    }),
    JSON.stringify({
      ...base,
      parentUuid: "ffffffff-0000-4000-8000-000000000001",
      type: "assistant",
      uuid: "ffffffff-0000-4000-8000-000000000002",
      timestamp: "2027-01-01T00:00:01.000Z",
      requestId: "req_last",
      message: {
        id: "msg_last",
        type: "message",
        role: "assistant",
        model: "claude-bench-1",
        content: [{ type: "text", text: lastLine }],
        stop_reason: "end_turn",
        usage: { input_tokens: 1, output_tokens: 9 },
      },
    }),
  ];
}

function codexEnding(): string[] {
  const line = (type: string, payload: object): string =>
    JSON.stringify({ timestamp: "2027-01-01T00:00:00.000Z", type, payload });
  return [
    line("event_msg", { type: "task_started", turn_id: "turn-last" }),
    line("response_item", {
      type: "message",
      role: "user",
      content: [{ type: "input_text", text: "the last prompt" }],
    }),
    line("event_msg", { type: "user_message", message: "the last prompt", images: [] }),
    line("event_msg", { type: "agent_message", message: lastLine }),
    line("response_item", {
      type: "message",
      role: "assistant",
      content: [{ type: "output_text", text: lastLine }],
    }),
    line("event_msg", { type: "task_complete", turn_id: "turn-last", last_agent_message: lastLine }),
  ];
}
