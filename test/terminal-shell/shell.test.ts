import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { ResizeWay } from "../../src/terminal/shell/index.ts";
import { noticeMs, quietAfterMs, resizeSettleMs, waitingBlocksMax } from "../../src/terminal/shell/limits.ts";
import type { Entry } from "../../src/transcript/index.ts";
import { entryOf } from "./fake-session.ts";
import { call, entries, rig, said, streaming, words } from "./support.ts";

describe("the shell", () => {
  test("shows the newest blocks in order, the status row below them, and leaves how to come back", async () => {
    const r = rig({ log: entries(3) });
    await r.settle();
    expect(words(r.emulator.lines())).toBe(
      "› entry 0 12:00 › entry 1 12:00 › entry 2 12:00 claude-code · A fake · idle Ctrl+O history",
    );
    await r.key("q");
    expect(await r.ended).toBe("quit");
    expect(words(r.emulator.lines())).toBe(
      "› entry 0 12:00 › entry 1 12:00 › entry 2 12:00 hansard open fake",
    );
    expect(r.emulator.isRaw).toBe(false);
  });

  test("a finished block is printed above the live ones, a live one is drawn in place", async () => {
    const r = rig({ log: entries(1) });
    await r.settle();
    r.emit({ type: "turnStarted" }, { type: "blockOpened", entry: call("running") });
    await r.settle();
    expect(r.emulator.lines().join("\n")).toContain("Run    npm test");
    const index = r.session.log.length;
    r.session.log.push(call("done"));
    r.emit({ type: "blockFinished", entry: call("done"), start: String(index), end: String(index + 1) });
    await r.settle();
    const runs = r.emulator.lines().filter((line) => line.includes("npm test"));
    expect(runs).toHaveLength(1);
    expect(runs[0]).toContain("●");
  });

  test("cc#37370, crush#1746: idle, it writes nothing for five seconds and has no timers", async () => {
    const r = rig({ log: entries(5) });
    await r.settle();
    r.emulator.takeWritten();
    await r.clock.advance(5_000);
    expect(r.emulator.takeWritten()).toBe(0);
    expect(r.clock.pending).toBe(0);
  });

  test("cc#769, cc#1913, cc#392: a tick of the spinner costs less than 256 bytes", async () => {
    const r = rig({ log: entries(2) });
    await r.settle();
    r.emit({ type: "turnStarted" }, { type: "blockOpened", entry: call("running") });
    await r.settle();
    r.emulator.takeWritten();
    const ticks = 20;
    const before = r.emulator.writes.length;
    for (let tick = 0; tick < ticks; tick++) await r.clock.advance(120);
    const frames = r.emulator.writes.slice(before);
    expect(frames.length).toBeGreaterThanOrEqual(ticks - 1);
    expect(Math.max(...frames.map((frame) => Buffer.byteLength(frame)))).toBeLessThan(256);
  });

  test("an agent that has said nothing for long is not shown at work for ever", async () => {
    const r = rig({ log: [entryOf(0), call("running")], tail: { turnOpen: true, live: ["c"] } });
    await r.settle();
    expect(words(r.emulator.screen())).toContain("running");
    r.emulator.takeWritten();
    // The spinner's own alarms are not of interest here: time goes by in one piece.
    r.clock.jump(quietAfterMs);
    await r.settle(2_000);
    expect(words(r.emulator.screen())).toContain("waiting");
    r.emulator.takeWritten();
    await r.clock.advance(10_000);
    expect(r.emulator.takeWritten()).toBe(0);
  });

  test("a log of long ago whose last turn never ended is not shown at work", async () => {
    const old: Entry = { ...entryOf(0), time: -quietAfterMs };
    const r = rig({
      log: [old, { ...call("running"), time: -quietAfterMs }],
      tail: { turnOpen: true, live: ["c"] },
    });
    await r.settle();
    expect(words(r.emulator.screen())).toContain("waiting");
    r.emulator.takeWritten();
    await r.clock.advance(5_000);
    expect(r.emulator.takeWritten()).toBe(0);
  });

  test("the end of a log that is no whole record is told", async () => {
    const r = rig({
      log: entries(2),
      columns: 100,
      tail: { damage: [{ start: 2, end: 42, reason: "torn" }] },
    });
    await r.settle();
    expect(words(r.emulator.screen())).toContain("The last 40 bytes of the log are no whole record");
  });

  test("a long streamed text is printed while it grows, each line once", async () => {
    const r = rig({ rows: 8 });
    await r.settle();
    const paragraphs = Array.from({ length: 30 }, (_, index) => `Paragraph ${index} of the answer.`);
    r.emit({ type: "turnStarted" }, { type: "blockOpened", entry: streaming("") });
    for (let count = 1; count <= paragraphs.length; count++) {
      r.emit({ type: "blockChanged", entry: streaming(paragraphs.slice(0, count).join("\n\n")) });
      await r.settle(50);
    }
    const text = paragraphs.join("\n\n");
    const done = said(text, "@9");
    r.session.log.push(done);
    r.emit(
      { type: "blockChanged", entry: done, was: "s" },
      { type: "blockFinished", entry: done, start: "0", end: "1" },
      { type: "saved" },
      { type: "turnEnded" },
    );
    await r.settle();
    expect(r.emulator.lines().filter((line) => line.includes("Paragraph"))).toEqual(
      paragraphs.map((paragraph) => `   ${paragraph}`),
    );
  });

  test("the pager opens at once, pages to the first entry, and leaves the main screen as it was", async () => {
    const r = rig({ log: entries(500) });
    await r.settle();
    const before = r.emulator.screen();
    await r.key("\x0f");
    expect(words(r.emulator.screen())).toContain("entry 499");
    await r.key("\x1b[H");
    expect(r.emulator.screen()[0]).toContain("entry 0");
    expect(words(r.emulator.screen())).toContain("start");
    await r.key("G");
    expect(words(r.emulator.screen())).toContain("entry 499");
    await r.key("q");
    expect(r.emulator.screen()).toEqual(before);
  });

  test("cc#54719, cc#53353: what finishes while the pager is up is printed when it is closed, and counted meanwhile", async () => {
    const r = rig({ log: entries(200) });
    await r.settle();
    await r.key("\x0f");
    await r.key("k");
    for (let index = 200; index < 205; index++) r.finish(entryOf(index));
    await r.settle();
    expect(words(r.emulator.screen())).toContain("5 newer below");
    await r.key("q");
    const lines = r.emulator.lines().filter((line) => line.includes("entry"));
    expect(lines.slice(-6).map((line) => line.trim().split(/\s+/)[2])).toEqual([
      "199",
      "200",
      "201",
      "202",
      "203",
      "204",
    ]);
  });

  test("beyond its limit, what waits for the pager to close is left to the history, and that is said", async () => {
    const r = rig({ log: entries(1) });
    await r.settle();
    await r.key("\x0f");
    const extra = 7;
    for (let index = 1; index <= waitingBlocksMax + extra; index++) r.finish(entryOf(index));
    await r.settle(2_000);
    await r.key("q");
    const text = r.emulator.lines().join("\n");
    expect(text).toContain(`${extra} blocks are in the history only`);
    expect(text).toContain(`entry ${waitingBlocksMax + extra} `);
    expect(text).not.toContain(`entry ${extra} `);
  });

  test("Ctrl+L clears and prints what is held again", async () => {
    const r = rig({ log: entries(4) });
    r.emulator.write("before\r\n");
    await r.settle();
    await r.key("\x0c");
    const text = words(r.emulator.lines());
    expect(text).not.toContain("before");
    expect(text.match(/entry \d/g)).toEqual(["entry 0", "entry 1", "entry 2", "entry 3"]);
  });

  test("a rewritten session is told again from its new end, and said", async () => {
    const r = rig({ log: entries(2), columns: 100 });
    await r.settle();
    r.session.log.splice(0, 2, entryOf(7, "rewritten"));
    r.emit({ type: "reset", reason: "the file became shorter" });
    await r.settle();
    const text = words(r.emulator.lines());
    expect(text).toContain("› rewritten");
    expect(text).toContain("the file became shorter");
    await r.settle(noticeMs);
    expect(words(r.emulator.screen())).not.toContain("the file became shorter");
  });

  test.each([
    ["q", "quit"],
    ["\x04", "quit"],
    ["\x03", "interrupted"],
  ] as const)("%j ends it as %s with the terminal as it was", async (bytes, why) => {
    const r = rig({ log: entries(2) });
    await r.settle();
    await r.key(bytes);
    expect(await r.ended).toBe(why);
    expect(r.emulator.isRaw).toBe(false);
    const all = r.emulator.writes.join("");
    expect(all.lastIndexOf("\x1b[?25h")).toBeGreaterThan(all.lastIndexOf("\x1b[?25l"));
    expect(all.lastIndexOf("\x1b[?2004l")).toBeGreaterThan(all.lastIndexOf("\x1b[?2004h"));
    expect(r.clock.pending).toBe(0);
  });

  test("cc#84029: ended while the pager is up, the main screen holds the transcript", async () => {
    const r = rig({ log: entries(2) });
    await r.settle();
    await r.key("\x0f");
    r.shell.end("terminated");
    await r.settle();
    expect(await r.ended).toBe("terminated");
    expect(r.emulator.xterm.buffer.active.type).toBe("normal");
    expect(words(r.emulator.lines())).toBe("› entry 0 12:00 › entry 1 12:00 hansard open fake");
  });

  test("pi-agent-extensions#31: the window has the session's title, nothing of it obeyed, and gets its own back", async () => {
    const r = rig({ log: entries(1), hasStrings: true });
    const titles: string[] = [];
    r.emulator.xterm.onTitleChange((title) => titles.push(title));
    await r.settle();
    r.emit({ type: "info", info: { ...r.session.info, title: "new\x07\x1b]2;stolen\x07" } });
    await r.settle();
    expect(titles[0]).toBe("A fake · hansard");
    expect(titles).toHaveLength(2);
    expect(titles[1]).toContain("stolen");
    expect(titles[1]).not.toBe("stolen");
    await r.key("q");
    const all = r.emulator.writes.join("");
    expect(all.indexOf("\x1b[22;2t")).toBeLessThan(all.indexOf("\x1b]2;"));
    expect(all.lastIndexOf("\x1b[23;2t")).toBeGreaterThan(all.lastIndexOf("\x1b]2;"));
  });

  test("prompts are marked for the terminal's own jumps, answers are not", async () => {
    const r = rig({ log: [entryOf(0), said("An answer.", "@1")], hasStrings: true });
    const marks: string[] = [];
    r.emulator.xterm.parser.registerOscHandler(133, (text) => {
      const { active } = r.emulator.xterm.buffer;
      const row = active.getLine(active.baseY + active.cursorY)?.translateToString(true) ?? "";
      marks.push(`${text} ${row}`);
      return true;
    });
    await r.settle();
    expect(marks).toEqual(["A;redraw=0 ", "C "]);
    const all = r.emulator.writes.join("");
    expect(all.indexOf("133;A")).toBeLessThan(all.indexOf("entry 0"));
    expect(all.indexOf("133;C")).toBeGreaterThan(all.indexOf("entry 0"));
    expect(all.indexOf("133;C")).toBeLessThan(all.indexOf("An answer."));
  });

  test("a terminal that hangs up ends it without another byte", async () => {
    const r = rig({ log: entries(2) });
    await r.settle();
    r.emulator.hangUp();
    const { length } = r.emulator.writes;
    await r.settle();
    expect(await r.ended).toBe("hung-up");
    expect(r.emulator.writes).toHaveLength(length);
  });

  test("an error of the log ends it with the terminal put right", async () => {
    const r = rig({ log: entries(2), failure: "the disk is gone" });
    await r.settle();
    await expect(r.ended).rejects.toThrow("the disk is gone");
    expect(r.emulator.isRaw).toBe(false);
  });

  test("Ctrl+Z gives the terminal back and takes it again", async () => {
    let goOn: () => void = () => undefined;
    const r = rig({
      log: entries(2),
      stopProcess: () =>
        new Promise((resolve) => {
          goOn = resolve;
        }),
    });
    await r.settle();
    await r.key("\x1a");
    expect(r.emulator.isRaw).toBe(false);
    r.emulator.write("$ other\r\n$ fg\r\n");
    goOn();
    await r.settle();
    expect(r.emulator.isRaw).toBe(true);
    r.finish(entryOf(2));
    await r.settle();
    expect(words(r.emulator.lines())).toBe(
      "› entry 0 12:00 › entry 1 12:00 $ other $ fg › entry 2 12:00 claude-code · A fake · idle Ctrl+O history",
    );
  });

  test.each([1, 2, 3])("a terminal of %i column(s) is shown what fits", async (columns) => {
    const r = rig({ log: entries(3), columns, rows: 5 });
    await r.settle();
    await r.key("\x0f");
    await r.key("q");
    await r.key("q");
    expect(await r.ended).toBe("quit");
  });
});

