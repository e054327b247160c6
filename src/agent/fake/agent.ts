/**
 * A scripted agent: speaks the Agent Client Protocol as its scenario says, and misbehaves where the scenario does. It writes its messages
 * itself, because a well-behaved library would not let it misbehave.
 */
import { existsSync, watch } from "node:fs";
import { basename, dirname } from "node:path";
import type { Readable, Writable } from "node:stream";
import { fieldsOf, listOf } from "../input.ts";
import { readWire } from "../wire.ts";
import { callTool } from "./mcp-client.ts";
import type { Act, Scenario } from "./scenario.ts";

export interface FakeSurroundings {
  readonly stdin: Readable;
  readonly stdout: Writable;
  readonly stderr: Writable;
  readonly exit: (code: number) => void;
  readonly after: (ms: number, run: () => void) => void;
}

const defaultOptions = [
  { optionId: "allow", name: "Allow", kind: "allow_once" },
  { optionId: "always", name: "Always allow", kind: "allow_always" },
  { optionId: "reject", name: "Reject", kind: "reject_once" },
];

class Stopped extends Error {
  readonly reason: string;
  readonly usage: unknown;
  constructor(reason: string, usage?: unknown) {
    super(reason);
    this.reason = reason;
    this.usage = usage;
  }
}

class Failed extends Error {
  readonly code: number;
  constructor(code: number, message: string) {
    super(message);
    this.code = code;
  }
}

/** Runs a scenario until its input ends. */
export async function runFake(scenario: Scenario, around: FakeSurroundings): Promise<void> {
  await new FakeAgent(scenario, around).run();
}

class FakeAgent {
  readonly #scenario: Scenario;
  readonly #around: FakeSurroundings;
  readonly #answers = new Map<number, (result: unknown) => void>();
  #nextId = 0;
  #prompts = 0;
  #sessionId = "";
  #cancel: AbortController | undefined;
  #promptText = "";
  #sessions = 0;
  /** The first MCP server that the client offered. */
  #server: unknown;

  constructor(scenario: Scenario, around: FakeSurroundings) {
    this.#scenario = scenario;
    this.#around = around;
  }

  async run(): Promise<void> {
    for await (const item of readWire(this.#around.stdin as AsyncIterable<Uint8Array>)) {
      if (item.type !== "message") continue;
      const { method, id, params } = item.value;
      if (typeof method !== "string") {
        this.#answers.get(id as number)?.(item.value["result"]);
        this.#answers.delete(id as number);
      } else if (id === undefined) {
        if (method === "session/cancel") this.#cancel?.abort();
      } else void this.#answer(id, method, fieldsOf(params) ?? {});
    }
  }

  async #answer(id: unknown, method: string, params: { readonly [key: string]: unknown }): Promise<void> {
    try {
      await this.#write({ jsonrpc: "2.0", id, result: await this.#serve(method, params) });
    } catch (error) {
      if (error instanceof Stopped) {
        const usage = error.usage === undefined ? {} : { usage: error.usage };
        await this.#write({ jsonrpc: "2.0", id, result: { stopReason: error.reason, ...usage } });
      } else if (error instanceof Failed)
        await this.#write({ jsonrpc: "2.0", id, error: { code: error.code, message: error.message } });
      else throw error;
    }
  }

  async #serve(method: string, params: { readonly [key: string]: unknown }): Promise<unknown> {
    const { modes, load, resume, login, name, version, start } = this.#scenario;
    const { protocolVersion = 1 } = this.#scenario;
    switch (method) {
      case "initialize":
        await this.#act(start ?? []);
        return {
          protocolVersion,
          agentCapabilities: {
            loadSession: load === true,
            ...(resume === true ? { sessionCapabilities: { resume: {} } } : {}),
          },
          agentInfo: { name: name ?? "fake", title: name ?? "Fake", version: version ?? "1.0.0" },
        };
      case "session/new":
        if (login === true) throw new Failed(-32000, "Authentication required");
        this.#sessions += 1;
        this.#sessionId = `fake-${process.pid}${this.#sessions === 1 ? "" : `-${this.#sessions}`}`;
        this.#server = listOf(params["mcpServers"])[0];
        this.#afterwards();
        return { sessionId: this.#sessionId, ...(modes === undefined ? {} : { modes }) };
      case "session/load":
      case "session/resume": {
        const offered = method === "session/load" ? load : resume;
        if (offered !== true) throw new Failed(-32601, `no method ${method}`);
        this.#sessionId = String(params["sessionId"]);
        this.#server = listOf(params["mcpServers"])[0];
        if (method === "session/load") {
          await this.#update({ sessionUpdate: "user_message_chunk", content: text("what was asked before") });
          await this.#update({ sessionUpdate: "agent_message_chunk", content: text("what was said before") });
        }
        this.#afterwards();
        return modes === undefined ? {} : { modes };
      }
      case "session/set_mode":
        return {};
      case "session/prompt":
        return await this.#prompt(params);
      default:
        throw new Failed(-32601, `no method ${method}`);
    }
  }

