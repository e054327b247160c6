/** The log of the lanes' chaos run: its writer, its sessions in a catalogue, and what is in it. */
import { appendFile } from "node:fs/promises";
import { setImmediate as turn } from "node:timers/promises";
import { type Catalogue, type CatalogueItem, servedSession } from "../src/server/index.ts";
import { createSession } from "../src/session/index.ts";
import { openLog } from "../src/sources/index.ts";
import { whole } from "./random.ts";

/** Writes turns of a conversation as an agent does, cut anywhere. */
export class Writer {
  readonly path: string;
  readonly #random: () => number;
  #serial = 0;

  constructor(path: string, random: () => number) {
    this.path = path;
    this.#random = random;
  }

  get entries(): number {
    return this.#serial;
  }

  #record(fields: object): string {
    const serial = this.#serial++;
    const parentUuid = serial === 0 ? null : `u${serial - 1}`;
    const timestamp = new Date(Date.UTC(2026, 7, 10) + serial * 1000).toISOString();
    const head = { uuid: `u${serial}`, parentUuid, isSidechain: false, sessionId: "s", timestamp };
    return `${JSON.stringify({ ...head, ...fields })}\n`;
  }

  #said(content: object, stop: string): string {
    const message = {
      id: `m${this.#serial}`,
      role: "assistant",
      model: "a-model",
      stop_reason: stop,
      usage: {},
    };
    return this.#record({ type: "assistant", message: { ...message, content: [content] } });
  }

  /** The records of one turn: a prompt, a few calls with their results, an answer. */
  turn(): readonly string[] {
    const text = (): string => `${this.#serial} ${"word ".repeat(whole(this.#random, 1, 120))}`;
    const lines = [this.#record({ type: "user", message: { role: "user", content: text() } })];
    for (let calls = whole(this.#random, 0, 2); calls > 0; calls -= 1) {
      const id = `t${this.#serial}`;
      lines.push(this.#said({ type: "tool_use", id, name: "Bash", input: { command: text() } }, "tool_use"));
      const result = { type: "tool_result", tool_use_id: id, content: text() };
      lines.push(this.#record({ type: "user", message: { role: "user", content: [result] } }));
    }
    return [...lines, this.#said({ type: "text", text: text() }, "end_turn")];
  }

  /** Writes one turn, its bytes cut anywhere. */
  async write(): Promise<void> {
    let bytes = Buffer.from(this.turn().join(""));
    while (bytes.length > 0) {
      const cut = whole(this.#random, 1, bytes.length);
      await appendFile(this.path, bytes.subarray(0, cut));
      bytes = bytes.subarray(cut);
      await turn();
    }
  }
}

/** A catalogue of files, each under its id. */
export function catalogueOf(paths: Readonly<Record<string, string>>): Catalogue {
  const items: readonly CatalogueItem[] = Object.entries(paths).map(([id, path]) => ({
    id,
    info: { agent: "claude-code", id, path },
  }));
  return {
    list: async () => items,
    find: async (id) => items.find((item) => item.id === id),
    describe: async (item) => item.info,
    async open(item) {
      const log = await openLog(item.info.path);
      return servedSession(createSession(log, await log.info()));
    },
  };
}

/** The names of all finished entries of a log, in order. */
export async function namesOf(path: string): Promise<readonly string[]> {
  const log = await openLog(path);
  try {
    const names: string[] = [];
    for (let page = await log.first(500); ; page = await log.newer(page.end, 500)) {
      names.push(...page.entries.map(({ name }) => name));
      if (page.atEnd || page.entries.length === 0) return names;
    }
  } finally {
    await log.close();
  }
}
