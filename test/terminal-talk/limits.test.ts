/** Each bound of talking in the terminal, and the test that stands at it. */
import { readFile } from "node:fs/promises";
import { describe, expect, it } from "vitest";
import { composerRowsMax } from "../../src/terminal/composer/index.ts";
import * as limits from "../../src/terminal/talk/limits.ts";
import { approval, entryOf, talkRig } from "./support.ts";

const { optionsMax, planRowsMax, queuedPromptsMax, queuedRowsMax, seedPromptsMax } = limits;

const held: Readonly<Record<keyof typeof limits, readonly [file: string, test: string]>> = {
  answerGuardMs: ["talk.test.ts", "what is being typed when a question appears is not an answer"],
  leaveAgainMs: ["talk.test.ts", "a second Ctrl+C that comes late"],
  optionsMax: ["limits.test.ts", "optionsMax"],
  planRowsMax: ["limits.test.ts", "planRowsMax"],
  queuedRowsMax: ["limits.test.ts", "queuedRowsMax"],
  queuedPromptsMax: ["limits.test.ts", "queuedPromptsMax"],
  seedPromptsMax: ["limits.test.ts", "seedPromptsMax"],
};

it("each bound has its test", async () => {
  const folder = new URL(".", import.meta.url);
  for (const [limit, [file, title]] of Object.entries(held)) {
    const text = await readFile(new URL(file, folder), "utf8");
    expect(text.includes(`"${title}`), `${limit}: ${file} has no test "${title}"`).toBe(true);
  }
  expect(Object.keys(held).sort()).toEqual(Object.keys(limits).sort());
});

const filled = (count: number): readonly number[] => Array.from({ length: count }, (_, index) => index);

describe("at the limit", () => {
  it("optionsMax", async () => {
    const options = filled(optionsMax + 1).map((at) => ({
      id: `o${at}`,
      label: `Choice ${at}`,
      kind: "allow-once" as const,
    }));
    const ask = async (count: number) => {
      const r = talkRig({ rows: 30 });
      await r.settle();
      r.session.stand({
        phase: "working",
        turnStartedAt: 0,
        approvals: [{ ...approval, options: options.slice(0, count) }],
      });
      await r.settle(1_000);
      return r;
    };
    const fits = await ask(optionsMax);
    expect(fits.picture()).toContain(`Choice ${optionsMax - 1}`);
    await fits.key(String(optionsMax));
    expect(fits.session.asked).toEqual([`answer ask-1 o${optionsMax - 1} by me`]);
    const more = await ask(optionsMax + 1);
    expect(more.picture()).toContain(`Choice ${optionsMax - 1}`);
    expect(more.picture()).not.toContain(`Choice ${optionsMax}`);
  });

  it("planRowsMax", async () => {
    const rows = async (count: number) => {
      const r = talkRig({ rows: 40 });
      await r.settle();
      r.session.stand({
        phase: "working",
        turnStartedAt: 0,
        plan: filled(count).map((at) => ({ text: `step ${at}`, state: "waiting" })),
      });
      await r.settle();
      return r
        .picture()
        .split("\n")
        .filter((row) => /plan: |step \d/.test(row));
    };
    expect(await rows(planRowsMax)).toHaveLength(planRowsMax);
    const more = await rows(planRowsMax + 1);
    expect(more).toHaveLength(planRowsMax);
    expect(more[0]).toContain(`plan: 0 of ${planRowsMax + 1} done`);
  });

  it("queuedRowsMax", async () => {
    const rows = async (count: number) => {
      const r = talkRig({ rows: 40, driver: { phase: "working", turnStartedAt: 0 } });
      await r.settle();
      for (const at of filled(count)) {
        await r.key(`wait ${at}\r`);
        r.session.stand({ queued: at + 1 });
      }
      await r.settle();
      return r
        .picture()
        .split("\n")
        .filter((row) => row.includes("⧗"));
    };
    expect(await rows(queuedRowsMax)).toHaveLength(queuedRowsMax);
    const more = await rows(queuedRowsMax + 1);
    expect(more).toHaveLength(queuedRowsMax);
    expect(more.at(-1)).toContain("2 more waiting");
  });

  it("queuedPromptsMax", async () => {
    const r = talkRig({ rows: 40, driver: { phase: "working", turnStartedAt: 0 } });
    await r.settle();
    for (const at of filled(queuedPromptsMax + 2)) {
      await r.key(`wait ${at}\r`, 1);
      r.session.stand({ queued: at + 1 });
      await r.settle(1);
    }
    // All are sent; of those above the bound only the number is known.
    expect(r.session.asked).toHaveLength(queuedPromptsMax + 2);
    r.session.stand({ queued: queuedPromptsMax });
    await r.settle();
    expect(r.picture()).toContain("⧗ wait 0");
    r.session.stand({ queued: 1 });
    await r.settle();
    expect(r.picture()).toContain(`⧗ wait ${queuedPromptsMax - 1}`);
  });

  it("seedPromptsMax", async () => {
    // The tail that is read is as long: one more entry stands before it, and is not brought back.
    const r = talkRig({ log: filled(seedPromptsMax + 1).map((at) => entryOf(at, `asked ${at}`)) });
    await r.settle();
    for (let times = 0; times < seedPromptsMax + 5; times += 1) await r.key("\x1b[A", 1);
    await r.settle();
    expect(r.picture()).toContain("› asked 1▮");
  });

  it("composerRowsMax", async () => {
    const rows = async (count: number) => {
      const r = talkRig({ rows: 40 });
      await r.settle();
      await r.key(
        filled(count)
          .map((at) => `row ${at}`)
          .join("\x1b\r"),
      );
      return r
        .picture()
        .split("\n")
        .filter((row) => row.includes("row ")).length;
    };
    expect(await rows(composerRowsMax)).toBe(composerRowsMax);
    expect(await rows(composerRowsMax + 1)).toBeLessThanOrEqual(composerRowsMax);
  });
});
