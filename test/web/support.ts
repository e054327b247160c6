/** A page in a real browser of a phone's size, over a real server and real logs. */
import { appendFile, mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Browser, BrowserContext, BrowserContextOptions, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, beforeEach } from "vitest";
import { processIo } from "../../src/cli/io.ts";
import { serveUntil } from "../../src/cli/serve.ts";
import { servedId } from "../../src/cli/serve-catalogue.ts";
import { sessionsFolder, stateFolder } from "../../src/log/index.ts";
import { tempFolder } from "../cli/support.ts";
import { launchBrowser, phone } from "../support/browser.ts";

export interface Place {
  readonly home: string;
  readonly around: ReturnType<typeof processIo>["around"];
  readonly sessions: string;
}

export interface Served {
  readonly origin: string;
  readonly port: number;
  readonly code: string;
  readonly stop: () => Promise<void>;
}

export interface Rig {
  readonly place: Place;
  /** Addresses that a page asked for beyond the server, dialogs that opened, errors that nobody caught. */
  readonly strayed: readonly string[];
  /** A browser of its own; signed in nowhere. */
  context(options?: BrowserContextOptions): Promise<BrowserContext>;
  serve(port?: number): Promise<Served>;
  /** A page that is signed in. */
  open(served: Served, options?: BrowserContextOptions): Promise<Page>;
}

async function serveAt(around: Place["around"], port: number): Promise<Served> {
  const stop = new AbortController();
  let out = "";
  const output = { isTTY: false, columns: undefined };
  const io = {
    ...processIo(),
    around,
    out: {
      ...output,
      write: async (words: string) => {
        out += words;
        return true;
      },
    },
    err: { ...output, write: async () => true },
  };
  return await new Promise<Served>((resolve, reject) => {
    const over = serveUntil(
      io,
      { port },
      {
        signal: stop.signal,
        onStart: ({ origin }) =>
          resolve({
            origin,
            port: Number(new URL(origin).port),
            code: /#code=(\S+)/.exec(out)?.[1] ?? "",
            stop: async () => {
              stop.abort();
              await over;
            },
          }),
      },
    );
    over.catch(reject);
  });
}

/** One browser for a file's tests; a folder, pages and a list of what strayed for each of them. */
export function usePages(): Rig {
  let browser: Browser;
  let place: Place;
  let contexts: BrowserContext[] = [];
  let servers: Served[] = [];
  let strayed: string[] = [];
  let secret = "";
  beforeAll(async () => {
    browser = await launchBrowser();
  });
  afterAll(() => browser.close());
  beforeEach(async () => {
    const home = await tempFolder();
    const around = { home, platform: "linux", env: { HANSARD_HOME: join(home, "state") } };
    const sessions = sessionsFolder(stateFolder(around));
    await mkdir(sessions, { recursive: true });
    place = { home, around, sessions };
    strayed = [];
  });
  afterEach(async () => {
    for (const context of contexts) await context.close();
    for (const server of servers) await server.stop();
    contexts = [];
    servers = [];
  });
  const context = async (options: BrowserContextOptions = {}): Promise<BrowserContext> => {
    const made = await browser.newContext({ ...phone, ...options });
    contexts.push(made);
    return made;
  };
  return {
    get place() {
      return place;
    },
    get strayed() {
      return strayed;
    },
    context,
    async serve(port = 0) {
      const served = await serveAt(place.around, port);
      servers.push(served);
      return served;
    },
    async open({ origin, port, code }, options = {}) {
      const own = await context(options);
      const page = await own.newPage();
      page.setDefaultTimeout(9_000);
      page.on("dialog", (dialog) => {
        strayed.push(`dialog ${dialog.message()}`);
        void dialog.dismiss();
      });
      page.on("pageerror", (error) => strayed.push(`error ${error.message}`));
      page.on("request", (request) => {
        if (!request.url().startsWith(origin)) strayed.push(request.url());
      });
      const made = await fetch(`${origin}/api/exchange`, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify({ code, as: "bearer", label: "test" }),
      });
      if (made.status === 200) secret = ((await made.json()) as { secret: string }).secret;
      const name = `hansard-${port}`;
      await own.addCookies([{ name, value: secret, url: origin, httpOnly: true, sameSite: "Strict" }]);
      return page;
    },
  };
}

/** A record of a Claude Code session. */
export const record = (index: number, type: "user" | "assistant", content: unknown): string =>
  `${JSON.stringify({
    type,
    uuid: `u${index}`,
    parentUuid: index === 0 ? null : `u${index - 1}`,
    sessionId: "c1",
    cwd: "/w",
    version: "2",
    timestamp: new Date(1_790_000_000_000 + index * 1_000).toISOString(),
    message:
      type === "user"
        ? { role: "user", content }
        : { id: `m${index}`, role: "assistant", model: "m", content, usage: { output_tokens: 3 } },
  })}\n`;
export const said = (text: string) => [{ type: "text", text }];

/** A turn: a question and its answer, which are numbered. */
export const turn = (at: number): string =>
  record(2 * at, "user", `question ${at}`) + record(2 * at + 1, "assistant", said(`answer ${at}.`));

export interface Session {
  readonly path: string;
  readonly id: string;
  /** Appends these turns. */
  add(...turns: readonly number[]): Promise<void>;
}

/** A Claude Code session of so many turns. */
export async function claude({ place: { home } }: Rig, turns: number): Promise<Session> {
  const folder = join(home, ".claude", "projects", "-w");
  await mkdir(folder, { recursive: true });
  const path = join(folder, "c1.jsonl");
  await writeFile(path, Array.from({ length: turns }, (_, at) => turn(at)).join(""));
  return {
    path,
    id: servedId("claude-code", path),
    add: (...more) => appendFile(path, more.map(turn).join("")),
  };
}

export const texts = (page: Page, what: string): Promise<readonly string[]> =>
  page.$$eval(what, (all) => all.map((each) => each.textContent ?? ""));

/** The answers that the page shows, in its order. */
export const answers = async (page: Page): Promise<readonly string[]> =>
  (await texts(page, "article.model")).flatMap((text) => text.match(/answer \d+\./g) ?? []);

export const numbered = (count: number, from = 0): readonly string[] =>
  Array.from({ length: count - from }, (_, at) => `answer ${from + at}.`);

/** Waits for words on the page. */
export async function shows(page: Page, words: string): Promise<void> {
  await page.waitForFunction((wanted) => document.body.textContent?.includes(wanted), words);
}

/** Opens a session and waits until it is live. */
export async function openLive(page: Page, served: Served, id: string): Promise<void> {
  await page.goto(`${served.origin}/s/${id}`);
  await page.waitForSelector("#standing[data-is=live]");
}
