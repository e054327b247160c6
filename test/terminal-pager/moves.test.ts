import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { fruitlessAsksMax } from "../../src/terminal/pager/limits.ts";
import type { Entry } from "../../src/transcript/index.ts";
import { allRows, answerEntry, createRig, outputEntry, promptEntry, type Rig } from "./support.ts";

function numbered(count: number): Entry[] {
  return Array.from({ length: count }, (_, index) => answerEntry(index, `number ${index}.`));
}

/** A log in which every block has words of its own. */
const logs = fc
  .array(fc.record({ kind: fc.nat(2), words: fc.integer({ min: 1, max: 30 }) }), {
    minLength: 1,
    maxLength: 60,
  })
  .map((blocks) =>
    blocks.map(({ kind, words }, index) => {
      const text = Array.from({ length: words }, (_, word) => `w${index}x${word}`).join(
        kind === 2 ? "\n" : " ",
      );
      return kind === 0
        ? promptEntry(index, text)
        : kind === 1
          ? answerEntry(index, text)
          : outputEntry(index, text);
    }),
  );

/** Where the screen stands in `rows`: the only place where it fits. */
function expectAt(rig: Rig, rows: readonly string[], top: number): void {
  const body = rig.body();
  const expected = rows.slice(top, top + body.length);
  expect(body).toEqual([...expected, ...Array.from({ length: body.length - expected.length }, () => "")]);
}

describe("pages", () => {
  test("codex#7356: messages 0 to 49 at every height: pages join without a gap or a row twice, and PageUp undoes PageDown", () => {
    for (let height = 10; height <= 30; height++) {
      const log = numbered(50);
      const rig = createRig(log, { rows: height, window: 50, step: 7 });
      const rows = allRows(log, 40);
      const body = height - 1;
      rig.press("home");
      let top = 0;
      expectAt(rig, rows, top);
      while (top < rows.length - body) {
        const before = rig.body();
        rig.press("pagedown");
        rig.press("pageup");
        expect(rig.body()).toEqual(before);
        rig.press("pagedown");
        top = Math.min(top + body, rows.length - body);
        expectAt(rig, rows, top);
      }
      expect(rig.status()).toContain("end");
      rig.press("home");
      expectAt(rig, rows, 0);
      rig.press("end");
      expectAt(rig, rows, rows.length - body);
    }
  });

  test("a last page that is not a whole one is undone as far as it went", () => {
    const rig = createRig(numbered(8), { rows: 10 });
    rig.press("home");
    rig.press("down");
    const before = rig.body();
    rig.press("pagedown");
    expect(rig.status()).toContain("end");
    rig.press("pageup");
    expect(rig.body()).toEqual(before);
  });

  test("PageUp at the end is a whole page when PageDown did nothing", () => {
    const rig = createRig(numbered(30), { rows: 10 });
    const rows = allRows(rig.log, 40);
    rig.press("pagedown pageup");
    expectAt(rig, rows, rows.length - 18);
  });
});

type Step =
  | { readonly keys: string; readonly rows: (body: number) => number }
  | { readonly keys: "home" | "end" };

const steps: readonly Step[] = [
  { keys: "up", rows: () => -1 },
  { keys: "k", rows: () => -1 },
  { keys: "down", rows: () => 1 },
  { keys: "wheelup", rows: () => -3 },
  { keys: "wheeldown", rows: () => 3 },
  { keys: "ctrl+u", rows: (body) => -Math.max(1, Math.floor(body / 2)) },
  { keys: "ctrl+d", rows: (body) => Math.max(1, Math.floor(body / 2)) },
  { keys: "pageup j", rows: (body) => -body },
  { keys: "space k", rows: (body) => body },
  { keys: "home" },
  { keys: "end" },
];

