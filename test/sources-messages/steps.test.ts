/** The steps of an agent: how each call ended, how it failed, and what nobody carries on. */
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { loadWorkspaceReaders } from "../../src/sources/index.ts";
import { readFraming } from "../../src/sources/messages/framing.ts";
import { placeOf } from "../../src/sources/messages/listing.ts";
import { STEPS_MAX, stepNames } from "../../src/sources/messages/step-folder.ts";
import {
  readOrphan,
  readSteps,
  WORDS_BYTES_MAX,
  WORDS_LINES_MAX,
  WOUND_GRACE_MS,
  type WoundStanding,
} from "../../src/sources/messages/wounds.ts";
import { spineOf, type Wound } from "../../src/transcript/index.ts";
import { type Home, makeHome } from "../support/home.ts";
import { AGENT, answer, call, deposit, makeWorkspace, result, says, type Workspace } from "./support.ts";

const ASKED = 1_700_000_000_000;
const END = { type: "end" };
const FINISH = { type: "finish", reason: "stop" };
const ERROR = { type: "error", message: "overloaded" };

let home: Home;
let ws: Workspace;
let steps: string;
beforeEach(() => {
  home = makeHome();
  ws = makeWorkspace(home);
  steps = join(ws.path, "steps", AGENT);
});
afterEach(() => home.remove());

describe("framing", () => {
  const frame = (...lines: readonly (object | string)[]): string =>
    lines.map((line) => (typeof line === "string" ? line : `${JSON.stringify(line)}\n`)).join("");
  const told = (text: string): string => {
    const { ending, attempts } = readFraming(text);
    return `${ending.type} ${attempts}`;
  };

  test.each<[string, string, string]>([
    ["finish and end are complete", frame(says("x"), FINISH, END), "whole 1"],
    ["error and end are not", frame(ERROR, END), "failed 1"],
    ["an error wins over a finish of its attempt, in either order", frame(ERROR, FINISH, END), "failed 1"],
    ["a finish before the error too", frame(FINISH, ERROR, END), "failed 1"],
    ["without an end at the end it is not", frame(says("x"), FINISH), "open 0"],
    ["nothing, and nothing but a newline, are not", "", "open 0"],
    ["a newline alone is not", "\n", "open 0"],
    ["a partial line at the end is ignored", frame(FINISH, END, '{"type":"err'), "whole 1"],
    ["only the last attempt decides: a failed one before", frame(ERROR, END, FINISH, END), "whole 2"],
    ["only the last attempt decides: a whole one before", frame(FINISH, END, ERROR, END), "failed 2"],
    ["an end without an error or a finish is not complete", frame(FINISH, END, says("x"), END), "open 2"],
    ["a malformed last line is not", frame(FINISH, END, "{\n"), "open 1"],
    ["the ends are counted", frame(ERROR, END, ERROR, END, FINISH, END, says("x")), "open 3"],
    [
      "a reason of length is the output limit",
      frame({ type: "finish", reason: "length" }, END),
      "output-limit 1",
    ],
    ["a finish needs no reason", frame({ type: "finish" }, END), "whole 1"],
    ["words in a delta are no events", frame(says('"type":"error" finish end'), FINISH, END), "whole 1"],
  ])("%s", (_, text, line) => {
    expect(told(text)).toBe(line);
  });

  test("the error line is told verbatim, of a failed attempt and of the latest alone", () => {
    const line = '{"type": "error", "status":529}\n';
    expect(readFraming(frame({ type: "error", message: "old" }, END, line, END)).ending).toEqual({
      type: "failed",
      words: line.trim(),
    });
    expect(readFraming(frame(line, END, FINISH, END)).ending).not.toHaveProperty("words");
  });
});

