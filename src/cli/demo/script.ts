/** What happens in the demo: a made conversation with streaming text, tools that run and fail, a compaction, wide and hostile text. */
import type { Recorder } from "./records.ts";

/** A beat of the demo: wait, then append these records at once. */
export interface Beat {
  readonly waitMs: number;
  records(recorder: Recorder): readonly object[];
}

const wordMs = 45;

/** Beats that stream `text` word by word as one growing block. */
function* stream(
  text: string,
  message: { current?: ReturnType<Recorder["message"]> },
  last: boolean,
): Generator<Beat> {
  const words = text.split(/(?<=\s)/u);
  let told = "";
  for (const [i, word] of words.entries()) {
    told += word;
    const soFar = told;
    const done = last && i === words.length - 1;
    yield {
      waitMs: i === 0 ? 500 : wordMs,
      records: (r) => {
        message.current ??= r.message();
        return [message.current.text(soFar, done)];
      },
    };
  }
}

function* say(text: string, last = false): Generator<Beat> {
  yield* stream(text, {}, last);
}

function* think(text: string): Generator<Beat> {
  yield { waitMs: 700, records: (r) => [r.message().thinking(text)] };
}

function* tool(
  id: string,
  name: string,
  input: object,
  runMs: number,
  content: string,
  facts: { readonly isError?: boolean; readonly detail?: object | string } = {},
): Generator<Beat> {
  yield { waitMs: 400, records: (r) => [r.message().call(id, name, input)] };
  yield { waitMs: runMs, records: (r) => [r.result(id, content, facts)] };
}

function* prompt(text: string): Generator<Beat> {
  yield { waitMs: 900, records: (r) => [r.prompt(text)] };
}

function* end(ms: number): Generator<Beat> {
  yield { waitMs: 200, records: (r) => [r.turnEnd(ms)] };
}

const listing = Array.from(
  { length: 48 },
  (_, i) => `src/painter/part-${String(i + 1).padStart(2, "0")}.ts`,
).join("\n");

const failing = [
  " FAIL  test/painter.test.ts > keeps frozen rows",
  "AssertionError: expected 24 rows, got 25",
  "    at test/painter.test.ts:41:18",
  ...Array.from({ length: 38 }, (_, i) => `    row ${i + 1}: ${"·".repeat((i * 7) % 40)}`),
  " Tests  1 failed | 36 passed (37)",
].join("\n");

const progress = `${Array.from({ length: 10 }, (_, i) => `installing ${(i + 1) * 10}%`).join("\r")}\nadded 14 packages\n`;

const hostile = [
  "an escape that would clear the screen: \u001b[2J\u001b[3J",
  "one that would set the clipboard: \u001b]52;c;aGFuc2FyZA==\u0007",
  "one that never ends: \u001b]0;title",
  "a right-to-left override: \u202Etxt.exe\u202C and a zero-width space: a\u200Bb",
  "a bell \u0007, a backspace \b, and a C1 control \u009B2J",
].join("\n");

const wide = `Width is counted in cells, not characters:

| script | sample | cells |
| --- | --- | ---: |
| Japanese | 議事録は一語も漏らさず | 22 |
| Korean | 회의록 | 6 |
| emoji | 👩‍👩‍👦 🇯🇵 ❤️ | 8 |
| Hebrew | פרוטוקול מלא | 12 |

A fenced block keeps its column and copies as it is:

\`\`\`ts
export function rows(text: string, width: number): number {
  // every character can be reached, at any width
  return Math.max(1, Math.ceil(cells(text) / width));
}
\`\`\`
`;

/** The whole demo, in order; about a minute at speed 1. */
export function* script(): Generator<Beat> {
  yield { waitMs: 0, records: (r) => [r.title("Demo: the resize bug")] };
  yield* prompt("fix the resize bug in the painter");
  yield* think(
    "The painter counts rows. Something counts one too many after a width change; the test will tell.",
  );
  yield* say("I'll look at how the painter treats a width change, then run its tests.");
  yield* tool("toolu_demo_1", "Glob", { pattern: "src/painter/**/*.ts" }, 500, listing);
  yield* tool(
    "toolu_demo_2",
    "Bash",
    { command: "npm test -- painter", description: "Run the painter's tests" },
    3200,
    `Error: Exit code 1\n${failing}`,
    {
      isError: true,
      detail: `Error: Exit code 1\n${failing}`,
    },
  );
  yield* say(
    "The frozen rows are painted twice, because the epoch is bumped **before** the rows are counted. Two things follow:\n\n1. a settled resize must reset `paintedThrough` to the first held block;\n2. the reprint must work in slices, so that typing is not held up.\n",
  );
  yield* tool(
    "toolu_demo_3",
    "Edit",
    {
      file_path: "src/painter/screen.ts",
      old_string: "  epoch += 1;\n  reprint(rows);\n",
      new_string: "  epoch += 1;\n  paintedThrough = heldFirst;\n  reprintInSlices(rows);\n",
    },
    900,
    "The file src/painter/screen.ts has been updated.",
    {
      detail: {
        filePath: "src/painter/screen.ts",
        oldString: "  epoch += 1;\n  reprint(rows);\n",
        newString: "  epoch += 1;\n  paintedThrough = heldFirst;\n  reprintInSlices(rows);\n",
        structuredPatch: [
          {
            oldStart: 41,
            oldLines: 4,
            newStart: 41,
            newLines: 5,
            lines: [
              "   if (size.columns === columns) return;",
              "   epoch += 1;",
              "-  reprint(rows);",
              "+  paintedThrough = heldFirst;",
              "+  reprintInSlices(rows);",
              " }",
            ],
          },
        ],
      },
    },
  );
  yield* tool("toolu_demo_4", "Bash", { command: "npm test -- painter" }, 2400, " Tests  37 passed (37)\n", {
    detail: { stdout: " Tests  37 passed (37)\n", stderr: "", interrupted: false },
  });
  yield* say(
    "All 37 tests pass now. The frozen rows stay where they are, and the live region is laid out afresh.",
    true,
  );
  yield* end(21_400);

  yield* prompt("does it hold for wide text, and for output that tries to draw on my terminal?");
  yield* say(wide);
  yield* tool("toolu_demo_5", "Bash", { command: "cat untrusted.log" }, 700, hostile, {
    detail: { stdout: hostile, stderr: "", interrupted: false },
  });
  yield* say("Nothing of that reached the terminal: what was dangerous is shown, not done.", true);
  yield* end(9_300);

  yield {
    waitMs: 1500,
    records: (r) =>
      r.compaction(118_000, 9_000, "The resize bug was fixed in src/painter/screen.ts; 37 tests pass."),
  };

  yield* prompt("install the packages and tell me what is left");
  yield* tool(
    "toolu_demo_6",
    "Bash",
    { command: "npm install", description: "Install the packages" },
    2600,
    progress,
    { detail: { stdout: progress, stderr: "", interrupted: false } },
  );
  yield* say(
    "Nothing is left. Press **Ctrl+O** for the whole conversation, from the first prompt on, also what came before the compaction; `Home` goes there in one step, `/` searches, `q` leaves.",
    true,
  );
  yield* end(4_100);
}