test("the screen is where a list of all rows says, however much of the log is in the window", () => {
  fc.assert(
    fc.property(
      logs,
      fc.integer({ min: 2, max: 12 }),
      fc.integer({ min: 1, max: 9 }),
      fc.boolean(),
      fc.array(fc.constantFrom(...steps), { maxLength: 40 }),
      (log, height, step, isSlow, moves) => {
        const rig = createRig(log, { rows: height, columns: 24, window: 45, step, isSlow });
        const rows = allRows(log, 24);
        const body = height - 1;
        const last = Math.max(0, rows.length - body);
        const clamp = (top: number): number => Math.max(0, Math.min(last, top));
        const finish = (): void => {
          while (rig.answer());
        };
        finish();
        let top = last;
        expectAt(rig, rows, top);
        for (const move of moves) {
          if ("rows" in move) {
            // A row the other way after a page: what a short page leaves behind must not be seen in this test.
            const [first, second] = move.keys.split(" ");
            rig.press(first!);
            finish();
            top = clamp(top + move.rows(body));
            if (second !== undefined) {
              rig.press(second);
              finish();
              top = clamp(top + (second === "j" ? 1 : -1));
            }
          } else {
            rig.press(move.keys);
            finish();
            top = move.keys === "home" ? 0 : last;
          }
          expectAt(rig, rows, top);
        }
      },
    ),
  );
});

describe("the window's edge", () => {
  test("a move that needs further blocks is finished when they come", () => {
    const rig = createRig(numbered(60), { rows: 10, window: 10, step: 5, isSlow: true });
    const rows = allRows(rig.log, 40);
    for (let page = 0; page < 2; page++) rig.press("pageup");
    rig.press("pageup");
    rig.answer();
    rig.answer();
    expectAt(rig, rows, rows.length - 4 * 9);
  });

  test("blocks are asked for before they are needed, once", () => {
    const rig = createRig(numbered(60), { rows: 10, window: 10, step: 5, isSlow: true });
    rig.press("up up up");
    expect(rig.requests.map(({ type }) => type)).toEqual(["older"]);
    rig.press("up");
    expect(rig.requests).toHaveLength(1);
    expect(rig.status()).toContain("reading …");
  });

  test("a read that fails gives the move up and says so; the next key asks again", () => {
    const rig = createRig(numbered(60), { rows: 10, window: 10, step: 5, isSlow: true });
    rig.press("home");
    rig.pager.failed("the log cannot be read");
    expect(rig.status()).toContain("the log cannot be read");
    rig.press("home");
    expect(rig.requests.map(({ type }) => type)).toEqual(["start", "start"]);
    rig.answer();
    expect(rig.body()[0]).toContain("number 0.");
  });

  test("requests that bring nothing are given up", () => {
    const log = numbered(5);
    const rig = createRig(log, { rows: 10 });
    const { pager } = rig;
    const view = { blocks: log.map((entry) => ({ entry })), atStart: false, atEnd: true, newBlocks: 0 };
    pager.show({ ...view, loading: true });
    pager.show({ ...view, loading: false });
    let wanted = pager.key({ name: "pageup" });
    let count = 0;
    while (wanted.length > 0) {
      count += 1;
      wanted = pager.show({ ...view, loading: false });
    }
    expect(count).toBe(fruitlessAsksMax);
    expect(rig.status()).toContain("nothing further can be read");
  });

  test("a window that does not fill the screen fills up from the log when it is opened and when the screen grows", () => {
    const rig = createRig(numbered(60), { rows: 20, window: 30, step: 5 });
    expect(rig.body().filter((row) => row !== "").length).toBeGreaterThan(8);
    const small = createRig(numbered(60), { rows: 5, window: 30, step: 5 });
    small.resize(40, 30);
    expectAt(small, allRows(small.log, 40), allRows(small.log, 40).length - 29);
  });

  test("where the window holds less than a screen, nothing is skipped", () => {
    const rig = createRig(numbered(40), { rows: 30, window: 5, step: 2 });
    rig.press("home");
    const seen = new Set<string>();
    for (let key = 0; key < 120; key++) {
      for (const row of rig.body()) if (row.trim() !== "") seen.add(row.trim());
      rig.press("down");
    }
    for (const row of rig.body()) if (row.trim() !== "") seen.add(row.trim());
    expect([...seen]).toEqual(numbered(40).map((_, index) => `number ${index}.`));
  });
});

