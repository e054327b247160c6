import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type IPty, spawn } from "@lydell/node-pty";
import { expect, test } from "vitest";
import { traceIn } from "../support/traces.ts";

const sigHup = 1;

test("closing the terminal ends the program by the signal, not by an abort of the runtime", async () => {
  const folder = await mkdtemp(join(tmpdir(), "hansard-hang-up-"));
  try {
    const path = join(folder, "session.jsonl");
    const message = { role: "user", content: "a question" };
    const envelope = { uuid: "u0", parentUuid: null, isSidechain: false, sessionId: "s" };
    const record = { ...envelope, type: "user", timestamp: "2026-01-01T10:00:00.000Z", message };
    await writeFile(path, `${JSON.stringify(record)}\n`);
    const trace = traceIn(folder);
    const pty = spawn(process.execPath, ["bin/hansard.js", "open", path], {
      cols: 72,
      rows: 20,
      env: { ...process.env, ...trace.env },
    });
    let shown = "";
    const ended = new Promise((resolve) => pty.onExit(resolve));
    await new Promise<void>((resolve) =>
      pty.onData((text) => {
        shown += text;
        if (shown.includes("Ctrl+O")) resolve();
      }),
    );
    // Closes the terminal's other end.
    (pty as IPty & { destroy(): void }).destroy();
    expect(await ended).toEqual({ exitCode: 0, signal: sigHup });
    await trace.expectLawful();
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
});