type Act =
  | { readonly do: "finish"; readonly length: number }
  | { readonly do: "stream"; readonly length: number }
  | { readonly do: "resize"; readonly columns: number; readonly rows: number }
  | { readonly do: "keys"; readonly text: string }
  | { readonly do: "turn" }
  | { readonly do: "compact" };

const act: fc.Arbitrary<Act> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({ do: fc.constant("finish" as const), length: fc.integer({ min: 1, max: 12 }) }),
  },
  {
    weight: 2,
    arbitrary: fc.record({ do: fc.constant("stream" as const), length: fc.integer({ min: 1, max: 12 }) }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant("resize" as const),
      columns: fc.integer({ min: 8, max: 70 }),
      rows: fc.integer({ min: 4, max: 16 }),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constant("keys" as const),
      text: fc.constantFrom("\x0f", "q\x0f", "\x0fgq", "\x0fk", "\x0f/entry\r", "\x1b[5~", "G"),
    }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("turn" as const) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("compact" as const) }) },
);

/** Marks that are on the terminal once each, in order, whatever rows they stand in. */
function marksOf(lines: readonly string[]): readonly string[] {
  return (
    lines
      .join("")
      .replaceAll(" ", "")
      .match(/<\d+\.\d+>/g) ?? []
  );
}

