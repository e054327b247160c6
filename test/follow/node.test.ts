/** The disk's side: answers to parked calls, prompts, and being told of changes. */
import { mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { expect, it } from "vitest";
import {
  CALL_NAME_MAX,
  callFolder,
  callFolderName,
  callIdOf,
  followWorld,
  HOLD_TICK_MS,
  inboxFolder,
  isStepName,
  latestStepName,
  parsePrompt,
  readOnce,
  stepName,
} from "../../src/follow/index.ts";
import { ONCE_LOOKS_MAX } from "../../src/follow/limits.ts";
import {
  answerParked,
  depositPrompt,
  INBOX_PROMPTS_MAX,
  latestStep,
  nodeWatcherPorts,
  PROMPT_BYTES_MAX,
  waitingPrompts,
} from "../../src/follow/node/index.ts";
import {
  LATE_STEPS_MAX,
  LOOK_RECORD_BYTES_MAX,
  RECORD_BYTES_MAX,
  WATCHED_CALLS_MAX,
  WATCHED_TICK_MS,
} from "../../src/follow/node/limits.ts";
import { createWatcher } from "../../src/follow/node/watcher.ts";
import { blindPorts, prose, Steps, temporaryFolder, textDelta } from "./support.ts";

const options = [
  { id: "yes", label: "Allow", kind: "allow-once" },
  { id: "no", label: "Reject", kind: "reject-once" },
] as const;
const park = { tool_use_id: "t1", tool: "Bash", reason: "asks", options };
const at = "2026-01-01T00:00:00.000Z";

function parkedSteps(record: object = park): Steps {
  const steps = new Steps();
  steps.call("t1", "parked", record);
  return steps;
}

it("a parked call is answered once, and who comes late is told by whom", async () => {
  const steps = parkedSteps();
  const ask = (by: string, option: string) =>
    answerParked({ at: { steps: steps.steps }, callId: "t1", answer: { option, by, at } });
  expect(await ask("the page", "yes")).toEqual({ state: "taken" });
  expect(await ask("the terminal", "no")).toEqual({
    state: "late",
    answer: { option: "yes", by: "the page", at },
  });
  const folder = callFolder(steps.path("001"), "t1");
  expect(JSON.parse(readFileSync(`${folder}/answer.json`, "utf8"))).toEqual({
    option: "yes",
    by: "the page",
    at,
  });
  expect(readdirSync(folder).sort()).toEqual(["answer.json", "parked.json"]);
  expect(statSync(`${folder}/answer.json`).mode & 0o777).toBe(0o600);
});

it("of many who answer at once one is first, and the others are told the same answer", async () => {
  const steps = parkedSteps();
  const answers = await Promise.all(
    Array.from({ length: 32 }, (_, n) =>
      answerParked({
        at: { step: steps.path("001") },
        callId: "t1",
        answer: { option: n % 2 === 0 ? "yes" : "no", by: `seat ${n}`, at },
      }),
    ),
  );
  const first = answers.findIndex((each) => each.state === "taken");
  const late = answers.filter((each) => each.state === "late");
  expect(late).toHaveLength(31);
  for (const each of late) expect(each.answer.by).toBe(`seat ${first}`);
});

it("an answer that the call does not offer, and one to a call that does not wait, are refused", async () => {
  const steps = parkedSteps();
  const ask = (callId: string, option?: string) =>
    answerParked({
      at: { steps: steps.steps },
      callId,
      answer: { by: "me", ...(option === undefined ? {} : { option }) },
    });
  expect(await ask("t1", "maybe")).toEqual({ state: "unknown-option", options });
  expect(await ask("t2", "yes")).toEqual({ state: "not-parked" });
  steps.call("t3", "parked", park);
  steps.call("t3", "output", {});
  expect(await ask("t3", "yes")).toEqual({ state: "not-parked" });
  expect(await ask("t1")).toEqual({ state: "taken" });
  rmSync(steps.steps, { recursive: true });
  expect(await ask("t1", "yes")).toEqual({ state: "not-parked" });
});

it("who comes when the agent has gone on is told who answered, for as many steps as are looked through", async () => {
  const steps = parkedSteps();
  const ask = (by: string) =>
    answerParked({ at: { steps: steps.steps }, callId: "t1", answer: { option: "yes", by } });
  expect(await ask("the page")).toEqual({ state: "taken" });
  for (let step = 2; step <= LATE_STEPS_MAX; step += 1) mkdirSync(steps.path(String(step).padStart(3, "0")));
  expect(await ask("the phone")).toEqual({ state: "late", answer: { option: "yes", by: "the page" } });
  mkdirSync(steps.path(String(LATE_STEPS_MAX + 1).padStart(3, "0")));
  expect(await ask("the phone")).toEqual({ state: "not-parked" });
});

it("a park that names no options takes any answer", async () => {
  const steps = parkedSteps({ tool_use_id: "t1", tool: "Bash" });
  const answer = { option: "go on", by: "me" };
  expect(await answerParked({ at: { steps: steps.steps }, callId: "t1", answer })).toEqual({
    state: "taken",
  });
});

it("an answer that cannot be read counts as one", async () => {
  const steps = parkedSteps();
  steps.call("t1", "answer", "{");
  const answered = await answerParked({
    at: { steps: steps.steps },
    callId: "t1",
    answer: { option: "yes", by: "me" },
  });
  expect(answered).toEqual({ state: "late", answer: { by: "somebody else" } });
});

it("prompts wait in the order of their times, whole, their owner's alone", async () => {
  const folder = temporaryFolder();
  const times = [Date.UTC(2026, 0, 2), Date.UTC(2026, 0, 1), Date.UTC(2026, 0, 1, 0, 0, 0, 1)];
  for (const [n, time] of times.entries())
    expect((await depositPrompt(folder, { text: `p${n} ü`, by: "me", at: time })).state).toBe("deposited");
  const inbox = inboxFolder(folder);
  const names = await waitingPrompts(inbox);
  const prompts = names.map((name) => parsePrompt(readFileSync(`${inbox}/${name}`, "utf8")));
  expect(prompts.map((prompt) => prompt?.text)).toEqual(["p1 ü", "p2 ü", "p0 ü"]);
  expect(prompts[0]).toEqual({ text: "p1 ü", by: "me", at: new Date(times[1] ?? 0).toISOString() });
  expect(readdirSync(inbox)).toHaveLength(3);
  expect(statSync(inbox).mode & 0o777).toBe(0o700);
});

it("an inbox holds so many prompts, of so many bytes, of a session that is there", async () => {
  const folder = temporaryFolder();
  mkdirSync(inboxFolder(folder));
  for (let n = 1; n < INBOX_PROMPTS_MAX; n++) writeFileSync(`${inboxFolder(folder)}/${n}.json`, "{}");
  const deposit = (text: string) => depositPrompt(folder, { text, by: "me", at: 0 });
  expect(await deposit("x".repeat(PROMPT_BYTES_MAX + 1))).toEqual({
    state: "too-large",
    bytesMax: PROMPT_BYTES_MAX,
  });
  expect((await deposit("x".repeat(PROMPT_BYTES_MAX))).state).toBe("deposited");
  expect(await deposit("one more")).toEqual({ state: "full" });
  expect(await depositPrompt(`${folder}/none`, { text: "x", by: "me", at: 0 })).toEqual({ state: "gone" });
});

it("a record over the limit tells that the call is there and no more", async () => {
  const steps = new Steps();
  steps.call("t1", "input", { name: "Write", input: { text: "x".repeat(RECORD_BYTES_MAX) } });
  expect((await steps.reader().frame()).tools).toEqual([{ toolUse: "t1" }]);
});

it("names of steps", () => {
  expect(["001", "999", "1000"].every(isStepName)).toBe(true);
  expect(["", "1", "01", "+12", "01a", "notes", "0000000001"].some(isStepName)).toBe(false);
  expect([stepName(1), stepName(1000)]).toEqual(["001", "1000"]);
  expect(latestStepName(["002", "1000", "x", "999"])).toBe("1000");
  expect(latestStepName([])).toBeUndefined();
});

it("names of calls' folders", () => {
  expect(callFolderName("toolu_01-A.b")).toBe("toolu_01-A.b");
  expect(callFolderName("../x")).toBe("%002e.%002fx");
  expect(callIdOf(callFolderName("../x"))).toBe("../x");
  const long = "x".repeat(CALL_NAME_MAX + 1);
  expect(callFolderName(long)).toHaveLength(CALL_NAME_MAX);
  expect(callFolderName(`${long}y`)).not.toBe(callFolderName(long));
  expect(callFolderName("x".repeat(CALL_NAME_MAX))).toBe("x".repeat(CALL_NAME_MAX));
});

it("the lane follows a real writer from step to step, by the file system's hints", async () => {
  const steps = new Steps();
  const world = steps.world(nodeWatcherPorts);
  const lane = followWorld(world);
  steps.append(textDelta("one"));
  expect((await lane.next()).value).toEqual({ type: "frame", frame: prose("one") });
  const second = lane.next();
  steps.append(textDelta(" more"));
  expect((await second).value).toEqual({ type: "frame", frame: prose(" more") });
  const third = lane.next();
  steps.append(textDelta("two"), "002");
  expect((await third).value).toEqual({ type: "over" });
  expect((await lane.next()).value).toEqual({ type: "frame", frame: prose("two") });
  const call = lane.next();
  steps.call("t1", "input", { name: "Bash" }, "002");
  expect((await call).value).toEqual({
    type: "frame",
    frame: { stream: {}, tools: [{ toolUse: "t1", tool: "Bash" }] },
  });
  await lane.return();
  expect(await latestStep(steps.steps)).toBe(steps.path("002"));
});

it("a step that ended is not told again, and one that was quiet is, whole", async () => {
  const steps = new Steps();
  steps.append(textDelta("one"));
  const lane = followWorld(steps.world({ ...blindPorts, after: soon }));
  await lane.next();
  steps.put("001", "over.json", {});
  expect((await lane.next()).value).toEqual({ type: "over" });
  rmSync(steps.path("001", "over.json"));
  steps.stands("live");
  steps.call("t1", "input", {});
  const next = lane.next();
  steps.append(textDelta("two"), "002");
  steps.stands("in-flight", "002");
  expect((await next).value).toEqual({ type: "frame", frame: prose("two") });
  await lane.return();

  const quiet = followWorld(steps.world({ ...blindPorts, after: soon }), { holdMs: WATCHED_TICK_MS });
  expect((await quiet.next()).value).toEqual({ type: "frame", frame: prose("two") });
  expect((await quiet.next()).value).toEqual({ type: "over" });
  expect((await quiet.next()).value).toEqual({ type: "frame", frame: prose("two") });
  await quiet.return();
});

function soon(_ms: number, act: () => void): () => void {
  setImmediate(act);
  return () => undefined;
}

it("a watcher tells hints once, new folders at once, and looks fast where it cannot watch", async () => {
  const hints = new Map<string, () => void>();
  const failures = new Map<string, () => void>();
  const watcher = createWatcher({
    watch(path, onHint, onFailure) {
      if (path.startsWith("none")) throw Object.assign(new Error("no"), { code: "ENOENT" });
      if (path.startsWith("full")) throw Object.assign(new Error("no"), { code: "ENOSPC" });
      hints.set(path, onHint);
      failures.set(path, onFailure);
      return { close: () => hints.delete(path) };
    },
    after: soon,
    now: () => 0,
  });
  watcher.lookingNow();
  watcher.setPaths(["a", "none"]);
  expect(watcher.tickMs).toBe(WATCHED_TICK_MS);
  expect(await watcher.wait(1)).toBe(true);
  watcher.lookingNow();
  watcher.setPaths(["a", "none"]);
  expect(await watcher.wait(1)).toBe(false);
  hints.get("a")?.();
  expect(await watcher.wait(1)).toBe(true);
  watcher.setPaths(["a", "full"]);
  expect(watcher.tickMs).toBe(HOLD_TICK_MS);
  watcher.lookingNow();
  failures.get("a")?.();
  expect(hints.has("a")).toBe(false);
  expect(await watcher.wait(1)).toBe(true);
  watcher.lookingNow();
  const waits = watcher.wait(1_000_000);
  watcher.close();
  expect(await waits).toBe(false);
  watcher.setPaths(["b"]);
  expect(hints.size).toBe(0);
});

it("hints of a fast writer call for a look each tick, and the first of a slow one at once", async () => {
  let now = 0;
  let hint = (): void => undefined;
  const timers: { readonly ms: number; readonly act: () => void }[] = [];
  const watcher = createWatcher({
    watch(_, onHint) {
      hint = onHint;
      return { close: () => undefined };
    },
    after(ms, act) {
      const timer = { ms, act };
      timers.push(timer);
      return () => timers.splice(timers.indexOf(timer), 1);
    },
    now: () => now,
  });
  watcher.setPaths(["a"]);
  watcher.lookingNow();
  now = 10;
  const early = watcher.wait(WATCHED_TICK_MS);
  hint();
  hint();
  expect(timers.map((timer) => timer.ms)).toEqual([HOLD_TICK_MS - 10]);
  timers[0]?.act();
  expect(await early).toBe(true);
  expect(timers).toEqual([]);
  watcher.lookingNow();
  const late = watcher.wait(WATCHED_TICK_MS);
  now += HOLD_TICK_MS;
  hint();
  expect(await late).toBe(true);
  watcher.lookingNow();
  hint();
  const closed = watcher.wait(WATCHED_TICK_MS);
  watcher.close();
  expect(await closed).toBe(false);
  expect(timers).toEqual([]);
});

it("so many folders of calls are watched and no more", async () => {
  const steps = new Steps();
  for (let n = 0; n <= WATCHED_CALLS_MAX; n++) steps.call(`c${n}`, "input", {});
  const watched = new Set<string>();
  const world = steps.world({
    ...blindPorts,
    watch(path) {
      watched.add(path);
      return { close: () => undefined };
    },
  });
  await world.look({ window: new Map() });
  expect([...watched].filter((path) => path.includes("/tools/"))).toHaveLength(WATCHED_CALLS_MAX);
});

it("a look reads so many bytes of records, and the next one the rest", async () => {
  const steps = new Steps();
  const bytes = RECORD_BYTES_MAX - 100;
  const fitting = Math.ceil(LOOK_RECORD_BYTES_MAX / (bytes + 30));
  for (let n = 0; n <= fitting; n++)
    steps.call(`c${n}`, "input", { name: "Write", input: "x".repeat(bytes) });
  const frames = await steps.reader().frames();
  expect(frames.map((frame) => frame.tools.length)).toEqual([fitting, 1]);
  expect(frames.flatMap((frame) => frame.tools).every((event) => event.tool === "Write")).toBe(true);
});

it("an answer at once ends, also of a step that never stops", async () => {
  const line = new TextEncoder().encode(textDelta("x"));
  let looks = 0;
  const frame = await readOnce({
    look() {
      const response = { identity: "f", start: looks * line.length, bytes: line, isEnd: false };
      looks += 1;
      return Promise.resolve({ isDriven: true, isCalling: true, step: { id: "s", calls: [], response } });
    },
  });
  expect([looks, frame.stream.text]).toEqual([ONCE_LOOKS_MAX, "x".repeat(ONCE_LOOKS_MAX)]);
});
