import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { createInputDecoder, type Key, keyName, type Report } from "../../src/terminal/input/index.ts";
import {
  brokenOffMs,
  escapeMs,
  pastePauseMs,
  pasteUnitsMax,
  sequenceUnitsMax,
  stringUnitsMax,
} from "../../src/terminal/input/limits.ts";
import { createVirtualClock } from "../support/terminal/clock.ts";

interface Heard {
  readonly keys: readonly Key[];
  readonly reports: readonly Report[];
}

async function hear(...chunks: readonly string[]): Promise<Heard> {
  const clock = createVirtualClock();
  const keys: Key[] = [];
  const reports: Report[] = [];
  const decoder = createInputDecoder({
    clock,
    onKey: (key) => keys.push(key),
    onReport: (report) => reports.push(report),
  });
  for (const chunk of chunks) decoder.push(chunk);
  await clock.advance(escapeMs);
  return { keys, reports };
}

const table: readonly (readonly [string, string])[] = [
  ["a", "a"],
  ["G", "G"],
  ["é", "é"],
  ["漢", "漢"],
  [" ", "space"],
  ["\r", "enter"],
  ["\n", "ctrl+j"],
  ["\t", "tab"],
  ["\x7f", "backspace"],
  ["\b", "backspace"],
  ["\0", "ctrl+space"],
  ["\x03", "ctrl+c"],
  ["\x0f", "ctrl+o"],
  ["\x1a", "ctrl+z"],
  ["\x1c", "ctrl+\\"],
  ["\x1b", "escape"],
  ["\x1b\x1b", "alt+escape"],
  ["\x1ba", "alt+a"],
  ["\x1b\r", "alt+enter"],
  ["\x1b[A", "up"],
  ["\x1bOA", "up"],
  ["\x1b\x1b[A", "alt+up"],
  ["\x1b[1;3A", "alt+up"],
  ["\x1b[1;5D", "ctrl+left"],
  ["\x1b[1;2C", "shift+right"],
  ["\x1b[a", "shift+up"],
  ["\x1bOa", "ctrl+up"],
  ["\x1b[H", "home"],
  ["\x1b[F", "end"],
  ["\x1bOH", "home"],
  ["\x1b[1~", "home"],
  ["\x1b[4~", "end"],
  ["\x1b[7~", "home"],
  ["\x1b[8~", "end"],
  ["\x1b[5~", "pageup"],
  ["\x1b[6~", "pagedown"],
  ["\x1b[6;5~", "ctrl+pagedown"],
  ["\x1b[5$", "shift+pageup"],
  ["\x1b[5^", "ctrl+pageup"],
  ["\x1b[2~", "insert"],
  ["\x1b[3~", "delete"],
  ["\x1b[Z", "shift+tab"],
  ["\x1bOP", "f1"],
  ["\x1b[[A", "f1"],
  ["\x1b[[E", "f5"],
  ["\x1b[15~", "f5"],
  ["\x1b[24~", "f12"],
  ["\x1bOM", "enter"],
  ["\x1b[111;5u", "ctrl+o"],
  ["\x1b[27;5;111~", "ctrl+o"],
  ["\x1b[27u", "escape"],
  ["\x1b[13u", "enter"],
  ["\x1b[97;2u", "A"],
  ["\x1b[97;1:1u", "a"],
  ["\x1b[97;3u", "alt+a"],
  ["\x1b[32u", "space"],
  ["\x1b[57421u", "pageup"],
  ["\x1b[<64;10;20M", "wheelup"],
  ["\x1b[<65;10;20M", "wheeldown"],
  ["\x1b[I", "focus"],
  ["\x1b[O", "blur"],
];

