/** Drives a log through a life of writing and dying, and holds what is on the disk against what was acknowledged. */
import { expect } from "vitest";
import {
  checkLog,
  createLog,
  type LogRecord,
  type LogWriter,
  openLogForRead,
  openLogForWrite,
  type RecordSpec,
} from "../../src/log/index.ts";
import { canonicalText } from "../../src/log/json.ts";
import type { SimComputer, SimProcess } from "./sim-disk.ts";

export const sessions = "/state/sessions";
export const id = "session-1";
export const logPath = `${sessions}/${id}/log.jsonl`;

/** A record that was appended, and how far it was acknowledged. */
interface Sent {
  readonly mark: string;
  ack: "none" | "written" | "saved";
}

function markOf(record: LogRecord): string | undefined {
  switch (record.kind) {
    case "message":
    case "custom":
    case "compactionSummary":
      return record.turnId;
    case "set":
      return `set ${canonicalText(record.value)}`;
    default:
      return undefined;
  }
}

const ranks = { none: 0, written: 1, saved: 2 } as const;

export class Driver {
  readonly computer: SimComputer;
  readonly #random: () => number;
  #sent: Sent[] = [];
  #isPublished = false;
  #count = 0;
  process: SimProcess;
  writer: LogWriter | undefined;
  opened = 0;

  constructor(computer: SimComputer, random: () => number) {
    this.computer = computer;
    this.#random = random;
    this.process = computer.spawn();
  }

  get sent(): readonly Sent[] {
    return this.#sent;
  }

  async start(): Promise<void> {
    this.writer = await createLog({ sessions, id, cwd: "/work" }, this.process.ports);
    this.#isPublished ||= this.writer.status().problem === undefined;
  }

  async reopen(): Promise<void> {
    this.process = this.computer.spawn();
    this.writer = await openLogForWrite({ sessions, id }, this.process.ports);
    this.opened += 1;
  }

  spec(): RecordSpec {
    this.#count += 1;
    const name = `r${this.#count}`;
    const dice = this.#random();
    if (dice < 0.6) {
      const long = this.#random() < 0.08 ? "x".repeat(70_000) : "y".repeat(Math.floor(this.#random() * 900));
      return { kind: "message", turnId: name, role: "user", payload: { text: `${name} ${long}` } };
    }
    if (dice < 0.7)
      return { kind: "custom", turnId: name, customType: "note", data: [name, "\u2028é\ud83d\ude00"] };
    if (dice < 0.8)
      return { kind: "compactionSummary", turnId: name, summary: name, tokensBefore: 9, firstKeptTurnId: "" };
    return { kind: "set", key: `k${this.#count % 5}`, value: name };
  }

  /** Appends records and keeps what became of them; does not wait for it. */
  append(specs: readonly RecordSpec[]): Promise<void> {
    const writer = this.writer;
    if (writer === undefined) throw new Error("no writer");
    const sent = specs.flatMap((spec) => {
      const mark = markOf(spec as LogRecord);
      return mark === undefined ? [] : [{ mark, ack: "none" } as Sent];
    });
    const done = writer.append(specs);
    this.#sent.push(...sent);
    return done.then(({ state }) => {
      if (state === "saved" || state === "written") for (const each of sent) this.#raise(each, state);
    });
  }

  #raise(sent: Sent, ack: "written" | "saved"): void {
    if (ranks[ack] > ranks[sent.ack]) sent.ack = ack;
  }

  async flush(): Promise<void> {
    const upTo = this.#sent.length;
    const flushed = await this.writer?.flush();
    if (flushed?.saved === true) for (const sent of this.#sent.slice(0, upTo)) this.#raise(sent, "saved");
  }

  /** One random act of a session. */
  async act(): Promise<void> {
    const dice = this.#random();
    const isOpen = this.writer?.tail.openTurn !== undefined;
    if (dice < 0.15) await this.flush();
    else if (dice < 0.35) await this.append([isOpen ? { kind: "turnCommitted" } : { kind: "turnStarted" }]);
    else if (dice < 0.6) {
      const many = Array.from({ length: 1 + Math.floor(this.#random() * 4) }, () =>
        this.append([this.spec()]),
      );
      await Promise.all(many);
    } else await this.append(Array.from({ length: 1 + Math.floor(this.#random() * 3) }, () => this.spec()));
  }

  /** After a crash: reads, then opens for writing, and holds both against what was acknowledged. Answers whether there is a session. */
  async recover(least: "written" | "saved"): Promise<boolean> {
    const owed = this.#sent.findLastIndex((sent) => ranks[sent.ack] >= ranks[least]);
    this.process = this.computer.spawn();
    if (!this.computer.names(sessions).includes(id)) {
      expect(this.#isPublished, "a session that was acknowledged is gone").toBe(false);
      expect(owed).toBe(-1);
      return false;
    }
    this.#compare(await this.#marks(), owed, "read");
    await this.reopen();
    const kept = await this.#marks();
    this.#compare(kept, owed, "opened");
    // What was not acknowledged may be gone for good; what comes next follows what is there.
    this.#sent = this.#sent.slice(0, kept.length);
    for (const sent of this.#sent) sent.ack = "saved";
    await this.check();
    this.#isPublished = true;
    return true;
  }

  #compare(found: readonly string[], owed: number, when: string): void {
    const marks = this.#sent.map((sent) => sent.mark);
    if (when === "opened")
      expect(found, `${when}: a first part of what was sent`).toEqual(marks.slice(0, found.length));
    else {
      let at = -1;
      for (const mark of found) {
        const next = marks.indexOf(mark, at + 1);
        expect(next, `${when}: ${mark} was sent, in this order`).toBeGreaterThan(at);
        at = next;
      }
    }
    const owedMarks = marks.slice(0, owed + 1);
    expect(found.slice(0, owed + 1), `${when}: what was acknowledged`).toEqual(owedMarks);
  }

  async #marks(): Promise<string[]> {
    const reader = await openLogForRead({ sessions, id }, this.process.ports);
    const marks: string[] = [];
    for await (const item of reader.items()) {
      if (item.type !== "record") continue;
      const mark = markOf(await reader.inflate(item.record as LogRecord));
      if (mark !== undefined) marks.push(mark);
    }
    await reader.close();
    return marks;
  }

  /** The log as a whole: no damage, nothing invalid, no payload missing, the fold right. */
  async check(): Promise<void> {
    const report = await checkLog(logPath, this.computer.spawn().ports);
    expect(report.damage).toEqual([]);
    expect(report.invalid).toEqual([]);
    expect(report.blobs.missing).toEqual([]);
    expect(report.blobs.damaged).toEqual([]);
    expect(report.verdict.state).toBe("clean");
  }
}