describe("wounds", () => {
  const LATER: WoundStanding = { isDriven: false, now: ASKED + 60_000 };
  const ask = (step: string): void => {
    ws.step(step, "request.json", { model: "m" });
    ws.age(`${step}/request.json`, ASKED);
  };
  const wounds = async (standing: WoundStanding = LATER): Promise<readonly (Wound["kind"] | undefined)[]> =>
    (await readSteps(steps, standing)).map((step) => step.wound?.kind);

  test("a response of no bytes and no meta.json is one", async () => {
    ask("001");
    ws.stream("001");
    expect(await wounds()).toEqual(["mute"]);
  });

  test("an absent response is the same", async () => {
    ask("001");
    expect(await wounds()).toEqual(["mute"]);
  });

  test("bytes, or any meta.json, are not", async () => {
    ws.stream("001", "x");
    ask("002");
    ws.step("002", "meta.json", "not JSON");
    expect(await wounds()).toEqual([undefined, undefined]);
  });

  test("a live driver's newest step is excused, and only the newest", async () => {
    ask("001");
    ws.stream("002", { type: "error", status: 401 }, END);
    expect(await wounds({ ...LATER, isDriven: true })).toEqual(["mute", undefined]);
    expect(await wounds()).toEqual(["mute", "refused"]);
  });

  test("the words are from stderr.log", async () => {
    ask("001");
    ws.step("001", "stderr.log", "no route to host\n");
    expect((await readSteps(steps, LATER))[0]?.wound).toEqual({
      kind: "spoke",
      words: "no route to host",
      source: "stderr.log",
    });
  });

  test("a log that is empty, or only white, is mute", async () => {
    ask("001");
    ws.step("001", "stderr.log", "");
    ask("002");
    ws.step("002", "stderr.log", " \n\n");
    expect(await wounds()).toEqual(["mute", "mute"]);
  });

  test("of a log of 600 lines the last three are quoted, of what is clipped only whole lines", async () => {
    const words = async (log: string): Promise<string | undefined> => {
      ask("001");
      ws.step("001", "stderr.log", log);
      const [step] = await readSteps(steps, LATER);
      return step?.wound?.kind === "spoke" ? step.wound.words : undefined;
    };
    expect(WORDS_LINES_MAX).toBe(3);
    const lines = Array.from({ length: 600 }, (_, n) => `line ${n}\n`).join("");
    expect(await words(lines)).toBe("line 597\nline 598\nline 599");
    const line = "x".repeat(WORDS_BYTES_MAX - 2);
    expect(await words(`a${line}\n`)).toBe(`a${line}`);
    expect(await words(`${"y".repeat(10)}\n${line}\n`)).toBe(line);
    expect(await words(`aa${line}\n`)).toBeUndefined();
  });

  test("mute and spoke wait for the grace, counted in whole seconds from the request; older steps do not", async () => {
    ask("001");
    ask("002");
    const at = (ms: number, graceMs?: number): ReturnType<typeof wounds> =>
      wounds({ isDriven: false, now: ASKED + ms, ...(graceMs === undefined ? {} : { graceMs }) });
    expect(WOUND_GRACE_MS).toBe(2_000 + 100 + 15_000 + 500);
    expect(await at(17_999)).toEqual(["mute", undefined]);
    expect(await at(18_000)).toEqual(["mute", "mute"]);
    expect(await at(-5_000)).toEqual(["mute", undefined]);
    expect(await at(-5_000, 0)).toEqual(["mute", "mute"]);
    expect(await at(0, 1000)).toEqual(["mute", undefined]);
    expect(await at(1000, 1000)).toEqual(["mute", "mute"]);
  });

  test("a step without a request has no stamp: its wound stands", async () => {
    ws.step("001");
    expect(await wounds({ isDriven: false, now: 0 })).toEqual(["mute"]);
  });

  test("a refusal and the output limit do not wait", async () => {
    ask("001");
    ws.stream("001", { type: "error", message: "Invalid API KEY" }, END);
    expect(await wounds({ isDriven: false, now: ASKED })).toEqual(["refused"]);
    ws.stream("001", { type: "finish", reason: "length" }, END);
    expect(await wounds({ isDriven: false, now: ASKED })).toEqual(["output-limit"]);
  });
});

