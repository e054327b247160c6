// Traces: what a run of the core writes passes, and a trace that was touched anywhere does not.
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { laws } from "../../spec/laws.ts";
import { checkTrace } from "../../spec/trace.ts";
import { lineBytesMax, linesOfChunks } from "../../spec/trace-line.ts";
import type { TraceLine } from "../../src/window/index.ts";
import {
  createWindow,
  formatTraceLine,
  formatTraceStart,
  parseConfig,
  step,
} from "../../src/window/index.ts";
import { runs, stepsOf } from "../window/random-runs.ts";

const config = parseConfig("window=4 step=2 slice=2 live=2 held=3 follow jump");

function traceOf(events: Parameters<typeof step>[1][], start = createWindow(config, "saved")): string {
  let state = start;
  let text = formatTraceStart(state);
  for (const event of events) {
    const result = step(state, event);
    text += formatTraceLine(event, result);
    state = result.state;
  }
  return text;
}

const good = traceOf([
  { type: "resumed", cycle: 1, cycleFirst: 2 ** 30, nextSeq: 2 ** 30 + 3 },
  { type: "turn_started" },
  { type: "block_opened", id: 1 },
  { type: "reprint_tick" },
  { type: "block_finished", id: 1 },
  { type: "turn_started" },
  { type: "ctrlo_opened" },
  { type: "ctrlo_scrolled", dir: "older" },
  { type: "log_read_done", token: 0, count: 2 },
  { type: "saved_through", seq: 2 ** 30 + 4 },
  { type: "turn_ended" },
]);
const lines = good.trimEnd().split("\n");
const edited = (line: number, edit: (value: TraceLine) => unknown): string =>
  lines
    .map((text, i) => (i === line ? JSON.stringify(edit(JSON.parse(text) as TraceLine)) : text))
    .join("\n");

describe("a trace passes", () => {
  test("as it was written", () => {
    expect(checkTrace(good)).toMatchObject({ windows: 1, steps: 11, rejected: 1 });
    expect(checkTrace(good).fault).toBeUndefined();
  });

  test("without its first line: the window begins at the initial state", () => {
    expect(checkTrace(lines.slice(1).join("\n")).fault).toBeUndefined();
  });

  test("with another window after it", () => {
    const check = checkTrace(
      good + traceOf([{ type: "resized" }], createWindow({ ...config, slice: 1 }, "unsaved")),
    );
    expect(check).toMatchObject({ windows: 2, steps: 12 });
    expect(check.fault).toBeUndefined();
  });

  test("where a reply tells of more blocks than there can be: the log begins no earlier for it", () => {
    const untrue = (count: number, ...before: Parameters<typeof step>[1][]) =>
      checkTrace(
        traceOf(
          [
            ...before,
            { type: "ctrlo_opened" },
            { type: "ctrlo_jumped", to: "start" },
            { type: "log_read_done", token: 0, count, met: true },
          ],
          createWindow(parseConfig("window=1 step=1 slice=1 live=1 held=3 jump"), "saved"),
        ),
      );
    expect(untrue(4).fault).toBeUndefined();
    expect(untrue(4, { type: "resumed", cycle: 1, cycleFirst: 2, nextSeq: 5 }).fault).toBeUndefined();
  });

  test("of random runs", () => {
    fc.assert(
      fc.property(runs, (run) => {
        let text = formatTraceStart(createWindow(run.config, run.save));
        let count = 0;
        for (const { event, result } of stepsOf(run, step)) {
          // NaN and the like are null in JSON: a shell never sends them.
          if (result.rejected === "malformed event") continue;
          text += formatTraceLine(event, result);
          count += 1;
        }
        const { fault, steps } = checkTrace(text);
        if (count > 0) expect(fault).toBeUndefined();
        expect(steps).toBe(count);
      }),
      { numRuns: 60 },
    );
  });
});

