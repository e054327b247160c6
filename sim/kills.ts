/** Crash points with real processes on a real disk: a process that writes a session is killed at some moment, and what is there is judged. */
import { type ChildProcessByStdio, spawn } from "node:child_process";
import { cp, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Readable } from "node:stream";
import { setTimeout as pause } from "node:timers/promises";
import { build } from "esbuild";
import { checkLog, createLog, type LogRecord, openLogForRead, openLogForWrite } from "../src/log/index.ts";
import { type Judgement, Ledger, readBack } from "./ledger.ts";
import { randomFrom, whole } from "./random.ts";

export const id = "session";

export interface KillOutcome extends Judgement {
  readonly acknowledged: number;
  /** What was done to a copy of the log's bytes that its check does not tell of. */
  readonly untold: readonly string[];
  /** Damages that were made to copies. */
  readonly damages: number;
}

/** Where kills happen: a folder of sessions, and the writing program in one file, so that it starts fast. */
export interface Ground {
  readonly root: string;
  readonly program: string;
  remove(): Promise<void>;
}

export async function makeGround(): Promise<Ground> {
  const root = await mkdtemp(join(tmpdir(), "hansard-sim-"));
  const program = join(root, "writer.mjs");
  await build({
    entryPoints: [new URL("./writer-child.ts", import.meta.url).pathname],
    outfile: program,
    bundle: true,
    platform: "node",
    format: "esm",
    target: "node20",
    logLevel: "warning",
  });
  return { root, program, remove: () => rm(root, { recursive: true, force: true }) };
}

/** A writing process and what it has said so far. */
export class Child {
  readonly #process: ChildProcessByStdio<null, Readable, null>;
  readonly #onLine: (line: string) => void;
  readonly ended: Promise<void>;
  #rest = "";
  #lines = 0;
  #hasEnded = false;
  #waiting: { readonly lines: number; readonly go: () => void }[] = [];
  openedAtMs: number | undefined;

