import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { atomsOf, borderAfter, borderBefore, borderFrom } from "../../src/terminal/composer/atoms.ts";
import { createEditor, edit, promptOf } from "../../src/terminal/composer/editor.ts";
import {
  chipsMax,
  chipUnitsMax,
  historyPromptsMax,
  killsMax,
  pasteShownLinesMax,
  pasteShownUnitsMax,
  textUnitsMax,
  undoStepsMax,
} from "../../src/terminal/composer/limits.ts";
import type { Editor, EditorEvent } from "../../src/terminal/composer/types.ts";

/** A state as one line: the text with `|` at the cursor; a line feed is `⏎`. */
function told({ text, cursor }: Editor): string {
  return `${text.slice(0, cursor)}|${text.slice(cursor)}`.replaceAll("\n", "⏎");
}

/** The editor that `told` tells of. */
function at(notation: string, history: readonly string[] = []): Editor {
  const text = notation.replaceAll("⏎", "\n");
  const cursor = text.indexOf("|");
  return { ...createEditor(history), text: text.replace("|", ""), cursor };
}

const events: Readonly<Record<string, EditorEvent>> = {
  left: { type: "moved", to: "left" },
  right: { type: "moved", to: "right" },
  wordLeft: { type: "moved", to: "wordLeft" },
  wordRight: { type: "moved", to: "wordRight" },
  lineStart: { type: "moved", to: "lineStart" },
  lineEnd: { type: "moved", to: "lineEnd" },
  start: { type: "moved", to: "start" },
  end: { type: "moved", to: "end" },
  up: { type: "moved", to: "up", width: 10 },
  down: { type: "moved", to: "down", width: 10 },
  older: { type: "recalled", way: "older" },
  newer: { type: "recalled", way: "newer" },
  back: { type: "deleted", way: "back" },
  forward: { type: "deleted", way: "forward" },
  killWordBack: { type: "killed", reach: "wordBack" },
  killBlankBack: { type: "killed", reach: "blankBack" },
  killWordForward: { type: "killed", reach: "wordForward" },
  killLineStart: { type: "killed", reach: "lineStart" },
  killLineEnd: { type: "killed", reach: "lineEnd" },
  yank: { type: "yanked" },
  yankOlder: { type: "yankedOlder" },
  undo: { type: "undone" },
  redo: { type: "redone" },
  send: { type: "put away" },
};

/** Runs words: names of events, or `'text` for text that is typed. */
function run(editor: Editor, script: string): Editor {
  let state = editor;
  for (const word of script.split(" ").filter((each) => each !== "")) {
    const event = word.startsWith("'")
      ? ({ type: "typed", text: word.slice(1).replaceAll("_", " ").replaceAll("⏎", "\n") } as const)
      : events[word];
    if (event === undefined) throw new Error(`no event is called ${word}`);
    state = edit(state, event);
  }
  return state;
}