describe("a trace is refused", () => {
  test.each<readonly [string, number, (line: TraceLine) => unknown, RegExp]>([
    [
      "an effect is missing",
      3,
      (line) => ({ ...line, effects: [] }),
      /^block_opened\(1\) breaks .*R2 ModelAgrees/,
    ],
    [
      "a counter jumps",
      4,
      (line) => ({ ...line, state: { ...line.state, epoch: 9 } }),
      /^reprint_tick breaks .*X12 Frame.*; expected \{/,
    ],
    ["a rejection is hidden", 6, ({ rejected: _, ...line }) => line, /^turn_started breaks X17 Accepts/],
    [
      "a step is called rejected",
      3,
      (line) => ({ ...line, rejected: "block is live" }),
      /^block_opened\(1\) breaks .*R1/,
    ],
    [
      "the configuration changes",
      4,
      (line) => ({ ...line, config: { ...line.config, slice: 9 } }),
      /another configuration/,
    ],
    ["a member is missing", 4, ({ state: _, ...line }) => line, /^state is no object$/],
    [
      "a member of the state is of another type",
      4,
      (l) => ({ ...l, state: { ...l.state, live: 0 } }),
      /^state\.live is not an array of numbers$/,
    ],
    [
      "a member of the state is new",
      4,
      (l) => ({ ...l, state: { ...l.state, more: 0 } }),
      /^state has an unknown member "more"$/,
    ],
    ["an event has no type", 4, (line) => ({ ...line, event: {} }), /^event has no type$/],
    ["there are no effects", 4, ({ effects: _, ...line }) => line, /^effects is no array$/],
    ["an event is unknown", 4, (line) => ({ ...line, event: { type: "no_such" } }), /unknown type "no_such"/],
    [
      "an event is a member of objects",
      4,
      (l) => ({ ...l, event: { type: "__proto__" } }),
      /unknown type "__p/,
    ],
    [
      "an event lacks its argument",
      3,
      (l) => ({ ...l, event: { type: "block_opened" } }),
      /^event\.id is missing$/,
    ],
    ["an effect is null", 4, (line) => ({ ...line, effects: [null] }), /^effects\[0\] is no object$/],
    [
      "an effect is unknown",
      4,
      (l) => ({ ...l, effects: [{ type: "x" }] }),
      /^effects\[0\] has an unknown type/,
    ],
    ["the configuration is null", 4, (line) => ({ ...line, config: null }), /^config is no object$/],
    ["a reason is another", 6, (l) => ({ ...l, rejected: "blocks are live" }), /core says "turn is open"$/],
    [
      "a line is too long",
      4,
      (l) => ({ ...l, rejected: "x".repeat(lineBytesMax) }),
      /more than 1048576 bytes/,
    ],
    ["it is no object", 4, () => null, /no object/],
    [
      "a window begins in the middle of one",
      0,
      (l) => ({ ...l, state: { ...l.state, epoch: 2 } }),
      /no new window/,
    ],
    [
      "its configuration is out of range",
      0,
      (l) => ({ ...l, config: { ...l.config, step: 99 } }),
      /step must be/,
    ],
  ])("where %s", (_name, line, edit, what) => {
    const { fault } = checkTrace(edited(line, edit));
    expect(fault?.what).toMatch(what);
    expect(fault?.line).toBe(line + 1);
  });

  test("where a line is missing", () => {
    for (const at of [1, 2, 3, 4, 5, 7, 8, 9]) {
      expect(checkTrace(lines.toSpliced(at, 1).join("\n")).fault?.line, `line ${at + 1}`).toBeGreaterThan(at);
    }
  });

  test("where two lines are swapped", () => {
    expect(checkTrace(lines.toSpliced(3, 2, lines[4]!, lines[3]!).join("\n")).fault?.line).toBe(4);
  });

  test("where it is torn, with the line of the tear", () => {
    expect(checkTrace(good.slice(0, good.length - 40)).fault).toEqual({
      line: 12,
      kind: "input",
      what: expect.stringMatching(/^no JSON: /),
    });
  });

  test("where there is nothing in it", () => {
    expect(checkTrace("").fault?.what).toBe("a trace without a step");
    expect(checkTrace(formatTraceStart(createWindow(config, "saved"))).fault?.what).toBe(
      "a trace without a step",
    );
  });
});

describe("the lines of a file", () => {
  const all = async (lines: AsyncIterable<string>): Promise<readonly string[]> => {
    const found: string[] = [];
    for await (const line of lines) found.push(line);
    return found;
  };
  async function* chunks(...texts: readonly string[]): AsyncGenerator<Uint8Array> {
    for (const text of texts) yield Buffer.from(text);
  }

  test("are whole however they come", async () => {
    const lines = await all(linesOfChunks(chunks("a\r\nb", "c\n", "\nd")));
    expect(lines).toEqual(["a", "bc", "", "d"]);
  });

  test("end with the first that is over the limit, after no more than it takes to know", async () => {
    let given = 0;
    async function* endless(): AsyncGenerator<Uint8Array> {
      for (;;) {
        given += 1;
        yield Buffer.alloc(lineBytesMax / 4, "x");
      }
    }
    const [line = "", ...rest] = await all(linesOfChunks(endless()));
    expect(line.length).toBeGreaterThan(lineBytesMax);
    expect(rest).toEqual([]);
    expect(given).toBe(5);
    expect(checkTrace(line).fault).toMatchObject({ line: 1, kind: "input" });
  });

  test("begin without a byte order mark", () => {
    expect(checkTrace(`\uFEFF${good}`).fault).toMatchObject({ line: 1, kind: "input" });
  });
});

test("what a trace says nothing about is told", () => {
  const { asked, unjudged } = checkTrace(traceOf([{ type: "resized" }]));
  expect(unjudged).toEqual(expect.arrayContaining(["X19", "X11", "E3b"]));
  expect(unjudged).not.toContain("L1");
  expect(asked).toBe(laws.length - unjudged.length);
});