async function play(acts: readonly Act[], resizeWay: ResizeWay): Promise<void> {
  const r = rig({ log: entries(2), columns: 40, rows: 10, resizeWay });
  await r.settle();
  const expected: string[] = [];
  let number = 0;
  let isTurnOpen = false;
  let isPagerUp = false;
  const text = (length: number): string => {
    const id = number++;
    const marks = Array.from({ length }, (_, index) => `<${id}.${index}>`);
    expected.push(...marks);
    return marks.join("\n\n");
  };
  for (const step of acts) {
    if (step.do === "finish") {
      r.finish(said(text(step.length), `@${r.session.log.length}`));
    } else if (step.do === "stream") {
      const whole = text(step.length);
      const name = `stream ${number}`;
      r.emit({ type: "blockOpened", entry: streaming("", name) });
      for (const size of [0.3, 0.6, 0.9]) {
        r.emit({ type: "blockChanged", entry: streaming(whole.slice(0, whole.length * size), name) });
        await r.settle(40);
      }
      const index = r.session.log.length;
      const done = said(whole, `@${index}`);
      r.session.log.push(done);
      r.emit(
        { type: "blockChanged", entry: done, was: name },
        { type: "blockFinished", entry: done, start: String(index), end: String(index + 1) },
        { type: "saved" },
      );
    } else if (step.do === "resize") {
      await r.emulator.resize(step.columns, step.rows);
      await r.settle(resizeSettleMs + 100);
    } else if (step.do === "keys") {
      for (const character of step.text.match(/\x1b\[\d~|./gs) ?? []) {
        if (character === "\x0f") isPagerUp = !isPagerUp;
        else if (character === "q") {
          if (!isPagerUp) continue;
          isPagerUp = false;
        }
        await r.key(character);
      }
    } else if (step.do === "turn") {
      r.emit({ type: isTurnOpen ? "turnEnded" : "turnStarted" });
      isTurnOpen = !isTurnOpen;
    } else {
      r.emit({ type: "compacted" });
    }
    await r.settle(30);
  }
  await r.settle();
  r.shell.end("quit");
  await r.settle();
  expect(await r.ended).toBe("quit");
  const marks = marksOf(r.emulator.lines());
  // Printed again after a clear, only what is still held is there: the end of the whole.
  if (resizeWay === "adopt") expect(marks).toEqual(expected);
  else expect(marks).toEqual(expected.slice(expected.length - marks.length));
}

describe("T1 through the whole shell: every line once, in order, over growth, resizes and paging", () => {
  test.each(["adopt", "reprint"] as const)(
    "in the %s way",
    async (way) => {
      await fc.assert(
        fc.asyncProperty(fc.array(act, { maxLength: 25 }), (acts) => play(acts, way)),
        { numRuns: 60 },
      );
    },
    120_000,
  );
});
