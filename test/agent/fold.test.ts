/** The fold, as tables: what is told on the left, what is done on the right, one line each. */
import { describe, expect, it } from "vitest";
import type { EntryDraft } from "../../src/agent/blocks.ts";
import type { Effect } from "../../src/agent/effects.ts";
import { Fold } from "../../src/agent/fold.ts";
import { callsOpenMax, spokenCharsMax, spokenPiecesMax, unknownUpdatesMax } from "../../src/agent/limits.ts";
import { readUpdate } from "../../src/agent/updates.ts";
import type { RecordSpec } from "../../src/log/index.ts";
import { tellEntry } from "./drive.ts";

type Told = Parameters<typeof tellEntry>[0];

function tellDraft(draft: EntryDraft): string {
  return tellEntry({ ...draft, name: "" } as Told);
}

function tellSpec(spec: RecordSpec): string {
  if (spec.kind === "message") return `message/${spec.role}`;
  if (spec.kind === "set") return `set/${spec.key}`;
  if (spec.kind === "turnInterrupted") return `turnInterrupted(${spec.reason})`;
  return spec.kind;
}

function tellEffect(effect: Effect): string {
  switch (effect.type) {
    case "open":
    case "change":
    case "finish":
      return `${effect.type} ${effect.key} ${tellDraft(effect.draft)}`;
    case "record": {
      const blocks = effect.blocks.map(
        ({ key, ordinal }) => key + (ordinal === undefined ? "" : `.${ordinal}`),
      );
      return `record ${effect.specs.map(tellSpec).join(" ")}${blocks.length === 0 ? "" : ` for ${blocks.join(" ")}`}`;
    }
    case "step":
      return `step ${effect.event.type}${"id" in effect.event ? ` ${effect.event.id}` : ""}`;
    case "notice":
      return `${effect.tone}: ${effect.text}`;
    case "state":
      return `state ${Object.keys(effect.state).join(" ")}`;
    case "title":
      return `title ${effect.title}`;
    default:
      return effect.type;
  }
}

const text = (words: string, messageId?: string): object => ({
  sessionUpdate: "agent_message_chunk",
  content: { type: "text", text: words },
  ...(messageId === undefined ? {} : { messageId }),
});
const thought = (words: string): object => ({
  sessionUpdate: "agent_thought_chunk",
  content: { type: "text", text: words },
});
const call = (toolCallId: string, more: object = {}): object => ({
  sessionUpdate: "tool_call",
  toolCallId,
  title: toolCallId,
  ...more,
});
const news = (toolCallId: string, more: object = {}): object => ({
  sessionUpdate: "tool_call_update",
  toolCallId,
  ...more,
});
const stopped = (stopReason = "end_turn") => ({ type: "stopped", stopReason, usage: {}, time: 9 }) as const;

function run(...updates: readonly object[]): { readonly fold: Fold; readonly lines: readonly string[] } {
  const fold = new Fold();
  fold.begin({ text: "go", time: 1 });
  const lines = updates.flatMap((update) => fold.update(readUpdate(update), 2)).map(tellEffect);
  return { fold, lines };
}

