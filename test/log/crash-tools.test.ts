/** Opening, forking and repairing, broken off or refused at every operation: the log is as it was or as it should be, never between. */
import { expect, test } from "vitest";
import {
  checkLog,
  createLog,
  forkLog,
  type LogPorts,
  openLogForWrite,
  repairLog,
  takeOverLog,
} from "../../src/log/index.ts";
import { id, logPath, sessions } from "./driver.ts";
import { type Fate, randomFrom, SimComputer, settle } from "./sim-disk.ts";

interface Tool {
  readonly name: string;
  /** What is done to the log before. */
  readonly spoil: (bytes: Buffer) => Buffer;
  readonly run: (ports: LogPorts) => Promise<unknown>;
}

const tools: readonly Tool[] = [
  {
    name: "open",
    spoil: (bytes) => bytes.subarray(0, bytes.length - 20),
    run: async (ports) => await (await openLogForWrite({ sessions, id }, ports)).close(),
  },
  {
    name: "fork",
    spoil: (bytes) => bytes,
    run: (ports) => forkLog({ sessions, parentId: id, parentTurnId: "b", id: "child" }, ports),
  },
  {
    name: "repair",
    spoil: (bytes) => {
      bytes[bytes.indexOf('"turnId":"b"') + 10] = 0x7a;
      return bytes;
    },
    run: (ports) => repairLog({ sessions, id }, ports),
  },
];

async function prepare(tool: Tool): Promise<{ readonly computer: SimComputer; readonly before: Buffer }> {
  const computer = new SimComputer();
  const writer = await createLog({ sessions, id }, computer.spawn().ports);
  await writer.append([
    { kind: "turnStarted" },
    { kind: "message", turnId: "a", role: "user", payload: "L".repeat(70_000) },
    { kind: "message", turnId: "b", role: "user", payload: "b" },
    { kind: "message", turnId: "c", role: "user", payload: "c" },
    { kind: "turnCommitted" },
  ]);
  await writer.close();
  const before = tool.spoil(computer.bytesAt(logPath) ?? Buffer.alloc(0));
  computer.overwrite(logPath, before);
  return { computer, before };
}

/** Whatever happened: done once more it succeeds, and both logs are whole. */
async function finish(computer: SimComputer, tool: Tool): Promise<void> {
  const { ports } = computer.spawn();
  if (tool.name === "fork" && computer.names(sessions).includes("child"))
    await (await takeOverLog({ sessions, id: "child" }, ports)).close();
  else await tool.run(ports);
  for (const path of tool.name === "fork" ? [logPath, `${sessions}/child/log.jsonl`] : [logPath]) {
    const report = await checkLog(path, computer.spawn().ports);
    expect(report.damage).toEqual([]);
    expect(report.blobs.missing).toEqual([]);
    expect(report.recordKinds["message"]).toBe(tool.name === "repair" || path !== logPath ? 2 : 3);
  }
}

for (const tool of tools) {
  test.each(["kill", "power", "ENOSPC", "EIO"])(`${tool.name}: %s at every operation`, async (what) => {
    let index = 0;
    for (let isReached = true; isReached; index += 1) {
      const { computer, before } = await prepare(tool);
      const at = computer.operations + index;
      isReached = false;
      computer.fate = (operation): Fate => {
        if (operation.index !== at) return { type: "done" };
        isReached = true;
        const part = (index % 3) / 2;
        return what === "kill" || what === "power"
          ? { type: "kill", part }
          : { type: "fail", code: what, part };
      };
      const process = computer.spawn();
      let failure: unknown;
      await Promise.race([
        tool.run(process.ports).catch((error: unknown) => {
          failure = error;
        }),
        process.death,
      ]);
      process.kill();
      await settle();
      computer.fate = () => ({ type: "done" });
      if (what === "power") computer.losePower(randomFrom(index));
      // A refusal is one of the system, or in words.
      if (failure !== undefined)
        expect((failure as { readonly code?: string }).code, `operation ${index}`).toMatch(
          /^(not-writable|ENOSPC|EIO)$/,
        );
      if (tool.name === "repair" && computer.bytesAt(logPath)?.equals(before) !== true)
        expect((await checkLog(logPath, computer.spawn().ports)).verdict.state).toBe("clean");
      // A lease without content counts as left behind after a while.
      await computer.advance(10_000);
      try {
        await finish(computer, tool);
      } catch (error) {
        throw new Error(`${tool.name}, ${what}, operation ${index}`, { cause: error });
      }
    }
    expect(index).toBeGreaterThan(10);
  });
}
