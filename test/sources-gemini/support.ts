/** Chats of the tests: their records, and files of both shapes. */
import { lines } from "../support/home.ts";

export const header = {
  sessionId: "s",
  projectHash: "h",
  startTime: "2026-06-01T00:00:00.000Z",
  lastUpdated: "2026-06-01T00:00:00.000Z",
};

export interface Message {
  readonly id: string;
  readonly type: string;
  readonly timestamp: string;
  readonly [key: string]: unknown;
}

function message(id: string, type: string, content: unknown, more: object = {}): Message {
  const second = String(id.charCodeAt(0) % 60).padStart(2, "0");
  return { id, timestamp: `2026-06-01T00:00:${second}.000Z`, type, content, ...more };
}

export const tokens = (output: number): object => ({
  tokens: { input: 1, output, cached: 0, thoughts: 0, tool: 0, total: 1 + output },
});
export const user = (id: string, words: string): Message => message(id, "user", [{ text: words }]);
export const info = (id: string, words: string): Message => message(id, "info", words);
/** A model's message; without tokens it is still being written. */
export const model = (id: string, words: string, more: object = tokens(5)): Message =>
  message(id, "gemini", words, { model: "g", ...more });
export const call = (id: string, status: string, output = "ok"): object => ({
  id,
  name: "run_shell_command",
  args: { command: id },
  status,
  timestamp: "2026-06-01T00:01:00.000Z",
  ...(status === "success" || status === "error"
    ? { result: [{ functionResponse: { id, name: "run_shell_command", response: { output } } }] }
    : {}),
});

/** The newer shape. */
export function chatLines(...records: readonly object[]): string {
  return lines(header, ...records);
}

/** The older shape, as it is written out. */
export function chatDocument(messages: readonly object[], more: object = {}): string {
  return JSON.stringify({ ...header, ...more, messages }, null, 2);
}
