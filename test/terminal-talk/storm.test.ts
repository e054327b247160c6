/** A driven session in a storm of sizes: what it prints is there once, in order, whatever stands below it. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { Change } from "../../src/session/index.ts";
import { sizeLateMs } from "../../src/terminal/screen/limits.ts";
import type { ResizeWay } from "../../src/terminal/shell/index.ts";
import { said, streaming } from "../terminal-shell/support.ts";
import { approval, talkRig } from "./support.ts";

type Act =
  | { readonly do: "say"; readonly length: number }
  | { readonly do: "stream"; readonly length: number; readonly sizes: readonly Size[] }
  | { readonly do: "sizes"; readonly sizes: readonly Size[] }
  | { readonly do: "type"; readonly text: string }
  | { readonly do: "ask" | "answer" | "plan" | "turn" | "history" };

interface Size {
  readonly columns: number;
  readonly rows: number;
  /** Time until the next one; a size settles only where it is long. */
  readonly ms: number;
}

const size: fc.Arbitrary<Size> = fc.record({
  columns: fc.integer({ min: 24, max: 90 }),
  rows: fc.integer({ min: 8, max: 30 }),
  ms: fc.constantFrom(0, 5, 40, 400),
});
const sizes = fc.array(size, { minLength: 1, maxLength: 5 });
const act: fc.Arbitrary<Act> = fc.oneof(
  {
    weight: 3,
    arbitrary: fc.record({ do: fc.constant("say" as const), length: fc.integer({ min: 1, max: 8 }) }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constant("stream" as const),
      length: fc.integer({ min: 1, max: 12 }),
      sizes,
    }),
  },
  { weight: 4, arbitrary: fc.record({ do: fc.constant("sizes" as const), sizes }) },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant("type" as const),
      text: fc.constantFrom(
        "words ",
        "wörld 漢字 ",
        "\x1b\r",
        "\x7f",
        "\x1b[200~one\ntwo\x1b[201~",
        "x".repeat(60),
      ),
    }),
  },
  { weight: 3, arbitrary: fc.record({ do: fc.constantFrom("ask", "answer", "plan", "turn", "history") }) },
);

/**
 * The marks of what is printed. Of a block that was streamed a rest of its changing rows may stay above it where the terminal narrowed
 * between two frames (docs/terminal.md), so the last of each counts.
 */
function marksOf(lines: readonly string[], streamed: ReadonlySet<string>): readonly string[] {
  const text = lines.join("").replaceAll(" ", "");
  const marks: readonly string[] = text.match(/<\d+\.\d+>/g) ?? [];
  return marks.filter((mark, at) => !streamed.has(mark) || marks.lastIndexOf(mark) === at);
}

async function play(acts: readonly Act[], resizeWay: ResizeWay): Promise<void> {
  const r = talkRig({ columns: 60, rows: 16, resizeWay });
  await r.settle();
  const expected: string[] = [];
  let number = 0;
  let isWorking = false;
  let isAsking = false;
  let isPagerUp = false;
  const text = (length: number): string => {
    const id = number++;
    const marks = Array.from({ length }, (_, index) => `<${id}.${index}>`);
    expected.push(...marks);
    return marks.join("\n\n");
  };
  const streamed = new Set<string>();
  const storm = async (all: readonly Size[]): Promise<void> => {
    // A terminal that narrows right behind a frame may leave a rest of a row that still changes (docs/terminal.md), never of a printed one.
    await r.settle(sizeLateMs);
    for (const { columns, rows, ms } of all) {
      await r.emulator.resize(columns, rows);
      await r.settle(ms);
    }
  };
  const finish = (entry: ReturnType<typeof said>, ...before: readonly Change[]): void => {
    r.emit(...before);
    r.finish(entry);
  };
  for (const step of acts) {
    switch (step.do) {
      case "say":
        finish(said(text(step.length), `@${r.session.log.length}`));
        break;
      case "stream": {
        const whole = text(step.length);
        for (const mark of expected.slice(-step.length)) streamed.add(mark);
        const name = `stream ${number}`;
        r.emit({ type: "blockOpened", entry: streaming("", name) });
        for (const [index, each] of step.sizes.entries()) {
          const shown = whole.slice(0, (whole.length * (index + 1)) / (step.sizes.length + 1));
          r.emit({ type: "blockChanged", entry: streaming(shown, name) });
          await storm([each]);
        }
        const done = said(whole, `@${r.session.log.length}`);
        finish(done, { type: "blockChanged", entry: done, was: name });
        break;
      }
      case "sizes":
        await storm(step.sizes);
        break;
      case "type":
        // In the history, and where a question waits, letters are keys.
        if (!isPagerUp && !isAsking) await r.key(step.text, 20);
        break;
      case "ask":
        isAsking = true;
        r.session.stand({ phase: "working", turnStartedAt: r.clock.now(), approvals: [approval] });
        break;
      case "answer":
        isAsking = false;
        r.session.stand({ approvals: [] });
        break;
      case "plan":
        r.session.stand({
          plan: Array.from({ length: 7 }, (_, at) => ({ text: `step ${at}`, state: "waiting" })),
        });
        break;
      case "turn":
        isWorking = !isWorking;
        r.emit({ type: isWorking ? "turnStarted" : "turnEnded" });
        r.session.stand(
          isWorking
            ? { phase: "working", turnStartedAt: r.clock.now(), queued: 2 }
            : { phase: "ready", queued: 0, lastTurn: { ms: 1_200, stopReason: "end_turn" } },
        );
        break;
      case "history":
        isPagerUp = !isPagerUp;
        await r.key("\x0f", 50);
        break;
    }
    await r.settle(20);
  }
  await r.settle(1_000);
  r.shell.end("quit");
  await r.settle();
  expect(await r.ended).toBe("quit");
  const marks = marksOf(r.emulator.lines(), streamed);
  if (resizeWay === "adopt") expect(marks).toEqual(expected);
  else expect(marks).toEqual(expected.slice(expected.length - marks.length));
}

describe("a storm of sizes while an agent talks, asks and plans: every printed line once, in order", () => {
  test.each(["adopt", "reprint"] as const)(
    "in the %s way",
    async (way) => {
      await fc.assert(
        fc.asyncProperty(fc.array(act, { minLength: 4, maxLength: 20 }), (acts) => play(acts, way)),
        { numRuns: Number(process.env["STORM_RUNS"] ?? 12) },
      );
    },
    120_000,
  );
});
