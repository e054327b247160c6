/** What is expected of every agent whose sessions are documents: one reading in every way, the same changes as of a log that only grows. */
import { rmSync, writeFileSync } from "node:fs";
import fc from "fast-check";
import { afterEach, describe, expect, test } from "vitest";
import type { Classified } from "../../src/sources/classifier.ts";
import { Document } from "../../src/sources/document/document.ts";
import type { DocumentFormat } from "../../src/sources/document/format.ts";
import { openDocumentLog } from "../../src/sources/document/log.ts";
import type { Log } from "../../src/sources/types.ts";
import { entryLine } from "./entry-notation.ts";
import { type Home, makeHome } from "./home.ts";
import { HOSTILE_TEXTS } from "./line-agents.ts";
import { readBackward, readForward } from "./log-laws.ts";
import { type RecordKinds, recordKinds } from "./record-kinds.ts";
import { createLooks, Follower, type Looks } from "./watched-log.ts";

export interface DocumentAgent {
  readonly format: DocumentFormat;
  /** Sessions by name. */
  readonly sessions: Readonly<Record<string, string>>;
  /** How one session is written, state after state. */
  readonly states: readonly string[];
  /** A session whose only entry's text is the words. */
  readonly promptOf: (words: string) => string;
  /** The kinds of the sessions' messages. */
  readonly kinds: RecordKinds;
  /** A session with this many entries of about a thousand characters. */
  readonly largeOf: (count: number) => string;
}

export interface OpenDocument {
  readonly path: string;
  readonly log: Log;
  readonly looks: Looks;
}

let home: Home | undefined;
const opened: Log[] = [];

export async function openDocument(
  format: DocumentFormat,
  content: string | Uint8Array,
): Promise<OpenDocument> {
  home ??= makeHome();
  const path = home.write(`${opened.length}-session`, content);
  const looks = createLooks();
  const describe = () => Promise.resolve({ agent: format.agent, id: "x", path });
  const log = await openDocumentLog({ path, format, describe, ports: looks.ports });
  opened.push(log);
  return { path, log, looks };
}

export async function closeDocuments(): Promise<void> {
  for (const log of opened.splice(0)) await log.close();
  home?.remove();
  home = undefined;
}

export async function told(format: DocumentFormat, content: string): Promise<string[]> {
  const { log } = await openDocument(format, content);
  return (await log.tail(1000)).entries.map(entryLine);
}

/** Expects of a follower what reading the document anew says. */
export async function expectCaughtUp(log: Log, follower: Follower): Promise<void> {
  const tail = await log.tail(1000);
  expect(follower.told.entries).toEqual(tail.entries);
  expect(follower.told.isOpen).toBe(tail.turnOpen);
  expect([...follower.told.live].sort()).toEqual([...tail.live].sort());
}

