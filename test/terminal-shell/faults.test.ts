/** The field's faults against the whole shell, each by its name. docs/faults.md lists them all. */
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { describe, expect, test } from "vitest";
import { recentLinesMax, sizeLateMs } from "../../src/terminal/screen/limits.ts";
import { resizeSettleMs, tailBlocks, windowConfig } from "../../src/terminal/shell/limits.ts";
import type { Entry } from "../../src/transcript/index.ts";
import { entryOf } from "./fake-session.ts";
import { call, entries, type Rig, rig, said, streaming } from "./support.ts";

/** What erases more than the end of a row. */
const erasure = /\x1b\[[0-3]?J|\x1bc/g;
const clearAll = "\x1b[H\x1b[2J\x1b[3J";

function erasuresOf(r: Rig): readonly string[] {
  return r.emulator.writes.join("").match(erasure) ?? [];
}

function count(text: string, part: string): number {
  return text.split(part).length - 1;
}

/** All that matches `pattern` on the terminal, whatever rows it stands in. */
function found(r: Rig, pattern: RegExp): readonly string[] {
  return r.emulator.lines().join("\n").match(pattern) ?? [];
}

function numbered(word: string, from: number, to: number): readonly string[] {
  return Array.from({ length: to - from }, (_, index) => `${word} ${from + index}.`);
}

/** The block that was streamed under `name` is in the log now. */
function finishStream(r: Rig, text: string, name: string): void {
  const index = r.session.log.length;
  const entry = said(text, `@${index}`);
  r.session.log.push(entry);
  r.emit(
    { type: "blockChanged", entry, was: name },
    { type: "blockFinished", entry, start: String(index), end: String(index + 1) },
    { type: "saved" },
  );
}

/** Streams `parts` as one block, a part in each `ms`. */
async function stream(r: Rig, parts: readonly string[], name: string, ms = 20): Promise<void> {
  r.emit({ type: "blockOpened", entry: streaming("", name) });
  for (let size = 1; size <= parts.length; size++) {
    r.emit({ type: "blockChanged", entry: streaming(parts.slice(0, size).join(""), name) });
    await r.settle(ms);
  }
  finishStream(r, parts.join(""), name);
  await r.settle();
}

describe("rows that are printed stay", () => {
  test("cc#10772: a live block that outgrows the window makes the scrollback longer only, and erases nothing", async () => {
    const r = rig({ columns: 80, rows: 24 });
    await r.settle();
    r.emit({ type: "turnStarted" }, { type: "blockOpened", entry: streaming("") });
    const row = "word ".repeat(14);
    let length = 0;
    for (let rows = 20; rows <= 60; rows++) {
      r.emit({ type: "blockChanged", entry: streaming(row.repeat(rows)) });
      await r.settle(20);
      const now = r.emulator.xterm.buffer.active.length;
      expect(now).toBeGreaterThanOrEqual(length);
      length = now;
    }
    finishStream(r, row.repeat(60), "s");
    await r.settle();
    expect(erasuresOf(r)).toEqual([]);
    expect(found(r, /\bword\b/g)).toHaveLength(60 * 14);
  });

  test("cc#826, cc#44087: 20 keys over 200 printed rows write nothing", async () => {
    const r = rig({ columns: 80, rows: 24, log: entries(200) });
    await r.settle();
    expect(r.emulator.lines().length).toBeGreaterThan(150);
    r.emulator.takeWritten();
    for (let key = 0; key < 20; key++) await r.key("x");
    expect(r.emulator.takeWritten()).toBe(0);
  });

  test("cc#37370, cc#34845, cc#1486: who has scrolled up stays there, while text streams and while nothing happens", async () => {
    const r = rig({ columns: 60, rows: 20, log: entries(90) });
    await r.settle();
    const { xterm } = r.emulator;
    xterm.scrollLines(-50);
    const { viewportY } = xterm.buffer.active;
    expect(viewportY).toBeLessThan(xterm.buffer.active.baseY);
    const parts = numbered("Sentence", 0, 100).map((sentence) => `${sentence}\n\n`);
    r.emit({ type: "turnStarted" }, { type: "blockOpened", entry: streaming("") });
    for (let size = 1; size <= parts.length; size++) {
      r.emit({ type: "blockChanged", entry: streaming(parts.slice(0, size).join("")) });
      await r.settle(20);
      expect(xterm.buffer.active.viewportY).toBe(viewportY);
    }
    finishStream(r, parts.join(""), "s");
    // A call waits for a person's permission.
    r.emit({ type: "blockOpened", entry: call("running") });
    await r.settle(60_000);
    expect(xterm.buffer.active.viewportY).toBe(viewportY);
    expect(erasuresOf(r)).toEqual([]);
  });

  test("cc#41965: the banner, the numbers and the letters, in order, once", async () => {
    const r = rig({ columns: 120, rows: 24, before: "the banner\r\n" });
    await r.settle();
    const numbers = Array.from({ length: 100 }, (_, index) => `n${index + 1}`);
    const letters = Array.from({ length: 26 }, (_, index) => `letter${String.fromCharCode(65 + index)}`);
    for (const [at, words] of [numbers, letters].entries()) {
      r.finish(entryOf(r.session.log.length, `prompt ${at}`));
      await stream(
        r,
        words.map((word) => `${word}\n\n`),
        `stream ${at}`,
      );
    }
    expect(found(r, /the banner|prompt \d|\bn\d+|letter[A-Z]/g)).toEqual([
      "the banner",
      "prompt 0",
      ...numbers,
      "prompt 1",
      ...letters,
    ]);
  });

  test("pi#1950: a call that runs while 200 rows go by keeps spinning in reach, at the cost of its row", async () => {
    const r = rig({ columns: 60, rows: 24 });
    await r.settle();
    r.emit({ type: "turnStarted" }, { type: "blockOpened", entry: call("running") });
    for (let index = 0; index < 200; index++) {
      r.finish(said(`Row ${index}.`, `@${index}`));
      await r.settle(20);
    }
    const before = r.emulator.writes.length;
    await r.clock.advance(5_000);
    const frames = r.emulator.writes.slice(before);
    expect(frames.length).toBeGreaterThan(30);
    expect(Math.max(...frames.map((frame) => Buffer.byteLength(frame)))).toBeLessThan(256);
    expect(erasuresOf(r)).toEqual([]);
    expect(found(r, /Row \d+\./g)).toEqual(numbered("Row", 0, 200));
    expect(found(r, /npm test/g)).toHaveLength(1);
  });

  test("pi#6050, pi#9184, pi#9240: what changes above the view is not printed again; the history shows the new version", async () => {
    const r = rig({ columns: 60, rows: 24 });
    await r.settle();
    const paragraphs = numbered("Paragraph", 0, 60);
    r.emit({ type: "blockOpened", entry: streaming("") });
    for (let size = 1; size <= 60; size++) {
      r.emit({ type: "blockChanged", entry: streaming(paragraphs.slice(0, size).join("\n\n")) });
      await r.settle(20);
    }
    const changed = paragraphs.with(30, "Paragraph 30, revised.").join("\n\n");
    r.emit({ type: "blockChanged", entry: streaming(changed) });
    await r.settle();
    finishStream(r, changed, "s");
    await r.settle();
    expect(erasuresOf(r)).toEqual([]);
    // All that was printed stays (the newest paragraph was not, yet); the new version follows from where it differs.
    expect(found(r, /Paragraph \d+(?:\.|, revised\.)/g)).toEqual([
      ...paragraphs.slice(0, 59),
      "Paragraph 30, revised.",
      ...paragraphs.slice(31),
    ]);
    const again = paragraphs.with(30, "Paragraph 30, revised twice.").join("\n\n");
    r.emulator.takeWritten();
    r.emit({ type: "blockRevised", entry: said(again, "@0") });
    await r.settle();
    expect(r.emulator.takeWritten()).toBe(0);
    await r.key("\x0f");
    for (let page = 0; page < 10 && !r.emulator.screen().join("\n").includes("Paragraph 30"); page++)
      await r.key("\x1b[5~");
    expect(r.emulator.screen().join("\n")).toContain("Paragraph 30, revised twice.");
  });

  test("omp#1365, gem#13693: what the shell had printed is there after a resize, too", async () => {
    const shell = Array.from({ length: 50 }, (_, index) => `shell-${index}`);
    const r = rig({ columns: 60, rows: 24, log: entries(30), before: `${shell.join("\r\n")}\r\n` });
    await r.settle();
    await r.resize(41, 20);
    expect(r.emulator.lines().slice(0, 50)).toEqual(shell);
    expect(found(r, /entry \d+/g)).toEqual(Array.from({ length: 30 }, (_, index) => `entry ${index}`));
  });

  test("windows-terminal#20370, omp#1635: adopting sizes, paging and compactions never erase the history", async () => {
    const r = rig({ columns: 60, rows: 20, log: entries(60) });
    await r.settle();
    r.emulator.xterm.scrollLines(-20);
    for (const columns of [40, 90, 25, 60]) {
      await r.resize(columns, 20);
      r.finish(entryOf(r.session.log.length));
      r.emit({ type: "compacted" });
      await r.key("\x0f");
      await r.key("k");
      await r.key("q");
    }
    expect(r.emulator.writes.join("")).not.toContain("\x1b[3J");
    expect(found(r, /entry \d+/g)).toEqual(Array.from({ length: 64 }, (_, index) => `entry ${index}`));
  });
});

describe("sizes", () => {
  const line = (index: number): string => `L${String(index).padStart(4, "0")} ${"x".repeat(74)}`;
  const names = Array.from({ length: 100 }, (_, index) => line(index).slice(0, 5));

  /** Streams the lines, with the sizes of case 1 at the fortieth, `pauseMs` after it; then signals of equal size. */
  async function playCase1(resizeWay: "adopt" | "reprint", pauseMs: number): Promise<Rig> {
    const r = rig({ columns: 80, rows: 24, resizeWay });
    await r.settle();
    const through = async (...widths: readonly number[]): Promise<void> => {
      for (const columns of widths) {
        await r.emulator.resize(columns, 24);
        await r.clock.advance(15);
      }
    };
    r.emit({ type: "turnStarted" }, { type: "blockOpened", entry: streaming("") });
    let text = "";
    for (let index = 0; index < 100; index++) {
      text += `- ${line(index)}\n`;
      r.emit({ type: "blockChanged", entry: streaming(text) });
      await r.clock.advance(20);
      if (index !== 40) continue;
      r.clock.jump(pauseMs);
      await through(80, 70, 50, 30, 20);
      r.emulator.xterm.scrollLines(-10);
      await r.clock.advance(300);
      await through(20, 40, 60, 80);
    }
    finishStream(r, text, "s");
    r.emit({ type: "turnEnded" });
    await r.settle(1_000);
    // The two sizes that settled.
    const clears = count(r.emulator.writes.join(""), clearAll);
    expect(clears).toBe(resizeWay === "adopt" ? 0 : 2);
    r.emulator.takeWritten();
    for (let signal = 0; signal < 10; signal++) await r.resize(80, 24);
    expect(r.emulator.takeWritten()).toBe(0);
    return r;
  }

  test.each([
    ["reprint", 0],
    ["adopt", sizeLateMs],
  ] as const)(
    "field faults case 1, cc#84247, codex#8642: narrow and back in mid-stream, each line once (%s)",
    async (resizeWay, pauseMs) => {
      const r = await playCase1(resizeWay, pauseMs);
      expect(found(r, /L\d{4}/g)).toEqual(names);
    },
  );

  test("cc#84247: adopting a size right behind a frame may leave a rest of the live row, and never takes a printed one", async () => {
    const r = await playCase1("adopt", 0);
    const shown = found(r, /L\d{4}/g);
    expect([...new Set(shown)]).toEqual(names);
    expect(shown.toSorted()).toEqual(shown);
    expect(shown.filter((name, index) => name === shown[index - 1])).toEqual(["L0040"]);
  });

  test("cc#49086, cc#52945: five sizes within 200 ms are one reprint", async () => {
    const r = rig({ columns: 80, rows: 24, resizeWay: "reprint", log: entries(50) });
    await r.settle();
    r.emulator.takeWritten();
    for (const columns of [78, 70, 61, 55, 52]) {
      await r.emulator.resize(columns, 24);
      await r.clock.advance(40);
    }
    await r.settle();
    expect(count(r.emulator.writes.join(""), clearAll)).toBe(1);
    expect(found(r, /entry \d+/g)).toEqual(Array.from({ length: 50 }, (_, index) => `entry ${index}`));
  });

  test("q in the middle of a reprint: what stays on the terminal is whole", async () => {
    const r = rig({ columns: 80, rows: 24, resizeWay: "reprint", log: entries(tailBlocks) });
    await r.settle();
    const write = r.emulator.write.bind(r.emulator);
    let isCleared = false;
    r.emulator.write = (text) => {
      if (!isCleared && text.includes(clearAll)) {
        isCleared = true;
        r.shell.end("quit");
      }
      return write(text);
    };
    await r.emulator.resize(70, 24);
    await r.settle(resizeSettleMs + 300);
    expect(await r.ended).toBe("quit");
    expect(isCleared).toBe(true);
    await r.emulator.settled();
    expect(found(r, /entry \d+/g)).toEqual(
      Array.from({ length: tailBlocks }, (_, index) => `entry ${index}`),
    );
  });

  test("cc#46834, codex#38479: signals without another size, and a size that flickers back, print nothing", async () => {
    for (const resizeWay of ["adopt", "reprint"] as const) {
      const r = rig({ columns: 80, rows: 24, resizeWay, log: entries(50) });
      await r.settle();
      r.emulator.takeWritten();
      for (let signal = 0; signal < 10; signal++) await r.emulator.resize(80, 24);
      await r.settle(resizeSettleMs + 300);
      for (const rows of [10, 24, 10, 24]) {
        await r.emulator.resize(80, rows);
        await r.clock.advance(resizeSettleMs / 2);
      }
      await r.settle();
      expect(r.emulator.takeWritten()).toBe(0);
    }
  });

  test("codex#38479: a reprint is bounded by what is held, whatever the session's length", async () => {
    const r = rig({ columns: 80, rows: 24, resizeWay: "reprint", log: entries(5_000) });
    await r.settle(2_000);
    r.emulator.takeWritten();
    await r.resize(70, 24);
    await r.settle(2_000);
    expect(found(r, /entry \d+/g)).toHaveLength(tailBlocks);
    expect(r.emulator.takeWritten()).toBeLessThan(tailBlocks * 80 * 2);
  });

  test("codex#37987: heights that change during the first paint of a long session lose no row", async () => {
    const r = rig({ columns: 56, rows: 45, log: entries(4_605) });
    for (let change = 0; change < 12; change++) {
      await r.clock.advance(7);
      await r.emulator.resize(56, change % 2 === 0 ? 17 : 45);
    }
    await r.settle(2_000);
    expect(found(r, /entry \d+/g)).toEqual(
      Array.from({ length: tailBlocks }, (_, index) => `entry ${4_605 - tailBlocks + index}`),
    );
  });
});

describe("frames", () => {
  test("tmux#4744, tmux#5195, rootshell#246: a frame is one write with both its marks, also slow and resized; idle there is none", async () => {
    const r = rig({ columns: 60, rows: 20, isSynchronized: true, log: entries(90) });
    await r.settle();
    r.emit({ type: "turnStarted" }, { type: "blockOpened", entry: streaming("") });
    for (let size = 1; size <= 40; size++) {
      r.emulator.setSlow(size % 7 < 3);
      r.emit({ type: "blockChanged", entry: streaming("Some words.\n\n".repeat(size)) });
      await r.clock.advance(size % 5 === 0 ? 1 : 20);
      if (size % 10 === 0) await r.emulator.resize(60 - size, 20);
    }
    r.emulator.setSlow(false);
    await r.settle();
    finishStream(r, "Some words.\n\n".repeat(40), "s");
    r.emit({ type: "turnEnded" });
    await r.settle();
    const frames = r.emulator.writes.filter((text) => text.includes("\x1b[?2026"));
    expect(frames.length).toBeGreaterThan(10);
    for (const frame of frames) {
      expect(frame.match(/\x1b\[\?2026[hl]/g)).toEqual(["\x1b[?2026h", "\x1b[?2026l"]);
      expect(frame.endsWith("\x1b[?2026l")).toBe(true);
      expect(frame.slice(frame.indexOf("\x1b[?2026h"))).not.toMatch(erasure);
    }
    r.emulator.takeWritten();
    await r.clock.advance(5_000);
    expect(r.emulator.takeWritten()).toBe(0);
  });

  test("gem#27378, cc#62890: the main screen leaves wheel and scrollback to the terminal; the history takes the wheel", async () => {
    const r = rig({ columns: 60, rows: 20, log: entries(90) });
    await r.settle();
    r.finish(entryOf(90));
    await r.settle();
    expect(r.emulator.xterm.buffer.active.type).toBe("normal");
    expect(r.emulator.writes.join("")).not.toMatch(/\x1b\[\?(?:9|100\d|101\d|47|104[79])h/);
    await r.key("\x0f");
    expect(r.emulator.xterm.buffer.active.type).toBe("alternate");
    expect(r.emulator.writes.join("")).toContain("\x1b[?1007h");
    const before = r.emulator.screen();
    // What the terminal sends for a turn of the wheel.
    await r.key("\x1b[A\x1b[A\x1b[A");
    expect(r.emulator.screen()).not.toEqual(before);
    await r.key("q");
    expect(r.emulator.writes.join("")).toContain("\x1b[?1007l");
  });
});

describe("the history", () => {
  test("field faults case 7, cc#54719, cc#53353: it follows at its end, holds after a page up, follows again at End; then the main screen has all, once", async () => {
    const r = rig({ columns: 50, rows: 12, log: entries(50) });
    await r.settle();
    await r.key("\x0f");
    const say = async (from: number, to: number): Promise<void> => {
      for (let index = from; index < to; index++) {
        r.finish(entryOf(index));
        await r.settle(200);
      }
    };
    const shows = (index: number): boolean => r.emulator.screen().join("\n").includes(`entry ${index} `);
    await say(50, 60);
    expect(shows(59)).toBe(true);
    await r.key("\x1b[5~");
    const held = r.emulator.screen().slice(0, -1);
    await say(60, 70);
    expect(r.emulator.screen().slice(0, -1)).toEqual(held);
    await r.key("\x1b[F");
    expect(shows(69)).toBe(true);
    await say(70, 75);
    expect(shows(74)).toBe(true);
    await r.key("q");
    expect(found(r, /entry \d+/g)).toEqual(Array.from({ length: 75 }, (_, index) => `entry ${index}`));
  });

  test("pi#1130: a block folded as a result comes in moves neither the history nor the main screen", async () => {
    const output = (index: number): Entry => ({
      kind: "tool-result",
      name: `@${index}`,
      toolUseId: `t${index}`,
      isError: false,
      content: Array.from({ length: 40 }, (_, row) => `o${index}r${row}`).join("\n"),
      place: { start: index, end: index + 1 },
    });
    const r = rig({ columns: 50, rows: 12, log: Array.from({ length: 20 }, (_, index) => output(index)) });
    await r.settle();
    const main = r.emulator.lines();
    await r.key("\x0f");
    for (let page = 0; page < 6; page++) await r.key("\x1b[5~");
    const [top] = r.emulator.screen();
    r.emulator.type("d");
    r.finish(output(20));
    await r.settle(50);
    r.emulator.type("d");
    await r.settle();
    // Folded and unfolded, the block's head is at the top, or what was there.
    const block = /o(\d+)r/.exec(top ?? "")?.[1];
    expect(block).toBeDefined();
    expect(r.emulator.screen().join("\n")).toContain(`o${block}r`);
    await r.key("q");
    expect(r.emulator.lines().slice(0, main.length - 2)).toEqual(main.slice(0, -2));
    expect(r.emulator.writes.join("")).not.toContain("\x1b[3J");
  });

  test("oc#38435, oc#21639: a key costs the same in a session of 22,500 blocks as in one of 300", async () => {
    const costs = async (blocks: number): Promise<readonly number[]> => {
      const r = rig({ columns: 60, rows: 20, log: entries(blocks) });
      await r.settle();
      const written: number[] = [];
      for (const key of ["\x0f", "\x1b[A", "\x1b[5~", "\x1b[6~", "\x1b[H", "\x1b[6~", "\x1b[F", "q"]) {
        r.emulator.takeWritten();
        await r.key(key);
        written.push(r.emulator.takeWritten());
      }
      return written;
    };
    const [few, many] = [await costs(300), await costs(22_500)];
    // Longer numbers, and no further share.
    for (const [key, written] of many.entries()) expect(written).toBeLessThan((few[key] ?? 0) + 400);
  });
});

describe("compactions", () => {
  const divider = (index: number): Entry => ({
    kind: "compacted",
    name: `@${index}`,
    summary: "so far",
    place: { start: index, end: index + 1 },
  });

  test("field faults case 13, cc#18204, omp#6068, cc#19888, ompweb#16, goose#4529: rows before a compaction stay, on the screen and in the history", async () => {
    const r = rig({ columns: 60, rows: 24 });
    await r.settle();
    const turns = (many: number): void => {
      for (let turn = 0; turn < many; turn++) {
        const index = r.session.log.length;
        r.emit({ type: "turnStarted" });
        r.finish(entryOf(index, `entry ${index}`));
        r.finish(said(`entry ${index + 1}`, `@${index + 1}`));
        r.emit({ type: "turnEnded" });
      }
    };
    const compact = (): void => {
      r.emit({ type: "compacted" });
      r.finish(divider(r.session.log.length));
    };
    turns(30);
    compact();
    compact();
    turns(10);
    compact();
    await r.settle(2_000);
    const expected = [
      ...Array.from({ length: 60 }, (_, index) => `entry ${index}`),
      "compacted",
      "compacted",
      ...Array.from({ length: 20 }, (_, index) => `entry ${62 + index}`),
      "compacted",
    ];
    expect(found(r, /entry \d+|compacted/g)).toEqual(expected);
    expect(erasuresOf(r)).toEqual([]);
    await r.key("\x0f");
    // It opens at the newest row.
    expect(
      r.emulator
        .screen()
        .join("\n")
        .match(/entry \d+|compacted/g)
        ?.at(-1),
    ).toBe("compacted");
    const shown = new Set<string>();
    for (let page = 0; page < 20; page++) {
      for (const word of r.emulator
        .screen()
        .join("\n")
        .match(/entry \d+/g) ?? [])
        shown.add(word);
      await r.key("\x1b[5~");
    }
    expect(shown.size).toBe(80);
    expect(shown).toContain("entry 0");
  });
});

describe("copying", () => {
  test("cc#13378, cc#26016, cc#47652: a command longer than the window is one line for the terminal", async () => {
    const command = `run --with ${Array.from({ length: 16 }, (_, index) => `option-${index}`).join(" ")}`;
    expect(command.length).toBeGreaterThan(150);
    const r = rig({ columns: 80, rows: 24 });
    await r.settle();
    r.finish(said(`Type this:\n\n\`\`\`sh\n${command}\n\`\`\`\n`, "@0"));
    await r.settle();
    expect(r.emulator.lines()).toContain(command);
  });

  test("cc#89489, cc#34134, cc#27376: Hebrew with a word and a number of another direction is written in one run, in logical order", async () => {
    const sentence = "\u05e9\u05dc\u05d5\u05dd world 123 \u05e2\u05d5\u05dc\u05dd.";
    const r = rig({ columns: 80, rows: 24 });
    await r.settle();
    r.emit({ type: "blockOpened", entry: streaming(sentence) });
    await r.settle();
    expect(r.emulator.writes.join("")).toContain(sentence);
    finishStream(r, sentence, "s");
    await r.settle();
    expect(r.emulator.lines().join("\n")).toContain(sentence);
  });
});

describe("memory", () => {
  test("cc#25926, openclaude#1857: a block that neither the window nor the screen holds is let go", async () => {
    setFlagsFromString("--expose-gc");
    const collect = runInNewContext("gc") as () => void;
    const r = rig({ columns: 40, rows: 12 });
    await r.settle();
    const refs: WeakRef<Entry>[] = [];
    // Not in the session's own list, which would keep them.
    const finish = (index: number): void => {
      const entry = said(`Answer ${index}. ${"word ".repeat(40)}`, `@${index}`);
      refs.push(new WeakRef(entry));
      r.emit(
        { type: "blockFinished", entry, start: String(index), end: String(index + 1) },
        { type: "saved" },
      );
    };
    const blocks = 1_500;
    for (let index = 0; index < blocks; index++) {
      finish(index);
      if (index % 50 === 49) await r.settle(20);
    }
    await r.settle();
    collect();
    const kept = refs.filter((ref) => ref.deref() !== undefined).length;
    expect(kept).toBeGreaterThanOrEqual(tailBlocks);
    expect(kept).toBeLessThanOrEqual(windowConfig.maxHeld! + recentLinesMax / 3 + 100);
    expect(refs[0]?.deref()).toBeUndefined();
  });
});

describe("the end", () => {
  /** Modes that are on when all was said, other than those a terminal begins with. */
  function modesLeft(r: Rig): readonly string[] {
    const on = new Set(["25", "7"]);
    for (const [, mode, way] of r.emulator.writes.join("").matchAll(/\x1b\[\?(\d+)([hl])/g)) {
      if (way === "h") on.add(mode ?? "");
      else on.delete(mode ?? "");
    }
    return [...on].sort();
  }

  const ways: readonly (readonly [string, (r: Rig) => void])[] = [
    ["a signal", (r) => r.shell.end("terminated")],
    ["an interruption", (r) => r.shell.end("interrupted")],
    [
      "an error of the log",
      (r) => {
        r.session.failNext = "the disk is gone";
        r.emit({ type: "reset", reason: "the file became shorter" });
      },
    ],
    ["an error that nobody caught", (r) => r.shell.rescue()],
  ];

  test.each(ways)("cc#84029, thinkrail#280: %s in the history leaves no mode on", async (_, finish) => {
    const r = rig({ columns: 60, rows: 20, log: entries(30) });
    await r.settle();
    await r.key("\x0f");
    expect(modesLeft(r)).toContain("1049");
    finish(r);
    await r.settle();
    expect(modesLeft(r)).toEqual(["25", "7"]);
    expect(r.emulator.isRaw).toBe(false);
    expect(r.emulator.xterm.buffer.active.type).toBe("normal");
  });
});
