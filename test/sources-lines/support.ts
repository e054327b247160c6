/** A made-up agent whose records say just what a test of the shared reader needs. */
import { type ByteSource, bytesOf } from "../../src/lines/index.ts";
import type { Classified, Classifier, EntryDraft, Mark } from "../../src/sources/classifier.ts";
import { openJsonlLog } from "../../src/sources/jsonl-log.ts";
import type { Log } from "../../src/sources/types.ts";

export interface Row {
  /** Prompts, one entry each. */
  readonly say?: readonly string[];
  /** A model's text; with `key`, one that may be told again as it grows. */
  readonly text?: string;
  readonly key?: string;
  readonly call?: string;
  readonly result?: string;
  readonly marks?: readonly Mark[];
  readonly id?: string;
  readonly parent?: string;
  /** Bytes that mean nothing. */
  readonly filler?: string;
}

export const start: Mark = { type: "turnStarted" };
export const end: Mark = { type: "turnEnded" };

export const rowClassifier: Classifier = {
  agent: "codex",
  classify(record): Classified {
    const row = record.value as Row;
    const entries: EntryDraft[] = (row.say ?? []).map((body) => ({
      kind: "delivered",
      sender: "user",
      body,
    }));
    const key = row.key === undefined ? {} : { mergeKey: row.key };
    if (row.text !== undefined)
      entries.push({ kind: "model", usage: {}, blocks: [{ kind: "text", text: row.text }], ...key });
    if (row.call !== undefined)
      entries.push({
        kind: "model",
        usage: {},
        blocks: [{ kind: "tool-use", id: row.call, name: "run", inputSummary: "" }],
      });
    if (row.result !== undefined)
      entries.push({ kind: "tool-result", toolUseId: row.result, content: "ok", isError: false });
    return {
      kind: "row",
      known: true,
      entries,
      ...(row.marks === undefined ? {} : { marks: row.marks }),
      ...(row.id === undefined ? {} : { node: { id: row.id, parentId: row.parent, heads: true } }),
    };
  },
};

export function written(rows: readonly Row[]): Buffer {
  return Buffer.from(rows.map((row) => `${JSON.stringify(row)}\n`).join(""));
}

export function many(count: number, row: (i: number) => Row): Row[] {
  return Array.from({ length: count }, (_, i) => row(i));
}

/** A log over bytes in memory. */
export function open(bytes: Uint8Array, source: ByteSource = bytesOf(bytes)): Promise<Log> {
  return openJsonlLog({ agent: "codex", path: "memory.jsonl", classifier: rowClassifier, source });
}

/** A source that counts what is asked of it. */
export class CountedSource implements ByteSource {
  bytesRead = 0;
  readonly #inner: ByteSource;

  constructor(bytes: Uint8Array) {
    this.#inner = bytesOf(bytes);
  }

  size(): Promise<number> {
    return this.#inner.size();
  }

  async read(offset: number, length: number): Promise<Uint8Array> {
    const bytes = await this.#inner.read(offset, length);
    this.bytesRead += bytes.length;
    return bytes;
  }

  close(): Promise<void> {
    return this.#inner.close();
  }
}
