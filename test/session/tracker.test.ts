import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { type Change, createTracker, PENDING_BLOCKS_MAX } from "../../src/session/index.ts";
import type { LogItem, TailPage } from "../../src/sources/index.ts";
import type { Entry } from "../../src/transcript/index.ts";

function note(name: string): Entry {
  return { kind: "delivered", name, sender: "system", body: name };
}

function entry(name: string, live = false): LogItem {
  return { type: "entry", entry: note(name), start: `s${name}`, end: `e${name}`, live };
}

function changed(name: string, live: boolean): LogItem {
  return { type: "changed", entry: note(name), live };
}

function emptyTail(turnOpen = false): TailPage {
  return {
    entries: [],
    positions: [],
    start: "0",
    end: "0",
    atStart: true,
    atEnd: true,
    damage: [],
    turnOpen,
    live: [],
  };
}

function tell(changes: readonly Change[]): string {
  return changes
    .map((c) => {
      switch (c.type) {
        case "blockOpened":
        case "blockChanged":
        case "blockFinished":
        case "blockRevised":
          return `${c.type.slice(5).toLowerCase()}(${c.entry.name})`;
        default:
          return c.type;
      }
    })
    .join(" ");
}

describe("a growing log becomes changes", () => {
  const golden: readonly [string, readonly LogItem[], string][] = [
    ["a settled entry finishes at once", [entry("a")], "finished(a) saved"],
    [
      "a call opens and its result finishes both, in log order",
      [entry("call", true), changed("call", false), entry("result")],
      "opened(call) finished(call) finished(result) saved",
    ],
    [
      "what follows a running call waits for it",
      [entry("x", true), entry("y", true), entry("ry"), changed("y", false)],
      "opened(x) opened(y) opened(ry) changed(y)",
    ],
    [
      "the last result lets all go in order",
      [
        entry("x", true),
        entry("y", true),
        changed("y", false),
        entry("ry"),
        changed("x", false),
        entry("rx"),
      ],
      "opened(x) opened(y) changed(y) opened(ry) finished(x) finished(y) finished(ry) finished(rx) saved",
    ],
    [
      "a turn starts before its prompt and ends after its blocks",
      [{ type: "turnStarted" }, entry("p"), entry("call", true), { type: "turnEnded" }],
      "turnStarted finished(p) opened(call) finished(call) saved turnEnded",
    ],
    [
      "a new prompt ends the turn that never said so",
      [{ type: "turnStarted" }, entry("call", true), { type: "turnStarted" }, entry("p")],
      "turnStarted opened(call) finished(call) saved turnEnded turnStarted finished(p) saved",
    ],
    [
      "a second end of a turn says nothing",
      [{ type: "turnStarted" }, { type: "turnEnded" }, { type: "turnEnded" }],
      "turnStarted saved turnEnded",
    ],
    [
      "a finished block told again is revised, not repainted",
      [entry("a"), changed("a", false)],
      "finished(a) revised(a) saved",
    ],
    [
      "a compaction stands before its divider",
      [{ type: "compacted" }, entry("divider")],
      "compacted finished(divider) saved",
    ],
  ];
  test.each(golden)("%s", (_name, items, expected) => {
    expect(tell(createTracker(emptyTail()).apply(items))).toBe(expected);
  });

  test("a tail page's live block and all after it are pending; its turn goes on", () => {
    const page: TailPage = {
      ...emptyTail(true),
      entries: [note("p"), note("x"), note("t")],
      positions: ["1", "2", "3"],
      end: "4",
      live: ["x"],
    };
    const tracker = createTracker(page);
    expect(tracker.pending().map((e) => e.name)).toEqual(["x", "t"]);
    const out = tracker.apply([changed("x", false), { type: "turnEnded" }]);
    expect(tell(out)).toBe("finished(x) finished(t) saved turnEnded");
    expect(out[1]).toMatchObject({ start: "3", end: "4" });
  });

  test("PENDING_BLOCKS_MAX: past it the oldest is finished as it stands, none is lost", () => {
    const tracker = createTracker(emptyTail(true));
    const names = Array.from({ length: PENDING_BLOCKS_MAX + 3 }, (_, i) => `c${i}`);
    const out = tracker.apply(names.map((n) => entry(n, true)));
    expect(tracker.pending()).toHaveLength(PENDING_BLOCKS_MAX);
    expect(tell(out)).toContain("finished(c0)");
    const rest = tracker.apply([{ type: "turnEnded" }]);
    const finished = [...out, ...rest].flatMap((c) => (c.type === "blockFinished" ? [c.entry.name] : []));
    expect(finished).toEqual(names);
  });

  test("laws: every entry finishes once, in log order; turns alternate; saved precedes the end of a turn", () => {
    const step = fc.oneof(
      fc.record({ op: fc.constant("entry" as const), live: fc.boolean() }),
      fc.record({ op: fc.constant("settle" as const), at: fc.nat(20) }),
      fc.record({ op: fc.constantFrom("turnStarted" as const, "turnEnded" as const, "compacted" as const) }),
    );
    fc.assert(
      fc.property(fc.array(fc.array(step, { maxLength: 12 }), { maxLength: 12 }), (batches) => {
        const tracker = createTracker(emptyTail());
        const names: string[] = [];
        const all: Change[] = [];
        for (const batch of batches) {
          const items = batch.map((s): LogItem => {
            if (s.op === "settle") return changed(names[s.at % Math.max(1, names.length)] ?? "none", false);
            if (s.op !== "entry") return { type: s.op };
            names.push(`n${names.length}`);
            return entry(`n${names.length - 1}`, s.live);
          });
          all.push(...tracker.apply(items));
        }
        all.push(...tracker.apply([{ type: "turnStarted" }, { type: "turnEnded" }]));
        expect(all.flatMap((c) => (c.type === "blockFinished" ? [c.entry.name] : []))).toEqual(names);
        let open = false;
        for (const [i, c] of all.entries()) {
          if (c.type === "turnStarted") {
            expect(open).toBe(false);
            open = true;
          }
          if (c.type === "turnEnded") {
            expect(open).toBe(true);
            open = false;
            expect(all[i - 1]?.type).toBe("saved");
          }
        }
      }),
    );
  });
});
