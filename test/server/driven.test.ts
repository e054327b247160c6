/**
 * A session that one process drives, watched and answered over two servers, each a process of its own: prompts from a page, a parked call
 * that two answer at once, one that comes late, and a terminal that shows it all.
 */
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { request } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type IPty, spawn as spawnTerminal } from "@lydell/node-pty";
import { createParser } from "eventsource-parser";
import { expect, onTestFinished, test } from "vitest";
import type { Scenario } from "../../src/agent/fake/scenario.ts";
import type { LaneFrame } from "../../src/server/index.ts";
import { start } from "../cli/support.ts";
import { emptyHomeEnv } from "../support/agents-home.ts";

const options = [
  { optionId: "allow", name: "Allow", kind: "allow_once" },
  { optionId: "reject", name: "Reject", kind: "reject_once" },
];
const scenario: Scenario = {
  name: "scripted",
  load: true,
  prompts: [
    [
      { type: "text", text: "I write it." },
      {
        type: "ask",
        id: "w1",
        title: "Write notes.txt",
        kind: "edit",
        options,
        answers: {
          allow: [{ type: "update", id: "w1", status: "completed" }],
          reject: [{ type: "update", id: "w1", status: "failed" }],
        },
      },
      { type: "text", text: "Done as told." },
    ],
    [{ type: "echo" }],
  ],
};

/** Text that grows, and promises of what will be in it. */
class Shown {
  text = "";
  #waiting = new Set<() => void>();

