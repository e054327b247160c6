/** Laws of reading, over random mixtures of good and damaged lines. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { followFile, parseRecord } from "../../src/lines/index.ts";
import {
  backward,
  FakeDisk,
  forward,
  itemsOf,
  limits,
  logs,
  notation,
  objects,
  timeless,
  until,
  untilCaughtUp,
} from "./support.ts";

const runs = { numRuns: 500 };

/** Without a limit that a line reaches: a record that was given at the log's end and then became part of a too large line is another. */
const wideLimits = limits.map((bounds) => ({ ...bounds, lineBytesMax: 4096 }));

function isSpace(byte: number | undefined): boolean {
  return byte === 0x20 || byte === 0x09 || byte === 0x0a || byte === 0x0d;
}

describe("reading a log", () => {
  it("gives the same items forward and backward, whatever the chunks", async () => {
    await fc.assert(
      fc.asyncProperty(logs, limits, fc.integer({ min: 1, max: 50 }), async (log, bounds, chunkBytes) => {
        const items = await forward(log, { limits: bounds });
        expect(await backward(log, { limits: bounds })).toEqual(items);
        expect(await forward(log, { limits: { ...bounds, chunkBytes } })).toEqual(items);
        expect(await backward(log, { limits: { ...bounds, chunkBytes } })).toEqual(items);
      }),
      runs,
    );
  });

  it("accounts for each byte once: what is in no item is white space", async () => {
    await fc.assert(
      fc.asyncProperty(logs, limits, async (log, bounds) => {
        let at = 0;
        for (const item of await forward(log, { limits: bounds })) {
          expect(item.start).toBeGreaterThanOrEqual(at);
          expect(item.end).toBeGreaterThan(item.start);
          for (; at < item.start; at += 1) expect(isSpace(log[at])).toBe(true);
          at = item.end;
        }
        for (; at < log.length; at += 1) expect(isSpace(log[at])).toBe(true);
      }),
      runs,
    );
  });

  it("gives of a range what the whole log gives there", async () => {
    await fc.assert(
      fc.asyncProperty(
        logs,
        limits,
        fc.nat(),
        fc.nat(),
        fc.boolean(),
        async (log, bounds, a, b, onBorders) => {
          const all = await forward(log, { limits: bounds });
          const borders = all.flatMap((item) => [item.start, item.end]);
          const pick = (n: number): number =>
            onBorders && borders.length > 0 ? borders[n % borders.length]! : n % (log.length + 1);
          const [start, end] = [pick(a), pick(b)].sort((x, y) => x - y) as [number, number];
          const wanted = all.filter((item) => item.start >= start && item.end <= end);
          expect(await forward(log, { start, end, limits: bounds })).toEqual(wanted);
          expect(await backward(log, { start, end, limits: bounds })).toEqual(wanted);
        },
      ),
      { numRuns: 1000 },
    );
  });

  it("holds back the same unsettled end in both directions, and following from there misses and repeats nothing", async () => {
    await fc.assert(
      fc.asyncProperty(logs, wideLimits, fc.nat(), async (log, bounds, at) => {
        const size = at % (log.length + 1);
        const page = await forward(log.subarray(0, size), { limits: bounds, growing: true });
        expect(await backward(log.subarray(0, size), { limits: bounds, growing: true })).toEqual(page);
        const disk = new FakeDisk();
        disk.write(log.subarray(0, size));
        const abort = new AbortController();
        const from = page.at(-1)?.end ?? 0;
        const events = followFile("/log", { from, signal: abort.signal, limits: bounds, ports: disk.ports });
        const first = await untilCaughtUp(events);
        expect(itemsOf(first)).toEqual([]);
        const later = events.next();
        disk.append(log.subarray(size));
        disk.append("\n{}\n");
        disk.hint();
        const taken = [(await later).value!, ...(await untilCaughtUp(events))];
        abort.abort();
        await events.next();
        expect(taken.some((event) => event.type === "resynced")).toBe(false);
        const whole = await forward(Buffer.concat([log, Buffer.from("\n{}\n")]), { limits: bounds });
        expect(notation(timeless([...page, ...itemsOf(taken)]))).toEqual(notation(timeless(whole)));
      }),
      { numRuns: 500 },
    );
  });

  it("field faults case 14: gives a growing file the items of the finished one, however it was cut", async () => {
    await fc.assert(
      fc.asyncProperty(logs, wideLimits, fc.array(fc.nat(), { maxLength: 6 }), async (log, bounds, cuts) => {
        const disk = new FakeDisk();
        disk.write(Buffer.alloc(0));
        const abort = new AbortController();
        const events = followFile("/log", { signal: abort.signal, limits: bounds, ports: disk.ports });
        const taken = await untilCaughtUp(events);
        const places = cuts.map((cut) => cut % (log.length + 1)).sort((a, b) => a - b);
        const whole = Buffer.concat([log, Buffer.from("\n{}\n")]);
        for (const end of [...places, whole.length]) {
          if (end === disk.bytes!.length) continue;
          const next = events.next();
          disk.append(whole.subarray(disk.bytes!.length, end));
          disk.hint();
          const event = (await next).value!;
          taken.push(event, ...(event.type === "caughtUp" ? [] : await untilCaughtUp(events)));
        }
        abort.abort();
        await events.next();
        expect(notation(timeless(itemsOf(taken)))).toEqual(
          notation(timeless(await forward(whole, { limits: bounds }))),
        );
        expect(taken.some((event) => event.type === "reset" || event.type === "resynced")).toBe(false);
      }),
      runs,
    );
  });

  it("loses no intact line that is not beside the damage", async () => {
    const damages = fc.record({
      at: fc.nat(),
      removed: fc.nat({ max: 30 }),
      added: fc.uint8Array({ maxLength: 20 }),
    });
    await fc.assert(
      fc.asyncProperty(
        fc.array(objects, { minLength: 3, maxLength: 12 }),
        damages,
        limits,
        async (values, damage, bounds) => {
          const lines = values.map((value) => Buffer.from(`${JSON.stringify(value)}\n`));
          const log = Buffer.concat(lines);
          const at = damage.at % log.length;
          const until = Math.min(log.length, at + damage.removed);
          const bad = Buffer.concat([log.subarray(0, at), damage.added, log.subarray(until)]);
          const shift = bad.length - log.length;
          const items = await forward(bad, { limits: { ...bounds, lineBytesMax: 4096 } });
          const found = new Set(notation(items));
          let start = 0;
          for (const [index, line] of lines.entries()) {
            const end = start + line.length - 1;
            const moved = start > until ? shift : 0;
            if (end < at || start > until)
              expect(found).toContain(
                `record ${start + moved}-${end + moved} ${JSON.stringify(values[index])}`,
              );
            start = end + 1;
          }
        },
      ),
      runs,
    );
  });

  it("gives unparsed what it would have parsed", async () => {
    const kinds = fc.constantFrom("good", "glued", "stub");
    await fc.assert(
      fc.asyncProperty(fc.array(fc.tuple(kinds, objects, objects)), limits, async (rows, bounds) => {
        const log = rows.map(([kind, a, b]) => {
          const first = JSON.stringify(a);
          if (kind === "good") return first;
          return (
            (kind === "glued" ? first : first.slice(0, first.length / 2)) + JSON.stringify({ timestamp: b })
          );
        });
        const content = Buffer.from(log.join("\n"));
        const wide = { ...bounds, lineBytesMax: 65536 };
        const lazy = await forward(content, { limits: wide, parse: false });
        expect(await backward(content, { limits: wide, parse: false })).toEqual(lazy);
        const parsed = lazy.flatMap((item) =>
          item.type === "record" && item.bytes !== undefined ? parseRecord(item.bytes, item.start) : [item],
        );
        expect(parsed).toEqual(await forward(content, { limits: wide }));
      }),
      runs,
    );
  });

  it("ends a following with the abort, whatever it was doing", async () => {
    await fc.assert(
      fc.asyncProperty(logs, fc.nat({ max: 6 }), async (log, after) => {
        const disk = new FakeDisk();
        disk.write(log);
        const abort = new AbortController();
        const events = followFile("/log", {
          signal: abort.signal,
          limits: { chunkBytes: 3 },
          ports: disk.ports,
        });
        let count = 0;
        await until(events, (event) => {
          count += 1;
          return count > after || event.type === "caughtUp";
        });
        abort.abort();
        expect(disk.watches).toEqual([]);
        expect(disk.timers).toEqual([]);
        expect(disk.openSources).toBe(0);
        expect((await events.next()).done).toBe(true);
      }),
      { numRuns: 200 },
    );
  });
});