describe("the steps of an agent", () => {
  test("are told by number, with what was committed and how they ended", async () => {
    ws.stream("1000", FINISH, END);
    ws.step("1000", "meta.json", {
      commit: "abcdef0123",
      started_at: "2026-06-01T00:00:00Z",
      ended_at: 1_780_272_001,
    });
    ws.stream("999", { type: "finish", reason: "length" }, END);
    ws.step("999", "meta.json", "[]");
    for (const name of ["+12", "01a", "99", "notes"]) ws.step(name);
    expect(await readSteps(steps, { isDriven: false, now: ASKED })).toEqual([
      {
        name: "999",
        isComplete: false,
        ending: { type: "output-limit" },
        attempts: 1,
        wound: { kind: "output-limit" },
      },
      {
        name: "1000",
        isComplete: true,
        ending: { type: "whole" },
        attempts: 1,
        commit: "abcdef0123",
        startedAt: Date.parse("2026-06-01T00:00:00Z"),
        endedAt: 1_780_272_001_000,
      },
    ]);
  });

  test("are the steps of a spine", async () => {
    ws.stream("001", FINISH, END);
    ws.step("001", "meta.json", { commit: "abcdef0123" });
    const records = await readSteps(steps, { isDriven: false, now: ASKED });
    expect(
      spineOf(
        [
          { kind: "delivered", name: "001-user.md", sender: "user", body: "" },
          { kind: "model", name: "002-m.json", blocks: [], usage: {} },
        ],
        records,
      ),
    ).toEqual([{ step: "001", label: "abcdef0", seat: { key: "tx/001-user.md#0", cut: 1 }, hasRule: true }]);
  });

  test("are the newest ones at the limit, and none where there is no folder", async () => {
    for (let n = 1; n <= STEPS_MAX + 1; n++) ws.step(String(n).padStart(3, "0"));
    const names = await stepNames(steps);
    expect([names.length, names[0], names.at(-1)]).toEqual([STEPS_MAX, "002", String(STEPS_MAX + 1)]);
    expect(await stepNames(join(home.path, "none"))).toEqual([]);
  });
});

describe("the orphaned tail", () => {
  const idle = { isDriven: false };
  const orphan = (standing = idle): ReturnType<typeof readOrphan> =>
    readOrphan(placeOf(ws.messages), standing);
  const log = (text: string): string => home.write(`ws/steps/${AGENT}/driver.log`, text);

  test("spoken: the end of driver.log says why", async () => {
    ws.put("001-user.md", deposit("do it", { from: "user" }));
    log("started\nkilled by signal 9\n");
    expect(await orphan()).toEqual({ kind: "spoke", words: "started\nkilled by signal 9" });
  });

  test("mute: without a word in driver.log", async () => {
    ws.put("001-user.md", "do it");
    ws.put("002-m.json", answer(call("c1")));
    expect(await orphan()).toEqual({ kind: "mute" });
    log(" \n");
    expect(await orphan()).toEqual({ kind: "mute" });
  });

  test("settled: an answer, or a result, is none", async () => {
    ws.put("001-m.json", answer("done"));
    expect(await orphan()).toBeUndefined();
    ws.put("002-tool.json", result("c1", "ok"));
    expect(await orphan()).toBeUndefined();
  });

  test("driven: somebody is at work", async () => {
    ws.put("001-user.md", "do it");
    expect(await orphan({ isDriven: true })).toBeUndefined();
  });

  test("absent: no message at all, and a folder outside of a workspace", async () => {
    expect(await orphan()).toBeUndefined();
    home.write("loose/001-user.md", "do it");
    expect(await readOrphan(placeOf(join(home.path, "loose")), idle)).toBeUndefined();
  });

  test("parked: a call that the operator holds is none, by its mark or a packed one", async () => {
    ws.put("001-m.json", answer(call("c1")));
    home.write("ws/repo.git/packed-refs", `# pack-refs\n0123 refs/litany/held/${AGENT}-kid\n`);
    expect(await orphan()).toEqual({ kind: "mute" });
    home.write("ws/repo.git/packed-refs", `# pack-refs\n0123 refs/litany/held/${AGENT}\n`);
    expect(await orphan()).toBeUndefined();
    home.write("ws/repo.git/packed-refs", "");
    home.write(`ws/repo.git/refs/litany/held/${AGENT}`, "0123\n");
    expect(await orphan()).toBeUndefined();
  });

  test("is told from the newest entry alone, which classify reads by itself", async () => {
    const { classifyMessage } = await loadWorkspaceReaders();
    ws.put("001-user.md", "do it");
    ws.put("002-m.json", answer(call("c1")));
    expect(classifyMessage("002-m.json", Buffer.from(JSON.stringify(answer(call("c1")))))).toMatchObject({
      kind: "model",
      name: "002-m.json",
      modelId: "m",
    });
    expect(await orphan()).toEqual({ kind: "mute" });
  });
});