describe("editing", () => {
  const table: readonly (readonly [from: string, script: string, to: string])[] = [
    ["|", "'hello", "hello|"],
    ["ab|cd", "left 'X", "aX|bcd"],
    ["ab|", "right", "ab|"],
    ["|ab", "left", "|ab"],
    ["|ab", "back", "|ab"],
    ["ab|", "forward", "ab|"],
    ["one⏎|two", "left", "one|⏎two"],
    ["one⏎|two", "back", "one|two"],
    ["one|⏎two", "forward", "one|two"],
    ["e\u0301|x", "back", "|x"],
    ["👩‍💻|", "left", "|👩‍💻"],
    ["|👩‍💻x", "right", "👩‍💻|x"],
    ["🇩🇪🇫🇷|", "back", "🇩🇪|"],
    ["|한글", "right", "한|글"],
    ["foo bar|", "wordLeft", "foo |bar"],
    ["foo, bar|", "wordLeft wordLeft", "|foo, bar"],
    ["|foo, bar", "wordRight", "foo|, bar"],
    ["|foo, bar", "wordRight wordRight", "foo, bar|"],
    ["one⏎tw|o", "lineStart", "one⏎|two"],
    ["one⏎tw|o", "lineEnd", "one⏎two|"],
    ["one⏎tw|o", "start", "|one⏎two"],
    ["o|ne⏎two", "end", "one⏎two|"],
    ["src/a.ts x|", "killBlankBack killBlankBack", "|"],
    ["src/a.ts|", "killWordBack", "src/a.|"],
    ["|one two", "killWordForward", "| two"],
    ["one⏎two|", "killLineStart", "one⏎|"],
    ["one⏎|two", "killLineStart", "one|two"],
    ["o|ne⏎two", "killLineEnd", "o|⏎two"],
    ["one|⏎two", "killLineEnd", "one|two"],
    ["one two|", "killWordBack yank yank", "one twotwo|"],
    ["a b c|", "killBlankBack killBlankBack yank", "a b c|"],
    ["ab|cd", "killLineEnd killLineStart yank", "abcd|"],
    ["a|", "'b back undo", "ab|"],
    ["|", "'a 'b 'c undo", "|"],
    ["|", "'a '_ 'b undo", "a|"],
    ["|", "'a '_ 'b undo undo redo redo", "a b|"],
    ["|", "'a undo 'b redo", "b|"],
    ["abc|", "left 'X undo undo", "ab|c"],
    ["0123456789abc|", "up", "012|3456789abc"],
    ["0123456789abc⏎x|", "up", "0123456789a|bc⏎x"],
    ["0123456789⏎a⏎01234|", "up up", "01234|56789⏎a⏎01234"],
    ["01|⏎a⏎01234", "down down", "01⏎a⏎01|234"],
    ["漢字漢字|漢字漢字漢", "down", "漢字漢字漢字漢字漢|"],
    ["漢字漢字漢|字漢字", "down", "漢字漢字漢|字漢字"],
  ];
  test.each(table)("%s · %s", (from, script, to) => {
    const state = run(at(from), script);
    expect(told(state)).toBe(to);
  });

  test("the killed text before the one that was yanked takes its place, around and around", () => {
    const two = run(at("one two|"), "killWordBack left left killWordBack");
    expect(told(two)).toBe("|e ");
    expect(two.kills).toEqual(["two", "on"]);
    const yanked = run(two, "yank");
    expect(told(yanked)).toBe("on|e ");
    expect(told(run(yanked, "yankOlder"))).toBe("two|e ");
    expect(told(run(yanked, "yankOlder yankOlder"))).toBe("on|e ");
    expect(told(run(yanked, "left yankOlder"))).toBe("o|ne ");
  });

  test("the history: older and newer, the draft and what was changed are kept, equal neighbours once", () => {
    let state = run(createEditor(), "'one send 'two send 'two send 'draft");
    expect(state.history).toEqual(["one", "two"]);
    state = run(state, "up");
    expect(told(state)).toBe("two|");
    state = run(state, "'! up");
    expect(told(state)).toBe("one|");
    expect(told(run(state, "up"))).toBe("one|");
    state = run(state, "down");
    expect(told(state)).toBe("two!|");
    state = run(state, "down");
    expect(told(state)).toBe("draft|");
    expect(told(run(state, "down"))).toBe("draft|");
    expect(told(run(state, "up"))).toBe("two!|");
    state = run(state, "send up");
    expect(told(state)).toBe("draft|");
    expect(told(run(state, "up"))).toBe("two|");
  });

  test("in a prompt of several rows, Up and Down leave it at its edges only", () => {
    const state = { ...at("a⏎b|", ["old"]), shown: 1 };
    expect(told(run(state, "up"))).toBe("a|⏎b");
    expect(told(run(state, "up up"))).toBe("old|");
    expect(told(run(state, "up up down"))).toBe("a|⏎b");
  });

  test("what may not stand in a prompt does not enter it", () => {
    const state = edit(createEditor(), {
      type: "typed",
      text: "a\r\nb\rc\u0007\u001b[31md\te\ud800\u{10ff00}",
    });
    expect(state.text).toBe("a\nb\nc[31md\te\ufffd\ufffd");
  });

  test("text of a history that is too long or empty is cut or left out", () => {
    const editor = createEditor(["", " ", "x".repeat(textUnitsMax + 1)]);
    expect(editor.history.map((text) => text.length)).toEqual([textUnitsMax]);
  });
});