  constructor(ground: Ground, sessions: string, life: string, seed: number, onLine: (line: string) => void) {
    this.#onLine = onLine;
    this.#process = spawn(process.execPath, [ground.program, sessions, id, life, String(seed)], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    this.#process.stdout.setEncoding("utf8").on("data", (text: string) => this.#take(text));
    this.ended = new Promise((resolve) =>
      this.#process.on("close", () => {
        this.#hasEnded = true;
        for (const { go } of this.#waiting.splice(0)) go();
        resolve();
      }),
    );
  }

  #take(text: string): void {
    const lines = (this.#rest + text).split("\n");
    this.#rest = lines.pop() ?? "";
    for (const line of lines) {
      if (line === "open") this.openedAtMs = performance.now();
      this.#lines += 1;
      this.#onLine(line);
    }
    this.#waiting = this.#waiting.filter(({ lines: wanted, go }) => {
      if (this.#lines < wanted) return true;
      go();
      return false;
    });
  }

  /** Resolves once it has said so many lines; rejects where it ended before. */
  async said(lines: number): Promise<void> {
    if (this.#lines < lines && !this.#hasEnded)
      await new Promise<void>((go) => this.#waiting.push({ lines, go }));
    if (this.#lines < lines) throw new Error("a writer ended by itself");
  }

  /** Resolves once it is dead and all that it said was taken. */
  async kill(): Promise<void> {
    this.#process.kill("SIGKILL");
    await this.ended;
  }
}

/** Writes down in the ledger what a child says. */
export function keep(ledger: Ledger): (line: string) => void {
  const sent: string[] = [];
  return (line) => {
    const [word = "", name = ""] = line.split(" ");
    if (word === "sent") {
      ledger.send(name);
      sent.push(name);
    } else if (word === "written" || word === "saved") ledger.acknowledge(name, word);
    else if (word === "saved-all") {
      for (const each of sent.splice(0, sent.indexOf(name) + 1)) ledger.acknowledge(each, "saved");
    }
  };
}

export async function foundIn(
  sessions: string,
): Promise<{ readonly name: string; readonly isRight: boolean }[]> {
  const reader = await openLogForRead({ sessions, id });
  try {
    const records = [];
    for await (const item of reader.items()) {
      if (item.type !== "record") continue;
      const read = readBack(await reader.inflate(item.record as LogRecord));
      if (read !== undefined) records.push(read);
    }
    return records;
  } finally {
    await reader.close();
  }
}

/** Lines after which a child is killed at the latest. */
const LINES_MAX = 120;
/** Milliseconds after the last line waited for. */
const LATER_MS = 8;

/** One session whose writers are killed one after another. */
export class KilledSession {
  readonly #ground: Ground;
  readonly #sessions: string;
  readonly #random: () => number;
  readonly #ledger = new Ledger();
  #lives = 0;
  #damages = 0;

  constructor(ground: Ground, name: string, seed: number) {
    this.#ground = ground;
    this.#sessions = join(ground.root, name);
    this.#random = randomFrom(seed);
  }

  async begin(): Promise<void> {
    await (await createLog({ sessions: this.#sessions, id })).close();
  }

  /** A writer takes the session up and is killed at some moment. */
  async kill(): Promise<KillOutcome> {
    const random = this.#random;
    this.#lives += 1;
    const seed = whole(random, 0, 0xffff_ffff);
    const child = new Child(this.#ground, this.#sessions, `l${this.#lives}`, seed, keep(this.#ledger));
    // Now and then while it still takes the session up.
    try {
      await child.said(random() < 0.15 ? 1 : whole(random, 2, LINES_MAX));
      await pause(random() * LATER_MS);
    } finally {
      await child.kill();
    }
    const judgement = this.#ledger.judge(await foundIn(this.#sessions), "written");
    const untold = await this.#damageCopy();
    return {
      ...judgement,
      acknowledged: this.#ledger.count("written"),
      untold: untold === undefined ? [] : [untold],
      damages: 1,
    };
  }

  /** The last word: the log is opened for writing, closed, and sound; all that was acknowledged is there. */
  async finish(): Promise<KillOutcome> {
    const writer = await openLogForWrite({ sessions: this.#sessions, id });
    const { saved } = await writer.close();
    const report = await checkLog(join(this.#sessions, id, "log.jsonl"));
    const judgement = this.#ledger.judge(await foundIn(this.#sessions), "written");
    const isSound = saved && report.damageCount === 0 && report.invalidCount === 0;
    return {
      ...judgement,
      acknowledged: this.#ledger.count("written"),
      untold: isSound ? [] : ["a log that was taken up again is not sound"],
      damages: 0,
    };
  }

  /** Damages a copy of the log. Answers what was done where the check does not tell of it, or a reader believes what it should not. */
  async #damageCopy(): Promise<string | undefined> {
    this.#damages += 1;
    const copy = join(this.#ground.root, `copy-${this.#damages}-${whole(this.#random, 0, 1e9)}`);
    const path = join(copy, id, "log.jsonl");
    try {
      await cp(join(this.#sessions, id), join(copy, id), { recursive: true });
      const { bytes, what } = this.#damaged(await readFile(path));
      await writeFile(path, bytes);
      const { damageCount, verdict } = await checkLog(path);
      if (damageCount === 0 && verdict.state === "clean") return `${what}: not told`;
      const { wrong } = this.#ledger.judge(await foundIn(copy), "none");
      return wrong.length === 0 ? undefined : `${what}: ${wrong.join(" ")} believed`;
    } finally {
      await rm(copy, { recursive: true, force: true });
    }
  }

  #damaged(bytes: Buffer): { readonly bytes: Buffer; readonly what: string } {
    const random = this.#random;
    const at = whole(random, 0, bytes.length - 1);
    const dice = random();
    if (dice < 0.6) {
      const changed = Buffer.from(bytes);
      changed[at] = (changed[at] ?? 0) ^ whole(random, 1, 255);
      return { bytes: changed, what: `byte ${at} changed` };
    }
    const length = Math.min(whole(random, 1, 3000), bytes.length - at);
    if (dice < 0.8) {
      const zeroed = Buffer.from(bytes);
      zeroed.fill(0, at, at + length);
      return { bytes: zeroed, what: `bytes ${at}-${at + length} zeroed` };
    }
    // A record from the middle: what is cut off behind a whole record at the end leaves no trace.
    const start = bytes.lastIndexOf(0x0a, Math.floor(at / 2)) + 1;
    const end = bytes.indexOf(0x0a, start) + 1;
    return {
      bytes: Buffer.concat([bytes.subarray(0, start), bytes.subarray(end)]),
      what: `record ${start}-${end} taken out`,
    };
  }
}
