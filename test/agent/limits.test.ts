/** Each bound of driving an agent: the test that stands at it. */
import { mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { PassThrough } from "node:stream";
import { describe, expect, it } from "vitest";
import { ApprovalDesk } from "../../src/agent/approvals.ts";
import { callPayload, newCall, resultDraft, resultPayload, withNews } from "../../src/agent/calls.ts";
import { ChangeHub } from "../../src/agent/change-hub.ts";
import { Fold } from "../../src/agent/fold.ts";
import { Inbox } from "../../src/agent/inbox.ts";
import * as limits from "../../src/agent/limits.ts";
import { Performer } from "../../src/agent/performer.ts";
import type { Spawn } from "../../src/agent/process.ts";
import { quoteRecord } from "../../src/agent/replay.ts";
import { StepWriter } from "../../src/agent/step-writer.ts";
import { readCall, readModes, readOptions, readUpdate } from "../../src/agent/updates.ts";
import { createUnsavedLog, nodePorts } from "../../src/log/index.ts";
import type { Approval, Change, DriverState, TailPage } from "../../src/session/index.ts";
import { createVirtualClock } from "../support/terminal/clock.ts";
import { drive, fakeCommand, makeFolder } from "./drive.ts";

const {
  answerBytesMax,
  approvalsMax,
  badLineCharsMax,
  badLinesToldMax,
  behindMsMax,
  cancelGraceMs,
  captureBytesMax,
  changeCharsMax,
  changesBehindMax,
  changesKeptCharsMax,
  changesMax,
  commandsMax,
  contextEntryBytesMax,
  earlyMax,
  idCharsMax,
  inboxListMax,
  inputBytesMax,
  inputSummaryMax,
  lateSealMs,
  lookEveryMs,
  modesMax,
  optionsMax,
  outputBytesMax,
  outputHeldCharsMax,
  outputShownCharsMax,
  planStepsMax,
  promptBytesMax,
  responseBytesMax,
  startMsMax,
  summaryCharsMax,
  unknownBytesMax,
  wordCharsMax,
} = limits;

/** Where each bound is held: here, or in the file that is named. */
const held: Readonly<Record<keyof typeof limits, readonly [file: string, test: string]>> = {
  messageBytesMax: ["bad-agents.test.ts", "keeps the start of a message of 100 MB"],
  longTextBytesMax: ["parts.test.ts", "at the limit: of a longer message the long texts are cut"],
  messageHeadBytes: ["parts.test.ts", "at the limit: a message of just so many bytes is one"],
  messageTailBytes: ["parts.test.ts", "at the limit: a message of just so many bytes is one"],
  badLinesToldMax: ["limits.test.ts", "badLinesToldMax, badLineCharsMax"],
  badLineCharsMax: ["limits.test.ts", "badLinesToldMax, badLineCharsMax"],
  stderrBytesMax: ["parts.test.ts", "are the last lines, a cut first line left out"],
  stderrLinesTold: ["parts.test.ts", "are the last lines, a cut first line left out"],
  stderrLineCharsMax: ["parts.test.ts", "are the last lines, a cut first line left out"],
  startMsMax: ["limits.test.ts", "startMsMax"],
  closeGraceMs: ["bad-agents.test.ts", "stays after its input was closed and ignores SIGTERM"],
  terminateGraceMs: ["bad-agents.test.ts", "stays after its input was closed and ignores SIGTERM"],
  pipesGraceMs: ["bad-agents.test.ts", "stays after its input was closed and ignores SIGTERM"],
  cancelGraceMs: ["limits.test.ts", "cancelGraceMs"],
  lateSealMs: ["limits.test.ts", "lateSealMs"],
  earlyMax: ["limits.test.ts", "earlyMax"],
  promptsQueuedMax: ["conversation.test.ts", "are bounded in number and size"],
  promptBytesMax: ["limits.test.ts", "inboxListMax, promptBytesMax"],
  spokenCharsMax: ["fold.test.ts", "splits a message at its characters"],
  spokenPiecesMax: ["fold.test.ts", "splits a message at its pieces"],
  outputBytesMax: ["limits.test.ts", "outputBytesMax"],
  outputShownCharsMax: ["limits.test.ts", "outputShownCharsMax"],
  outputHeldCharsMax: ["limits.test.ts", "outputHeldCharsMax"],
  callsOpenMax: ["fold.test.ts", "takes the oldest open call as unanswered"],
  changesMax: ["limits.test.ts", "changesMax, changeCharsMax"],
  changeCharsMax: ["limits.test.ts", "changesMax, changeCharsMax"],
  inputBytesMax: ["limits.test.ts", "inputBytesMax"],
  wordCharsMax: ["limits.test.ts", "wordCharsMax"],
  idCharsMax: ["limits.test.ts", "idCharsMax"],
  inputSummaryMax: ["limits.test.ts", "inputSummaryMax"],
  planStepsMax: ["limits.test.ts", "planStepsMax"],
  modesMax: ["limits.test.ts", "modesMax"],
  commandsMax: ["limits.test.ts", "commandsMax"],
  optionsMax: ["limits.test.ts", "optionsMax"],
  approvalsMax: ["limits.test.ts", "approvalsMax"],
  unknownUpdatesMax: ["fold.test.ts", "keeps so many unknown updates of a turn"],
  unknownBytesMax: ["limits.test.ts", "unknownBytesMax"],
  summaryCharsMax: ["limits.test.ts", "summaryCharsMax"],
  workPendingMax: ["limits.test.ts", "workPendingMax, behindMsMax"],
  changesBehindMax: ["parts.test.ts", "hold the agent up while a reader is far behind"],
  behindMsMax: ["limits.test.ts", "workPendingMax, behindMsMax"],
  changesKeptMax: ["parts.test.ts", "at the limit: one who is behind is told to read the tail again"],
  changesKeptCharsMax: ["limits.test.ts", "changesKeptCharsMax"],
  stepsKeptMax: ["conversation.test.ts", "keeps the newest steps only"],
  responseBytesMax: ["limits.test.ts", "responseBytesMax, responsePendingBytesMax"],
  responsePendingBytesMax: ["limits.test.ts", "responseBytesMax, responsePendingBytesMax"],
  captureBytesMax: ["limits.test.ts", "captureBytesMax"],
  answerBytesMax: ["limits.test.ts", "answerBytesMax"],
  lookEveryMs: ["limits.test.ts", "lookEveryMs"],
  inboxListMax: ["limits.test.ts", "inboxListMax, promptBytesMax"],
  handoffRequestBytesMax: ["handoff.test.ts", "takes a note at its greatest length"],
  handoffCallsMax: ["handoff.test.ts", "takes a note at its greatest length"],
  handoffBlocksBytesMax: ["handoff.test.ts", "takes a note at its greatest length"],
  handoffCallMs: ["handoff.test.ts", "comes back word for word and once, three times"],
  handoffWaitMs: ["handoff.test.ts", "takes a note at its greatest length"],
  contextEntriesMax: ["limits.test.ts", "contextEntriesMax"],
  contextBytesMax: ["parts.test.ts", "is bounded, newest first, and tells what it leaves out"],
  contextEntryBytesMax: ["limits.test.ts", "contextEntryBytesMax"],
};

it("each bound has its test", async () => {
  const folder = new URL(".", import.meta.url);
  const texts = new Map<string, string>();
  for (const [limit, [file, title]] of Object.entries(held)) {
    const text = texts.get(file) ?? (await readFile(new URL(file, folder), "utf8"));
    texts.set(file, text);
    expect(text.includes(`"${title}`), `${limit}: ${file} has no test "${title}"`).toBe(true);
  }
  expect(Object.keys(held).sort()).toEqual(Object.keys(limits).sort());
});

const emptyTail: TailPage = {
  entries: [],
  positions: [],
  start: "0",
  end: "0",
  atStart: true,
  atEnd: true,
  damage: [],
  turnOpen: false,
  live: [],
};
const filled = (count: number): readonly number[] => Array.from({ length: count }, (_, index) => index);
const word = "w".repeat(wordCharsMax);

describe("what an agent tells, at the limit", () => {
  it("wordCharsMax", () => {
    const title = (text: string) => readUpdate({ sessionUpdate: "session_info_update", title: text });
    expect(title(word)).toEqual({ type: "title", title: word });
    expect(title(`${word}x`)).toEqual({ type: "title", title: `${word}…` });
  });

  it("idCharsMax", () => {
    const id = "i".repeat(idCharsMax);
    expect(readCall({ toolCallId: id })?.id).toBe(id);
    expect(readCall({ toolCallId: `${id}x` })).toBeUndefined();
    expect(readOptions([{ optionId: id }, { optionId: `${id}x` }]).map((option) => option.id)).toEqual([id]);
  });

  it("changesMax, changeCharsMax", () => {
    const long = "c".repeat(changeCharsMax);
    const diff = (newText: string) => ({ type: "diff", path: "p", newText });
    const read = (content: readonly unknown[]) => readCall({ toolCallId: "c", content })?.changes;
    expect(read(filled(changesMax).map(() => diff("x")))).toHaveLength(changesMax);
    expect(read(filled(changesMax + 1).map(() => diff("x")))).toHaveLength(changesMax);
    expect(read([diff(long)])?.[0]?.newText).toBe(long);
    expect(read([diff(`${long}x`)])?.[0]?.newText).toBe(`${long}…`);
  });

  it("planStepsMax", () => {
    const steps = (count: number) =>
      readUpdate({ sessionUpdate: "plan", entries: filled(count).map(() => ({ content: "s" })) });
    expect(steps(planStepsMax)).toMatchObject({ steps: { length: planStepsMax } });
    expect(steps(planStepsMax + 1)).toMatchObject({ steps: { length: planStepsMax } });
  });

  it("modesMax", () => {
    const modes = (count: number) =>
      readModes({ availableModes: filled(count).map((id) => ({ id: `${id}` })) });
    expect(modes(modesMax).modes).toHaveLength(modesMax);
    expect(modes(modesMax + 1).modes).toHaveLength(modesMax);
  });

  it("commandsMax", () => {
    const commands = (count: number) =>
      readUpdate({
        sessionUpdate: "available_commands_update",
        availableCommands: filled(count).map((name) => ({ name: `${name}` })),
      });
    expect(commands(commandsMax)).toMatchObject({ commands: { length: commandsMax } });
    expect(commands(commandsMax + 1)).toMatchObject({ commands: { length: commandsMax } });
  });

  it("optionsMax", () => {
    const options = (count: number) => readOptions(filled(count).map((id) => ({ optionId: `${id}` })));
    expect(options(optionsMax)).toHaveLength(optionsMax);
    expect(options(optionsMax + 1)).toHaveLength(optionsMax);
  });

  it("unknownBytesMax", () => {
    const read = (length: number) =>
      readUpdate({ sessionUpdate: "x", a: "y".repeat(length) }) as { json: string };
    const around = JSON.stringify({ a: "", sessionUpdate: "x" }).length;
    expect(read(unknownBytesMax - around).json).toHaveLength(unknownBytesMax);
    expect(read(unknownBytesMax - around).json.endsWith("}")).toBe(true);
    expect(read(unknownBytesMax).json.endsWith("}")).toBe(false);
    expect(read(unknownBytesMax * 10).json.length).toBeLessThanOrEqual(unknownBytesMax + 1);
  });

  it("summaryCharsMax", () => {
    const read = (length: number) =>
      readUpdate({
        sessionUpdate: "compaction_update",
        compactionId: "c",
        status: "completed",
        summary: [{ text: "s".repeat(length) }],
      });
    const fits = "s".repeat(summaryCharsMax);
    expect(read(summaryCharsMax)).toMatchObject({ summary: fits });
    expect(read(summaryCharsMax + 1)).toMatchObject({ summary: fits });
  });
});

describe("a call, at the limit", () => {
  const call = (output: string, outputMax = Number.POSITIVE_INFINITY) =>
    withNews(newCall("c", "k", 0), { id: "c", isNew: true, output }, 1, outputMax);
  const done = { state: "done", time: 2 } as const;

  it("inputBytesMax", () => {
    const input = (length: number) => ({ a: "i".repeat(length - '{"a":""}'.length) });
    const recorded = (value: unknown) => callPayload({ ...newCall("c", "k", 0), input: value }).input;
    const fits = input(inputBytesMax);
    expect(recorded(fits)).toBe(fits);
    expect(recorded(input(inputBytesMax + 1))).toBe(`${JSON.stringify(fits).slice(0, -2)}i"…`);
  });

  it("inputSummaryMax", () => {
    const summary = (length: number) => {
      const { blocks } = new Fold()
        .update(
          readUpdate({
            sessionUpdate: "tool_call",
            toolCallId: "c",
            title: "t",
            rawInput: "é".repeat(length),
          }),
          1,
        )
        .flatMap((effect) =>
          effect.type === "open" && effect.draft.kind === "model" ? [effect.draft] : [],
        )[0] ?? {
        blocks: [],
      };
      const [block] = blocks;
      return block?.kind === "tool-use" ? [...block.inputSummary].length : undefined;
    };
    expect(summary(inputSummaryMax - 2)).toBe(inputSummaryMax);
    expect(summary(inputSummaryMax - 1)).toBe(inputSummaryMax + 1);
    expect(summary(inputSummaryMax * 9)).toBe(inputSummaryMax + 1);
  });

  it("outputBytesMax", () => {
    const fits = "é".repeat(outputBytesMax / 2);
    expect(resultPayload(call(fits), done)).toMatchObject({ payload: { text: fits } });
    expect(resultPayload(call(fits), done).whole).toBeUndefined();
    const longer = resultPayload(call(`${fits}x`), done);
    expect(longer).toMatchObject({
      payload: { text: fits, note: "the whole output is attached" },
      whole: `${fits}x`,
    });
  });

  it("outputShownCharsMax", () => {
    const fits = "o".repeat(outputShownCharsMax);
    expect(resultDraft(call(fits), done)).toMatchObject({ content: fits });
    expect(resultDraft(call(`${fits}x`), done)).toMatchObject({
      content: `${fits}\n… [1 more characters are in the log]`,
    });
  });

  it("outputHeldCharsMax", () => {
    const fold = new Fold();
    fold.begin({ text: "go", time: 1 });
    const tell = (toolCallId: string, length: number) =>
      fold.update(
        readUpdate({
          sessionUpdate: "tool_call",
          toolCallId,
          status: "in_progress",
          rawOutput: "o".repeat(length),
        }),
        2,
      );
    const recorded = (toolCallId: string) =>
      fold
        .update(readUpdate({ sessionUpdate: "tool_call_update", toolCallId, status: "completed" }), 3)
        .flatMap((effect) => (effect.type === "record" ? [effect.whole?.text.length] : []))[0];
    tell("a", outputHeldCharsMax);
    tell("b", outputBytesMax + 1);
    expect(recorded("b")).toBeUndefined();
    expect(recorded("a")).toBe(outputHeldCharsMax);
    tell("c", outputBytesMax + 1);
    expect(recorded("c")).toBe(outputBytesMax + 1);
  });
});

describe("approvals, at the limit", () => {
  it("approvalsMax", async () => {
    const desk = new ApprovalDesk({
      onChange: () => undefined,
      onAnswer: () => Promise.resolve(),
      onOddity: () => undefined,
      onProblem: () => undefined,
      now: () => 0,
    });
    const approval = (id: number): Approval => ({
      id: `${id}`,
      call: { id: `${id}`, name: "n", inputSummary: "" },
      options: [{ id: "yes", label: "Yes", kind: "allow-once" }],
      askedAt: 0,
    });
    const never = () => new AbortController().signal;
    const asked = filled(approvalsMax).map((id) => desk.ask(approval(id), never()));
    expect(await desk.ask(approval(approvalsMax), never())).toBe("cancelled");
    expect(desk.list()).toHaveLength(approvalsMax);
    await desk.answer("0", "yes", "me");
    expect(await asked[0]).toEqual({ optionId: "yes" });
    void desk.ask(approval(approvalsMax + 1), never());
    expect(desk.list()).toHaveLength(approvalsMax);
    // Who answered is remembered of as many.
    for (const id of filled(approvalsMax).slice(1)) await desk.answer(`${id}`, "yes", "me");
    expect(await desk.answer("0", "yes", "you")).toEqual({ taken: false, by: "me" });
    await desk.answer(`${approvalsMax + 1}`, "yes", "me");
    expect(await desk.answer("0", "yes", "you")).toEqual({ taken: false, by: "somebody" });
  });
});

describe("what is kept for those who read, at the limit", () => {
  it("changesKeptCharsMax", async () => {
    const hub = new ChangeHub();
    const from = hub.claim();
    const block = (name: string, length: number): Change => ({
      type: "blockOpened",
      entry: { kind: "streaming", name, thinking: "", text: "t".repeat(length) },
    });
    const quarter = changesKeptCharsMax / 4;
    for (const name of ["a", "b", "c"]) hub.tell(block(name, quarter));
    const early = hub.from(from, new AbortController().signal)[Symbol.asyncIterator]();
    expect((await early.next()).value).toMatchObject({ entry: { name: "a" } });
    for (const name of ["d", "e", "f"]) hub.tell(block(name, quarter));
    expect((await early.next()).value).toMatchObject({ type: "reset" });
  });

  it("contextEntryBytesMax", () => {
    const quoted = (length: number) =>
      quoteRecord([{ kind: "delivered", name: "@", sender: "user", body: "é".repeat(length / 2) }])?.text;
    expect(quoted(contextEntryBytesMax)).not.toContain("[cut]");
    expect(quoted(contextEntryBytesMax + 2)).toContain("… [cut]");
  });
});

describe("the step directory and the inbox, at the limit", () => {
  const small = { files: nodePorts.files, randomId: nodePorts.randomId };
  async function writer() {
    const folder = await makeFolder();
    const problems: string[] = [];
    const steps = new StepWriter({ ports: small, folder, onProblem: (code) => problems.push(code) });
    await steps.publish({ type: "begun", time: 0 });
    return { folder, steps, problems, file: (path: string) => join(folder, "steps", "001", path) };
  }

  it("responseBytesMax, responsePendingBytesMax", async () => {
    const { steps, problems, file } = await writer();
    const text = "t".repeat(1024 * 1024);
    for (let at = 0; at < 9; at += 1) await steps.publish({ type: "text", text });
    await steps.publish({ type: "over", reason: "stop", time: 1 });
    const response = await readFile(file("response.json"), "utf8");
    const deltas = response.split("\n").filter((line) => line.includes("text_delta")).length;
    // What waits is written when it is more than so much: piece by piece, and the last one that fits is there.
    expect(deltas).toBe(7);
    expect(response.length).toBeLessThanOrEqual(responseBytesMax + 200);
    expect(response.endsWith('{"type":"finish","reason":"stop"}\n{"type":"end"}\n')).toBe(true);
    expect(problems).toEqual([]);
  });

  it("captureBytesMax", async () => {
    const { steps, file } = await writer();
    const fits = "é".repeat(captureBytesMax / 2);
    const read = async (id: string, output: string) => {
      await steps.publish({ type: "landed", id, output, exitCode: 0, endedAt: 1 });
      await steps.settled();
      return (JSON.parse(await readFile(file(`tools/${id}/output.json`), "utf8")) as { stdout: string })
        .stdout;
    };
    expect(await read("a", fits)).toBe(fits);
    expect(await read("b", `${fits}x`)).toBe(fits);
    await steps.close();
  });

  it("answerBytesMax", async () => {
    const { steps, file } = await writer();
    const step = await steps.park({
      tool_use_id: "c",
      tool: "t",
      reason: "r",
      input: "",
      options: [],
      asked_at: new Date(0).toISOString(),
    });
    const answer = (length: number) => {
      const record = { option: "o", by: "", at: "1970-01-01T00:00:00.000Z" };
      return JSON.stringify({ ...record, by: "b".repeat(length - JSON.stringify(record).length) });
    };
    await writeFile(file("tools/c/answer.json"), answer(answerBytesMax));
    expect(await steps.answerOf(step ?? "", "c")).toMatchObject({ option: "o" });
    await writeFile(file("tools/c/answer.json"), answer(answerBytesMax + 1));
    expect(await steps.answerOf(step ?? "", "c")).toBeUndefined();
    await steps.close();
  });

  it("inboxListMax, promptBytesMax", async () => {
    const folder = await makeFolder();
    const inbox = new Inbox(small, folder, undefined);
    await inbox.open();
    const prompt = (length: number) => {
      const record = { text: "", by: "me", at: "1970-01-01T00:00:00.000Z" };
      return JSON.stringify({ ...record, text: "p".repeat(length - JSON.stringify(record).length) });
    };
    const name = (at: number) => join(inbox.folder, `${String(at).padStart(5, "0")}.json`);
    await Promise.all(filled(inboxListMax).map((at) => writeFile(name(at), "no prompt")));
    await writeFile(name(inboxListMax), prompt(promptBytesMax));
    const refused: string[] = [];
    // One look goes so far; the next one goes on behind it.
    expect(await inbox.next((file) => refused.push(file))).toBeUndefined();
    expect(refused).toHaveLength(inboxListMax);
    const found = await inbox.next((file) => refused.push(file));
    expect(found?.text.length).toBeGreaterThan(promptBytesMax - 100);
    await inbox.taken(found?.name ?? "");
    await writeFile(name(1), prompt(promptBytesMax + 1));
    expect(await inbox.next((file) => refused.push(file))).toBeUndefined();
    expect(await readdir(inbox.folder)).toEqual([]);
    expect(refused).toHaveLength(inboxListMax + 1);
  });
});

describe("time, at the limit", () => {
  it("startMsMax", async () => {
    const folder = await makeFolder();
    const clock = createVirtualClock();
    const ended: string[] = [];
    let begun = (): void => undefined;
    const isBegun = new Promise<void>((resolve) => {
      begun = resolve;
    });
    /** A process that reads and says nothing. */
    const spawn: Spawn = () => {
      const stdout = new PassThrough();
      const stdin = new PassThrough().on("data", () => begun());
      let exit = (_: { code: number | null; signal: string | null }): void => undefined;
      const exited = new Promise<{ code: number | null; signal: string | null }>((resolve) => {
        exit = resolve;
      });
      stdin.on("finish", () => {
        ended.push("closed");
        stdout.end();
        exit({ code: 0, signal: null });
      });
      return Promise.resolve({ stdin, stdout, stderr: new PassThrough(), exited, signal: () => undefined });
    };
    const started = drive({ program: "x", args: [] }, folder, {
      ports: { spawn, log: { ...nodePorts, clock } },
    });
    const refused = expect(started).rejects.toMatchObject({
      code: "agent-start",
      message: `fake did not answer within ${startMsMax / 1000} seconds`,
    });
    await isBegun;
    await clock.advance(startMsMax - 1);
    expect(ended).toEqual([]);
    await clock.advance(1);
    await refused;
    expect(ended).toEqual(["closed"]);
    expect(await readdir(folder)).toEqual([]);
  });

  it("cancelGraceMs", async () => {
    const folder = await makeFolder();
    const clock = createVirtualClock();
    const command = await fakeCommand(
      {
        onCancel: "ignore",
        prompts: [
          [
            { type: "text", text: "busy" },
            { type: "wait", ms: 3_600_000 },
          ],
        ],
      },
      folder,
    );
    const watched = await drive(command, folder, { ports: { log: { ...nodePorts, clock } } });
    await watched.driven.prompt("go");
    await watched.until((change) => change.type === "blockOpened");
    await watched.driven.cancel();
    const isTold = () => watched.told().some((line) => line.includes("has not confirmed the cancel"));
    await clock.advance(cancelGraceMs - 1);
    expect(isTold()).toBe(false);
    await clock.advance(1);
    await watched.until((change) => change.type === "notice" && change.text.includes("has not confirmed"));
  });

  it("lateSealMs", async () => {
    const folder = await makeFolder();
    const clock = createVirtualClock();
    const late = { sessionUpdate: "agent_message_chunk", content: { type: "text", text: "by the way" } };
    const command = await fakeCommand({ opened: [{ type: "send", update: late }], prompts: [] }, folder);
    const watched = await drive(command, folder, { ports: { log: { ...nodePorts, clock } } });
    // It comes before the first look at the session, or after it.
    if ((await watched.driven.tail(1)).live.length === 0)
      await watched.until((change) => change.type === "blockOpened");
    await clock.advance(lateSealMs - 1);
    expect(watched.told().some((line) => line.startsWith("blockFinished"))).toBe(false);
    await clock.advance(1);
    await watched.until((change) => change.type === "blockFinished");
  });

  it("lookEveryMs", async () => {
    const folder = await makeFolder();
    const clock = createVirtualClock();
    const command = await fakeCommand({ prompts: [[{ type: "echo" }]] }, folder);
    // No hints of the system: only the looks.
    const watched = await drive(command, folder, {
      ports: { log: { ...nodePorts, clock }, watchFolder: () => () => undefined },
    });
    const path = watched.driven.path ?? "";
    const inbox = join(path, "..", "inbox");
    await mkdir(inbox, { recursive: true });
    await writeFile(
      join(inbox, "1.json"),
      JSON.stringify({ text: "from afar", by: "somebody", at: "1970-01-01T00:00:00.000Z" }),
    );
    await clock.advance(lookEveryMs - 1);
    expect(await readdir(inbox)).toHaveLength(1);
    await clock.advance(1);
    await watched.turnEnd();
    expect(watched.told().some((line) => line.includes("from afar"))).toBe(true);
    expect(await readdir(inbox)).toEqual([]);
  });

  it("workPendingMax, behindMsMax", async () => {
    const folder = await makeFolder();
    const clock = createVirtualClock();
    const updates = changesBehindMax + 400;
    const command = await fakeCommand(
      {
        prompts: [
          Array.from({ length: updates }, (_, at) => ({
            type: "call" as const,
            id: `c${at}`,
            title: `call ${at}`,
            status: "completed" as const,
          })),
        ],
      },
      folder,
    );
    const watched = await drive(command, folder, { ports: { log: { ...nodePorts, clock } } });
    // One who reads nothing holds the agent up for so long, and then no more.
    const page = await watched.driven.tail(1);
    const idle = watched.driven.changes(page, new AbortController().signal)[Symbol.asyncIterator]();
    const first = idle.next();
    await watched.driven.prompt("go");
    await first;
    const isOver = watched.turnEnd().then(() => true);
    for (;;) {
      if (await Promise.race([isOver, new Promise<false>((resolve) => setImmediate(() => resolve(false)))]))
        break;
      if (clock.pending > 0) await clock.advance(behindMsMax);
    }
    expect(watched.changes.filter((change) => change.type === "blockFinished").length).toBeGreaterThan(
      updates,
    );
    await idle.return?.(undefined);
  });
});

describe("lines and updates, at the limit", () => {
  it("badLinesToldMax, badLineCharsMax", async () => {
    const folder = await makeFolder();
    const line = "b".repeat(badLineCharsMax);
    const command = await fakeCommand(
      {
        prompts: [
          [
            { type: "line", text: line },
            ...filled(badLinesToldMax + 3).map(() => ({ type: "line" as const, text: `${line}x` })),
          ],
        ],
      },
      folder,
    );
    const watched = await drive(command, folder);
    await watched.driven.prompt("go");
    await watched.turnEnd();
    const told = watched.told().filter((text) => text.startsWith("warning: fake wr"));
    expect(told).toEqual([
      ...filled(badLinesToldMax).map(() => `warning: fake wrote a line that is no message: "${line}"`),
      "warning: fake writes more lines that are no messages; they are passed over.",
    ]);
  });

  it("earlyMax", async () => {
    const performer = new Performer({
      log: createUnsavedLog({ id: "s", cwd: "/", agent: "fake" }, nodePorts),
      info: { agent: "hansard", id: "s", path: "" },
      state: { phase: "ready", queued: 0, approvals: [] } as unknown as DriverState,
    });
    for (const at of filled(earlyMax + 5)) performer.tellNotice("information", `early ${at}`);
    const page = await performer.page(() => Promise.resolve(emptyTail));
    const stop = new AbortController();
    const told: Change[] = [];
    for await (const change of performer.changes(page, stop.signal)) {
      told.push(change);
      if (told.length === earlyMax) performer.tellNotice("information", "later");
      if (told.length > earlyMax) break;
    }
    expect(told.at(-2)).toMatchObject({ text: `early ${earlyMax - 1}` });
    expect(told.at(-1)).toMatchObject({ text: "later" });
  });

  it("contextEntriesMax", async () => {
    const folder = await makeFolder();
    const command = await fakeCommand({ prompts: [[{ type: "echo" }]] }, folder);
    const first = await drive(command, folder);
    for (const at of filled(limits.contextEntriesMax / 2 + 1)) {
      await first.driven.prompt(`q${at}.`);
    }
    await first.turnEnd(limits.contextEntriesMax / 2 + 1);
    await first.driven.close();
    const second = await drive(command, folder, { resume: first.driven.id ?? "" });
    await second.driven.prompt("and?");
    await second.turnEnd();
    const echoed = second.told().find((text) => text.startsWith("blockFinished text(")) ?? "";
    expect(echoed).toContain('"text":"q1."');
    expect(echoed).not.toContain('"text":"q0."');
  });
});