  /** What is told once the session is open, behind the answer that opens it. */
  #afterwards(): void {
    this.#around.after(0, () => void this.#act(this.#scenario.opened ?? []));
  }

  async #prompt(params: { readonly [key: string]: unknown }): Promise<unknown> {
    const { prompts, onCancel } = this.#scenario;
    const acts = prompts[Math.min(this.#prompts, prompts.length - 1)] ?? [];
    this.#prompts += 1;
    this.#promptText = listOf(params["prompt"])
      .map((block) => fieldsOf(block)?.["text"])
      .filter((part) => typeof part === "string")
      .join("\n");
    this.#cancel = new AbortController();
    try {
      await this.#act(acts, onCancel === "ignore" ? undefined : this.#cancel.signal);
    } finally {
      this.#cancel = undefined;
    }
    return { stopReason: "end_turn" };
  }

  async #act(acts: readonly Act[], signal?: AbortSignal): Promise<void> {
    for (const act of acts) {
      if (signal?.aborted === true) throw new Stopped("cancelled");
      await this.#do(act, signal);
    }
  }

  async #do(act: Act, signal?: AbortSignal): Promise<void> {
    switch (act.type) {
      case "text":
      case "thinking":
        return await this.#say(act);
      case "echo":
        return await this.#update({ sessionUpdate: "agent_message_chunk", content: text(this.#promptText) });
      case "handoff":
        return await this.#handOff(act);
      case "call":
      case "update":
        return await this.#update({
          sessionUpdate: act.type === "call" ? "tool_call" : "tool_call_update",
          ...callFields(act),
        });
      case "plan": {
        const entries = act.steps.map(({ text: content, state }) => ({
          content,
          status: state,
          priority: "medium",
        }));
        return await this.#update({ sessionUpdate: "plan", entries });
      }
      case "mode":
        return await this.#update({ sessionUpdate: "current_mode_update", currentModeId: act.id });
      case "title":
        return await this.#update({ sessionUpdate: "session_info_update", title: act.title });
      case "commands":
        return await this.#update({
          sessionUpdate: "available_commands_update",
          availableCommands: act.commands,
        });
      case "usage":
        return await this.#update({ sessionUpdate: "usage_update", used: act.used, size: act.size });
      case "ask":
        return await this.#ask(act, signal);
      case "wait":
        return await this.#wait(act, signal);
      case "send":
        return await this.#update(act.update);
      case "line":
        return await this.#writeText(`${act.text}\n`);
      case "flood":
        for (let count = 0; count < act.chunks; count += 1)
          await this.#update({ sessionUpdate: "agent_message_chunk", content: text("x".repeat(act.chars)) });
        return;
      case "stderr":
        this.#around.stderr.write(`${act.text}\n`);
        return;
      case "exit":
        this.#around.exit(act.code);
        // Nothing is done after the end, even where the end takes a moment.
        return await new Promise<void>(() => undefined);
      case "fail":
        throw new Failed(act.code, act.message);
      case "stop":
        throw new Stopped(act.reason, act.usage);
      case "repeat":
        for (let count = 0; count < act.times; count += 1) await this.#act(act.acts, signal);
        return;
    }
  }

  async #say(act: Act & { readonly type: "text" | "thinking" }): Promise<void> {
    const sessionUpdate = act.type === "text" ? "agent_message_chunk" : "agent_thought_chunk";
    const size = Math.max(1, act.chunk ?? act.text.length);
    const named = act.messageId === undefined ? {} : { messageId: act.messageId };
    for (let at = 0; at < act.text.length; at += size)
      await this.#update({ sessionUpdate, content: text(act.text.slice(at, at + size)), ...named });
  }

  async #handOff(act: Act & { readonly type: "handoff" }): Promise<void> {
    const { id, note } = act;
    const call = { type: "call", id, title: "mcp__hansard__handoff", status: "in_progress", input: { note } };
    if (act.silent !== true) await this.#do(call as Act);
    const result = await callTool(this.#server, "handoff", { note });
    const status = result.isError ? "failed" : "completed";
    if (act.silent !== true) await this.#do({ type: "update", id, status, output: result.text });
  }

  async #ask(act: Act & { readonly type: "ask" }, signal?: AbortSignal): Promise<void> {
    const id = this.#nextId++;
    const answered = new Promise<unknown>((resolve) => this.#answers.set(id, resolve));
    await this.#write({
      jsonrpc: "2.0",
      id,
      method: "session/request_permission",
      params: {
        sessionId: this.#sessionId,
        toolCall: callFields(act),
        options: act.options ?? defaultOptions,
      },
    });
    const outcome = fieldsOf(fieldsOf(await answered)?.["outcome"]);
    const chosen = outcome?.["outcome"] === "selected" ? String(outcome["optionId"]) : "cancelled";
    await this.#act(act.answers[chosen] ?? [], signal);
  }

  async #wait(act: Act & { readonly type: "wait" }, signal?: AbortSignal): Promise<void> {
    if ("ms" in act) {
      await new Promise<void>((resolve) => {
        signal?.addEventListener("abort", () => resolve());
        this.#around.after(act.ms, resolve);
      });
      return;
    }
    const cancel = this.#cancel?.signal;
    if ("for" in act) {
      if (cancel?.aborted === true) return;
      await new Promise<void>((resolve) => cancel?.addEventListener("abort", () => resolve()));
      return;
    }
    await fileThere(act.forFile, signal);
  }

  async #update(update: { readonly [field: string]: unknown }): Promise<void> {
    const params = { sessionId: this.#sessionId, update };
    await this.#write({ jsonrpc: "2.0", method: "session/update", params });
  }

  async #write(message: unknown): Promise<void> {
    await this.#writeText(`${JSON.stringify(message)}\n`);
  }

  async #writeText(line: string): Promise<void> {
    const { stdout } = this.#around;
    if (!stdout.write(line)) await new Promise<void>((resolve) => stdout.once("drain", resolve));
  }
}

