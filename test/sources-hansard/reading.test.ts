/** Our own log read in every way: whole, by pages from either end, and while it grows. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { hansardClassifier } from "../../src/sources/hansard/classifier.ts";
import { entryLine } from "../support/entry-notation.ts";
import { cutPlaces, expectFollowed, expectOneReading, logOf } from "../support/log-laws.ts";
import { bytesOfLog, decoder, steps } from "./support.ts";

const agent = "hansard";

describe("laws", () => {
  test("pages from either end give each entry once, as reading the whole does", async () => {
    await fc.assert(
      fc.asyncProperty(steps, async (list) => {
        await expectOneReading(agent, hansardClassifier, await bytesOfLog(list), decoder);
      }),
      { numRuns: 60 },
    );
  });

  test("a log that is told in pieces gives what reading it whole gives", async () => {
    await fc.assert(
      fc.asyncProperty(steps, cutPlaces, async (list, places) => {
        await expectFollowed(agent, hansardClassifier, await bytesOfLog(list), places, false, decoder);
      }),
      { numRuns: 60 },
    );
  });

  test("the same where bytes of it were changed, and nothing is told that was not written", async () => {
    const flips = fc.array(
      fc.record({ at: fc.double({ min: 0, max: 0.999, noNaN: true }), to: fc.integer({ min: 0, max: 255 }) }),
      { minLength: 1, maxLength: 4 },
    );
    await fc.assert(
      fc.asyncProperty(steps, flips, cutPlaces, async (list, changes, places) => {
        const good = await bytesOfLog(list);
        const bytes = Buffer.from(good);
        for (const { at, to } of changes) bytes[Math.floor(at * bytes.length)] = to;
        await expectOneReading(agent, hansardClassifier, bytes, decoder);
        // A record that ends the log counts before its line feed is there: one that never comes is known too late to a follower.
        const hasFeeds = changes.every(({ at }) => good[Math.floor(at * good.length)] !== 0x0a);
        if (hasFeeds) await expectFollowed(agent, hansardClassifier, bytes, places, true, decoder);
        const written = await (await logOf(agent, hansardClassifier, good, decoder)).tail(1000);
        const known = new Set(written.entries.map((entry) => entryLine(entry).replace(/ → [^)]*\)/g, ")")));
        const read = await (await logOf(agent, hansardClassifier, bytes, decoder)).tail(1000);
        for (const entry of read.entries) {
          if (entry.kind === "raw" && entry.damaged) continue;
          expect(known).toContain(entryLine(entry).replace(/ → [^)]*\)/g, ")"));
        }
      }),
      { numRuns: 60 },
    );
  });
});
