/** `npm run sim -- fight`: two processes resume one session; whoever writes is killed, again and again, and the other one takes over. */
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { checkLog, createLog, openLogForWrite } from "../src/log/index.ts";
import { Child, foundIn, type Ground, id, keep, makeGround } from "./kills.ts";
import { Ledger } from "./ledger.ts";
import { randomFrom, whole } from "./random.ts";

export interface FightReport {
  readonly kills: number;
  readonly acknowledged: number;
  readonly lost: number;
  readonly wrong: number;
  /** Lines that are no record, and numbers missing or doubled, in the log at its end. */
  readonly damage: number;
  /** Milliseconds from an owner's death to the other one's first word as the writer, sorted. */
  readonly takeovers: readonly number[];
}

/** Lines that a writer says before it is killed, at most. */
const LINES_MAX = 60;
const LATER_MS = 20;

/** A writer whose words count from the moment on at which the one before it is dead and has been heard out. */
class Fighter {
  readonly child: Child;
  readonly #note: (line: string) => void;
  #unheard: string[] | undefined = [];

  constructor(ground: Ground, sessions: string, life: string, seed: number, note: (line: string) => void) {
    this.#note = note;
    this.child = new Child(ground, sessions, life, seed, (line) => {
      if (this.#unheard === undefined) note(line);
      else this.#unheard.push(line);
    });
  }

  listen(): void {
    for (const line of this.#unheard ?? []) this.#note(line);
    this.#unheard = undefined;
  }
}

/** Kills the writer so many times. Both are there before each kill. */
export async function runFight(options: {
  readonly seed: number;
  readonly kills: number;
}): Promise<FightReport> {
  const random = randomFrom(options.seed);
  const ground = await makeGround();
  const sessions = join(ground.root, "sessions");
  const ledger = new Ledger();
  const fighters: Fighter[] = [];
  const start = (): Fighter => {
    const life = `l${fighters.length + 1}`;
    const fighter = new Fighter(ground, sessions, life, whole(random, 0, 0xffff_ffff), keep(ledger));
    fighters.push(fighter);
    return fighter;
  };
  try {
    await (await createLog({ sessions, id })).close();
    let owner = start();
    owner.listen();
    await owner.child.said(2);
    const takeovers: number[] = [];
    for (let kill = 0; kill < options.kills; kill += 1) {
      const waiting = start();
      await waiting.child.said(1);
      await owner.child.said(whole(random, 2, LINES_MAX));
      await pause(random() * LATER_MS);
      await owner.child.kill();
      const diedAtMs = performance.now();
      waiting.listen();
      await waiting.child.said(2);
      if (waiting.child.openedAtMs === undefined) throw new Error("the other one took nothing over");
      takeovers.push(Math.max(0, waiting.child.openedAtMs - diedAtMs));
      owner = waiting;
    }
    await owner.child.kill();
    await (await openLogForWrite({ sessions, id })).close();
    const { lost, wrong } = ledger.judge(await foundIn(sessions), "written");
    const { damageCount } = await checkLog(join(sessions, id, "log.jsonl"));
    return {
      kills: options.kills,
      acknowledged: ledger.count("written"),
      lost: lost.length,
      wrong: wrong.length,
      damage: damageCount,
      takeovers: takeovers.sort((a, b) => a - b),
    };
  } finally {
    await Promise.all(fighters.map(({ child }) => child.kill()));
    await ground.remove();
  }
}

export function fightWords(seed: number, report: FightReport): string {
  const { takeovers } = report;
  const at = (share: number): string =>
    `${(takeovers[Math.floor((takeovers.length - 1) * share)] ?? 0).toFixed(0)} ms`;
  return [
    `seed ${seed}: the writer of a session was killed ${report.kills} times while another one waited`,
    `  acknowledged records  ${report.acknowledged}`,
    `  lost                  ${report.lost}`,
    `  wrong                 ${report.wrong}`,
    `  torn lines and gaps   ${report.damage}`,
    `  taken over after      ${at(0.5)} (half of them), ${at(1)} (all)`,
    "",
  ].join("\n");
}
