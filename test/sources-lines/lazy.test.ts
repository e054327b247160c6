/** Readers that are loaded when they are needed. */
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { Source } from "../../src/sources/index.ts";
import { lazySource } from "../../src/sources/lazy.ts";
import { makeHome } from "../support/home.ts";

test("a reader is loaded once, and for finding only where one of its folders is there", async () => {
  const home = makeHome();
  let loads = 0;
  const root = join(home.path, "agent");
  const places = { agent: "pi", label: "pi", roots: () => [join(root, "a"), root] } as const;
  const source = lazySource(places, async () => {
    loads += 1;
    const reader: Pick<Source, "discover" | "detects"> = {
      async *discover() {
        yield { agent: "pi", id: "x", path: root, bytes: 1, modifiedAt: 1 };
      },
      detects: async () => true,
    };
    return reader as Source;
  });
  const found = async (): Promise<number> => {
    let count = 0;
    for await (const _ of source.discover(home.around, () => undefined)) count += 1;
    return count;
  };
  expect([await found(), loads]).toEqual([0, 0]);
  mkdirSync(root);
  expect([await found(), await found(), loads]).toEqual([1, 1, 1]);
  expect(await source.detects("x", new Uint8Array())).toBe(true);
  expect(loads).toBe(1);
  home.remove();
});