describe("pastes", () => {
  const large = `${"line\n".repeat(pasteShownLinesMax)}end`;

  test("a large one is one chip, and whole in the prompt that is sent", () => {
    const state = edit(at("see |!"), { type: "pasted", text: large });
    expect(state.text.length).toBe("see !".length + 2);
    expect(promptOf(state)).toBe(`see ${large}!`);
    expect(told(run(state, "back"))).toBe("see |!");
    expect(promptOf(run(state, "back undo"))).toBe(`see ${large}!`);
    expect(promptOf(run(state, "killLineStart yank"))).toBe(`see ${large}!`);
    expect(promptOf(run(state, "send up"))).toBe(`see ${large}!`);
  });

  test.each([
    ["lines", "x\n".repeat(pasteShownLinesMax - 1)],
    ["units", "x".repeat(pasteShownUnitsMax)],
  ])("at the limit of %s it is text", (_, text) => {
    expect(edit(createEditor(), { type: "pasted", text }).text).toBe(text);
    const more = text.includes("\n") ? `${text}\n` : `${text}x`;
    expect(edit(createEditor(), { type: "pasted", text: more }).chips.size).toBe(1);
  });

  test("chips that nothing can bring back are let go; beyond the limit a paste is refused, and that is said", () => {
    let state = createEditor();
    for (let count = 0; count < chipsMax; count++) state = edit(state, { type: "pasted", text: large });
    expect(state.chips.size).toBe(chipsMax);
    const full = edit(state, { type: "pasted", text: large });
    expect(full.text).toBe(state.text);
    expect(full.refused).toContain("large pastes");
    const freed: Editor = { ...createEditor(), chips: full.chips };
    const again = edit(freed, { type: "pasted", text: large });
    expect(again.refused).toBeUndefined();
    expect(again.chips.size).toBe(1);
  });

  test("all chips together are bounded", () => {
    const huge = "x".repeat(chipUnitsMax / 2);
    let state = edit(createEditor(), { type: "pasted", text: huge });
    state = edit(state, { type: "pasted", text: huge });
    expect(state.refused).toBeUndefined();
    expect(edit(state, { type: "pasted", text: large }).refused).toContain("large pastes");
  });
});

describe("bounds", () => {
  test("a prompt that is full takes no more, and that is said", () => {
    const full = edit(createEditor(), { type: "typed", text: "x".repeat(textUnitsMax) });
    expect(full.refused).toBeUndefined();
    const more = edit(full, { type: "typed", text: "y" });
    expect(more.text).toBe(full.text);
    expect(more.refused).toContain(String(textUnitsMax));
    expect(edit(more, { type: "moved", to: "left" }).refused).toBeUndefined();
    const cut = edit(createEditor(), { type: "typed", text: `${"x".repeat(textUnitsMax - 1)}👩‍💻` });
    expect(cut.text.length).toBe(textUnitsMax - 1);
    expect(cut.refused).toContain(String(textUnitsMax));
  });

  test("undo, killed texts and the history are bounded", () => {
    let state = createEditor();
    for (let count = 0; count <= undoStepsMax; count++)
      state = edit(state, { type: "pasted", text: `${count};` });
    expect(state.past).toHaveLength(undoStepsMax);
    for (let count = 0; count <= killsMax; count++)
      state = run(edit(state, { type: "typed", text: ` k${count}` }), "killWordBack left");
    expect(state.kills).toHaveLength(killsMax);
    expect(state.kills.at(-1)).toBe(`k${killsMax}`);
    for (let count = 0; count <= historyPromptsMax; count++)
      state = run(edit(state, { type: "typed", text: `p${count}` }), "send");
    expect(state.history).toHaveLength(historyPromptsMax);
    expect(state.history.at(-1)).toBe(`p${historyPromptsMax}`);
    expect(createEditor([...state.history, "x", "y"]).history).toHaveLength(historyPromptsMax);
  });
});

