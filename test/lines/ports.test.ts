/** The watchers of this computer: one a folder, however many files of it are followed. */
import { appendFile, mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { realPorts, type Watch } from "../../src/lines/ports.ts";

async function folderWith(...names: readonly string[]): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "hansard-lines-"));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  for (const name of names) await writeFile(join(folder, name), "");
  return folder;
}

/** A watch of one entry, and a promise of its next hint. */
function watched(folder: string, entry: string): Watch & { hints: number; hinted(): Promise<void> } {
  let wake: () => void = () => undefined;
  const self = {
    hints: 0,
    hinted: () =>
      new Promise<void>((resolve) => {
        wake = resolve;
      }),
  };
  const watch = realPorts.watch(
    folder,
    () => {
      self.hints += 1;
      wake();
    },
    (error) => {
      throw error;
    },
    entry,
  );
  onTestFinished(() => watch.close());
  return Object.assign(self, watch);
}

it("a hint goes to those who follow the entry, and to no others; one that leaves takes nobody along", async () => {
  const folder = await folderWith("a", "b");
  const [a, b, again] = [watched(folder, "a"), watched(folder, "b"), watched(folder, "a")];
  const both = Promise.all([a.hinted(), again.hinted()]);
  await appendFile(join(folder, "a"), "1");
  await both;
  expect(b.hints).toBe(0);
  a.close();
  const before = a.hints;
  const later = Promise.all([b.hinted(), again.hinted()]);
  await appendFile(join(folder, "a"), "2");
  await appendFile(join(folder, "b"), "2");
  await later;
  expect(a.hints).toBe(before);
});

it("a folder that was taken away and made anew is watched anew", async () => {
  const parent = await folderWith();
  const folder = join(parent, "inner");
  await mkdir(folder);
  await writeFile(join(folder, "a"), "");
  const old = watched(folder, "inner");
  const gone = old.hinted();
  await rm(folder, { recursive: true });
  await gone;
  await mkdir(folder);
  const fresh = watched(folder, "a");
  const hinted = fresh.hinted();
  await writeFile(join(folder, "a"), "1");
  await hinted;
});
