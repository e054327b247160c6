/** A disk that refuses: the conversation goes on, a person is told at once, and every record ends up in the log when it works again. */
import { describe, expect, test } from "vitest";
import {
  type Closed,
  createLog,
  type LogNotice,
  type LogWriter,
  openLogForRead,
} from "../../src/log/index.ts";
import { heldRecordsMax, retryMaxMs, unsyncedBytesMax } from "../../src/log/limits.ts";
import { id, logPath, sessions } from "./driver.ts";
import { type Fate, randomFrom, SimComputer, type SimProcess, settle } from "./sim-disk.ts";

interface Scene {
  readonly computer: SimComputer;
  readonly process: SimProcess;
  readonly notices: LogNotice[];
  open(): Promise<LogWriter>;
  texts(): Promise<string[]>;
}

function scene(): Scene {
  const computer = new SimComputer();
  const process = computer.spawn();
  const notices: LogNotice[] = [];
  return {
    computer,
    process,
    notices,
    open: () =>
      createLog({ sessions, id, listener: { notice: (notice) => notices.push(notice) } }, process.ports),
    async texts() {
      const reader = await openLogForRead({ sessions, id }, computer.spawn().ports);
      const texts: string[] = [];
      for await (const item of reader.items()) {
        expect(item.type, `bytes ${item.start}-${item.end}`).toBe("record");
        if (item.type === "record" && item.record.kind === "message")
          texts.push(String(item.record["payload"]));
      }
      await reader.close();
      return texts;
    },
  };
}

function message(text: string): {
  readonly kind: "message";
  readonly role: "user";
  readonly payload: string;
} {
  return { kind: "message", role: "user", payload: text };
}

/** A life that goes on whatever the disk does. */
async function stubbornLife(writer: LogWriter, from: number): Promise<string[]> {
  const texts = Array.from({ length: 5 }, (_, index) => `text ${from + index}`);
  const [first = "", ...rest] = texts;
  await writer.append({ kind: "turnStarted" });
  await writer.append(message(first));
  await Promise.all(rest.map((text) => writer.append(message(text))));
  await writer.append(message("L".repeat(70_000)));
  await writer.append({ kind: "turnCommitted" });
  await writer.flush();
  return [...texts, "L".repeat(1024)];
}

/** From the `at`-th operation on, `count` operations fail. */
function failing(
  at: number,
  count: number,
  code: string,
  part: number,
): (operation: { readonly index: number }) => Fate {
  return ({ index }) => (index >= at && index < at + count ? { type: "fail", code, part } : { type: "done" });
}

describe("every operation fails in turn, and works again later", () => {
  test.each([
    ["ENOSPC", 1],
    ["ENOSPC", 7],
    ["EIO", 3],
    ["EDQUOT", 1],
    ["EROFS", 2],
  ])("%s, %i operations", async (code, count) => {
    let at = 0;
    for (let isReached = true; isReached; at += 1) {
      const { computer, notices, open, texts } = scene();
      computer.fate = failing(at, count, code, (at % 4) / 4);
      const writer = await open();
      const sent = await stubbornLife(writer, 0);
      isReached = computer.operations > at;
      for (let round = 0; round < 12 && writer.status().problem !== undefined; round += 1) {
        await computer.advance(retryMaxMs);
        await settle();
      }
      expect(writer.status().problem, `operation ${at}`).toBeUndefined();
      computer.fate = (): Fate => ({ type: "done" });
      sent.push(...(await stubbornLife(writer, 5)));
      const closed = await writer.close();
      expect(closed, `operation ${at}`).toMatchObject({ saved: true, unsavedRecords: 0 });
      const codes = notices.map((notice) => notice.code);
      if (codes.includes("write-failed")) expect(codes.at(-1)).toBe("write-recovered");
      // A failed sync counts for nothing: what was acknowledged after it survives a power loss.
      computer.losePower(randomFrom(at));
      expect(await texts(), `operation ${at}`).toEqual(sent);
    }
    expect(at).toBeGreaterThan(25);
  });
});