describe("the end", () => {
  test("it follows at the end", () => {
    const rig = createRig(numbered(30));
    rig.append(answerEntry(30, "the newest."));
    expect(rig.body().at(-1)).toContain("the newest.");
  });

  test("it follows an answer that grows", () => {
    const rig = createRig(numbered(30));
    rig.append({ kind: "streaming", name: "@30", thinking: "", text: "one" });
    rig.log[30] = { kind: "streaming", name: "@30", thinking: "", text: "one\n\ntwo\n\nthree" };
    rig.refresh();
    expect(rig.body().at(-1)).toContain("three");
  });

  test("cc#16213: scrolled up it holds its place and says how many are new", () => {
    const rig = createRig(numbered(60), { rows: 10, window: 20, step: 5 });
    rig.press("pageup pageup pageup pageup pageup");
    const before = rig.body();
    const { hi } = rig.shown;
    for (let index = 60; index < 63; index++) rig.append(answerEntry(index, `number ${index}.`));
    expect(rig.body()).toEqual(before);
    expect(rig.status()).toContain(`${63 - hi} newer below`);
    rig.press("G");
    expect(rig.body().at(-1)).toContain("number 62.");
    rig.append(answerEntry(63, "followed."));
    expect(rig.body().at(-1)).toContain("followed.");
  });
});

test("what is new is counted from when the end was seen last, also where one came back by rows", () => {
  const rig = createRig(numbered(60), { columns: 60, rows: 10, window: 20, step: 5 });
  rig.press("up");
  rig.append(answerEntry(60, "number 60."));
  rig.append(answerEntry(61, "number 61."));
  expect(rig.status()).toContain("2 newer below");
  rig.press("pagedown");
  rig.press("up");
  expect(rig.status()).not.toContain("newer below");
  rig.append(answerEntry(62, "number 62."));
  expect(rig.status()).toContain("1 newer below");
});

describe("sizes", () => {
  test("any number of resizes keeps the word at the top, and coming back is exact", () => {
    fc.assert(
      fc.property(
        logs,
        fc.array(fc.tuple(fc.integer({ min: 12, max: 60 }), fc.integer({ min: 2, max: 12 })), {
          minLength: 1,
          maxLength: 8,
        }),
        fc.nat(40),
        (log, sizes, ups) => {
          const rig = createRig(log, { columns: 30, rows: 8, window: 60, step: 60 });
          for (let key = 0; key <= ups; key++) rig.press("up");
          const before = rig.body();
          const word = before.join(" ").match(/w\d+x\d+/)?.[0];
          for (const [columns, rows] of sizes) {
            rig.resize(columns, rows);
            // At the end of the log the screen is filled from above.
            if (word === undefined || rig.body().at(-1) === allRows(log, columns).at(-1)) continue;
            if (rig.body().at(-1) === "") continue;
            const blank = before.findIndex((row) => /w\d+x\d+/.test(row));
            if (rows < blank + 3) continue;
            expect(
              rig
                .body()
                .slice(0, blank + 2)
                .join(" "),
            ).toContain(word);
          }
          rig.resize(30, 8);
          expect(rig.body()).toEqual(before);
        },
      ),
    );
  });

  test("at the end a resize stays at the end", () => {
    const rig = createRig(numbered(30));
    rig.resize(20, 6);
    expect(rig.body().at(-1)).toContain("number 29.");
  });
});

describe("prompts", () => {
  function talk(count: number): Entry[] {
    return Array.from({ length: count }, (_, index) =>
      index % 4 === 0
        ? promptEntry(index, `ask ${index}`)
        : answerEntry(index, `answer ${index}.\n\nand more.`),
    );
  }

  test("codex#3935, cc#55564: the one before and the one after, also where they are not in the window", () => {
    const rig = createRig(talk(80), { rows: 8, window: 10, step: 3 });
    for (const index of [76, 72, 68, 64, 60]) {
      rig.press("{");
      expect(rig.body()[0]).toContain(`ask ${index}`);
    }
    for (const index of [64, 68]) {
      rig.press("alt+down");
      expect(rig.body()[0]).toContain(`ask ${index}`);
    }
    rig.press("home");
    rig.press("{");
    expect(rig.status()).toContain("no prompt before this one");
    rig.press("}");
    expect(rig.body()[0]).toContain("ask 4");
  });

  test("near the end the screen stays full, and the prompt is on it", () => {
    const rig = createRig([...talk(40), promptEntry(40, "ask 40")], { rows: 8 });
    rig.press("{ }");
    expect(rig.body().at(-1)).toContain("ask 40");
    expect(rig.body()[0]).not.toBe("");
  });
});
