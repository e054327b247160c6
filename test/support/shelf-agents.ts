/** What is expected of every session that is put together from rows or files: one reading in every way, followed write by write. */
import fc from "fast-check";
import { expect } from "vitest";
import { type DocumentLogOptions, logOfStore } from "../../src/sources/document/log.ts";
import type { MessageStore } from "../../src/sources/document/message-store.ts";
import type { Log } from "../../src/sources/types.ts";
import { expectCaughtUp } from "./document-agents.ts";
import { readBackward, readForward } from "./log-laws.ts";
import { createLooks, Follower, type Looks } from "./watched-log.ts";

export interface Shelf {
  /** Opens the session. */
  open(): Promise<MessageStore>;
  /** The writes that the session is made by, in their order: a message, a part, a newer version of one. */
  readonly writes: readonly (() => void)[];
}

export function logOfShelf(store: MessageStore): { readonly log: Log; readonly looks: Looks } {
  const looks = createLooks();
  const { agent } = store.format;
  const describe = (): ReturnType<DocumentLogOptions["describe"]> =>
    Promise.resolve({ agent, id: "x", path: "x" });
  return { log: logOfStore({ path: "x", format: store.format, describe, ports: looks.ports }, store), looks };
}

/** Expects the laws of sessions that `make` makes anew each time. Nothing of `make`'s own is cleaned up here. */
export async function expectShelfLaws(make: () => Shelf, runs = 4): Promise<void> {
  const sizes = fc.array(fc.integer({ min: 1, max: 4 }), { minLength: 1, maxLength: 6 });
  await fc.assert(
    fc.asyncProperty(sizes, async (pieces) => {
      const shelf = make();
      const [first, ...writes] = shelf.writes;
      first?.();
      const { log, looks } = logOfShelf(await shelf.open());
      const follower = new Follower(log, looks);
      await follower.look();
      for (let turn = 0; writes.length > 0; turn++) {
        for (const write of writes.splice(0, pieces[turn % pieces.length] ?? 1)) write();
        await follower.look();
        await expectCaughtUp(log, follower);
      }
      expect(follower.told.resets).toBe(0);
      await follower.stop();
      await expectOneReading(log);
      await log.close();
    }),
    { numRuns: runs },
  );
}

async function expectOneReading(log: Log): Promise<void> {
  const whole = await readBackward(log, 1000);
  expect(whole.length).toBeGreaterThan(0);
  for (const limit of [1, 3, 100]) {
    expect(await readBackward(log, limit)).toEqual(whole);
    expect(await readForward(log, limit)).toEqual(whole);
  }
  expect(new Set(whole.map((entry) => entry.name)).size).toBe(whole.length);
  const report = await log.check();
  expect(Object.values(report.recordKinds).reduce((sum, count) => sum + count, 0)).toBe(report.records);
}
