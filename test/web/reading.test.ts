/** Places in a session: further back than the page holds, found by a search, and back to the live end; whatever the network does. */
import { writeFile } from "node:fs/promises";
import type { Page } from "playwright-core";
import { describe, expect, test } from "vitest";
import { createRandom } from "../../bench/random.ts";
import { HELD_ENTRIES_MAX, OLDER_ENTRIES } from "../../src/web/limits.ts";
import { violationsOf } from "../support/browser.ts";
import { answers, claude, numbered, openLive, shows, texts, turn, usePages } from "./support.ts";

const rig = usePages();

const held = (page: Page): Promise<number> =>
  page.evaluate(() => document.querySelectorAll("article.entry").length);

/** Scrolls down until the newest is followed again. */
async function scrollToLive(page: Page): Promise<void> {
  for (let steps = 0; steps < 100 && (await page.isVisible("#newest")); steps += 1) {
    const height = await page.evaluate(() => {
      scrollTo(0, document.documentElement.scrollHeight);
      return document.documentElement.scrollHeight;
    });
    await page.waitForFunction(
      (before) =>
        document.getElementById("newest")?.hidden || document.documentElement.scrollHeight !== before,
      height,
    );
  }
}

describe("further back than the page holds", () => {
  test("what is furthest goes, is read again on the way down, and the end is live then: nothing lost, nothing doubled", async () => {
    const turns = HELD_ENTRIES_MAX / 2 + 60;
    const { id, add } = await claude(rig, turns);
    const served = await rig.serve();
    const page = await rig.open(served);
    await openLive(page, served, id);
    while (await page.isVisible("#older")) {
      const first = (await answers(page))[0];
      await page.evaluate(() => scrollTo(0, 0));
      await page.waitForFunction(
        (before) => !document.querySelector("article.model")?.textContent?.includes(before ?? ""),
        first,
      );
      expect(await held(page)).toBeLessThanOrEqual(HELD_ENTRIES_MAX + OLDER_ENTRIES);
    }
    const back = await answers(page);
    expect(back).toEqual(numbered(back.length));
    expect(back.length).toBeLessThan(turns);
    // What comes meanwhile is counted, and read when it is come to.
    await add(turns);
    await page.waitForFunction(() => document.getElementById("newest")?.textContent === "2 new ↓");
    await scrollToLive(page);
    await add(turns + 1);
    await shows(page, `answer ${turns + 1}.`);
    const end = await answers(page);
    expect(end).toEqual(numbered(turns + 2, turns + 2 - end.length));
    expect(await held(page)).toBeLessThanOrEqual(HELD_ENTRIES_MAX);
    expect(rig.strayed).toEqual([]);
  });
});

describe("a search", () => {
  test("within a session leads to its place, from where the session goes on to its live end", async () => {
    const { id, add } = await claude(rig, 90);
    const served = await rig.serve();
    const page = await rig.open(served);
    await openLive(page, served, id);
    await page.click("#find");
    await page.fill("#words", '"answer 20"');
    await page.press("#words", "Enter");
    await page.waitForSelector("#hits li");
    expect(await texts(page, "#hits mark")).toEqual(["answer", "20"]);
    expect(await violationsOf(page)).toEqual([]);
    await page.click("#hits a");
    await page.waitForSelector("article.found");
    expect(await page.textContent("article.found")).toContain("answer 20.");
    expect(await page.isVisible("#hits")).toBe(false);
    // What comes between the reading of the last page and its arrival is on no page, and its frames are past.
    let isBetween = false;
    await page.route("**/newer?*", async (route) => {
      const answer = await route.fetch();
      if (!isBetween && ((await answer.json()) as { atEnd: boolean }).atEnd) {
        isBetween = true;
        await add(90);
        await page.waitForFunction(() => document.getElementById("newest")?.textContent === "2 new ↓");
      }
      await route.fulfill({ response: answer });
    });
    await scrollToLive(page);
    expect(isBetween).toBe(true);
    await add(91);
    await shows(page, "answer 91.");
    const all = await answers(page);
    expect(all).toEqual(numbered(92, 92 - all.length));
  });

  test("over all sessions tells whose hits they are, and is there again on the way back from one", async () => {
    await claude(rig, 3);
    const served = await rig.serve();
    const page = await rig.open(served);
    await page.goto(`${served.origin}/`);
    await page.fill("#words", "question 1");
    await page.press("#words", "Enter");
    await page.waitForSelector("#hits li");
    expect(await texts(page, "#hits .facts span")).toEqual(["question 0"]);
    await page.click("#hits a");
    await page.waitForSelector("article.found");
    await page.waitForSelector("#standing[data-is=live]");
    await shows(page, "answer 2.");
    await page.goBack();
    await page.waitForSelector("#hits li");
    expect(await page.inputValue("#words")).toBe("question 1");
  });
});

test("a log that is written anew is read anew in place: what was typed stays", async () => {
  const { id, path, add } = await claude(rig, 12);
  const served = await rig.serve();
  const page = await rig.open(served);
  await openLive(page, served, id);
  await page.evaluate(() => {
    (document.getElementById("text") as HTMLTextAreaElement).value = "half a thought";
  });
  await writeFile(path, turn(0).replaceAll("question 0", "another log"));
  await shows(page, "another log");
  await page.waitForSelector("#standing[data-is=live]");
  expect(await answers(page)).toEqual(numbered(1));
  await add(1);
  await shows(page, "answer 1.");
  expect(await answers(page)).toEqual(numbered(2));
  expect(await page.inputValue("#text")).toBe("half a thought");
  expect(rig.strayed).toEqual([]);
});

test("whatever becomes of the server and the network, in whatever order: nothing is lost, nothing is doubled", async () => {
  const seed = Number(process.env["SEED"] ?? 7);
  const random = createRandom(seed);
  const { id, add } = await claude(rig, 40);
  let served = await rig.serve();
  const { port } = served;
  const page = await rig.open(served);
  await openLive(page, served, id);
  let turns = 40;
  const grow = async (): Promise<void> => {
    const more = 1 + random.below(4);
    await add(...Array.from({ length: more }, (_, at) => turns + at));
    turns += more;
  };
  const acts: readonly (() => Promise<void>)[] = [
    grow,
    grow,
    async () => {
      await served.stop();
      await grow();
      served = await rig.serve(port);
    },
    async () => {
      await page.context().setOffline(true);
      await grow();
      await page.context().setOffline(false);
    },
    async () => {
      await page.evaluate(() => scrollBy(0, -3000));
    },
    async () => {
      if (await page.isVisible("#newest")) await page.click("#newest");
    },
    async () => {
      await page.evaluate(() => dispatchEvent(new Event("online")));
    },
  ];
  for (let step = 0; step < 25; step += 1) await acts[random.below(acts.length)]?.();
  await page.evaluate(() => dispatchEvent(new Event("online")));
  await add(turns);
  await shows(page, `answer ${turns}.`);
  const shown = await answers(page);
  expect(shown, `SEED=${seed}`).toEqual(numbered(turns + 1, turns + 1 - shown.length));
  expect(rig.strayed).toEqual([]);
});
