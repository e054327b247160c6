import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  type ArchiveDamage,
  type DecodeLimits,
  decodeFrames,
  ZSTD_WINDOW_MAX,
} from "../../src/sources/zstd/frames.ts";
import { fixture } from "../support/fixtures.ts";
import { feedOf, frame, skippable } from "./support.ts";

interface Decoded {
  readonly bytes: Buffer;
  readonly damage: readonly ArchiveDamage[];
}

async function decode(archive: Uint8Array, limits: DecodeLimits = {}): Promise<Decoded> {
  const pieces: Uint8Array[] = [];
  const damage = await decodeFrames(
    feedOf(archive),
    async (piece) => {
      pieces.push(Uint8Array.from(piece));
    },
    limits,
  );
  return { bytes: Buffer.concat(pieces), damage };
}

const numbers = Buffer.from(Array.from({ length: 300 }, (_, n) => `{"n":${n}}\n`).join(""));
/** The same 300 lines, packed by the reference program: at level 19, and as a stream of unknown size at level 3. */
const packed = [
  "KLUv/WRKClUNAPYxWRKwpdBizJok5Ux2d/dO65EMBwJfAE0ATQAheGdXRzcnF/d54c7MysjGxMI2LdiVVRXVlFTUZYU6MioiGhIKmqRANzY1NDMyMY8T5sSkhGREJGRRglxYVFBMSEQcRojbrulZjt/Dp1mSoxiuBs+KRmIFAwFgEDAQCCSRQwoZ5KRkIG+0sUYaZ5QxxkfHMJ5oYokkjihiiIuKQbzQwgopnFDCCA8NQ3hrW0s7Kxv7umFPTUtJR0VDVzXoBS1YQQpOUIIRPGgwR3xsHOJ7+3r6efn43w9/bl5OPi4evuvBL2zhClN4whKO8GHDIXynnXXSOaeccX56hvNMM8skc0wxw9zUDOaVVlZJ5ZRSRnlpGcojjayCgbvtrpvuueWO+9s73GebXTbZY4sd9rZ2sK+2umqqp5Y66mvrUB9tdNFEDy100NPSgb7Z5pppnlnmmJ+dw3yyySWTPLLIIS8rB/liiyumeGKJgSuoETBQfjPxMwYRJAT8Afn//////////////////////7stEMIQQkhCCEIIIYRwCCGEEKIQAioxAAAAAMA8AQG1CqX5vO4=",
  "KLUv/QRY/QgARtQqENBlOJYFRCNJSplSSsMhtHQnACQAJQAzMzMzM7Zt23bbtm1LkiRJbtu2bSIiIiLyonE5AQyBQSAMAjAEBkFu27ZtSZIkyW3btk1EREREIiIiIiLk////r6qqqqoiIiIiIgqbiIiIiEgsFovFYrFYLPb///9XVVVVVRERERERzczMzMzYtm07wuD///9/VVVVVRURERER0czMzMyMbdu23bZt25IkSZLbtm0BgSqoIfTrb8En1WoRzGD5MYiKTGRkJCUpMZGxUnz/7//9v+9aJCIiEhKRkIiIkOn8uWTVTWVTranQVDMVmWpMBaZ6qW6XjNvWtp1tM9tss9lmts1sG9v6HcXRN0qjyyiMflEWfaoopdZa61qrWfTWtAql+bzu",
];

describe("archives of the reference program", () => {
  test.each(packed)("a small one", async (base64) => {
    expect(await decode(Buffer.from(base64, "base64"))).toEqual({ bytes: numbers, damage: [] });
  });

  test("a rollout of many blocks, with its checksum", async () => {
    const { bytes, damage } = await decode(fixture("sources/codex/two-compactions.jsonl.zst"));
    expect(damage).toEqual([]);
    expect(bytes.equals(fixture("sources/codex/two-compactions.jsonl.gz"))).toBe(true);
  });
});

const contents = fc.array(
  fc.oneof(
    fc.uint8Array({ maxLength: 300 }),
    fc.tuple(fc.nat(255), fc.nat(500)).map(([byte, length]) => new Uint8Array(length).fill(byte)),
  ),
  { maxLength: 4 },
);
const shapes = fc.record({
  hasChecksum: fc.boolean(),
  blockBytes: fc.constantFrom(1, 7, 100, 4096),
  windowLog: fc.constantFrom(10, 17),
});

test("frames of any contents, with frames to pass over between them, give the contents", async () => {
  await fc.assert(
    fc.asyncProperty(contents, shapes, fc.boolean(), async (parts, shape, hasSkipped) => {
      const archive = parts.flatMap((p) => [
        ...(hasSkipped ? [skippable(p, p.length % 16)] : []),
        frame(p, shape),
      ]);
      expect(await decode(Buffer.concat(archive))).toEqual({ bytes: Buffer.concat(parts), damage: [] });
    }),
  );
});

