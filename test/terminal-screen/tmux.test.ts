import { afterEach, describe, expect, test } from "vitest";
import { contentOf, findWords } from "../support/terminal/printed.ts";
import { startTmux, type Tmux } from "../support/terminal/tmux.ts";

const before = ["before 1", "before 2"];
const driver = `${process.execPath} --import ./scripts/ts-hook.js test/support/terminal-driver.ts screen`;

let terminal: Tmux | undefined;

afterEach(async () => {
  await terminal?.kill();
  terminal = undefined;
});

type Act = string | readonly [columns: number, rows: number];

/** A small generator, so that a seed gives the same acts for ever. */
function actsOf(seed: number, count: number): readonly Act[] {
  let state = seed;
  const below = (limit: number): number => {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648;
    return Math.floor((state / 2_147_483_648) * limit);
  };
  return Array.from({ length: count }, () => {
    const kind = below(10);
    if (kind < 5) return "p";
    return kind < 7 ? String(below(8)) : [6 + below(80), 3 + below(14)];
  });
}

/** Carries out `acts` one after the other, each once the one before is shown; answers the logical lines at the end. */
async function play(acts: readonly Act[]): Promise<{ lines: readonly string[]; printed: number }> {
  const said = before.map((line) => `echo ${line}`).join("; ");
  const t = await startTmux({ columns: 60, rows: 12, command: `${said}; ${driver}; echo over; cat` });
  terminal = t;
  await t.until((text) => /^act 0$/m.test(text));
  let count = 0;
  let printed = 0;
  for (const act of acts) {
    if (typeof act === "string") await t.keys(act);
    else {
      await t.resize(...act);
      await t.keys("r");
    }
    if (act === "p") printed += 1;
    count += 1;
    const shown = new RegExp(`^act ${count}$`, "m");
    await t.until((text) => shown.test(text));
  }
  await t.keys("e");
  await t.until((text) => /^over$/m.test(text));
  return { lines: await t.lines(), printed };
}

function expected(printed: number): readonly string[] {
  return Array.from({ length: printed }, (_, block) => contentOf(block)).flat();
}

describe("in tmux", () => {
  test("narrow, wide, low, high: every word once, in order, what was there before stays, nothing of the live region", async () => {
    const { lines, printed } = await play([
      ..."ppp3pp",
      [24, 12],
      ..."pp",
      [80, 12],
      "p",
      [80, 5],
      "6",
      [80, 16],
      ..."pp0",
      [7, 4],
      "p",
      [60, 12],
    ]);
    expect(findWords(lines)).toEqual(expected(printed));
    expect(lines.slice(0, 2)).toEqual(before);
    expect(lines.slice(-2)).toEqual(["bye", "over"]);
  });

  test.each([1, 2])("random acts, seed %i", async (seed) => {
    const { lines, printed } = await play(actsOf(seed, 24));
    expect(findWords(lines)).toEqual(expected(printed));
    expect(lines.slice(0, 2)).toEqual(before);
    expect(lines.slice(-2)).toEqual(["bye", "over"]);
  });
});
