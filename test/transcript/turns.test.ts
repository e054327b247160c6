/** Turns: what rolls up, what it says, and what never does. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  type Entry,
  type Expansion,
  isUnderWay,
  type Row,
  rollUp,
  rowsOf,
  segmentRows,
  turnKey,
  withLive,
} from "../../src/transcript/index.ts";
import { anyEntry, delivered, model, result } from "./entries.ts";
import { keyedLine, rowLine } from "./row-notation.ts";

function turns(entries: readonly Entry[], expansion: Expansion = {}): readonly Row[] {
  return rollUp(rowsOf(entries, { speaker: "Koi", ...expansion }), expansion);
}

function lines(entries: readonly Entry[], expansion?: Expansion): readonly string[] {
  return turns(entries, expansion).map(rowLine);
}

/** What the first rolled-up row says. */
function terms(entries: readonly Entry[]): string | undefined {
  return turns(entries).find((row) => row.fold === "steps")?.prefix;
}

const finished: readonly Entry[] = [
  delivered("001-user.md"),
  model("002-opus.json", ["(hm)", "I look", "!c1"], { input_tokens: 100, output_tokens: 3000 }),
  result("003-tool.json", "c1", "a\nb"),
  model("004-opus.json", ["!c2"], { input_tokens: 40, output_tokens: 150 }),
  result("005-tool.json", "c2", "x\ny"),
  model("006-opus.json", ["done"], { output_tokens: 7 }),
];
const steps = turnKey("002-opus.json");

describe("a finished turn", () => {
  test("is its prompt, one row, and its answer", () => {
    expect(lines(finished)).toEqual([
      "user: hello [response plain user]",
      "▸ ⚙ 2 inference calls · 2 tool calls · 1 thinking block · 140 input tokens · 3150 output tokens [other weak]",
      "Koi: done [response plain model]",
    ]);
  });

  test("the row has a key, class, tone and fold of its own, no role and no payload", () => {
    const row = turns(finished)[1];
    expect(row).toMatchObject({
      key: "tx/002-opus.json#turn",
      class: "other",
      tone: "weak",
      fold: "steps",
      preview: "",
      isExpanded: false,
    });
    expect(row).not.toHaveProperty("role");
    expect(row).not.toHaveProperty("body");
  });

  test("expanding it reveals each step, and each still folds", () => {
    const overrides = new Set([steps]);
    expect(turns(finished, { overrides }).slice(1).map(keyedLine)).toEqual([
      "tx/002-opus.json#turn ▾ ⚙ 2 inference calls · 2 tool calls · 1 thinking block · 140 input tokens · 3150 output tokens [other weak]",
      "tx/002-opus.json#0 thinking: hm [other weak]",
      "tx/002-opus.json#1 Koi: I look [response plain model]",
      'tx/002-opus.json#2 ⚙ bash {"command":"ls"} [other plain]',
      "tx/003-tool.json#0 ▸ ✔ tool result — ok · 3 chars a [other good]",
      'tx/004-opus.json#0 ⚙ bash {"command":"ls"} [other plain]',
      "tx/005-tool.json#0 ▸ ✔ tool result — ok · 3 chars x [other good]",
      "tx/006-opus.json#0 Koi: done [response plain model]",
    ]);
    const inside = turns(finished, { overrides: new Set([steps, "tx/003-tool.json#0"]) });
    expect(inside.find((row) => row.key === "tx/003-tool.json#0")?.isExpanded).toBe(true);
  });

  test("the knob for others opens everything", () => {
    const rows = turns(finished, { knobs: { responses: true, others: true } });
    expect(rows).toHaveLength(9);
    expect(rows.every((row) => row.isExpanded)).toBe(true);
  });

  test("that nobody answered keeps its steps", () => {
    expect(turns(finished.slice(0, 5))).toEqual(rowsOf(finished.slice(0, 5), { speaker: "Koi" }));
  });

  test("a run without an inference is no turn", () => {
    const entries: readonly Entry[] = [
      delivered("001-user.md"),
      { kind: "raw", name: "notes.txt", reason: "not the name of a message", text: "x" },
      model("002-m.json", ["hi"]),
    ];
    expect(turns(entries)).toHaveLength(3);
    expect(turns([delivered("001-user.md"), model("002-m.json", ["hi"])])).toHaveLength(2);
  });

  test("each delivered message starts a turn of its own, in singular terms", () => {
    const entries = ["001", "004"].flatMap((n) => [
      delivered(`${n}-user.md`),
      model(`${n}b-m.json`, ["(hm)", "!c"], { input_tokens: 1 }),
      result(`${n}c-tool.json`, "c"),
      model(`${n}d-m.json`, ["ok"]),
    ]);
    const one = "▸ ⚙ 1 inference call · 1 tool call · 1 thinking block · 1 input tokens [other weak]";
    expect(lines(entries).filter((line) => line.includes("⚙"))).toEqual([one, one]);
  });

  test("thinking before the answer in one message is its run", () => {
    expect(terms([delivered("001-user.md"), model("002-m.json", ["(hm)", "hi"], { n: 5 })])).toBe(
      "⚙ 1 inference call · 1 thinking block · 5 n",
    );
  });

  test("the turn rollup never swallows the mark of a compaction", () => {
    const mark: Entry = { kind: "compacted", name: "«002»", first: 2, last: 2, summary: "" };
    const [prompt, ...rest] = finished;
    const shown = turns([prompt!, mark, ...rest]);
    expect(shown.map((row) => row.key)).toEqual([
      "tx/001-user.md#0",
      "tx/«002»#0",
      steps,
      "tx/006-opus.json#0",
    ]);
  });
});

