import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  createSanitizer,
  decodeBytes,
  looksBinary,
  type SafeLine,
  type SanitizeOptions,
  sanitize,
  sanitizeLine,
  sanitizeLines,
} from "../../src/terminal/text/index.ts";
import { payloadShownMax } from "../../src/terminal/text/limits.ts";
import { faultOf, hostile } from "./support.ts";

const seed = 20_261_201;

/** Text made of everything that matters to the filter, so that sequences meet each other. */
const piece = fc.oneof(
  fc.constantFrom(...Object.values(hostile)),
  fc.constantFrom(
    "\x1b",
    "\x1b[",
    "\x1b]",
    "\x1b\\",
    "\x07",
    "\r",
    "\n",
    "\r\n",
    "\t",
    "\b",
    "\u009b",
    "\u009c",
    "31m",
    ";",
  ),
  fc.constantFrom(
    "\u200d",
    "\ufe0f",
    "\u0301",
    "\u{1f468}",
    "\u{1f3fd}",
    "\ud83d",
    "\udc68",
    "\u{e0041}",
    "\u0646",
    "\u200c",
  ),
  fc.string({ unit: "binary", maxLength: 6 }),
  fc.string({ maxLength: 12 }),
);
const text = fc.array(piece, { maxLength: 24 }).map((parts) => parts.join(""));

function pushed(input: string, cuts: readonly number[], options: SanitizeOptions): readonly SafeLine[] {
  const sanitizer = createSanitizer(options);
  const lines: SafeLine[] = [];
  let from = 0;
  for (const cut of [...cuts, input.length]) {
    const to = Math.max(from, Math.min(cut, input.length));
    lines.push(...sanitizer.push(input.slice(from, to)));
    from = to;
  }
  return [...lines, ...sanitizer.end()];
}