  add(more: string): void {
    this.text += more;
    for (const look of [...this.#waiting]) look();
  }

  until(what: RegExp): Promise<void> {
    return new Promise((resolve) => {
      const look = (): void => {
        if (!what.test(this.text)) return;
        this.#waiting.delete(look);
        resolve();
      };
      this.#waiting.add(look);
      look();
    });
  }
}

function startRun(folder: string, env: Readonly<Record<string, string>>): { shown: Shown; terminal: IPty } {
  const words = ["bin/hansard.js", "run", "--cwd", folder, "--", process.execPath];
  const agent = [join(process.cwd(), "dist/agent/fake/main.js"), join(folder, "scenario.json")];
  const terminal = spawnTerminal(process.execPath, [...words, ...agent], {
    cols: 100,
    rows: 30,
    env: { ...env, PATH: process.env["PATH"] ?? "", TERM: "xterm-256color" },
  });
  const shown = new Shown();
  terminal.onData((text) => shown.add(text));
  const ended = new Promise((resolve) => terminal.onExit(resolve));
  onTestFinished(async () => {
    terminal.kill("SIGKILL");
    await ended;
  });
  return { shown, terminal };
}

interface Seat {
  readonly origin: string;
  readonly secret: string;
}

/** A server of its own process, and a key for it. */
async function startServer(env: Readonly<Record<string, string>>, label: string): Promise<Seat> {
  const key = start(["keys", "add", "--label", label], env);
  const secret = (await key.ended).out.trim();
  const serving = start(["serve", "--port", "0"], env);
  await serving.until("#code=");
  return {
    origin: serving
      .out()
      .trim()
      .replace(/\/#code=.*/, ""),
    secret,
  };
}

async function ask(
  { origin, secret }: Seat,
  path: string,
  body?: object,
): Promise<{ status: number; told: Record<string, unknown> }> {
  const answer = await fetch(`${origin}${path}`, {
    headers: { authorization: `Bearer ${secret}`, ...(body && { "content-type": "application/json" }) },
    ...(body && { method: "POST", body: JSON.stringify(body) }),
  });
  return { status: answer.status, told: (await answer.json()) as Record<string, unknown> };
}

/** The frames of a lane, each as a line of JSON. */
function watch({ origin, secret }: Seat, path: string): Shown {
  const shown = new Shown();
  const parser = createParser({ onEvent: ({ data }) => shown.add(`${data}\n`) });
  const asking = request(`${origin}${path}`, { headers: { authorization: `Bearer ${secret}` } }, (answer) => {
    answer.setEncoding("utf8").on("data", (text: string) => parser.feed(text));
    answer.on("error", () => undefined);
  });
  asking.on("error", () => undefined).end();
  onTestFinished(() => void asking.destroy());
  return shown;
}

function framesOf({ text }: Shown): readonly LaneFrame[] {
  return text
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line) as LaneFrame);
}

test("two servers, two who answer at once, one who is late; prompts from the page; all of it in the terminal", async () => {
  const folder = await mkdtemp(join(tmpdir(), "hansard-driven-"));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  await writeFile(join(folder, "scenario.json"), JSON.stringify(scenario));
  const env = emptyHomeEnv(folder);
  const { shown, terminal } = startRun(folder, env);
  await shown.until(/ready/);
  const phone = await startServer(env, "phone");
  const laptop = await startServer(env, "laptop");
  const { told: list } = await ask(phone, "/api/sessions");
  const [{ id }] = list["sessions"] as readonly [{ id: string }];
  const session = `/api/sessions/${id}`;
  const lanes = [phone, laptop].map((seat) => watch(seat, `${session}/changes?live=events&offset=-1`));
  for (const lane of lanes) await lane.until(/"standing"/);

  // A prompt from the page reaches the agent that the other process drives.
  expect(await ask(phone, `${session}/prompts`, { text: "write it" })).toEqual({
    status: 200,
    told: { taken: true },
  });
  await shown.until(/Write notes\.txt/);
  for (const lane of lanes) await lane.until(/"approvals":\[\{"id":"w1"/);

  const answers = await Promise.all([
    ask(phone, `${session}/answers`, { approval: "w1", option: "allow" }),
    ask(laptop, `${session}/answers`, { approval: "w1", option: "reject" }),
  ]);
  expect(answers.map(({ status }) => status).sort()).toEqual([200, 409]);
  const isPhone = answers[0].status === 200;
  const [first, outcome] = isPhone ? ["phone", "done"] : ["laptop", "denied"];
  const refusal = { status: 409, told: { taken: false, by: first } };
  expect(answers[isPhone ? 1 : 0]).toEqual(refusal);
  await shown.until(/Done as told\./);
  for (const lane of lanes) await lane.until(/"blockFinished"[^\n]*Done as told\./);

  // Late, while the agent has gone on, and after it has taken another prompt: the same words.
  expect(
    await ask(isPhone ? laptop : phone, `${session}/answers`, { approval: "w1", option: "allow" }),
  ).toEqual(refusal);
  expect((await ask(laptop, `${session}/prompts`, { text: "and say so" })).status).toBe(200);
  for (const lane of lanes) await lane.until(/"blockFinished"[^\n]*"text":"and say so"/);
  expect(await ask(laptop, `${session}/answers`, { approval: "w1", option: "reject" })).toEqual(refusal);
  expect((await ask(laptop, `${session}/answers`, { approval: "w2", option: "allow" })).status).toBe(404);

  // Both watched the same: each block finished once, in one order, and the call with the answer's outcome.
  const finished = lanes.map((lane) =>
    framesOf(lane).flatMap((frame) =>
      frame.type === "blockFinished" ? [frame.entry.name] : frame.type === "blockSettled" ? [frame.name] : [],
    ),
  );
  expect(new Set(finished[0]).size).toBe(finished[0]?.length);
  expect(finished[1]).toEqual(finished[0]);
  expect(lanes[0]?.text).toContain(`"state":"${outcome}"`);

  await shown.until(/and say so[\s\S]*─ [\d.]+ m?s ─[\s\S]* ready/);
  terminal.write("\u0004");
  const ended = new Promise<number>((resolve) => terminal.onExit(({ exitCode }) => resolve(exitCode)));
  expect(await ended).toBe(0);
  // Nobody drives it any more: a prompt would wait for ever.
  expect((await ask(phone, `${session}/prompts`, { text: "more" })).status).toBe(409);
}, 60_000);