describe("what is under way", () => {
  const running = [delivered("001-user.md"), model("002-m.json", ["(hm)", "!c1"])];

  test("a turn in flight never rolls up: the running tool and the live tail stand open", () => {
    const tail = withLive(finished, { thinking: "hm", text: "so" });
    expect(turns(tail).map((row) => row.key)).toEqual(rowsOf(tail, { speaker: "Koi" }).map((row) => row.key));
    expect(lines([...running, model("003-m.json", ["wait"])])).toEqual([
      "user: hello [response plain user]",
      "thinking: hm [other weak]",
      '⚙ bash — running {"command":"ls"} [other in-flight]',
      "Koi: wait [response plain model]",
    ]);
    expect(turns(running)[2]?.isExpanded).toBe(true);
  });

  test("in flight beats the knob, an override beats both", () => {
    const knobs = { responses: false, others: false };
    const overrides = new Set(["tx/002-m.json#1"]);
    expect(turns(running, { knobs })[2]?.isExpanded).toBe(true);
    expect(turns(running, { knobs, overrides })[2]?.isExpanded).toBe(false);
  });

  test("the live tail is two rows with keys of their own", () => {
    expect(turns(withLive([], { thinking: "hm", text: "so" })).map(keyedLine)).toEqual([
      "tx/«live»#0 thinking: hm [other live]",
      "tx/«live»#1 live: so [response live model]",
    ]);
  });
});

describe("tokens", () => {
  test("are summed under their own names; zero is not said", () => {
    const entries = [
      delivered("001-user.md"),
      model("002-m.json", ["!c"], { b_tokens: 2, a_read_tokens: 0 }),
      result("003-tool.json", "c"),
      model("004-m.json", ["!d"], { b_tokens: 3, a_read_tokens: 0, B: 1 }),
      result("005-tool.json", "d"),
      model("006-m.json", ["ok"], { b_tokens: 100 }),
    ];
    expect(terms(entries)).toBe("⚙ 2 inference calls · 2 tool calls · 1 B · 5 b tokens");
  });

  test("a turn of which some calls reported nothing says `+`", () => {
    const entries = [
      delivered("001-user.md"),
      model("002-m.json", ["!c"], { input_tokens: 100 }),
      model("003-m.json", ["!d"]),
      result("004-tool.json", "c"),
      result("005-tool.json", "d"),
      model("006-m.json", ["ok"]),
    ];
    expect(terms(entries)).toBe("⚙ 2 inference calls · 2 tool calls · 100+ input tokens");
  });

  test("bl-8433: where none was reported none is said", () => {
    expect(terms([delivered("001-user.md"), model("002-m.json", ["(hm)", "ok"])])).toBe(
      "⚙ 1 inference call · 1 thinking block",
    );
  });

  test("entries that are parts of one message of the model are counted once", () => {
    const part = (name: string, blocks: readonly string[], output: number): Entry => ({
      ...model(name, blocks, { input_tokens: 10, output_tokens: output }),
      messageId: "msg_1",
    });
    const entries = [
      delivered("@0"),
      part("@1", ["(hm)"], 1),
      part("@2", ["!c"], 8),
      result("@3", "c"),
      model("@4", ["ok"]),
    ];
    expect(terms(entries)).toBe(
      "⚙ 1 inference call · 1 tool call · 1 thinking block · 10 input tokens · 8 output tokens",
    );
  });
});

describe("bl-7654: what is live looks like what is committed", () => {
  const answer = "so\nit is";
  const live = withLive([], { text: answer })[0]!;
  const committed = model("006-m.json", [answer]);
  const row = (entry: Entry, expansion: Expansion = {}): Row =>
    rowsOf([entry], { speaker: "Koi", ...expansion })[0]!;

  test("the answer stands open behind the rollup, by default", () => {
    expect(turns(finished).at(-1)).toMatchObject({ prefix: "Koi:", isExpanded: true });
  });

  test("a live row keeps the committed row's class, fold, body and preview", () => {
    const pick = ({ class: c, fold, body, preview, role }: Row): object => ({ c, fold, body, preview, role });
    expect(pick(row(live))).toEqual(pick(row(committed)));
  });

  test("a live row is open even with the knobs shut", () => {
    const knobs = { responses: false, others: false };
    expect([row(live, { knobs }).isExpanded, row(committed, { knobs }).isExpanded]).toEqual([true, false]);
  });
});

test("a rollup hides no boundary and nothing under way, and drops and moves no row", () => {
  fc.assert(
    fc.property(fc.uniqueArray(anyEntry, { selector: (e) => e.name, maxLength: 12 }), (entries) => {
      const rows = rowsOf(entries, { speaker: "Koi" });
      const segments = segmentRows(rows);
      expect(segments.flatMap((s) => (s.type === "rows" ? s.rows : [...s.run, s.answer]))).toEqual(rows);
      for (const segment of segments) {
        if (segment.type === "rows") continue;
        expect(segment.run.length).toBeGreaterThan(0);
        for (const row of [...segment.run, segment.answer]) {
          expect(row.part).not.toBe("boundary");
          expect(isUnderWay(row)).toBe(false);
        }
      }
    }),
  );
});
