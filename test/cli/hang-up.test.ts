// SIGHUP sent to a program whose terminal stands.
import { join } from "node:path";
import { spawn } from "@lydell/node-pty";
import { expect, test } from "vitest";
import { emptyHomeEnv } from "../support/agents-home.ts";
import { fixturePath } from "../support/fixtures.ts";
import { bin, tempFolder } from "./support.ts";

test.each([
  ["SIGHUP", 129],
  ["SIGTERM", 143],
  ["SIGINT", 130],
] as const)("%s gives the terminal back and ends with %i", async (signal, code) => {
  const folder = await tempFolder();
  const pty = spawn(process.execPath, [bin, "open", fixturePath("lines/glued-objects.jsonl")], {
    cols: 72,
    rows: 20,
    cwd: folder,
    env: { PATH: process.env["PATH"] ?? "", ...emptyHomeEnv(join(folder, "home")), TERM: "xterm-256color" },
  });
  let shown = "";
  const ended = new Promise((resolve) => pty.onExit(resolve));
  await new Promise<void>((resolve) =>
    pty.onData((text) => {
      shown += text;
      if (shown.includes("waiting")) resolve();
    }),
  );
  const before = shown.length;
  pty.kill(signal);
  expect(await ended).toMatchObject({ exitCode: code });
  const last = shown.slice(before);
  expect(last).toContain("hansard open ");
  expect(last).toContain("\u001b[?2004l");
  expect(last).toContain("\u001b[?25h");
});