describe("the fold", () => {
  it("begins a turn: the prompt is recorded with it, all or none", () => {
    const fold = new Fold();
    expect(fold.begin({ text: "go", sender: "phone", inbox: "1.json", time: 1 }).map(tellEffect)).toEqual([
      "turnStarted",
      "record turnStarted message/user set/inbox for ~1",
      "finish ~1 phone: go",
      "step begun",
    ]);
  });

  it("opens a message with its first words and records it when it ends", () => {
    const { fold, lines } = run(thought("hm"), text(""), text("a"), text("b"));
    expect(lines).toEqual([
      "step thinking",
      "open ~2 thinking(hm)",
      "step text",
      "change ~2 thinking(hm) text(a)",
      "step text",
      "change ~2 thinking(hm) text(ab)",
    ]);
    expect(fold.end(stopped()).map(tellEffect)).toEqual([
      "record message/assistant for ~2",
      "finish ~2 thinking(hm) text(ab)",
      "record turnCommitted",
      "step over",
      "turnEnded",
    ]);
  });

  it("keeps messages apart that the agent names differently", () => {
    const { lines } = run(text("a", "m1"), text("b", "m1"), text("c", "m2"));
    expect(lines.filter((line) => !line.startsWith("step"))).toEqual([
      "open ~2 text(a)",
      "change ~2 text(ab)",
      "record message/assistant for ~2",
      "finish ~2 text(ab)",
      "open ~3 text(c)",
    ]);
  });

  it("records a call when it runs, not when it is announced, and posts it then", () => {
    const { lines } = run(
      call("c", { status: "pending", rawInput: {} }),
      news("c", { rawInput: { command: "ls -l" }, title: "`ls -l`", kind: "execute" }),
      news("c", { status: "in_progress" }),
      news("c", {
        status: "completed",
        content: [{ type: "content", content: { type: "text", text: "x" } }],
      }),
    );
    expect(lines).toEqual([
      "open ~2 call(c, running)",
      "change ~2 call(execute ls -l, running)",
      "change ~2 call(execute ls -l, running)",
      "record message/tool_call for ~2",
      "step posted c",
      "change ~2 call(execute ls -l, running)",
      "record message/tool_result for ~3",
      "finish ~2 call(execute ls -l, done)",
      'finish ~3 result(done, "x")',
      "step landed c",
    ]);
  });

  it("records an announced call before anything else begins, so that the log has the order of the blocks", () => {
    const { lines } = run(call("a", { status: "pending" }), call("b", { status: "pending" }), text("x"));
    expect(lines).toEqual([
      "open ~2 call(a, running)",
      "record message/tool_call for ~2",
      "open ~3 call(b, running)",
      "step text",
      "record message/tool_call for ~3",
      "open ~4 text(x)",
    ]);
  });

  it("begins a further step with the message behind calls", () => {
    const { lines } = run(call("a", { status: "completed" }), text("x"), text("y"));
    expect(lines.filter((line) => line.startsWith("step"))).toEqual([
      "step posted a",
      "step landed a",
      "step over",
      "step begun",
      "step text",
      "step text",
    ]);
  });

  it("ignores what comes late for a call, and takes a call of the same id as a new one", () => {
    const { lines } = run(
      call("a", { status: "completed" }),
      news("a", { status: "failed" }),
      call("a", { status: "in_progress" }),
    );
    expect(lines.slice(7)).toEqual([
      "open ~4 call(a, running)",
      "record message/tool_call for ~4",
      "step posted a",
    ]);
  });

  it.each([
    ["stopped", stopped(), "unanswered", ["record turnCommitted"]],
    [
      "interrupted",
      { type: "interrupted", reason: "cancelled", time: 9 } as const,
      "interrupted",
      [
        "record message/tool_result for ~3",
        'finish ~3 result(interrupted, "")',
        "step landed a",
        "record turnInterrupted(cancelled) for ~4",
        "finish ~4 wound(interrupted, cancelled)",
      ],
    ],
  ])("a turn that is %s with a running call", (_name, end, state, others) => {
    const { fold } = run(call("a", { status: "in_progress" }));
    const lines = fold.end(end).map(tellEffect);
    expect(lines).toContain(`finish ~2 call(a, ${state})`);
    expect(lines).toEqual(expect.arrayContaining([...others, "step over", "turnEnded"]));
  });

  it("records a call that is asked about before the question, and tells a rejected one as denied", () => {
    const { fold } = run();
    const asked = fold.ask(
      { id: "e", isNew: false, title: "Edit a.txt", subject: "a.txt", status: "pending" },
      "e#1",
      [],
      5,
    );
    expect(asked.effects.map(tellEffect)).toEqual([
      "open ~2 call(Edit a.txt, running)",
      "record message/tool_call for ~2",
    ]);
    expect(asked.approval).toEqual({
      id: "e#1",
      call: { id: "e", name: "Edit", subject: "a.txt", inputSummary: "" },
      options: [],
      askedAt: 5,
    });
    fold.deny("e", "rejected");
    // What was refused did not run: it is neither posted nor landed.
    expect(fold.update(readUpdate(news("e", { status: "failed" })), 6).map(tellEffect)).toEqual([
      "change ~2 call(Edit a.txt, running)",
      "record message/tool_result for ~3",
      "finish ~2 call(Edit a.txt, denied)",
      'finish ~3 result(denied, "")',
    ]);
  });

  it.each([
    ["the agent's word", stopped()],
    ["an interruption", { type: "interrupted", reason: "closed", time: 9 } as const],
  ])("tells a rejected call that nothing more is told of as denied: %s", (_name, end) => {
    const { fold } = run();
    fold.ask({ id: "e", isNew: false, title: "Edit" }, "e#1", [], 5);
    fold.deny("e", "rejected");
    expect(fold.end(end).map(tellEffect)).toEqual(
      expect.arrayContaining([
        "record message/tool_result for ~3",
        "finish ~2 call(Edit, denied)",
        'finish ~3 result(denied, "")',
      ]),
    );
  });

  it("tells a call whose question was called off as interrupted: it has not run", () => {
    const { fold } = run();
    fold.ask({ id: "e", isNew: false, title: "Edit" }, "e#1", [], 5);
    fold.deny("e", "called-off");
    const ended = fold.end({ type: "interrupted", reason: "cancelled", time: 9 });
    expect(ended.map(tellEffect)).toContain("finish ~2 call(Edit, interrupted)");
    expect(JSON.stringify(ended)).not.toContain("partly run");
  });

  it("a call that was rejected once and allowed then fails as what it is", () => {
    const { fold } = run();
    fold.ask({ id: "e", isNew: false, title: "Edit" }, "e#1", [], 5);
    fold.deny("e", "rejected");
    fold.ask({ id: "e", isNew: false, title: "Edit" }, "e#2", [], 5);
    fold.allow("e");
    expect(fold.update(readUpdate(news("e", { status: "failed" })), 6).map(tellEffect)).toContain(
      "finish ~2 call(Edit, failed)",
    );
  });

  it("posts a call that was asked about when it is allowed", () => {
    const { fold } = run();
    fold.ask({ id: "e", isNew: false, title: "Edit" }, "e#1", [], 5);
    expect(fold.allow("e").map(tellEffect)).toEqual(["step posted e"]);
    expect(fold.update(readUpdate(news("e", { status: "completed" })), 6).map(tellEffect)).toEqual([
      "change ~2 call(Edit, running)",
      "record message/tool_result for ~3",
      "finish ~2 call(Edit, done)",
      'finish ~3 result(done, "")',
      "step landed e",
    ]);
  });

  it("ends a message of words that come outside of a turn", () => {
    const { fold } = run();
    fold.end(stopped());
    expect(fold.update(readUpdate(text("late")), 20).map(tellEffect)).toContain("open ~2 text(late)");
    expect(fold.isLate).toBe(true);
    expect(fold.sealLate(21).map(tellEffect)).toEqual([
      "record message/assistant for ~2",
      "finish ~2 text(late)",
    ]);
    expect(fold.isLate).toBe(false);
  });

  describe("at its limits", () => {
    it("splits a message at its characters, losing none and no half of a pair", () => {
      const words = `x${"😀".repeat(spokenCharsMax / 2)}y`;
      const { fold, lines } = run(text(words));
      const kept = [...lines, ...fold.end(stopped()).map(tellEffect)]
        .filter((line) => line.startsWith("finish"))
        .map((line) => /text\((.*)\)$/su.exec(line)?.[1] ?? "");
      expect(kept.join("")).toBe(words);
      expect(kept.map(({ length }) => length)).toEqual([spokenCharsMax - 1, 3]);
    });

    it("splits a message at its pieces", () => {
      const updates = Array.from({ length: spokenPiecesMax + 1 }, (_, n) =>
        n % 2 ? text("t") : thought("h"),
      );
      const { lines } = run(...updates);
      expect(lines.filter((line) => line.startsWith("open"))).toEqual([
        "open ~2 thinking(h)",
        "open ~3 thinking(h)",
      ]);
    });

    it("takes the oldest open call as unanswered when there are too many", () => {
      const { lines, fold } = run(
        ...Array.from({ length: callsOpenMax + 1 }, (_, n) => call(`c${n}`, { status: "in_progress" })),
      );
      expect(lines).toContain("finish ~2 call(c0, unanswered)");
      expect(fold.callsOpen).toBe(callsOpenMax);
    });

    it("keeps so many unknown updates of a turn and counts the rest", () => {
      const { lines, fold } = run(
        ...Array.from({ length: unknownUpdatesMax + 3 }, () => ({ sessionUpdate: "mood" })),
      );
      expect(lines.filter((line) => line.startsWith("record custom"))).toHaveLength(unknownUpdatesMax);
      expect(fold.end(stopped()).map(tellEffect)).toContain(
        "information: 3 more updates of unknown kinds came in this turn; they are not kept.",
      );
    });
  });
});
