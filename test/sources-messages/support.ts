/** A workspace of the tests. */
import { appendFileSync, mkdirSync, rmSync, utimesSync } from "node:fs";
import { join } from "node:path";
import type { Home } from "../support/home.ts";

export const AGENT = "20260601T000000Z-aaaa";

export interface Workspace {
  readonly path: string;
  readonly messages: string;
  /** Writes a message file. */
  put(name: string, content: string | object): void;
  /** What a compactor does: takes files away and writes what they said. */
  compact(names: readonly string[], summary: string, summaryName?: string): void;
  /** Writes a file of a step; without content, only its folder. */
  step(step: string, name?: string, content?: string | object): void;
  /** Appends events to a step's response. */
  stream(step: string, ...events: readonly (object | string)[]): void;
  age(file: string, at: number): void;
}

export function makeWorkspace(home: Home, agent = AGENT): Workspace {
  const own = `ws/agents/${agent}`;
  const write = (name: string, content: string | object): string =>
    home.write(name, typeof content === "string" ? content : JSON.stringify(content));
  mkdirSync(join(home.path, own, "messages"), { recursive: true });
  return {
    path: join(home.path, "ws"),
    messages: join(home.path, own, "messages"),
    put: (name, content) => void write(`${own}/messages/${name}`, content),
    compact(names, summary, summaryName = "001.md") {
      write(`${own}/summary/${summaryName}`, summary);
      for (const name of names) rmSync(join(home.path, own, "messages", name));
    },
    step(step, name, content) {
      if (name === undefined) mkdirSync(join(home.path, "ws/steps", agent, step), { recursive: true });
      else write(`ws/steps/${agent}/${step}/${name}`, content ?? "");
    },
    stream(step, ...events) {
      const folder = join(home.path, "ws/steps", agent, step);
      mkdirSync(folder, { recursive: true });
      const file = join(folder, "response.json");
      appendFileSync(file, "");
      for (const event of events)
        appendFileSync(file, typeof event === "string" ? event : `${JSON.stringify(event)}\n`);
      utimesSync(file, 1_700_000_000, 1_700_000_000);
    },
    age: (file, at) => utimesSync(join(home.path, "ws/steps", agent, file), at / 1000, at / 1000),
  };
}

export const says = (text: string): object => ({
  type: "content_delta",
  index: 1,
  delta: { text_delta: text },
});
export const thinks = (text: string): object => ({
  type: "content_delta",
  index: 0,
  delta: { thinking_delta: text },
});
export const answer = (...blocks: readonly (string | object)[]): object => ({
  content: blocks.map((b) => (typeof b === "string" ? { type: "text", text: b } : b)),
});
export const call = (id: string, input: unknown = { command: id }): object => ({
  type: "tool_use",
  id,
  name: "bash",
  input,
});
export const result = (id: string, content: unknown, isError?: boolean): object => ({
  content: [
    {
      type: "tool_result",
      tool_use_id: id,
      content,
      ...(isError === undefined ? {} : { is_error: isError }),
    },
  ],
});
export const deposit = (body: string, fields: Record<string, string> = {}): string =>
  `---\n${Object.entries(fields)
    .map(([k, v]) => `${k}: ${v}\n`)
    .join("")}---\n${body}`;
