/** Following: from an append to the screen, beside a bare watcher of the same file; what an idle and a working session write. */

import { watch } from "node:fs";
import { appendFile, mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { performance } from "node:perf_hooks";
import { setTimeout as wait } from "node:timers/promises";
import { ms, row } from "./measure.ts";
import { watchNode } from "./pty.ts";

const appends = 40;
const idleMs = 5_000;

function record(serial: number, fields: object): string {
  const uuid = `u${serial}`;
  const parentUuid = serial === 0 ? null : `u${serial - 1}`;
  const timestamp = new Date().toISOString();
  return `${JSON.stringify({ uuid, parentUuid, isSidechain: false, sessionId: "s", timestamp, ...fields })}\n`;
}

function said(serial: number, block: object, stop: string): string {
  const message = { id: `m${serial}`, role: "assistant", model: "a-model", stop_reason: stop, usage: {} };
  return record(serial, { type: "assistant", message: { ...message, content: [block] } });
}

function prompt(serial: number, text: string): string {
  return record(serial, { type: "user", message: { role: "user", content: text } });
}

function median(values: readonly number[]): number {
  return [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;
}

/** From an append to the moment a bare watcher has read it: what no program can be faster than. */
async function bareWatch(path: string): Promise<readonly number[]> {
  await writeFile(path, "");
  const times: number[] = [];
  for (let count = 0; count < appends; count += 1) {
    const text = `BARE-${count}-END`;
    const started = performance.now();
    await new Promise<void>((resolve) => {
      const watcher = watch(path, () => {
        void readFile(path, "utf8").then((all) => {
          if (!all.includes(text)) return;
          watcher.close();
          resolve();
        });
      });
      void appendFile(path, `${text}\n`);
    });
    times.push(performance.now() - started);
    await wait(20);
  }
  return times;
}

function p95(values: readonly number[]): number {
  return [...values].sort((a, b) => a - b)[Math.ceil(values.length * 0.95) - 1] ?? 0;
}

/** From a delta in a step's response to the screen of `hansard follow`. */
async function stepToScreen(folder: string): Promise<readonly number[]> {
  const agent = "20260101T000000Z-aaaa";
  const messages = join(folder, "workspace", "agents", agent, "messages");
  const step = join(folder, "workspace", "steps", agent, "001");
  await mkdir(messages, { recursive: true });
  await mkdir(step, { recursive: true });
  await writeFile(join(messages, "001-user.md"), "go on");
  const response = join(step, "response.json");
  const say = (text: string): Promise<void> =>
    appendFile(
      response,
      `${JSON.stringify({ type: "content_delta", index: 0, delta: { text_delta: `${text}\n` } })}\n`,
    );
  await say("READY-END");
  const watched = await watchNode(["bin/hansard.js", "follow", messages]);
  await watched.until("READY-END");
  const times: number[] = [];
  for (let count = 0; count < appends; count += 1) {
    await wait(100 + ((count * 37) % 400));
    watched.mark();
    await say(`NEXT-${count}-END`);
    times.push(await watched.until(`NEXT-${count}-END`));
  }
  await watched.end();
  return times;
}

export async function benchFollow(): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), "hansard-bench-follow-"));
  try {
    const path = join(folder, "session.jsonl");
    let serial = 0;
    const answer = (text: string): string => said(serial++, { type: "text", text }, "end_turn");
    await writeFile(path, prompt(serial++, "go on") + answer("READY-END"));
    const opened = await watchNode(["bin/hansard.js", "open", path]);
    await opened.until("READY-END");
    const times: number[] = [];
    for (let count = 0; count < appends; count += 1) {
      // Appends come at no rhythm of the follower's.
      await wait(100 + ((count * 37) % 400));
      opened.mark();
      await appendFile(path, answer(`NEXT-${count}-END`));
      times.push(await opened.until(`NEXT-${count}-END`));
    }
    const stepTimes = await stepToScreen(folder);
    const bare = await bareWatch(join(folder, "bare.txt"));
    row("from an append to the screen", "median", "p95", "longest", "over bare");
    for (const [label, values] of [
      ["a bare watcher that reads the file", bare],
      ["hansard open, on an emulator", times],
      ["hansard follow, a step's response", stepTimes],
    ] as const)
      row(
        label,
        ms(median(values)),
        ms(p95(values)),
        ms(Math.max(...values)),
        values === bare ? "" : `+${ms(median(values) - median(bare))}`,
      );
    await wait(1_000);
    opened.takeBytes();
    await wait(idleMs);
    row(`written in ${idleMs / 1000} s of rest`, `${opened.takeBytes()} B`);
    await appendFile(
      path,
      prompt(serial++, "work") +
        said(
          serial++,
          { type: "tool_use", id: "t1", name: "Bash", input: { command: "sleep 60" } },
          "tool_use",
        ),
    );
    await opened.until("sleep 60");
    await wait(500);
    opened.takeBytes();
    await wait(2_400);
    row("written by a tick of the spinner (of 20)", `${(opened.takeBytes() / 20).toFixed(0)} B`);
    const { maxRssMB } = await opened.end();
    row("greatest memory", `${maxRssMB.toFixed(0)} MB`);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
