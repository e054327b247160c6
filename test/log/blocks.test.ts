/** The log's reads and copies at the borders of their blocks, and its looks at a lease. */

import { mkdtempSync, rmSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { linesBackward, linesForward } from "../../src/log/bytes.ts";
import { createLog, nodePorts, openLogForRead, takeOverLog } from "../../src/log/index.ts";
import { readLease, takeLease } from "../../src/log/lease.ts";
import * as limits from "../../src/log/limits.ts";
import { copyChunkBytes, leasePollMs, leaseRoundsMax, readBlockBytes } from "../../src/log/limits.ts";
import { id, sessions } from "./driver.ts";
import { SimComputer } from "./sim-disk.ts";

it("each bound of the log is named in a test", async () => {
  const folder = new URL(".", import.meta.url);
  const files = [
    "limits.test.ts",
    "blocks.test.ts",
    "reading.test.ts",
    "faults.test.ts",
    "real.test.ts",
    "fight.test.ts",
    "golden.test.ts",
  ];
  const texts = await Promise.all(files.map((file) => readFile(new URL(file, folder), "utf8")));
  const named = (limit: string) =>
    texts.some((text) => new RegExp(`\\b${limit}\\b(?![^;]*from ")`).test(text));
  expect(Object.keys(limits).filter((limit) => !named(limit))).toEqual([]);
});

describe("readBlockBytes", () => {
  const source = (bytes: Buffer) => ({
    size: () => Promise.resolve(bytes.length),
    read: (at: number, length: number) => Promise.resolve(bytes.subarray(at, at + length)),
  });

  it.each([-2, -1, 0, 1, 2])(
    "a line whose end is %i bytes from a block's border is one, both ways",
    async (off) => {
      for (const blocks of [1, 2]) {
        const first = "a".repeat(readBlockBytes * blocks + off - 1);
        const bytes = Buffer.from(`${first}\nsecond\n${"c".repeat(readBlockBytes)}\n`);
        const forward: string[] = [];
        for await (const line of linesForward(source(bytes) as never, 0, bytes.length))
          forward.push(line.bytes?.toString() ?? "");
        const backward: string[] = [];
        for await (const line of linesBackward(source(bytes) as never, bytes.length))
          backward.push(line.bytes?.toString() ?? "");
        expect(forward).toEqual([first, "second", "c".repeat(readBlockBytes)]);
        expect(backward.reverse()).toEqual(forward);
      }
    },
  );
});

describe("copyChunkBytes", () => {
  let root: string;
  beforeEach(() => {
    root = mkdtempSync(join(tmpdir(), "hansard-blocks-"));
  });
  afterEach(() => rmSync(root, { recursive: true, force: true }));

  it.each([-1, 0, 1])("a text of %i bytes beside a whole number of chunks comes back whole", async (off) => {
    const log = await createLog({ sessions: root, id });
    const text = `${"0123456789".repeat(copyChunkBytes / 5)}x`.slice(0, 2 * copyChunkBytes + off);
    await log.append({ kind: "message", role: "user", payload: { text } });
    await log.close();
    const reader = await openLogForRead({ sessions: root, id });
    const { items } = await reader.tail(10);
    const found = items.find((item) => item.type === "record" && item.record.kind === "message");
    const whole = found?.type === "record" ? await reader.inflate(found.record as never) : undefined;
    await reader.close();
    expect((whole as { payload?: { text?: string } } | undefined)?.payload?.text).toBe(text);
  });
});

describe("the lease", () => {
  it("leasePollMs: who waits looks so often, and has the log at the next look after its owner died", async () => {
    const computer = new SimComputer();
    const owner = computer.spawn();
    const log = await createLog({ sessions, id }, owner.ports);
    await log.append({ kind: "turnStarted" });
    await log.flush();
    const heir = computer.spawn();
    let taken: number | undefined;
    const over = takeOverLog({ sessions, id }, heir.ports).then((writer) => {
      taken = computer.nowMs;
      return writer;
    });
    await computer.advance(leasePollMs * 3);
    expect(taken).toBeUndefined();
    owner.kill();
    const diedAt = computer.nowMs;
    await computer.advance(leasePollMs);
    const writer = await over;
    expect((taken ?? 0) - diedAt).toBeLessThanOrEqual(leasePollMs);
    await writer.close();
  });

  it("leaseRoundsMax: a lease that is another one at every look is left unclear", async () => {
    let looks = 0;
    const files = {
      ...nodePorts.files,
      makeFolder: () => Promise.resolve(),
      list: () => {
        looks += 1;
        return Promise.resolve([String(looks).padStart(10, "0")]);
      },
      // What was listed is gone when it is opened: its successor has swept it away.
      open: () => Promise.reject(Object.assign(new Error("gone"), { code: "ENOENT" })),
      facts: () => Promise.resolve(undefined),
    };
    const ports = { ...nodePorts, files };
    expect(await readLease("/lease", ports)).toEqual({ state: "unclear", epoch: 0 });
    expect(looks).toBe(leaseRoundsMax);
    expect(await takeLease("/lease", ports)).toMatchObject({ ok: false, holder: { state: "unclear" } });
  });
});
