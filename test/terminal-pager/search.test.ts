import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { Finder } from "../../src/terminal/pager/finder.ts";
import { needleUnitsMax } from "../../src/terminal/pager/limits.ts";
import { highlighted, mayHold, needleOf } from "../../src/terminal/pager/search.ts";
import { Viewport } from "../../src/terminal/pager/viewport.ts";
import type { Entry } from "../../src/transcript/index.ts";
import { answerEntry, createRig, outputEntry, promptEntry, type Rig, textOf, time } from "./support.ts";

/** What is shown inverse, row by row. */
function inverse(rig: Rig): readonly string[] {
  return rig.pager
    .rows()
    .map(({ spans }) =>
      spans
        .filter((span) => span.inverse === true)
        .map((span) => span.text)
        .join(""),
    )
    .filter((text) => text !== "");
}

function find(rig: Rig, text: string): void {
  rig.press("/");
  rig.type(text);
  rig.press("enter");
}

function haystack(count: number, ...needles: readonly number[]): Entry[] {
  return Array.from({ length: count }, (_, index) =>
    answerEntry(index, needles.includes(index) ? `here is the Needle ${index}.` : `straw ${index}.`),
  );
}

describe("search", () => {
  test("goes back from the screen's end, then on with n and N; matches are inverse", () => {
    const rig = createRig(haystack(40, 5, 20, 38, 39), { rows: 10 });
    find(rig, "needle 3");
    expect(rig.body().join("\n")).toContain("Needle 39");
    find(rig, "needle");
    expect(inverse(rig)).toEqual(["Needle", "Needle"]);
    rig.press("n n");
    expect(rig.body().join("\n")).toContain("Needle 20");
    rig.press("n");
    expect(rig.body().join("\n")).toContain("Needle 5");
    rig.press("n");
    expect(rig.status()).toContain("not found before this");
    rig.press("N");
    expect(rig.body().join("\n")).toContain("Needle 20");
    rig.press("N N N");
    expect(rig.status()).toContain("not found after this");
  });

  test("the match that was reached looks unlike the others on the screen", () => {
    const rig = createRig([answerEntry(0, "a needle, a needle and a needle.")], { rows: 10 });
    const current = (): readonly number[] =>
      rig.pager
        .rows()
        .flatMap((row) =>
          row.spans.filter((span) => span.inverse === true).map((span) => (span.underline === true ? 1 : 0)),
        );
    find(rig, "needle");
    expect(current()).toEqual([0, 0, 1]);
    rig.press("n");
    expect(current()).toEqual([0, 1, 0]);
    rig.press("N");
    expect(current()).toEqual([0, 0, 1]);
  });

  test("from the start, where nothing comes before, it goes on to what comes after", () => {
    const rig = createRig(haystack(40, 20, 30), { rows: 10 });
    rig.press("home");
    find(rig, "needle");
    expect(rig.body().join("\n")).toContain("Needle 20");
    find(rig, "nowhere");
    expect(rig.status()).toContain("not found in this session");
  });

  test("a capital letter in what is typed makes capitals count", () => {
    const rig = createRig([answerEntry(0, "first NEEDLE."), answerEntry(1, "then needle.")]);
    find(rig, "NEEDLE");
    expect(inverse(rig)).toEqual(["NEEDLE"]);
    find(rig, "needle");
    expect(inverse(rig)).toEqual(["NEEDLE", "needle"]);
  });

  test("codex#24136: reads on through the whole log, says how far it is, and stops on Esc", () => {
    const rig = createRig(haystack(300, 3), { columns: 90, rows: 10, window: 40, step: 20, isSlow: true });
    find(rig, "needle");
    expect(rig.status()).toContain("searching … 40 blocks · Esc stops");
    rig.answer();
    expect(rig.status()).toContain("searching … 60 blocks");
    rig.press("escape");
    expect(rig.status()).toContain("search stopped");
    rig.answer();
    expect(rig.requests.filter(({ type }) => type === "older")).toHaveLength(2);
    rig.press("n");
    while (rig.answer());
    expect(rig.body().join("\n")).toContain("Needle 3");
    expect(rig.shown.lo).toBe(0);
  });

  test("a log without a match is searched to its start, each block once", () => {
    const rig = createRig(haystack(100), { columns: 90, window: 20, step: 10, isSlow: true });
    find(rig, "needle");
    let last = "";
    do {
      const told = /searching … (\d+) blocks/.exec(rig.status())?.[1];
      if (told !== undefined) last = told;
    } while (rig.answer());
    expect(last).toBe("100");
    expect(rig.status()).toContain("not found before this");
  });

  test("cc#79517: a match goes across the place where a row was wrapped", () => {
    const rig = createRig([answerEntry(0, "one two three four five six seven eight nine ten")], {
      columns: 20,
    });
    find(rig, "three four five");
    expect(inverse(rig).join(" ")).toBe("three four five");
    const pieces = Array.from({ length: 12 }, (_, extra) => {
      const content = `${"x".repeat(30)}needle${"y".repeat(30)}`;
      const code = createRig([outputEntry(0, content)], { columns: 30 + extra });
      find(code, "needle");
      return inverse(code);
    });
    expect(new Set(pieces.map((texts) => texts.join("")))).toEqual(new Set(["needle"]));
    expect(Math.max(...pieces.map((texts) => texts.length))).toBe(2);
  });

  test("what is folded is found, and unfolded", () => {
    const lines = Array.from({ length: 60 }, (_, line) => (line === 40 ? "the needle" : `line ${line}`)).join(
      "\n",
    );
    const rig = createRig([promptEntry(0, "hello"), outputEntry(1, lines), answerEntry(2, "done.")]);
    rig.press("D");
    expect(rig.body().join("\n")).not.toContain("needle");
    find(rig, "needle");
    expect(rig.body().join("\n")).toContain("the needle");
  });

  test("a search that finds nothing typed does nothing; Esc and an empty Backspace leave the line", () => {
    const rig = createRig(haystack(5));
    const before = rig.screen();
    rig.press("/ enter");
    rig.press("/ a escape");
    rig.press("/ a backspace backspace");
    expect(rig.screen()).toEqual(before);
    rig.press("n");
    expect(rig.status()).toContain("nothing searched yet");
  });

  test("what is typed stands on the status row, a paste too, cut at its limit", () => {
    const rig = createRig(haystack(3));
    rig.press("/");
    rig.type("ab c");
    expect(rig.screen().at(-1)).toBe("/ab c▏");
    rig.press("ctrl+u");
    rig.pager.key({ name: "paste", text: `\u001b[31m${"x".repeat(needleUnitsMax * 2)}` });
    expect(rig.screen().at(-1)).not.toContain("\u001b");
    rig.press("enter");
    expect(rig.status()).toContain("not found");
  });
});