test("a cut anywhere gives the blocks before it and says where the archive ends", async () => {
  const parts = [Buffer.from("first frame\n"), Buffer.alloc(40, 0x61), Buffer.from("third")];
  const whole = Buffer.concat(parts);
  const frames = parts.map((p) => frame(p, { blockBytes: 8 }));
  const archive = Buffer.concat(frames);
  const ends = frames.map((_, i) => frames.slice(0, i + 1).reduce((sum, f) => sum + f.length, 0));
  for (let cut = 0; cut <= archive.length; cut++) {
    const { bytes, damage } = await decode(archive.subarray(0, cut));
    expect(whole.subarray(0, bytes.length).equals(bytes)).toBe(true);
    const isWhole = cut === 0 || ends.includes(cut);
    expect(damage.map((d) => [d.fault, d.offset])).toEqual(isWhole ? [] : [["truncated", bytes.length]]);
    // No more than one block of 8 bytes is lost to the cut itself.
    if (cut === archive.length - 1) expect(bytes.equals(whole)).toBe(true);
  }
});

test("a real rollout cut in the middle gives its first half, in whole blocks", async () => {
  const archive = fixture("sources/codex/two-compactions.jsonl.zst");
  const whole = fixture("sources/codex/two-compactions.jsonl.gz");
  const { bytes, damage } = await decode(archive.subarray(0, archive.length >> 1));
  expect(bytes.length).toBeGreaterThan(128 * 1024);
  expect(whole.subarray(0, bytes.length).equals(bytes)).toBe(true);
  expect(damage).toEqual([{ fault: "truncated", archiveOffset: expect.any(Number), offset: bytes.length }]);
});

test("bytes changed anywhere never throw, and what was before the change is given", async () => {
  const archive = Buffer.from(packed[0] ?? "", "base64");
  await fc.assert(
    fc.asyncProperty(fc.nat(archive.length - 1), fc.integer({ min: 1, max: 255 }), async (at, change) => {
      const damaged = Buffer.from(archive);
      damaged[at] = (damaged[at] ?? 0) ^ change;
      const { bytes, damage } = await decode(damaged);
      // A checksum stands at the end: a change is noticed, unless it only touched how the frame describes itself.
      if (!bytes.equals(numbers)) expect(damage.length).toBeGreaterThan(0);
    }),
    { numRuns: 100 },
  );
});

test("noise is refused with its place", async () => {
  expect((await decode(Buffer.from("not an archive"))).damage).toEqual([
    { fault: "corrupt", archiveOffset: 0, offset: 0 },
  ]);
  const good = frame(Buffer.from("good"));
  expect(await decode(Buffer.concat([good, Buffer.from("noise")]))).toEqual({
    bytes: Buffer.from("good"),
    damage: [{ fault: "corrupt", archiveOffset: good.length, offset: 4 }],
  });
});

test("a wrong checksum is told after the bytes it is about, and the next frame is still read", async () => {
  const bad = frame(Buffer.from("abc"));
  bad[bad.length - 1] = (bad[bad.length - 1] ?? 0) ^ 1;
  const { bytes, damage } = await decode(Buffer.concat([bad, frame(Buffer.from("def"))]));
  expect(bytes.toString()).toBe("abcdef");
  expect(damage).toEqual([{ fault: "checksum", archiveOffset: bad.length - 4, offset: 3 }]);
});

test("a frame whose window is above the limit is refused before it is allocated", async () => {
  const widest = Math.log2(ZSTD_WINDOW_MAX);
  expect((await decode(frame(Buffer.from("x"), { windowLog: widest }))).damage).toEqual([]);
  const { damage } = await decode(frame(Buffer.from("x"), { windowLog: widest + 1 }));
  expect(damage).toEqual([{ fault: "unsupported", archiveOffset: 0, offset: 0 }]);
});

test("a frame that needs a dictionary is refused", async () => {
  const { damage } = await decode(frame(Buffer.from("x"), { dictionary: 5 }));
  expect(damage).toEqual([{ fault: "unsupported", archiveOffset: 0, offset: 0 }]);
});

test("the output stops at its limit, exactly", async () => {
  const archive = frame(Buffer.alloc(1000, 1), { blockBytes: 100 });
  expect(await decode(archive, { outputMax: 1000 })).toMatchObject({ damage: [] });
  const { bytes, damage } = await decode(archive, { outputMax: 999 });
  expect(bytes).toHaveLength(900);
  expect(damage).toMatchObject([{ fault: "limit", offset: 900 }]);
});

test("a bomb of repeated bytes is decoded a block at a time", async () => {
  const archive = frame(Buffer.alloc(8 * 1024 * 1024), { blockBytes: 128 * 1024 });
  expect(archive.length).toBeLessThan(1024);
  let largest = 0;
  let total = 0;
  await decodeFrames(feedOf(archive), async (piece) => {
    largest = Math.max(largest, piece.length);
    total += piece.length;
  });
  expect(total).toBe(8 * 1024 * 1024);
  expect(largest).toBeLessThanOrEqual(128 * 1024);
});
