/** The virtual entries at the end of a transcript, calls in progress, and the orphaned tail. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  absorbStream,
  type Entry,
  foldStream,
  isToolInProgress,
  orphanedTail,
  pairCalls,
  type Stream,
  virtualRaw,
  type Wound,
  withLive,
  withWound,
  woundBanner,
} from "../../src/transcript/index.ts";
import { anyEntry, delivered, model, result } from "./entries.ts";

const committed: readonly Entry[] = [delivered("001-user.md")];
const names = (entries: readonly Entry[]): readonly string[] => entries.map((entry) => entry.name);

describe("the live tail", () => {
  test("is appended; what stands behind it is thinking then text", () => {
    const entries = withLive(committed, { text: "so", thinking: "hm" });
    expect(names(entries)).toEqual(["001-user.md", "«live»"]);
    expect(entries.map(virtualRaw)[1]).toBe("hmso");
  });

  test("of a stream that has said nothing is not there", () => {
    expect(withLive(committed, {})).toBe(committed);
    expect(withLive(committed, { lastDelta: "text" })).toBe(committed);
  });

  test("is replaced by a second one", () => {
    const twice = withLive(withLive(committed, { text: "so" }), { text: "so it" });
    expect(twice).toEqual(withLive(committed, { text: "so it" }));
  });

  test("an empty fold over a live one restores the committed half", () => {
    expect(withLive(withLive(committed, { text: "so" }), {})).toEqual(committed);
  });
});

const wounds: readonly Wound[] = [
  { kind: "mute" },
  { kind: "spoke", words: "boom", source: "stderr.log" },
  { kind: "spoke", words: "overloaded" },
  { kind: "output-limit" },
  { kind: "refused" },
  { kind: "refused", words: "401", authRow: "anthropic" },
  { kind: "interrupted" },
  { kind: "interrupted", words: "by the person" },
];

describe("the notice of a failure", () => {
  test("a refused conversation gains one that names the row", () => {
    const [, notice] = withWound(committed, { kind: "refused", authRow: "anthropic" });
    expect(notice && virtualRaw(notice)).toBe(
      "⚠ the last step failed on anthropic's credentials — log in to it",
    );
  });

  test.each<[Wound, string]>([
    [wounds[0]!, "⚠ driver produced no response — nothing on disk says why"],
    [wounds[1]!, "⚠ driver produced no response — stderr.log ends with: boom"],
    [wounds[2]!, "⚠ the last step failed — overloaded"],
    [
      wounds[3]!,
      "⚠ output limit ended the turn — nothing was committed and no tool ran; asking again does not help: raise max_output_tokens, or ask for less",
    ],
    [wounds[4]!, "⚠ the last step failed on credentials — log in"],
    [wounds[5]!, "⚠ the last step failed on anthropic's credentials — log in to it (401)"],
    [wounds[6]!, "⚠ the turn was interrupted"],
    [wounds[7]!, "⚠ the turn was interrupted — by the person"],
  ])("each wound seats its banner: %j", (wound, banner) => {
    expect(woundBanner(wound)).toBe(banner);
    expect(withWound(committed, wound)).toEqual([...committed, { kind: "wounded", name: "«wound»", wound }]);
  });

  test("no wound adds nothing", () => {
    expect(withWound(committed, undefined)).toBe(committed);
  });

  test("a second fold replaces the first, and none removes it", () => {
    const once = withWound(committed, { kind: "mute" });
    expect(withWound(once, { kind: "output-limit" })).toEqual(withWound(committed, { kind: "output-limit" }));
    expect(withWound(once, undefined)).toEqual(committed);
  });

  test("the live and the wound fold do not strip each other", () => {
    const live = withLive(committed, { text: "so" });
    expect(names(withWound(live, { kind: "mute" }))).toEqual(["001-user.md", "«live»", "«wound»"]);
    expect(names(withLive(withWound(committed, { kind: "mute" }), { text: "so" }))).toEqual([
      "001-user.md",
      "«wound»",
      "«live»",
    ]);
  });

  test("one that is committed in a log is nobody's to remove", () => {
    const told: readonly Entry[] = [{ kind: "wounded", name: "@120", wound: { kind: "mute" } }];
    expect(withWound(told, undefined)).toBe(told);
  });
});

test("whatever is folded in whatever order, the last of each kind stands, once, and all else in place", () => {
  const half = fc.string({ maxLength: 2 });
  const stream = fc.record({ text: half, thinking: half }).map(
    ({ text, thinking }): Stream => ({
      ...(text === "" ? {} : { text }),
      ...(thinking === "" ? {} : { thinking }),
    }),
  );
  const fold = fc.oneof(
    stream.map((s) => ({ type: "live" as const, s })),
    fc.option(fc.constantFrom(...wounds), { nil: undefined }).map((w) => ({ type: "wound" as const, w })),
  );
  const start = fc.array(
    anyEntry.filter((e) => !["«live»", "«wound»"].includes(e.name)),
    { maxLength: 3 },
  );
  fc.assert(
    fc.property(start, fc.array(fold, { maxLength: 6 }), (entries, folds) => {
      let told = entries as readonly Entry[];
      for (const f of folds) told = f.type === "live" ? withLive(told, f.s) : withWound(told, f.w);
      expect(told.slice(0, entries.length)).toEqual(entries);
      const lastLive = folds.findLast((f) => f.type === "live");
      const lastWound = folds.findLast((f) => f.type === "wound");
      const tail = told.slice(entries.length);
      expect(tail.filter((e) => e.kind === "streaming")).toEqual(withLive([], lastLive?.s ?? {}));
      expect(tail.filter((e) => e.kind === "wounded")).toEqual(withWound([], lastWound?.w));
    }),
  );
});

describe("calls in progress", () => {
  test("tool_in_progress is true until the result is committed", () => {
    const call = model("002-m.json", ["!c1"]);
    expect(isToolInProgress([...committed, call], "c1")).toBe(true);
    expect(isToolInProgress([...committed, call, result("003-tool.json", "c1")], "c1")).toBe(false);
  });

  test("ids are opaque and equal byte for byte; one that was never called is in progress", () => {
    const entries = [result("003-tool.json", "call_A"), result("004-tool.json", "")];
    expect(["call_A", "call_a", "toolu_1", ""].map((id) => isToolInProgress(entries, id))).toEqual([
      false,
      true,
      true,
      false,
    ]);
  });

  test("each of several results in one file retires its call", () => {
    const several: Entry = {
      ...result("003-tool.json", "c1", "1"),
      further: [
        { toolUseId: "c2", content: "2\n2", isError: true },
        { toolUseId: "lost", content: "", isError: false },
      ],
    };
    const entries = [model("002-m.json", ["!c1", "!c2"]), several];
    expect(["c1", "c2", "lost"].map((id) => isToolInProgress(entries, id))).toEqual([false, false, false]);
    const [calls, results] = pairCalls(entries);
    expect(
      calls?.kind === "model" && calls.blocks.map((b) => b.kind === "tool-use" && b.outcome?.state),
    ).toEqual(["done", "failed"]);
    expect(results).toMatchObject({
      call: { entry: "002-m.json" },
      outcome: { state: "done" },
      further: [
        { toolUseId: "c2", call: { entry: "002-m.json" }, outcome: { state: "failed", lines: 2 } },
        { toolUseId: "lost", outcome: { state: "done" } },
      ],
    });
    expect(results?.kind === "tool-result" && results.further?.[1]?.call).toBeUndefined();
  });
});

describe("the orphaned tail", () => {
  const mail = delivered("001-user.md");
  const calls = model("002-m.json", ["!c1"]);
  const idle = { isDriven: false };

  test("spoken: what its driver said last is the reason", () => {
    expect(orphanedTail(mail, { ...idle, words: " no route\n" })).toEqual({
      kind: "spoke",
      words: "no route",
    });
    expect(orphanedTail(calls, { ...idle, words: "killed" })).toEqual({ kind: "spoke", words: "killed" });
  });

  test("mute: nothing says why", () => {
    expect([orphanedTail(mail, idle), orphanedTail(calls, { ...idle, words: " \n" })]).toEqual([
      { kind: "mute" },
      { kind: "mute" },
    ]);
  });

  test("settled: an answer or a result is no orphan", () => {
    const answer = model("002-m.json", ["done"]);
    expect([answer, result("003-tool.json", "c1"), undefined].map((e) => orphanedTail(e, idle))).toEqual([
      undefined,
      undefined,
      undefined,
    ]);
  });

  test("driven: somebody is at work", () => {
    expect(orphanedTail(mail, { isDriven: true, words: "x" })).toBeUndefined();
  });

  test("parked: a call that waits for the operator is no orphan, mail still is", () => {
    const parked = { isDriven: false, isParked: true };
    expect([orphanedTail(calls, parked), orphanedTail(mail, parked)]).toEqual([undefined, { kind: "mute" }]);
  });
});

describe("the fold of a stream", () => {
  const event = (delta: object): string => `${JSON.stringify({ type: "content_delta", index: 0, delta })}\n`;

  test("a delta without a character moves nothing", () => {
    expect(foldStream(event({ text_delta: "" }))).toEqual({});
    expect(foldStream(event({ thinking_delta: "hm" }) + event({ text_delta: "" }))).toEqual({
      thinking: "hm",
      lastDelta: "thinking",
    });
  });

  test("absorbing nothing is identity", () => {
    const said: Stream = { text: "so", lastDelta: "text" };
    expect([absorbStream(said, {}), absorbStream({}, said), absorbStream({}, {})]).toEqual([said, said, {}]);
  });
});