function text(words: string): { readonly type: "text"; readonly text: string } {
  return { type: "text", text: words };
}

function callFields(act: Act & { readonly type: "call" | "update" | "ask" }): Record<string, unknown> {
  const status = "status" in act ? act.status : undefined;
  const output = "output" in act ? act.output : undefined;
  const bytes = "bytes" in act ? act.bytes : undefined;
  const rawOutput = "rawOutput" in act ? act.rawOutput : undefined;
  const content = [
    ...(output === undefined ? [] : [{ type: "content", content: text(output) }]),
    ...(bytes === undefined ? [] : [{ type: "content", content: text(linesOf(bytes)) }]),
    ...(act.diff === undefined ? [] : [{ type: "diff", ...act.diff }]),
  ];
  return {
    toolCallId: act.id,
    ...(act.title === undefined ? {} : { title: act.title }),
    ...(act.kind === undefined ? {} : { kind: act.kind }),
    ...(status === undefined ? {} : { status }),
    ...(act.input === undefined ? {} : { rawInput: act.input }),
    ...(content.length === 0 ? {} : { content }),
    ...(rawOutput === undefined ? {} : { rawOutput }),
  };
}

/** So many bytes of output, in lines. */
function linesOf(bytes: number): string {
  const line = "the quick brown fox jumps over the lazy dog and on\n";
  return line.repeat(Math.ceil(bytes / line.length)).slice(0, bytes);
}

async function fileThere(path: string, signal?: AbortSignal): Promise<void> {
  await new Promise<void>((resolve) => {
    const look = (): void => {
      if (!existsSync(path) && signal?.aborted !== true) return;
      watcher.close();
      resolve();
    };
    const watcher = watch(dirname(path), (_event, name) => {
      if (name === null || name === basename(path)) look();
    });
    signal?.addEventListener("abort", look);
    look();
  });
}