/** Registers the laws for an agent. */
export function expectDocumentLaws(agent: DocumentAgent): void {
  const { format, states } = agent;
  afterEach(closeDocuments);

  describe.each(Object.entries(agent.sessions))("%s", (_, content) => {
    test("reads the same in every way", async () => {
      const { log } = await openDocument(format, content);
      const whole = await readBackward(log, 1000);
      for (const limit of [1, 2, 7, 100]) {
        expect(await readBackward(log, limit)).toEqual(whole);
        expect(await readForward(log, limit)).toEqual(whole);
      }
      expect(new Set(whole.map((e) => e.name)).size).toBe(whole.length);
    });
    test("no record is left out without being counted", async () => {
      const { log } = await openDocument(format, content);
      const report = await log.check();
      expect(Object.values(report.recordKinds).reduce((sum, n) => sum + n, 0)).toBe(report.records);
    });
  });

  test("every kind of message is known and shown, or named here", async () => {
    const said: Classified[] = [];
    for (const content of Object.values(agent.sessions)) {
      const { path } = await openDocument(format, content);
      const document = await Document.open(path, format);
      for (const { row } of document.standing.rows) {
        const bytes = row.damage === undefined ? await document.read(row) : undefined;
        if (bytes !== undefined) said.push(format.classify({ ...row, value: format.parse(bytes) }));
      }
      await document.close();
    }
    expect(recordKinds(said)).toEqual(agent.kinds);
  });

  test("rewritten state after state, met half written each time, it is followed to what the whole says, without a new start", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.double({ min: 0, max: 1, noNaN: true }), {
          minLength: states.length,
          maxLength: states.length,
        }),
        async (halves) => {
          const { path, log, looks } = await openDocument(format, states[0] ?? "");
          const follower = new Follower(log, looks);
          await follower.look();
          for (const [at, state] of states.entries()) {
            const shown = follower.told.entries.length;
            if (format.grows !== true) {
              writeFileSync(path, state.slice(0, Math.floor((halves[at] ?? 0) * state.length)));
              await follower.look();
              expect(follower.told.entries.length).toBeGreaterThanOrEqual(shown);
            }
            writeFileSync(path, state);
            await follower.look();
            await follower.look();
            await expectCaughtUp(log, follower);
          }
          expect(follower.told.resets).toBe(0);
          await follower.stop();
        },
      ),
      { numRuns: 12 },
    );
  });

  test("any two states: a follower of the one that meets the other holds what it says", async () => {
    const pick = fc.nat({ max: states.length - 1 });
    await fc.assert(
      fc.asyncProperty(pick, pick, async (from, to) => {
        const { path, log, looks } = await openDocument(format, states[from] ?? "");
        const follower = new Follower(log, looks);
        await follower.look();
        writeFileSync(path, states[to] ?? "");
        await follower.look();
        await follower.look();
        await follower.look();
        await expectCaughtUp(log, follower);
        await follower.stop();
      }),
      { numRuns: 20 },
    );
  });

  test("a file that goes, and comes back", async () => {
    const whole = states.at(-1) ?? "";
    const { path, log, looks } = await openDocument(format, whole);
    const follower = new Follower(log, looks);
    await follower.look();
    rmSync(path);
    await follower.look();
    await follower.look();
    expect(follower.events.filter((e) => e === "gone")).toHaveLength(1);
    writeFileSync(path, whole);
    await follower.look();
    await follower.look();
    await expectCaughtUp(log, follower);
    await follower.stop();
  });

  test("an empty file has no entry", async () => {
    const { log } = await openDocument(format, "");
    const page = await log.tail(10);
    expect([page.entries, page.atStart, page.atEnd, page.turnOpen]).toEqual([[], true, true, false]);
  });

  test.each(HOSTILE_TEXTS)("hostile text is data: %j", async (words) => {
    const { log } = await openDocument(format, agent.promptOf(words));
    const { entries } = await log.tail(10);
    // What stands alone of a pair may have been replaced when it was written.
    const expected = words.replace("\ud83d", "\ufffd");
    expect(JSON.stringify(entries).replaceAll("\\ud83d", "\ufffd")).toContain(
      JSON.stringify(expected).slice(1, -1),
    );
  });

  test("a large document is indexed without keeping its texts", async () => {
    const { log } = await openDocument(format, agent.largeOf(4000));
    const before = process.memoryUsage().heapUsed;
    const page = await log.tail(20);
    expect(page.entries).toHaveLength(20);
    expect((await log.older(page.start, 20)).entries).toHaveLength(20);
    expect(process.memoryUsage().heapUsed - before).toBeLessThan(64 * 1024 * 1024);
  });

  test("any JSON value has a meaning", () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.nat({ max: 3 }), (value, index) => {
        const said = format.classify({ value, index, start: 0, end: 1 });
        expect(said.kind).toBeTypeOf("string");
        if (!said.known) expect(said.entries).toHaveLength(1);
      }),
      { numRuns: 300 },
    );
  });
}
