/** What is expected of every agent whose sessions are lines: one reading in every way, damage in its place, hostile text as data. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { Classifier } from "../../src/sources/classifier.ts";
import type { Entry } from "../../src/transcript/index.ts";
import { cutPlaces, expectFollowed, expectOneReading, logOf, readBackward } from "./log-laws.ts";
import { type RecordKinds, recordKinds } from "./record-kinds.ts";

/** Texts that must pass as they are: they are data, whatever they look like. */
export const HOSTILE_TEXTS: readonly string[] = [
  "\u001b]0;title\u0007\u001b[2J\u001b[31mred",
  "a\u2028b\u2029c\u0085d",
  "\u202eevil\u202c \u200b\u2066x",
  '<script>alert(1)</script> & "quoted" \'',
  "```\n</pre>\n```",
  "\ud83d alone",
  "nul \u0000 byte",
];

export interface LineAgent {
  readonly classifier: Classifier;
  /** Sessions by name; kept ones and made ones. */
  readonly sessions: Readonly<Record<string, string>>;
  /** A record whose entry's text is the words, as the agent writes it. */
  readonly promptOf: (words: string) => object;
  /** The kinds of the sessions' records. */
  readonly kinds: RecordKinds;
  readonly runs?: number;
}

/** The value of a line; nothing where it is damaged. */
function jsonOf(line: string): readonly unknown[] {
  try {
    return [JSON.parse(line)];
  } catch {
    return [];
  }
}

/** Registers the laws for an agent. */
export function expectLineLaws(agent: LineAgent): void {
  const { classifier } = agent;
  const name = classifier.agent;
  describe.each(Object.entries(agent.sessions))("%s", (_, content) => {
    const bytes = Buffer.from(content);
    test("reads the same in every way", () => expectOneReading(name, classifier, bytes));
    test("is followed to the same", async () => {
      await fc.assert(
        fc.asyncProperty(cutPlaces, (places) =>
          expectFollowed(name, classifier, bytes, [0, ...places], true),
        ),
        { numRuns: agent.runs ?? 15 },
      );
    });
    test("no record is left out without being counted", async () => {
      const report = await (await logOf(name, classifier, bytes)).check();
      const counted = Object.values(report.recordKinds).reduce((sum, n) => sum + n, 0);
      expect(counted).toBe(report.records);
    });
  });

  test("every kind of record is known and shown, or named here", () => {
    const lines = Object.values(agent.sessions).join("\n").split("\n");
    const records = lines.filter((line) => line !== "").flatMap((line) => jsonOf(line));
    const said = records.map((value) => classifier.classify({ type: "record", start: 0, end: 1, value }));
    expect(recordKinds(said)).toEqual(agent.kinds);
  });

  const [first = ""] = Object.values(agent.sessions);
  const line = (words: string): string => `${JSON.stringify(agent.promptOf(words))}\n`;

  describe("damage", () => {
    test("a garbage line and a run of NUL bytes stand in their place, and all else is read", async () => {
      const rows = first.trimEnd().split("\n");
      const middle = Math.floor(rows.length / 2);
      const whole = await readBackward(await logOf(name, classifier, Buffer.from(first)), 1000);
      const damaged = [
        ...rows.slice(0, middle),
        "not json",
        "\0".repeat(300),
        ...rows.slice(middle),
        "",
      ].join("\n");
      const log = await logOf(name, classifier, Buffer.from(damaged));
      const entries = await readBackward(log, 1000);
      const isDamaged = (e: Entry): boolean => e.kind === "raw" && e.damaged === true;
      expect(entries.filter(isDamaged).length).toBeGreaterThan(0);
      expect(entries.filter((e) => !isDamaged(e)).map(bare)).toEqual(whole.map(bare));
      expect((await log.check()).damaged.length).toBeGreaterThan(0);
      await expectOneReading(name, classifier, Buffer.from(damaged));
    });

    test("a torn end is told and held back", async () => {
      const torn = Buffer.from(first.trimEnd().slice(0, -3));
      const page = await (await logOf(name, classifier, torn)).tail(1000);
      expect(page.damage.at(-1)).toMatchObject({ reason: "torn", end: torn.length });
      expect(page.entries.some((e) => e.kind === "raw" && e.damaged === true)).toBe(false);
    });

    test("an empty log has no entry", async () => {
      const page = await (await logOf(name, classifier, Buffer.alloc(0))).tail(10);
      expect([page.entries, page.atStart, page.atEnd, page.turnOpen]).toEqual([[], true, true, false]);
    });
  });

  test.each(HOSTILE_TEXTS)("hostile text is data: %j", async (words) => {
    const log = await logOf(name, classifier, Buffer.from(line(words)));
    const { entries } = await log.tail(10);
    expect(JSON.stringify(entries)).toContain(JSON.stringify(words).slice(1, -1));
  });

  test("the newest page of a large log reads no more than its end", async () => {
    const filler = line("x".repeat(10_000)).repeat(1600);
    const bytes = Buffer.from(filler + line("the last"));
    const { log, read } = await countedLog(classifier, bytes);
    const page = await log.tail(20);
    expect(page.entries).toHaveLength(20);
    expect(read()).toBeLessThan(bytes.length / 2);
  });

  test("any JSON value has a meaning", () => {
    fc.assert(
      fc.property(
        fc.jsonValue(),
        fc.constantFrom("type", "kind", "role", "message", "event"),
        (value, key) => {
          for (const record of [value, { ...agent.promptOf("x"), [key]: value }]) {
            const said = classifier.classify({ type: "record", start: 0, end: 1, value: record });
            expect(said.kind).toBeTypeOf("string");
            if (!said.known) expect(said.entries).toHaveLength(1);
          }
        },
      ),
      { numRuns: 300 },
    );
  });
}

function bare(entry: Entry): object {
  const { name: _n, place: _p, ...rest } = entry;
  const call = "call" in rest && rest.call !== undefined ? { ...rest.call, entry: "" } : undefined;
  return call === undefined ? rest : { ...rest, call };
}

async function countedLog(
  classifier: Classifier,
  bytes: Uint8Array,
): Promise<{ readonly log: Awaited<ReturnType<typeof logOf>>; readonly read: () => number }> {
  const { bytesOf } = await import("../../src/lines/index.ts");
  const { openJsonlLog } = await import("../../src/sources/jsonl-log.ts");
  const source = bytesOf(bytes);
  let total = 0;
  const counted = {
    ...source,
    size: () => source.size(),
    close: () => source.close(),
    async read(offset: number, length: number) {
      const piece = await source.read(offset, length);
      total += piece.length;
      return piece;
    },
  };
  const log = await openJsonlLog({
    agent: classifier.agent,
    path: "memory.jsonl",
    classifier,
    source: counted,
  });
  return { log, read: () => total };
}