describe("what may hold a needle", () => {
  test.each([
    ["colours inside a word", "re\u001b[31md", "red"],
    ["Markdown inside a word", "foo**bar**", "foobar"],
    ["a character's name inside a word", "caf&eacute;", "café"],
    ["words around a link", "click [here](http://x.example) now", "here now"],
    ["capitals", "HELLO", "hello"],
    ["no letters at all", "a => b", "=>"],
  ])("%s", (_name, body, text) => {
    expect(mayHold(answerEntry(0, body), needleOf(text)!)).toBe(true);
  });

  test("other words are not laid out", () => {
    expect(mayHold(answerEntry(0, "straw"), needleOf("needle")!)).toBe(false);
    const rig = createRig(haystack(400, 1), { window: 400, step: 100 });
    const before = rig.pager.layouts.laidOutCount;
    find(rig, "needle");
    expect(rig.pager.layouts.laidOutCount - before).toBeLessThan(25);
  });
});

test("the rows of a block are read once for a search, whatever is pressed and drawn", () => {
  const viewport = new Viewport({ time });
  viewport.resize(40, 10);
  viewport.replace([{ entry: outputEntry(0, "a needle\n".repeat(500)) }]);
  const finder = new Finder(viewport);
  finder.seek("needle");
  for (let row = 0; row < 20; row++) finder.stretches(0, row);
  for (let key = 0; key < 5; key++) {
    const match = finder.find(0, "newer", finder.from("newer")?.at);
    if (match !== undefined) viewport.put(finder.reach(0, match));
  }
  expect(finder.readCount).toBe(1);
  finder.seek("Needle");
  finder.stretches(0, 0);
  expect(finder.readCount).toBe(2);
});

test("every match is reached once, in order, and back again", () => {
  fc.assert(
    fc.property(
      fc.array(
        fc.constantFrom(
          "ab",
          "ab ab",
          "abab",
          "x",
          "x y\n\nab",
          "a b",
          "AB",
          "cab",
          `${"straw ".repeat(9)}ab`,
        ),
        { minLength: 1, maxLength: 25 },
      ),
      fc.integer({ min: 32, max: 50 }),
      fc.integer({ min: 2, max: 9 }),
      (texts, columns, rows) => {
        const log = texts.map((text, index) => answerEntry(index, text));
        const rig = createRig(log, { columns, rows, window: 30, step: 5 });
        const expected = texts.join(" ").match(/ab/gi)?.length ?? 0;
        find(rig, "ab");
        let count = rig.status().includes("not found") ? 0 : 1;
        while (count > 0 && count < 200) {
          expect(inverse(rig).length).toBeGreaterThan(0);
          rig.press("n");
          if (rig.status().includes("not found")) break;
          count += 1;
        }
        expect(count).toBe(expected);
        // The first match of the log is reached now; the others lie ahead.
        let ahead = 0;
        while (ahead < 200) {
          rig.press("N");
          if (rig.status().includes("not found")) break;
          ahead += 1;
        }
        expect(ahead).toBe(Math.max(0, expected - 1));
      },
    ),
  );
});

test("highlighting changes no text", () => {
  fc.assert(
    fc.property(
      fc.array(fc.string({ maxLength: 6 }), { maxLength: 5 }),
      fc.array(fc.tuple(fc.nat(20), fc.nat(8)), { maxLength: 5 }),
      (texts, stretches) => {
        const line = { spans: texts.map((text) => ({ text })), wrap: "fit" as const };
        const shown = highlighted(
          line,
          stretches.map(([from, length]) => ({ from, to: from + length + 1 })),
        );
        expect(textOf(shown)).toBe(texts.join(""));
        expect(shown.spans.every(({ text }, index) => text !== "" || line.spans[index]?.text === "")).toBe(
          true,
        );
      },
    ),
  );
});