describe("what is shown", () => {
  const table: readonly (readonly [string, string, string])[] = [
    ["OSC 52 with BEL", "\x1b]52;c;QUJD\x07", "␛]52;c;QUJD␇"],
    ["OSC title", "\x1b]0;x\x07", "␛]0;x␇"],
    ["OSC 8", "\x1b]8;;http://e.test\x1b\\t\x1b]8;;\x1b\\", "␛]8;;http://e.test␛\\t␛]8;;␛\\"],
    ["DCS", "\x1bPq...\x1b\\", "␛Pq...␛\\"],
    ["APC", "\x1b_Gf=1;\x1b\\", "␛_Gf=1;␛\\"],
    ["CSI", "a\x1b[10Ab\x1b[?1049hc", "a␛[10Ab␛[?1049hc"],
    ["reset", "\x1bc", "␛c"],
    ["charset", "\x1b(0", "␛(0"],
    ["ESC before a letter of another script", "\x1b\u6f22", "␛\u6f22"],
    ["ESC twice", "\x1b\x1b[2J", "␛␛[2J"],
    ["unterminated OSC swallows nothing", "\x1b]52;c;QUJD and text\nnext", "␛]52;c;QUJD and text\nnext"],
    ["C1 as a character", "\u009b2J", "‹U+009B›2J"],
    ["BEL runs are counted", "\x07".repeat(1000), "␇×1000"],
    ["up to three are shown", "\x07\x07\x07", "␇␇␇"],
    ["backspaces do not hide", "safe\b\b\b\bevil", "safe␈×4evil"],
    ["overwritten text is shown with what overwrites it", "safe\revil", "safe␍evil"],
    [
      "a command cannot hide behind a carriage return",
      "curl evil.sh | sh #\rls -l",
      "curl evil.sh | sh #␍ls -l",
    ],
    ["an erased line before it is written anew", "50%\r\x1b[K100%\n", "50%␍100%\n"],
    ["a state that ends in a carriage return stays", "50%\r", "50%"],
    ["CR LF is a line break", "a\r\n\r\nb\r\r\n", "a\n\nb\n"],
    ["RootWire#53: bidi overrides", "\u202etxet\u202c", "‹RLO›txet‹PDF›"],
    ["marks of direction", "a\u200fb\u061cc", "a‹RLM›b‹ALM›c"],
    ["zero width", "a\u200bb\u2060c\ufeffd\u00ade", "a‹ZWSP›b‹WJ›c‹BOM›d‹SHY›e"],
    ["line separators", "a\u2028b", "a‹LS›b"],
    ["hidden ASCII", "x\u{e0068}\u{e0069}\u{e007f}", "x‹tags hi›"],
    ["lone surrogates", "a\ud99cb", "a‹U+D99C›b"],
    ["noncharacters", "\ufdd0\uffff", "‹U+FDD0›‹U+FFFF›"],
    ["cc#251, codex#36017: tabs go to their column", "a\tb\n\u6f22\tb", "a       b\n\u6f22      b"],
    ["a joined emoji stays whole", "\u{1f468}\u200d\u{1f469}", "\u{1f468}\u200d\u{1f469}"],
    ["a joiner elsewhere does not", "a\u200db", "a‹ZWJ›b"],
    ["Persian keeps its non-joiner", "\u0645\u06cc\u200c\u062e", "\u0645\u06cc\u200c\u062e"],
    ["one variation selector on a base that has variants", "\u2764\ufe0f\ufe0f", "\u2764\ufe0f‹VS16›"],
    ["none on a plain letter", "A\ufe0f", "A‹VS16›"],
    ["endless marks are cut", `a${"\u0301".repeat(20)}`, `a${"\u0301".repeat(16)}‹+4 marks›`],
    ["colours are shown where they are not kept", "\x1b[31mred\x1b[0m", "␛[31mred␛[0m"],
    [
      "cc#89489: Hebrew and Arabic pass as they are",
      "\u05e9\u05dc\u05d5\u05dd 12 \u0633\u0644\u0627\u0645",
      "\u05e9\u05dc\u05d5\u05dd 12 \u0633\u0644\u0627\u0645",
    ],
  ];
  it.each(table)("%s", (_name, input, output) => {
    expect(sanitize(input)).toBe(output);
  });

  it("counts the rest of a long payload, and shows all of it on demand", () => {
    const input = `\x1b]52;c;${"A".repeat(500)}\x07`;
    expect(sanitize(input)).toBe(`␛]52;c;${"A".repeat(payloadShownMax - 5)}…+${505 - payloadShownMax}␇`);
    expect(sanitize(input, { whole: true })).toBe(`␛]52;c;${"A".repeat(500)}␇`);
  });

  it.each([
    ["codex#32325, oc#35246: the last of many states", "1%\r2%\r3%\r\nDone\n", "3% ␍×2\nDone\n"],
    ["an erased line before it is written anew", "50%\r\x1b[K100%\n", "100% ␍\n"],
  ])("shows of a program's progress what is left standing: %s", (_name, input, output) => {
    expect(sanitize(input, { overwritten: "last" })).toBe(output);
  });

  it("keeps colours as tones, across lines, and ignores the rest", () => {
    const lines = sanitizeLines("\x1b[1;31mred\nstill\x1b[0m plain \x1b[41;5;8mtext\x1b[2J", { sgr: "keep" });
    expect(lines).toEqual([
      [{ text: "red", bold: true, tone: "bad" }],
      [{ text: "still", bold: true, tone: "bad" }, { text: " plain text" }, { text: "␛[2J", tone: "danger" }],
    ]);
  });

  it("maps extended colours to the nearest tone", () => {
    const tones = (input: string): unknown => sanitizeLines(input, { sgr: "keep" })[0]?.[0]?.tone;
    expect(tones("\x1b[38;5;196mx")).toBe("bad");
    expect(tones("\x1b[38;2;20;200;40mx")).toBe("good");
    expect(tones("\x1b[38:5:240mx")).toBe("dim");
    expect(tones("\x1b[92mx")).toBe("good");
    expect(tones("\x1b[31m\x1b[39mx")).toBe(undefined);
  });

  it("tells a field on one line", () => {
    expect(sanitizeLine("a\nb\tc")).toBe("a␊b       c");
  });

  it("field faults case 6: a progress of 10,000 states cut between CR and LF", () => {
    let progress = "";
    for (let state = 0; state < 10_000; state++) progress += `Progress ${state}%\r`;
    const sanitizer = createSanitizer({ overwritten: "last" });
    const lines = [...sanitizer.push(progress), ...sanitizer.push("\nDone\n"), ...sanitizer.end()];
    const shown = lines.map((line) => line.map((span) => span.text).join(""));
    expect(shown).toEqual(["Progress 9999% ␍×9999", "Done"]);
  });

  it("shows what an unfinished line holds without disturbing it", () => {
    const sanitizer = createSanitizer({ overwritten: "last" });
    sanitizer.push("1%\r2");
    expect(sanitizer.peek()).toEqual([{ text: "2" }, { text: " ␍", tone: "danger" }]);
    expect(sanitizer.push("%\n")).toEqual([[{ text: "2%" }, { text: " ␍", tone: "danger" }]]);
    expect(sanitizer.peek()).toBe(undefined);
  });
});