describe("a disk that stays full", () => {
  test("says so at once, holds, and tells the truth at the end", async () => {
    const { computer, notices, open } = scene();
    const writer = await open();
    await writer.append(message("saved"));
    await writer.flush();
    computer.fate = ({ name }): Fate =>
      name === "write" ? { type: "fail", code: "ENOSPC", part: 0.3 } : { type: "done" };
    expect(await writer.append(message("held"))).toMatchObject({ state: "held" });
    expect(notices.map((notice) => [notice.code, notice.tone])).toEqual([["write-failed", "error"]]);
    expect(await writer.flush()).toMatchObject({ saved: false, problem: { code: "ENOSPC" } });
    const closed: Closed = await writer.close();
    expect(closed.saved).toBe(false);
    expect(closed.unsavedRecords).toBe(1);
    expect(closed.message).toBe(
      "1 record of session session-1 is NOT saved: the disk is full (ENOSPC). What was saved before can be resumed.",
    );
    expect(await writer.close()).toBe(closed);
  });

  test("from the start: nothing is left behind, and the last words say that there is nothing", async () => {
    const { computer, open } = scene();
    computer.fate = ({ name }): Fate =>
      name === "write" ? { type: "fail", code: "EROFS", part: 0 } : { type: "done" };
    const writer = await open();
    await writer.append(message("held"));
    await computer.advance(60_000);
    const closed = await writer.close();
    expect(closed.message).toBe(
      "Session session-1 was NOT saved: the file system is read-only (EROFS). There is nothing to resume.",
    );
    expect(computer.names(sessions)).toEqual([]);
  });

  test("holds up to its bound, misses what is above it, and says in the log how much", async () => {
    const { computer, notices, open } = scene();
    const writer = await open();
    await writer.append({ kind: "turnStarted" });
    await writer.flush();
    computer.fate = ({ name }): Fate =>
      name === "write" ? { type: "fail", code: "ENOSPC", part: 0 } : { type: "done" };
    await writer.append(message("first held"));
    const many = Array.from({ length: heldRecordsMax - 1 }, (_, index) => ({
      kind: "custom" as const,
      customType: "n",
      data: index,
    }));
    // A snapshot may come between them: the bound counts what is written, so the last ones may not fit.
    for (let from = 0; from < many.length; from += 20_000)
      await writer.append(many.slice(from, from + 20_000));
    const over = await writer.append([message("missed"), message("missed too")]);
    expect(over).toEqual({ state: "missed", places: [] });
    expect(await writer.append({ kind: "turnCommitted" })).toMatchObject({ state: "missed" });
    expect(notices.map((notice) => notice.code)).toEqual(["write-failed", "records-missed"]);
    expect(writer.status().heldRecords).toBeLessThanOrEqual(heldRecordsMax + 1);
    computer.fate = () => ({ type: "done" });
    await computer.advance(retryMaxMs);
    for (let round = 0; round < 200 && writer.status().problem !== undefined; round += 1) await settle();
    expect(notices.map((notice) => notice.code).at(-1)).toBe("write-recovered");
    await writer.append(message("after"));
    const closed = await writer.close();
    expect(closed.saved).toBe(false);
    const reader = await openLogForRead({ sessions, id }, computer.spawn().ports);
    const page = await reader.tail(6);
    const told = page.items.map((item) => (item.type === "record" ? item.record : undefined));
    expect(told.map((record) => record?.kind)).toEqual(
      expect.arrayContaining(["missed", "turnInterrupted", "message", "closed"]),
    );
    expect(told.find((record) => record?.kind === "missed")).toMatchObject({ reason: "held-limit" });
    // The turn was ended while nothing was recorded: the log says so when it can.
    const { tail } = await reader.inspect();
    expect(tail.openTurn).toBeUndefined();
    await reader.close();
  }, 60_000);
});

test("what is not synced is bounded: a sync comes by itself", async () => {
  const { computer, open } = scene();
  const writer = await open();
  let syncs = 0;
  computer.fate = ({ name, path }): Fate => {
    if (name === "sync" && path.endsWith("log.jsonl")) syncs += 1;
    return { type: "done" };
  };
  const text = "t".repeat(60_000);
  for (let bytes = 0; bytes < unsyncedBytesMax + 200_000; bytes += text.length)
    await writer.append(message(text));
  expect(syncs).toBe(1);
  await writer.close();
});

describe("another program touches the log", () => {
  test("foreign bytes behind the end are taken out and kept", async () => {
    const { computer, notices, open, texts } = scene();
    const writer = await open();
    await writer.append(message("one"));
    await writer.flush();
    const bytes = computer.bytesAt(logPath) ?? Buffer.alloc(0);
    computer.overwrite(logPath, Buffer.concat([bytes, Buffer.from("hello, log\n")]));
    await writer.append(message("two"));
    await writer.close();
    expect(await texts()).toEqual(["one", "two"]);
    expect(notices.map((notice) => notice.code)).toEqual(["foreign-bytes"]);
    const kept = String(notices[0]?.details?.["keptAs"]);
    expect(computer.bytesAt(kept)?.toString()).toBe("hello, log\n");
  });

  test("a cut below what was saved is said in the log and to the person; the rest is written", async () => {
    const { computer, notices, open, texts } = scene();
    const writer = await open();
    await writer.append([{ kind: "turnStarted" }, message("one"), message("two")]);
    await writer.flush();
    const bytes = computer.bytesAt(logPath) ?? Buffer.alloc(0);
    computer.overwrite(logPath, bytes.subarray(0, bytes.length - 30));
    await writer.append(message("three"));
    await writer.append({ kind: "turnCommitted" });
    await writer.close();
    expect(await texts()).toEqual(["one", "three"]);
    expect(notices.map((notice) => notice.code)).toEqual(["log-truncated"]);
  });

  test("a log that was emptied begins anew with its session", async () => {
    const { computer, open, texts } = scene();
    const writer = await open();
    await writer.append(message("one"));
    await writer.flush();
    computer.overwrite(logPath, Buffer.alloc(0));
    await writer.append(message("two"));
    await writer.close();
    expect(await texts()).toEqual(["two"]);
  });

  test("a log that was removed, alone or with its folder, is written again whole", async () => {
    for (const what of ["file", "folder"] as const) {
      const { process, notices, open, texts } = scene();
      const writer = await open();
      await writer.append(message("one"));
      await writer.flush();
      if (what === "file") await process.ports.files.remove(logPath);
      else await process.ports.files.removeFolder(`${sessions}/${id}`);
      await writer.append(message("two"));
      expect(await writer.close(), what).toMatchObject({ saved: true });
      expect(await texts(), what).toEqual(["one", "two"]);
      expect(notices.map((notice) => notice.code)).toEqual(["log-removed"]);
    }
  });

  test("a log that was replaced by another file is written again; the other file is kept", async () => {
    const { computer, process, notices, open, texts } = scene();
    const writer = await open();
    await writer.append(message("one"));
    await writer.flush();
    const other = await process.ports.files.open(`${logPath}.other`, "create");
    await other.write(Buffer.from("stub\n"));
    await process.ports.files.rename(`${logPath}.other`, logPath);
    await writer.append(message("two"));
    await writer.close();
    expect(await texts()).toEqual(["one", "two"]);
    expect(notices.map((notice) => notice.code)).toEqual(["log-replaced"]);
    expect(computer.bytesAt(String(notices[0]?.details?.["keptAs"]))?.toString()).toBe("stub\n");
  });
});
