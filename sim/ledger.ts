/** What was sent to a log and what was acknowledged of it, held against what a reader finds there. */
import type { LogRecord, RecordSpec } from "../src/log/index.ts";
import { randomFrom, whole } from "./random.ts";

/** How far an append was acknowledged. */
export type Acknowledged = "none" | "written" | "saved";
const ranks: Readonly<Record<Acknowledged, number>> = { none: 0, written: 1, saved: 2 };

/** Share of texts that are longer than a line takes and so lie in a blob. */
const longShare = 0.03;
const longChars = 70_000;
const shortChars = 900;

/** The text of the record that bears a name. Nothing else decides it, so a reader can tell a changed one. */
export function textOf(name: string): string {
  let seed = 0;
  for (const char of name) seed = (Math.imul(seed, 31) + (char.codePointAt(0) ?? 0)) >>> 0;
  const random = randomFrom(seed);
  const length = random() < longShare ? longChars : whole(random, 0, shortChars);
  const piece = `${name} é\u2028😀 ${Math.floor(random() * 1e9)} `;
  return `${piece.repeat(Math.ceil(length / piece.length))}${name}`;
}

/** The record that bears a name. */
export function specOf(name: string): RecordSpec {
  return { kind: "message", turnId: name, role: "user", payload: { text: textOf(name) } };
}

/** What a record of a log says of itself: its name where it is one of ours, and whether it is as it was sent. */
export function readBack(
  record: LogRecord,
): { readonly name: string; readonly isRight: boolean } | undefined {
  if (record.kind !== "message") return undefined;
  const text = (record.payload as { readonly text?: unknown } | null)?.text;
  return { name: record.turnId, isRight: text === textOf(record.turnId) };
}

export interface Judgement {
  /** Records that were acknowledged and are not there. */
  readonly lost: readonly string[];
  /** Records that were never sent, are not as they were sent, stand twice or in another order. */
  readonly wrong: readonly string[];
}

/** Everything that was sent to one log, in order. */
export class Ledger {
  readonly #sent = new Map<string, { readonly at: number; acknowledged: Acknowledged }>();

  send(name: string): void {
    this.#sent.set(name, { at: this.#sent.size, acknowledged: "none" });
  }

  acknowledge(name: string, how: Acknowledged): void {
    const sent = this.#sent.get(name);
    if (sent === undefined) throw new Error(`${name} was not sent`);
    if (ranks[how] > ranks[sent.acknowledged]) sent.acknowledged = how;
  }

  /** All that was sent up to now is on stable storage. */
  saveAll(): void {
    for (const sent of this.#sent.values()) sent.acknowledged = "saved";
  }

  count(least: Acknowledged): number {
    let count = 0;
    for (const { acknowledged } of this.#sent.values()) if (ranks[acknowledged] >= ranks[least]) count += 1;
    return count;
  }

  /** Holds what was found, in log order, against what was acknowledged at least so far. */
  judge(
    found: readonly { readonly name: string; readonly isRight: boolean }[],
    least: Acknowledged,
  ): Judgement {
    const wrong: string[] = [];
    const there = new Set<string>();
    let last = -1;
    for (const { name, isRight } of found) {
      const sent = this.#sent.get(name);
      if (sent === undefined || !isRight || sent.at <= last) wrong.push(name);
      else last = sent.at;
      there.add(name);
    }
    const lost: string[] = [];
    for (const [name, { acknowledged }] of this.#sent)
      if (ranks[acknowledged] >= ranks[least] && !there.has(name)) lost.push(name);
    return { lost, wrong };
  }

  /** Takes what a log holds once it was opened for writing as all that there is: what was not acknowledged may be gone for good. */
  settle(found: readonly { readonly name: string }[]): void {
    const there = new Set(found.map(({ name }) => name));
    for (const [name, sent] of this.#sent) {
      if (there.has(name)) sent.acknowledged = "saved";
      else this.#sent.delete(name);
    }
  }
}
