/** Crash points on a simulated computer: one operation of a session's life goes wrong, and what is there afterwards is judged. */
import {
  checkLog,
  createLog,
  type LogPorts,
  type LogRecord,
  type LogWriter,
  openLogForRead,
  openLogForWrite,
} from "../src/log/index.ts";
import { type Fate, SimComputer, type SimProcess, settle } from "../test/log/sim-disk.ts";
import { type Judgement, Ledger, readBack, specOf } from "./ledger.ts";
import { randomFrom, whole } from "./random.ts";

const sessions = "/state/sessions";
const id = "session";
const logPath = `${sessions}/${id}/log.jsonl`;

/** What goes wrong at an operation: it fails once, the process dies in it, or the power goes. */
export type Fault =
  | { readonly type: "fail"; readonly code: "ENOSPC" | "EIO" | "EDQUOT"; readonly part: number }
  | { readonly type: "kill" | "power"; readonly part: number };

/** Every fault that is tried at every operation. */
export const faults: readonly Fault[] = [
  { type: "fail", code: "ENOSPC", part: 0 },
  { type: "fail", code: "ENOSPC", part: 0.5 },
  { type: "fail", code: "EIO", part: 0 },
  { type: "kill", part: 0 },
  { type: "kill", part: 0.5 },
  { type: "kill", part: 1 },
  { type: "power", part: 0.5 },
];

export interface Outcome extends Judgement {
  /** The operation at which it went wrong; absent where the life was over before. */
  readonly operation?: string;
  readonly acknowledged: number;
  /** What a log that was taken up again and closed shows as damaged: nothing may. */
  readonly damage: readonly string[];
}

/** One session on one computer. */
class Life {
  readonly computer = new SimComputer();
  readonly ledger = new Ledger();
  readonly #random: () => number;
  readonly #acts: number;
  #process: SimProcess;
  #count = 0;

  constructor(seed: number, acts: number) {
    this.#random = randomFrom(seed);
    this.#acts = acts;
    this.#process = this.computer.spawn();
  }

  /** Lives until the session is closed, or its process dies. Answers whether all of it was saved; undefined where it died. */
  async live(): Promise<boolean | undefined> {
    return await Promise.race([this.#live(), this.#process.death.then(() => undefined)]);
  }

  async #live(): Promise<boolean> {
    const writer = await createLog({ sessions, id, cwd: "/work" }, this.#process.ports);
    for (let act = 0; act < this.#acts; act += 1) await this.#act(writer);
    return await this.#finish(writer);
  }

  async #act(writer: LogWriter): Promise<void> {
    const dice = this.#random();
    const { openTurn } = writer.tail;
    if (dice < 0.25)
      await writer.append(openTurn === undefined ? { kind: "turnStarted" } : { kind: "turnCommitted" });
    else if (dice < 0.4) {
      const sent = this.#count;
      if ((await writer.flush()).saved) this.#acknowledgeUpTo(sent, "saved");
    } else if (dice < 0.7)
      await Promise.all(Array.from({ length: whole(this.#random, 1, 4) }, () => this.#append(writer, 1)));
    else await this.#append(writer, whole(this.#random, 1, 3));
  }

  async #append(writer: LogWriter, records: number): Promise<void> {
    const names = Array.from({ length: records }, () => {
      this.#count += 1;
      return `r${this.#count}`;
    });
    for (const name of names) this.ledger.send(name);
    const { state } = await writer.append(names.map(specOf));
    if (state === "written" || state === "saved")
      for (const name of names) this.ledger.acknowledge(name, state);
  }

  #acknowledgeUpTo(count: number, how: "saved"): void {
    for (let i = 1; i <= count; i += 1) this.ledger.acknowledge(`r${i}`, how);
  }

  /** Time for a disk that refused to be tried again; then everything that was sent must come to be on it. */
  async #finish(writer: LogWriter): Promise<boolean> {
    await this.computer.advance(10_000);
    const { saved } = await writer.close();
    if (saved) this.ledger.saveAll();
    return saved;
  }

  async die(isPower: boolean): Promise<void> {
    this.#process.kill();
    await settle();
    if (isPower) this.computer.losePower(this.#random);
  }

  /** Takes the session up again and goes on with it. */
  async goOn(): Promise<void> {
    this.#process = this.computer.spawn();
    const writer = await openLogForWrite({ sessions, id }, this.#process.ports);
    this.ledger.settle(await found(this.#process.ports));
    await this.#append(writer, 2);
    await this.#finish(writer);
  }

  get isThere(): boolean {
    return this.computer.names(sessions).includes(id);
  }
}

async function found(ports: LogPorts): Promise<{ readonly name: string; readonly isRight: boolean }[]> {
  const reader = await openLogForRead({ sessions, id }, ports);
  const records = [];
  for await (const item of reader.items()) {
    if (item.type !== "record") continue;
    const read = readBack(await reader.inflate(item.record as LogRecord));
    if (read !== undefined) records.push(read);
  }
  await reader.close();
  return records;
}

/** A life with a fault at its `index`th operation that changes something. */
export async function faultAt(
  index: number,
  fault: Fault,
  options: { readonly seed: number; readonly acts: number },
): Promise<Outcome> {
  const life = new Life(options.seed, options.acts);
  const { computer, ledger } = life;
  let operation: string | undefined;
  computer.fate = (asked): Fate => {
    if (asked.index !== index) return { type: "done" };
    operation = `${asked.name} ${asked.path}`;
    return fault.type === "fail" ? fault : { type: "kill", part: fault.part };
  };
  const isSaved = await life.live();
  computer.fate = () => ({ type: "done" });
  // A process whose session is closed ends too.
  await life.die(isSaved === undefined && fault.type === "power");
  const least = isSaved === undefined && fault.type !== "power" ? "written" : "saved";
  const acknowledged = ledger.count(least);
  const about = { acknowledged, ...(operation === undefined ? {} : { operation }) };
  const first = ledger.judge(life.isThere ? await found(computer.spawn().ports) : [], least);
  const damage = isSaved === false ? ["not saved at the end"] : [];
  if (!life.isThere) return { ...first, ...about, damage };
  await life.goOn();
  const second = ledger.judge(await found(computer.spawn().ports), "saved");
  const report = await checkLog(logPath, computer.spawn().ports);
  return {
    lost: [...first.lost, ...second.lost],
    wrong: [...first.wrong, ...second.wrong],
    ...about,
    damage: [...damage, ...report.damage.map(({ fault: what }) => what)],
  };
}
