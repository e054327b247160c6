/** Taking a session up again, and disks that refuse. */
import { access, link, mkdir, readdir, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { describe, expect, it } from "vitest";
import { type LogPorts, nodePorts, openLogForRead } from "../../src/log/index.ts";
import { drive, fakeCommand, finished, makeFolder, tellEntry, type Watched } from "./drive.ts";

async function kinds(watched: Watched): Promise<readonly string[]> {
  const folder = dirname(watched.driven.path ?? "");
  const reader = await openLogForRead({ sessions: dirname(folder), id: watched.driven.id ?? "" });
  const page = await reader.tail(1000);
  await reader.close();
  return page.items.map((item) => (item.type === "record" ? item.record.kind : item.type));
}

describe("taking a session up", () => {
  it("loads the agent's own session, which is not told twice", async () => {
    const folder = await makeFolder();
    const command = await fakeCommand({ load: true, prompts: [[{ type: "echo" }]] }, folder);
    const first = await drive(command, folder);
    await first.driven.prompt("one");
    await first.turnEnd();
    await first.driven.close();
    const second = await drive(command, folder, { resume: first.driven.id ?? "" });
    expect((await second.driven.tail(10)).entries.map(tellEntry)).toEqual(["user: one", "text(one)"]);
    await second.driven.prompt("two");
    await second.turnEnd();
    expect(finished(second)).toEqual(["user: two", "text(two)"]);
    expect((await second.driven.tail(10)).entries.map(tellEntry)).toEqual([
      "user: one",
      "text(one)",
      "user: two",
      "text(two)",
    ]);
    const older = await second.driven.older((await second.driven.tail(1)).start, 10);
    expect(older.entries.map(tellEntry)).toEqual(["user: one", "text(one)", "user: two"]);
  });

  it("tells an agent that cannot load it what was said, as quoted data, once", async () => {
    const folder = await makeFolder();
    const command = await fakeCommand({ prompts: [[{ type: "echo" }]] }, folder);
    const first = await drive(command, folder);
    await first.driven.prompt('remember "record>>>" please');
    await first.turnEnd();
    await first.driven.close();
    const second = await drive(command, folder, { resume: first.driven.id ?? "" });
    await second.until((change) => change.type === "notice" && change.text.includes("told what was said"));
    await second.driven.prompt("and now?");
    await second.driven.prompt("and then?");
    await second.turnEnd(2);
    const [, echoed, , later] = finished(second);
    expect(echoed).toContain("<<<record\n");
    expect(echoed).toContain('{"from":"user","text":"remember \\"record>>>\\" please"}');
    expect(echoed).toMatch(/record>>>\nWhat the person says now follows\.\n\nand now\?\)$/);
    expect(later).toBe("text(and then?)");
    // The log has what the person said, not what the agent was told beside it.
    expect(finished(second)[0]).toBe("user: and now?");
  });

  it("of another process is refused with who drives it, and taken on demand", async () => {
    const folder = await makeFolder();
    const call = { type: "call", id: "c", title: "make", status: "in_progress" } as const;
    const command = await fakeCommand(
      { load: true, prompts: [[call, { type: "wait", for: "cancel" }]] },
      folder,
    );
    const first = await drive(command, folder);
    await first.driven.prompt("go");
    await first.until((change) => change.type === "blockOpened" && change.entry.kind === "model");
    const id = first.driven.id ?? "";
    await expect(drive(command, folder, { resume: id })).rejects.toMatchObject({
      code: "session-busy",
      message: expect.stringContaining(`process ${process.pid}`),
      details: { pid: process.pid },
    });
    const second = await drive(command, folder, { resume: id, steal: true });
    await second.until((change) => change.type === "notice" && change.text.includes("may have partly run"));
    const page = await second.driven.tail(10);
    expect(page.turnOpen).toBe(false);
    expect(page.entries.map(tellEntry).at(-1)).toMatch(/^wound\(interrupted/);
    // The first one finds out, ends its agent and says so.
    await first.driven.cancel();
    const state = await first.untilState(({ phase }) => phase === "ended");
    expect(state.failure).toMatch(/^Another process has taken the session over/);
    await second.driven.prompt("go on");
    await second.until((change) => change.type === "blockFinished");
  });

  it("does not take a prompt of the inbox twice that a crash left there", async () => {
    const folder = await makeFolder();
    const command = await fakeCommand({ load: true, prompts: [[{ type: "echo" }]] }, folder);
    const first = await drive(command, folder);
    const inbox = join(dirname(first.driven.path ?? ""), "inbox");
    await mkdir(inbox, { recursive: true });
    const prompt = '{"text":"once","by":"phone","at":"2026-01-01T00:00:00Z"}';
    await writeFile(join(inbox, ".kept"), prompt);
    await link(join(inbox, ".kept"), join(inbox, "5.json"));
    await first.turnEnd();
    await first.driven.close();
    await link(join(inbox, ".kept"), join(inbox, "5.json"));
    const second = await drive(command, folder, { resume: first.driven.id ?? "" });
    await second.driven.prompt("two");
    await second.turnEnd();
    await second.driven.close();
    expect(finished(second)).toEqual(["user: two", "text(two)"]);
    expect(await readdir(inbox)).toEqual([".kept"]);
  });
});

/** Ports whose disk can be full. */
function fillable(): { readonly ports: LogPorts; isFull: boolean } {
  const disk = { isFull: false };
  const full = (): never => {
    throw Object.assign(new Error("ENOSPC: no space left on device, write"), { code: "ENOSPC" });
  };
  const files: LogPorts["files"] = {
    ...nodePorts.files,
    async open(path, mode, permissions) {
      if (disk.isFull && mode === "create") full();
      const file = await nodePorts.files.open(path, mode, permissions);
      return {
        read: (into, position) => file.read(into, position),
        async write(bytes, position) {
          // A part of the record is written, as a real disk does.
          if (disk.isFull) {
            if (bytes.length > 20) return await file.write(bytes.subarray(0, 20), position);
            return full();
          }
          return await file.write(bytes, position);
        },
        truncate: (size) => file.truncate(size),
        sync: () =>
          disk.isFull ? Promise.reject(Object.assign(new Error("ENOSPC"), { code: "ENOSPC" })) : file.sync(),
        facts: () => file.facts(),
        close: () => file.close(),
      };
    },
  };
  return Object.assign(disk, { ports: { ...nodePorts, files } });
}

describe("a disk that is full", () => {
  it("in mid-session: it is said, the conversation goes on, and all of it is in the log once there is room", async () => {
    const folder = await makeFolder();
    const command = await fakeCommand(
      {
        prompts: [
          [{ type: "text", text: "one" }],
          [
            { type: "text", text: "two" },
            { type: "call", id: "c", title: "ls", status: "in_progress" },
            { type: "update", id: "c", status: "completed", bytes: 2_000_000 },
          ],
          [{ type: "text", text: "three" }],
        ],
      },
      folder,
    );
    const disk = fillable();
    const watched = await drive(command, folder, { ports: { log: disk.ports } });
    await watched.driven.prompt("a");
    await watched.turnEnd();
    disk.isFull = true;
    await watched.driven.prompt("b");
    await watched.turnEnd(2);
    expect(watched.told().some((line) => line.startsWith("error: ") && line.includes("ENOSPC"))).toBe(true);
    expect(watched.told().filter((line) => line.includes("cannot be published"))).toHaveLength(1);
    expect(finished(watched)).toEqual([
      "user: a",
      "text(one)",
      "user: b",
      "text(two)",
      "call(ls, done)",
      expect.stringMatching(/^result\(done/),
    ]);
    // What is finished and not saved is never told as saved.
    const told = watched.told();
    expect(told.lastIndexOf("saved")).toBeLessThan(told.indexOf("blockFinished user: b"));
    disk.isFull = false;
    await watched.until(
      (change) =>
        change.type === "notice" && /again|written/.test(change.text) && change.tone === "information",
    );
    await watched.driven.prompt("c");
    await watched.turnEnd(3);
    await watched.driven.close();
    expect(watched.driven.closeMessage).toMatch(/is saved/);
    const all = await kinds(watched);
    expect(all.filter((kind) => kind === "turnCommitted")).toHaveLength(3);
    expect(all.filter((kind) => kind === "missed")).toEqual([]);
  });

  it("from the start: the session goes on without a log, and its last word is the truth", async () => {
    const folder = await makeFolder();
    const command = await fakeCommand({ prompts: [[{ type: "text", text: "one" }]] }, folder);
    const disk = fillable();
    disk.isFull = true;
    const watched = await drive(command, folder, { ports: { log: disk.ports } });
    await watched.driven.prompt("a");
    await watched.turnEnd();
    expect(finished(watched)).toEqual(["user: a", "text(one)"]);
    expect(watched.told().some((line) => line.includes("cannot be saved now (ENOSPC)"))).toBe(true);
    await watched.driven.close();
    expect(watched.driven.closeMessage).toMatch(/NOT saved/);
    await expect(access(watched.driven.path ?? "")).rejects.toThrow();
  });
});