describe("laws", () => {
  const piece = fc.constantFrom(
    "a",
    "B",
    " ",
    "\n",
    "\t",
    ".",
    "é",
    "e\u0301",
    "\u0301",
    "漢",
    "👩‍💻",
    "🇩🇪",
    "🇩",
    "한",
    "\u1100",
    "\u1161",
    "\u200b",
    "نص",
    "क्षि",
    "\u202e",
  );
  const text = fc.array(piece, { maxLength: 30 }).map((pieces) => pieces.join(""));
  const event: fc.Arbitrary<EditorEvent> = fc.oneof(
    { weight: 3, arbitrary: text.map((typed): EditorEvent => ({ type: "typed", text: typed })) },
    { weight: 8, arbitrary: fc.constantFrom(...Object.values(events)) },
    {
      weight: 1,
      arbitrary: text.map((pasted): EditorEvent => ({ type: "pasted", text: `${pasted}${"\n".repeat(9)}` })),
    },
    {
      weight: 1,
      arbitrary: fc
        .tuple(fc.nat(40), fc.nat(40), text)
        .map(([start, end, put]): EditorEvent => ({ type: "replaced", start, end, text: put })),
    },
    {
      weight: 1,
      arbitrary: fc
        .integer({ min: 1, max: 12 })
        .map((width): EditorEvent => ({ type: "moved", to: "up", width })),
    },
  );

  function borders(whole: string): ReadonlySet<number> {
    const found = new Set([0]);
    let offset = 0;
    for (const atom of atomsOf(whole)) {
      offset += atom.length;
      found.add(offset);
    }
    return found;
  }

  test("the cursor is always on a border, after any events", () => {
    fc.assert(
      fc.property(fc.array(event, { maxLength: 40 }), (script) => {
        let state = createEditor(["one", "two\nthree"]);
        for (const each of script) {
          state = edit(state, each);
          expect(borders(state.text).has(state.cursor)).toBe(true);
        }
      }),
    );
  });

  test("borders before, after and from are those of the atoms", () => {
    fc.assert(
      fc.property(text, (whole) => {
        const all = [...borders(whole)];
        for (const [index, border] of all.entries()) {
          expect(borderBefore(whole, border)).toBe(all[index - 1] ?? 0);
          expect(borderAfter(whole, border)).toBe(all[index + 1] ?? whole.length);
        }
        for (let offset = 0; offset <= whole.length; offset++)
          expect(borderFrom(whole, offset)).toBe(all.find((border) => border >= offset));
      }),
    );
  });

  test("undo takes back what was typed, pasted or killed, wherever it was done; redo brings it again", () => {
    fc.assert(
      fc.property(fc.array(event, { maxLength: 20 }), event, (script, last) => {
        const before = { ...script.reduce(edit, createEditor()), act: "none" as const };
        const after = edit(before, last);
        if (
          ["moved", "recalled", "put away", "undone", "redone"].includes(last.type) ||
          after.text === before.text
        )
          return;
        const undone = edit(after, { type: "undone" });
        expect(undone.text).toBe(before.text);
        expect(edit(undone, { type: "redone" }).text).toBe(after.text);
      }),
    );
  });

  test("a character that joins nothing is inserted and deleted without a trace", () => {
    fc.assert(
      fc.property(text, fc.nat(60), fc.constantFrom("a", "漢", " ", "\n", "❓"), (whole, place, typed) => {
        const start = { ...createEditor(), text: whole, cursor: borderFrom(whole, place) };
        const rest = whole.slice(start.cursor);
        if (/^[\p{M}\p{Cf}\u1161]/u.test(rest)) return;
        const back = run(edit(start, { type: "typed", text: typed }), "back");
        expect([back.text, back.cursor]).toEqual([whole, start.cursor]);
      }),
    );
  });

  test("killing and yanking at once changes nothing", () => {
    fc.assert(
      fc.property(
        text,
        fc.nat(60),
        fc.constantFrom("killWordBack", "killBlankBack", "killWordForward", "killLineStart", "killLineEnd"),
        (whole, place, kill) => {
          const start = { ...createEditor(), text: whole, cursor: borderFrom(whole, place) };
          const killed = run(start, kill);
          if (killed.text === whole) return;
          const cut = killed.cursor;
          // Where what is left grew together, the text is yanked behind it.
          if (
            killed.text.slice(0, cut) !== whole.slice(0, cut) ||
            !whole.startsWith(killed.kills.at(-1) ?? "", cut)
          )
            return;
          expect(run(killed, "yank").text).toBe(whole);
        },
      ),
    );
  });
});
