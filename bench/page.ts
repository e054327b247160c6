/**
 * The page in Chromium of a phone's size: the first content of a 100 MB session over a slow line, from an append to the screen beside a bare
 * copy to a socket, and how long the longest frame is while 10,000 entries are gone through.
 */
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { chromium, type Page } from "playwright-core";
import { generate } from "./generate.ts";
import { row } from "./measure.ts";
import { line, type Open, one, percentile, type Serving, startCopy, startServe } from "./serve.ts";

const slow = { offline: false, latency: 300, downloadThroughput: 50_000, uploadThroughput: 50_000 };
const firstRuns = 5;

function program(): string {
  return process.env["CHROMIUM_PATH"] ?? "/usr/bin/chromium";
}

/** The ids of the sessions by their titles' first words. */
async function sessionsOf({ origin, secret }: Serving): Promise<ReadonlyMap<string, string>> {
  const answer = await fetch(`${origin}/api/sessions?limit=50`, {
    headers: { authorization: `Bearer ${secret}` },
  });
  const told = (await answer.json()) as {
    readonly sessions: readonly { readonly id: string; readonly agentSessionId: string }[];
  };
  return new Map(told.sessions.map(({ id, agentSessionId }) => [agentSessionId, id]));
}

/** Milliseconds until the first content, and bytes of the document that has it, over a slow line. */
async function firstContent(
  page: Page,
  address: string,
): Promise<{ readonly ms: number; readonly bytes: number }> {
  const network = await page.context().newCDPSession(page);
  await network.send("Network.enable");
  await network.send("Network.clearBrowserCache");
  await network.send("Network.emulateNetworkConditions", slow);
  // The document holds the first content: no more than all of it can have come before.
  let document: string | undefined;
  const whole = new Promise<number>((resolve) => {
    network.on("Network.requestWillBeSent", ({ requestId, type }) => {
      if (type === "Document") document ??= requestId;
    });
    network.on("Network.loadingFinished", ({ requestId, encodedDataLength }) => {
      if (requestId === document) resolve(encodedDataLength);
    });
  });
  await page.goto(address, { waitUntil: "commit" });
  const ms = await page.evaluate(
    () =>
      new Promise<number>((resolve) => {
        new PerformanceObserver((list) => {
          for (const entry of list.getEntries())
            if (entry.name === "first-contentful-paint") resolve(entry.startTime);
        }).observe({ type: "paint", buffered: true });
      }),
  );
  const bytes = await whole;
  await network.detach();
  return { ms, bytes };
}

/** Opens a page on a session as one who is told of what is appended. */
function openerOf(page: Page, address: string): Open {
  return async (_file, onText) => {
    await page.exposeFunction("tellMark", onText);
    await page.goto(address);
    await page.waitForSelector("#standing[data-is=live]");
    await page.evaluate(() => {
      const tell = (globalThis as unknown as { tellMark: (text: string) => void }).tellMark;
      // Told once the browser has drawn it.
      new MutationObserver(() => {
        const text = document.querySelector("#turns")?.lastElementChild?.textContent ?? "";
        requestAnimationFrame(() => tell(text));
      }).observe(document.body, { childList: true, subtree: true });
    });
    return () => undefined;
  };
}

export async function benchPage(): Promise<void> {
  const home = await mkdtemp(join(tmpdir(), "hansard-bench-page-"));
  const folder = join(home, ".claude", "projects", "-work");
  await mkdir(folder, { recursive: true });
  const small = join(folder, "small.jsonl");
  const large = join(folder, "large.jsonl");
  const many = join(folder, "many.jsonl");
  await writeFile(small, line("small"));
  await generate("claude-code", large, 100_000_000);
  await writeFile(
    many,
    Array.from({ length: 10_000 }, (_, at) => line(`entry ${at} ${"words ".repeat(20)}`)).join(""),
  );
  const browser = await chromium.launch({ executablePath: program(), args: ["--no-sandbox"] });
  const serving = await startServe(home);
  try {
    const ids = await sessionsOf(serving);
    const context = await browser.newContext({
      viewport: { width: 390, height: 844 },
      deviceScaleFactor: 2,
      isMobile: true,
      hasTouch: true,
    });
    const { origin, secret } = serving;
    await context.addCookies([{ name: `hansard-${new URL(origin).port}`, value: secret, url: origin }]);
    const firsts: { readonly ms: number; readonly bytes: number }[] = [];
    for (let run = 0; run < firstRuns; run += 1) {
      const page = await context.newPage();
      firsts.push(await firstContent(page, `${origin}/s/${ids.get("large")}`));
      await page.close();
    }
    row(
      "first content of 100 MB at 400 kbit/s, 300 ms: longest of 5",
      `${Math.max(...firsts.map(({ ms }) => ms)).toFixed(0)} ms, ${(Math.max(...firsts.map(({ bytes }) => bytes)) / 1000).toFixed(0)} KB`,
    );

    const copy = await startCopy([small]);
    try {
      row("append to a bare socket, p95", percentile(await one(copy.open, small), 0.95));
    } finally {
      copy.child.kill();
    }
    const page = await context.newPage();
    const times = await one(openerOf(page, `${origin}/s/${ids.get("small")}`), small, 20);
    row("append to the page's screen: p50, p95", `${percentile(times, 0.5)}, ${percentile(times, 0.95)}`);
    await page.close();

    const reader = await context.newPage();
    await reader.goto(`${origin}/s/${ids.get("many")}`);
    await reader.waitForSelector("#standing[data-is=live]");
    const frames = await reader.evaluate(async () => {
      const long: number[] = [];
      new PerformanceObserver((list) => {
        for (const entry of list.getEntries()) long.push(entry.duration);
      }).observe({ type: "longtask" });
      const frame = () => new Promise((resolve) => requestAnimationFrame(resolve));
      let steps = 0;
      for (; steps < 8_000; steps += 1) {
        scrollBy(0, -800);
        await frame();
        if ((document.getElementById("older") as HTMLElement).hidden && scrollY === 0) break;
      }
      return { steps, long, held: document.querySelectorAll("article").length };
    });
    row(
      "10,000 entries scrolled through: steps, tasks above 50 ms, longest",
      `${frames.steps}, ${frames.long.length}, ${Math.max(0, ...frames.long).toFixed(0)} ms (${frames.held} held)`,
    );
  } finally {
    serving.child.kill();
    await browser.close();
    await rm(home, { recursive: true, force: true });
  }
}
