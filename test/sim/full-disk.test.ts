/** A disk that fills up in the middle of a record and then has space again: a small real one where it may be mounted, a made one elsewhere. */
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, statfsSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { readBack, specOf } from "../../sim/ledger.ts";
import {
  checkLog,
  createLog,
  type LogNotice,
  type LogPorts,
  type LogRecord,
  nodePorts,
  openLogForRead,
} from "../../src/log/index.ts";

interface Disk {
  readonly sessions: string;
  readonly ports: LogPorts;
  /** Leaves room for a part of a record only. */
  fill(): void;
  free(): void;
}

let root: string;
let isMounted = false;
beforeAll(() => {
  root = mkdtempSync(join(tmpdir(), "hansard-full-"));
  const mount = spawnSync("mount", ["-t", "tmpfs", "-o", "size=1m,mode=700", "tmpfs", root]);
  isMounted = mount.status === 0;
});
afterAll(() => {
  if (isMounted) spawnSync("umount", [root]);
  rmSync(root, { recursive: true, force: true });
});

function realDisk(): Disk {
  const filler = join(root, "filler");
  return {
    sessions: join(root, "sessions"),
    ports: nodePorts,
    fill() {
      const { bavail, bsize } = statfsSync(root);
      writeFileSync(filler, Buffer.alloc(Math.max(0, bavail * bsize - 8 * 1024)));
    },
    free: () => rmSync(filler),
  };
}

/** The same on any disk: writes take what there is room for and are refused from then on. */
function madeDisk(): Disk {
  let room = Number.POSITIVE_INFINITY;
  const full = (): Error => Object.assign(new Error("no space left"), { code: "ENOSPC", syscall: "write" });
  const ports: LogPorts = {
    ...nodePorts,
    files: {
      ...nodePorts.files,
      async open(path, mode) {
        const file = await nodePorts.files.open(path, mode);
        return {
          read: (into, position) => file.read(into, position),
          async write(bytes, position) {
            if (room <= 0) throw full();
            const taken = await file.write(bytes.subarray(0, Math.min(bytes.length, room)), position);
            room -= taken;
            return taken;
          },
          truncate: (size) => file.truncate(size),
          sync: () => file.sync(),
          facts: () => file.facts(),
          close: () => file.close(),
        };
      },
    },
  };
  return {
    sessions: join(mkdtempSync(join(tmpdir(), "hansard-made-")), "sessions"),
    ports,
    fill: () => {
      room = 8 * 1024;
    },
    free: () => {
      room = Number.POSITIVE_INFINITY;
    },
  };
}

const id = "session";
const names = (from: number, to: number): string[] =>
  Array.from({ length: to - from }, (_, i) => `r${from + i}`);

async function fillsUp({ sessions, ports, fill, free }: Disk): Promise<void> {
  const notices: string[] = [];
  const waiting = new Map<string, () => void>();
  const told = (code: string): Promise<void> =>
    notices.includes(code) ? Promise.resolve() : new Promise((resolve) => waiting.set(code, resolve));
  const notice = ({ code }: LogNotice): void => {
    notices.push(code);
    waiting.get(code)?.();
  };
  // The timers of the log keep no process alive.
  const alive = setInterval(() => {}, 1000);
  const log = await createLog({ sessions, id, listener: { notice } }, ports);
  for (const name of names(0, 5)) await log.append(specOf(name));
  await log.flush();
  fill();
  const from = performance.now();
  const held = await log.append(names(5, 40).map(specOf));
  await told("write-failed");
  expect(performance.now() - from).toBeLessThan(1000);
  expect(held.state).toBe("held");
  // The conversation goes on.
  for (const name of names(40, 50)) expect((await log.append(specOf(name))).state).toBe("held");
  expect(log.status()).toMatchObject({ problem: { code: "ENOSPC" }, missedRecords: 0 });
  free();
  await told("write-recovered");
  await log.append(specOf("r50"));
  expect(await log.close()).toMatchObject({ saved: true, unsavedRecords: 0 });
  clearInterval(alive);
  expect(notices).toEqual(["write-failed", "write-recovered"]);
  const reader = await openLogForRead({ sessions, id });
  const found = [];
  for await (const item of reader.items()) {
    if (item.type !== "record") continue;
    const read = readBack(await reader.inflate(item.record as LogRecord));
    if (read !== undefined) found.push(read);
  }
  await reader.close();
  expect(found).toEqual(names(0, 51).map((name) => ({ name, isRight: true })));
  expect(await checkLog(join(sessions, id, "log.jsonl"))).toMatchObject({ damageCount: 0, invalidCount: 0 });
}

describe("a full disk is told within a second, the conversation goes on, every record is in the log at the end", () => {
  test("on a small real disk, or where none may be mounted on a made one", () =>
    fillsUp(isMounted ? realDisk() : madeDisk()));
  test("on a made one", () => fillsUp(madeDisk()));
});