describe("keys", () => {
  test.each(table)("%j is %s", async (bytes, name) => {
    const { keys, reports } = await hear(bytes);
    expect(keys.map(keyName)).toEqual([name]);
    expect(reports).toEqual([]);
  });

  test.each(table)("%j is the same one character at a time", async (bytes, name) => {
    const { keys } = await hear(...bytes);
    expect(keys.map(keyName)).toEqual([name]);
  });

  const silent: readonly (readonly [string, string])[] = [
    ["a kitty release", "\x1b[97;1:3u"],
    ["a click", "\x1b[<0;10;20M"],
    ["a click's end", "\x1b[<0;10;20m"],
    ["an old mouse event", "\x1b[M !!"],
    ["an unknown sequence", "\x1b[99;99;99z"],
    ["an unknown string", "\x1bX whatever \x1b\\"],
    ["a modifier alone", "\x1b[57441;2u"],
    ["a C1 control", "\u009b"],
  ];
  test.each(silent)("%s is swallowed whole", async (_name, bytes) => {
    const { keys } = await hear(`${bytes}q`);
    expect(keys.map(keyName)).toEqual(["q"]);
  });

  test("an Escape is the key only when nothing follows for a while", async () => {
    const clock = createVirtualClock();
    const keys: string[] = [];
    const decoder = createInputDecoder({
      clock,
      onKey: (key) => keys.push(keyName(key)),
      onReport: () => undefined,
    });
    decoder.push("\x1b");
    await clock.advance(escapeMs - 1);
    expect(keys).toEqual([]);
    await clock.advance(1);
    expect(keys).toEqual(["escape"]);
    decoder.push("\x1b");
    await clock.advance(escapeMs - 1);
    decoder.push("[A");
    await clock.advance(escapeMs);
    expect(keys).toEqual(["escape", "up"]);
  });
});

describe("what is broken off", () => {
  async function heardWithPauses(ms: number, ...chunks: readonly string[]): Promise<readonly string[]> {
    const clock = createVirtualClock();
    const keys: string[] = [];
    const decoder = createInputDecoder({
      clock,
      onKey: (key) => keys.push(key.name === "paste" ? `paste ${key.text}` : keyName(key)),
      onReport: () => keys.push("report"),
    });
    for (const chunk of chunks) {
      decoder.push(chunk);
      await clock.advance(ms);
    }
    return keys;
  }

  test.each([
    ["\x1b[", "alt+["],
    ["\x1bO", "alt+O"],
    ["\x1b]", "alt+]"],
    ["\x1bP", "alt+P"],
    ["\x1b_", "alt+_"],
  ])("%j and nothing more is %s", async (bytes, name) => {
    expect(await heardWithPauses(brokenOffMs, bytes, "q")).toEqual([name, "q"]);
  });

  test.each(["\x1b[1;", "\x1b]11;rgb:", "\x1bPabc", "\x1b[[", "\x1b[M!"])(
    "%j and nothing more is nothing",
    async (bytes) => {
      expect(await heardWithPauses(brokenOffMs, bytes, "q")).toEqual(["q"]);
    },
  );

  test("the rest of a sequence that comes late, but in time, belongs to it", async () => {
    expect(await heardWithPauses(brokenOffMs - 1, "\x1b[", "1;", "5", "A")).toEqual(["ctrl+up"]);
  });

  test("Ctrl+C is heard within a string that was never ended", async () => {
    expect(await heardWithPauses(0, "\x1b]abc\x03", "q")).toEqual(["ctrl+c", "q"]);
  });

  test("a paste without its end mark ends after a pause", async () => {
    expect(await heardWithPauses(pastePauseMs - 1, "\x1b[200~one", "two\x1b[20")).toEqual([]);
    expect(await heardWithPauses(pastePauseMs, "\x1b[200~one\x1b[20", "q")).toEqual([
      "paste one\x1b[20",
      "q",
    ]);
  });
});