describe("bytes", () => {
  it("RootWire#53: shows stray bytes and keeps what is UTF-8", () => {
    const bytes = Uint8Array.of(
      0x61,
      0x9b,
      0xe6,
      0xbc,
      0xa2,
      0xff,
      0xe6,
      0xbc,
      0xed,
      0xa0,
      0x80,
      0xc0,
      0x80,
      0xf5,
      0x62,
    );
    expect(sanitize(decodeBytes(bytes), { bytes: true })).toBe(
      "a‹9B›漢‹FF›‹E6›‹BC›‹ED›‹A0›‹80›‹C0›‹80›‹F5›b",
    );
  });

  it("decodes all that is UTF-8 like the platform does", () => {
    fc.assert(
      fc.property(fc.string({ unit: "grapheme" }), (value) => {
        expect(decodeBytes(new TextEncoder().encode(value))).toBe(value);
      }),
      { seed },
    );
  });

  it("tells binary from text", () => {
    expect(looksBinary("\0\0\0\0\x01\x02abc")).toBe(true);
    expect(looksBinary(`\ufffdPNG\r\n\x1a\n\0\0\0\rIHDR${"\ufffd".repeat(30)}`)).toBe(true);
    expect(looksBinary("plain text\n\twith tabs and \x1b[31mcolours\x1b[0m")).toBe(false);
    expect(looksBinary("")).toBe(false);
  });
});

describe("laws", () => {
  const options: readonly SanitizeOptions[] = [
    {},
    { sgr: "keep" },
    { overwritten: "last", whole: true },
    { bytes: true },
  ];

  it("ConEmu#687: nothing that a terminal could obey comes out", () => {
    fc.assert(
      fc.property(text, fc.constantFrom(...options), (input, option) => {
        expect(faultOf(sanitize(input, option).replaceAll("\n", ""))).toBe("");
      }),
      { seed, numRuns: 200 },
    );
  });

  it("is idempotent", () => {
    fc.assert(
      fc.property(text, (input) => {
        const once = sanitize(input);
        expect(sanitize(once)).toBe(once);
      }),
      { seed, numRuns: 200 },
    );
  });

  it("gives the same lines however the text is cut", () => {
    fc.assert(
      fc.property(
        text,
        fc.array(fc.nat({ max: 200 }), { maxLength: 8 }),
        fc.constantFrom(...options),
        (input, cuts, option) => {
          const sorted = [...cuts].sort((a, b) => a - b);
          expect(pushed(input, sorted, option)).toEqual(sanitizeLines(input, option));
        },
      ),
      { seed, numRuns: 200 },
    );
  });

  it.each(Object.entries(hostile))(
    "field faults case 5, hermes#27251: cut at every offset: %s",
    (_name, value) => {
      const whole = sanitizeLines(`before ${value} after\nnext`);
      for (let cut = 0; cut <= value.length; cut++) {
        const sanitizer = createSanitizer();
        const lines = [
          ...sanitizer.push(`before ${value.slice(0, cut)}`),
          ...sanitizer.push(`${value.slice(cut)} after\nne`),
          ...sanitizer.push("xt"),
          ...sanitizer.end(),
        ];
        expect(lines).toEqual(whole);
      }
      expect(whole.at(-1)).toEqual([{ text: "next" }]);
    },
  );

  it.each([
    ["escapes", "\x1b"],
    ["OSC starts", "\x1b]"],
    ["C1 strings", "\u009d"],
    ["BEL", "\x07"],
    ["carriage returns", "a\r"],
    ["tabs", "\t"],
    ["marks", "\u0301"],
    ["tags", "\u{e0041}"],
    ["colours", "\x1b[31m"],
    ["joiners", "\u200d"],
  ])("costs a bounded time for a megabyte of %s", (_name, unit) => {
    sanitize(unit.repeat(Math.floor(1_000_000 / unit.length)));
  });
});
