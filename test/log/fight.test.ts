/** Several processes want to write one session: one does, and none of them tears or loses what another acknowledged. */
import { describe, expect, test } from "vitest";
import {
  checkLog,
  createLog,
  LogError,
  type LogPorts,
  type LogRecord,
  type LogWriter,
  openLogForRead,
  openLogForWrite,
  readHolder,
  takeOverLog,
} from "../../src/log/index.ts";
import { leaseBlankMs } from "../../src/log/limits.ts";
import { id, logPath, sessions } from "./driver.ts";
import { randomFrom, SimComputer, type SimProcess, settle } from "./sim-disk.ts";

/** Lets the operations of all processes go on in a random order, and time pass where none can. */
class Arena {
  readonly computer = new SimComputer();
  readonly random: () => number;
  #pending: (() => void)[] = [];
  #isOver = false;

  constructor(seed: number) {
    this.random = randomFrom(seed);
  }

  async run(fighters: readonly Promise<void>[]): Promise<void> {
    this.computer.turn = () => new Promise((resolve) => this.#pending.push(resolve));
    const all = Promise.all(fighters).finally(() => {
      this.#isOver = true;
    });
    while (!this.#isOver) {
      await settle();
      const at = Math.floor(this.random() * this.#pending.length);
      const [next] = this.#pending.splice(at, 1);
      if (next === undefined) await this.computer.advance(100);
      else next();
    }
    this.computer.turn = () => Promise.resolve();
    await all;
  }
}

async function fighter(arena: Arena, name: string, acknowledged: string[], canSteal: boolean): Promise<void> {
  const { computer, random } = arena;
  for (let round = 0; round < 4; round += 1) {
    const process = computer.spawn();
    const work = fightRound(arena, process, `${name}${round}`, acknowledged, canSteal && random() < 0.4);
    const isDoomed = random() < 0.5;
    if (isDoomed) {
      let left = Math.floor(random() * 60);
      const turn = computer.turn;
      computer.turn = async () => {
        await turn();
        left -= 1;
        if (left === 0) process.kill();
      };
    }
    await Promise.race([work, process.death]);
    process.kill();
  }
}

async function fightRound(
  { random }: Arena,
  process: SimProcess,
  name: string,
  acknowledged: string[],
  steal: boolean,
): Promise<void> {
  let writer: LogWriter;
  try {
    writer = steal
      ? await openLogForWrite({ sessions, id, steal }, process.ports)
      : await takeOverLog({ sessions, id }, process.ports);
    for (let count = 0; count < 5; count += 1) {
      const turnId = `${name}-${count}`;
      const { state } = await writer.append({ kind: "message", turnId, role: "user", payload: turnId });
      if (state === "written" || state === "saved") acknowledged.push(turnId);
    }
  } catch (error) {
    if (!(error instanceof LogError)) throw error;
    expect(["lease-lost", "busy"]).toContain(error.code);
    return;
  }
  if (random() < 0.7) await writer.close();
}

async function fight(seed: number, canSteal: boolean): Promise<void> {
  const arena = new Arena(seed);
  const maker = arena.computer.spawn();
  await (await createLog({ sessions, id }, maker.ports)).close();
  const acknowledged: string[] = [];
  await arena.run(["a", "b", "c"].map((name) => fighter(arena, name, acknowledged, canSteal)));
  const { ports } = arena.computer.spawn();
  // Whoever died last may have left half a record.
  await (await takeOverLog({ sessions, id }, ports)).close();
  expect((await checkLog(logPath, ports)).damage).toEqual([]);
  const reader = await openLogForRead({ sessions, id }, ports);
  const found: string[] = [];
  for await (const item of reader.items()) {
    if (item.type === "record" && item.record.kind === "message")
      found.push((item.record as LogRecord & { turnId: string }).turnId);
  }
  expect(new Set(found).size).toBe(found.length);
  expect(found.filter((turnId) => acknowledged.includes(turnId)).sort()).toEqual([...acknowledged].sort());
}

describe("three processes take the session over from each other", () => {
  test.each([
    ["killed at random", false],
    ["killed at random, and stealing", true],
  ])("%s", async (_name, canSteal) => {
    for (let seed = 1; seed <= 25; seed += 1) {
      try {
        await fight(seed, canSteal);
      } catch (error) {
        throw new Error(`fight(${seed}, ${canSteal})`, { cause: error });
      }
    }
  });
});

describe("the lease", () => {
  const spec = { kind: "message", role: "user", payload: "m" } as const;

  test("a second writer is refused with who it is, and writes nothing; it follows the owner's end within a second", async () => {
    const computer = new SimComputer();
    const owner = computer.spawn();
    const second = computer.spawn();
    await createLog({ sessions, id }, owner.ports);
    const before = computer.bytesAt(logPath);
    await expect(openLogForWrite({ sessions, id }, second.ports)).rejects.toMatchObject({
      code: "busy",
      message: `session ${id} is being written by process ${owner.pid}`,
      details: { pid: owner.pid },
    });
    expect(computer.bytesAt(logPath)).toEqual(before);
    expect(await readHolder({ sessions, id }, second.ports)).toMatchObject({
      state: "held",
      owner: { pid: owner.pid },
    });
    let taken: LogWriter | undefined;
    void takeOverLog({ sessions, id }, second.ports).then((writer) => {
      taken = writer;
    });
    await computer.advance(5000);
    expect(taken).toBeUndefined();
    owner.kill();
    await computer.advance(1000);
    expect(taken?.opened.state).toBe("clean");
  });

  test("waiting for it can be called off", async () => {
    const computer = new SimComputer();
    await createLog({ sessions, id }, computer.spawn().ports);
    const stop = new AbortController();
    const waiting = takeOverLog({ sessions, id, signal: stop.signal }, computer.spawn().ports);
    await settle();
    stop.abort(new Error("enough"));
    await expect(waiting).rejects.toThrow("enough");
  });

  test("a stolen lease stops its writer at the next append, loudly, and nothing of it is written", async () => {
    const computer = new SimComputer();
    const notices: string[] = [];
    const listener = { notice: ({ code }: { readonly code: string }) => void notices.push(code) };
    const owner = await createLog({ sessions, id, listener }, computer.spawn().ports);
    await owner.append(spec);
    const thief = await openLogForWrite({ sessions, id, steal: true }, computer.spawn().ports);
    await expect(owner.append(spec)).rejects.toMatchObject({ code: "lease-lost" });
    await expect(owner.flush()).rejects.toMatchObject({ code: "lease-lost" });
    expect(notices).toEqual(["lease-lost"]);
    expect(owner.status().isLost).toBe(true);
    expect(await owner.close()).toMatchObject({ saved: false, unsavedRecords: 2 });
    await thief.append(spec);
    expect(await thief.close()).toMatchObject({ saved: true });
    expect((await checkLog(logPath, computer.spawn().ports)).recordKinds).toMatchObject({ message: 2 });
  });

  test("stolen between the look and the write: the write does not count, and the thief takes it out", async () => {
    const computer = new SimComputer();
    const { ports } = computer.spawn();
    let beforeWrite: () => Promise<void> = () => Promise.resolve();
    const slow: LogPorts = {
      ...ports,
      files: {
        ...ports.files,
        open: async (path, mode) => {
          const file = await ports.files.open(path, mode);
          if (!path.endsWith("log.jsonl")) return file;
          return { ...file, write: (bytes, at) => beforeWrite().then(() => file.write(bytes, at)) };
        },
      },
    };
    const owner = await createLog({ sessions, id }, slow);
    let thief: LogWriter | undefined;
    const notices: string[] = [];
    const listener = { notice: ({ code }: { readonly code: string }) => void notices.push(code) };
    beforeWrite = async () => {
      thief = await openLogForWrite({ sessions, id, steal: true, listener }, computer.spawn().ports);
    };
    await expect(owner.append(spec)).rejects.toMatchObject({ code: "lease-lost" });
    await thief?.append(spec);
    expect(await thief?.close()).toMatchObject({ saved: true });
    expect(notices).toEqual(["foreign-bytes"]);
    expect(await checkLog(logPath, computer.spawn().ports)).toMatchObject({
      damageCount: 0,
      recordKinds: { message: 1 },
    });
  });

  test("one that somebody removed is made again; one without content counts as left behind after a while", async () => {
    const computer = new SimComputer();
    const owner = computer.spawn();
    const writer = await createLog({ sessions, id }, owner.ports);
    const lease = `${sessions}/${id}/lease`;
    await owner.ports.files.remove(`${lease}/${computer.names(lease)[0] ?? ""}`);
    expect(await writer.append(spec)).toMatchObject({ state: "written" });
    expect(computer.names(lease)).toHaveLength(1);
    owner.kill();
    computer.overwrite(`${lease}/${computer.names(lease)[0] ?? ""}`, Buffer.alloc(0));
    const next = computer.spawn();
    await expect(openLogForWrite({ sessions, id }, next.ports)).rejects.toMatchObject({ code: "busy" });
    await computer.advance(leaseBlankMs);
    await openLogForWrite({ sessions, id }, next.ports);
  });

  test("one of another computer is never taken for free, and can be taken explicitly", async () => {
    const computer = new SimComputer();
    const far = computer.spawn();
    const self = { ...(await far.ports.host.self()), host: "elsewhere" };
    await createLog(
      { sessions, id },
      { ...far.ports, host: { ...far.ports.host, self: () => Promise.resolve(self) } },
    );
    far.kill();
    const near = computer.spawn();
    await expect(openLogForWrite({ sessions, id }, near.ports)).rejects.toMatchObject({
      code: "busy",
      next: expect.stringContaining("explicitly") as string,
    });
    expect((await openLogForWrite({ sessions, id, steal: true }, near.ports)).id).toBe(id);
  });
});