describe("reports", () => {
  test.each([
    ["the cursor", "\x1b[12;34R", { type: "cursor", row: 12, column: 34 }],
    ["the device", "\x1b[?62;22c", { type: "other", text: "?62;22c" }],
    ["a mode", "\x1b[?2026;2$y", { type: "other", text: "?2026;2$y" }],
    ["a colour", "\x1b]11;rgb:1e1e/1e1e/1e1e\x1b\\", { type: "other", text: "]11;rgb:1e1e/1e1e/1e1e" }],
    ["a colour ended by BEL", "\x1b]11;rgb:0/0/0\x07", { type: "other", text: "]11;rgb:0/0/0" }],
    ["a DCS", "\x1bP>|xterm(379)\x1b\\", { type: "other", text: "P>|xterm(379)" }],
  ] as const)("%s is never a key", async (_name, bytes, report) => {
    for (const chunks of [[bytes], [...bytes]]) {
      const { keys, reports } = await hear(...chunks);
      expect(keys).toEqual([]);
      expect(reports).toEqual([report]);
    }
  });
});

describe("pastes", () => {
  test("a paste is one key, whatever it holds", async () => {
    const text = "q\x03\x1b[A\nrm -rf /\x1b[200~ more";
    for (const chunks of [[`\x1b[200~${text}\x1b[201~q`], [...`\x1b[200~${text}\x1b[201~q`]]) {
      const { keys } = await hear(...chunks);
      expect(keys).toEqual([
        { name: "paste", text },
        { name: "q", text: "q" },
      ]);
    }
  });

  test("what looks like the start of the end mark is text", async () => {
    const text = "\x1b[20\x1b[2\x1b\x1b[201";
    const { keys } = await hear(`\x1b[200~${text}!\x1b[201~`);
    expect(keys).toEqual([{ name: "paste", text: `${text}!` }]);
  });
});

describe("limits", () => {
  test("a paste is cut at its limit, and ends where it ends", async () => {
    const { keys } = await hear(`\x1b[200~${"x".repeat(pasteUnitsMax + 10)}\x1b[201~q`);
    expect(keys[0]?.text).toHaveLength(pasteUnitsMax);
    expect(keys[0]?.leftOut).toBe(10);
    expect(keys[1]?.name).toBe("q");
    // A paste of just so much is whole, and the next one is judged by itself.
    const { keys: next } = await hear(`\x1b[200~${"x".repeat(pasteUnitsMax)}\x1b[201~`);
    expect([next[0]?.text?.length, next[0]?.leftOut]).toEqual([pasteUnitsMax, undefined]);
  });

  test("a control sequence beyond its limit is swallowed", async () => {
    const { keys } = await hear(`\x1b[${"1;".repeat(sequenceUnitsMax)}Aq`);
    expect(keys.map(keyName)).toEqual(["q"]);
  });

  test("a string beyond its limit is cut, and ends where it ends", async () => {
    const { keys, reports } = await hear(`\x1b]${"x".repeat(stringUnitsMax + 10)}\x07q`);
    expect(reports[0]).toMatchObject({ type: "other" });
    expect((reports[0] as { text: string }).text).toHaveLength(stringUnitsMax);
    expect(keys.map(keyName)).toEqual(["q"]);
  });
});

test("chunk borders mean nothing", async () => {
  const piece = fc.oneof(
    fc.constantFrom(...table.map(([bytes]) => bytes).filter((bytes) => !bytes.endsWith("\x1b"))),
    fc.constantFrom("\x1b[3;4R", "\x1b]0;t\x07", "\x1b[200~paste\x1b[201~", "\x1b[?1c", "\x1bP1\x1b\\"),
    fc.string({ unit: "binary", maxLength: 6 }).map((text) => text.replaceAll("\x1b", "")),
  );
  await fc.assert(
    fc.asyncProperty(fc.array(piece, { maxLength: 12 }), fc.array(fc.nat(200)), async (pieces, cuts) => {
      const whole = Array.from(pieces.join(""));
      const places = [...new Set(cuts.map((cut) => cut % (whole.length + 1)))].sort((a, b) => a - b);
      const chunks = [0, ...places].map((from, index) =>
        whole.slice(from, places[index] ?? whole.length).join(""),
      );
      const inPieces = await hear(...chunks.filter((chunk) => chunk !== ""));
      expect(inPieces).toEqual(await hear(whole.join("")));
    }),
  );
});
