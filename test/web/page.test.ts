/** The page in a real browser of a phone's size: over a real server, real logs and a real agent. */
import { appendFile, mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import type { Browser, BrowserContext, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import type { Scenario } from "../../src/agent/fake/scenario.ts";
import { processIo } from "../../src/cli/io.ts";
import { serveUntil } from "../../src/cli/serve.ts";
import { servedId } from "../../src/cli/serve-catalogue.ts";
import { sessionsFolder, stateFolder } from "../../src/log/index.ts";
import { readPageScript } from "../../src/web/index.ts";
import { drive, fakeCommand } from "../agent/drive.ts";
import { tempFolder } from "../cli/support.ts";
import { launchBrowser, phone, violationsOf } from "../support/browser.ts";

let browser: Browser;
beforeAll(async () => {
  browser = await launchBrowser();
});
afterAll(() => browser.close());

interface Place {
  readonly home: string;
  readonly around: ReturnType<typeof processIo>["around"];
  readonly sessions: string;
}

let place: Place;
let contexts: BrowserContext[];
/** Addresses that a page asked for beyond the server, dialogs that opened, errors that nobody caught. */
let strayed: string[];

beforeEach(async () => {
  const home = await tempFolder();
  const around = { home, platform: "linux", env: { HANSARD_HOME: join(home, "state") } };
  const sessions = sessionsFolder(stateFolder(around));
  await mkdir(sessions, { recursive: true });
  place = { home, around, sessions };
  contexts = [];
  strayed = [];
});
afterEach(async () => {
  for (const context of contexts) await context.close();
});

interface Served {
  readonly origin: string;
  readonly port: number;
  readonly code: string;
  readonly stop: () => Promise<void>;
}

async function serve(port = 0): Promise<Served> {
  const stop = new AbortController();
  let out = "";
  const output = { isTTY: false, columns: undefined };
  const io = {
    ...processIo(),
    around: place.around,
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

/** A page that is signed in. */
async function open(served: Served, options: { readonly colorScheme?: "dark" } = {}): Promise<Page> {
  const context = await browser.newContext({ ...phone, ...options });
  contexts.push(context);
  const page = await context.newPage();
  page.setDefaultTimeout(9_000);
  page.on("dialog", (dialog) => {
    strayed.push(`dialog ${dialog.message()}`);
    void dialog.dismiss();
  });
  page.on("pageerror", (error) => strayed.push(`error ${error.message}`));
  page.on("request", (request) => {
    if (!request.url().startsWith(served.origin)) strayed.push(request.url());
  });
  const made = await fetch(`${served.origin}/api/exchange`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ code: served.code, as: "bearer", label: "test" }),
  });
  if (made.status === 200) secret = ((await made.json()) as { secret: string }).secret;
  const name = `hansard-${served.port}`;
  await context.addCookies([{ name, value: secret, url: served.origin, httpOnly: true, sameSite: "Strict" }]);
  return page;
}
let secret = "";

const record = (index: number, type: "user" | "assistant", content: unknown): string =>
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
const said = (text: string) => [{ type: "text", text }];

/** A Claude Code session of so many turns. */
async function claude(turns: number): Promise<{ readonly path: string; readonly id: string }> {
  const folder = join(place.home, ".claude", "projects", "-w");
  await mkdir(folder, { recursive: true });
  const path = join(folder, "c1.jsonl");
  let text = "";
  for (let turn = 0; turn < turns; turn += 1)
    text +=
      record(2 * turn, "user", `question ${turn}`) +
      record(2 * turn + 1, "assistant", said(`answer ${turn}.`));
  await writeFile(path, text);
  return { path, id: servedId("claude-code", path) };
}

const texts = (page: Page, what: string): Promise<readonly string[]> =>
  page.$$eval(what, (all) => all.map((each) => each.textContent ?? ""));
const answers = async (page: Page): Promise<readonly string[]> =>
  (await texts(page, "article.model")).flatMap((text) => text.match(/answer \d+\./g) ?? []);
const numbered = (count: number): readonly string[] =>
  Array.from({ length: count }, (_, at) => `answer ${at}.`);

test("the script is under 60 KB packed", async () => {
  expect(gzipSync(await readPageScript()).length).toBeLessThan(60_000);
});

describe("signing in", () => {
  test("the code of the address goes out of it, and opens the list once", async () => {
    await claude(1);
    const served = await serve();
    const context = await browser.newContext(phone);
    contexts.push(context);
    const page = await context.newPage();
    await page.goto(`${served.origin}/#code=wrong`);
    await page.waitForFunction(() => document.getElementById("said")?.textContent !== "");
    expect(page.url()).toBe(`${served.origin}/`);
    expect(await violationsOf(page)).toEqual([]);
    await page.fill("#code", served.code);
    await page.click("button[type=submit]");
    await page.waitForSelector("#sessions");
    expect(await texts(page, "#sessions .title")).toEqual(["question 0"]);
    const [cookie] = await context.cookies();
    expect(cookie).toMatchObject({ httpOnly: true, sameSite: "Strict" });
    const other = await browser.newContext(phone);
    contexts.push(other);
    const late = await other.newPage();
    await late.goto(`${served.origin}/#code=${served.code}`);
    await late.waitForFunction(() => document.getElementById("said")?.textContent !== "");
    expect(await late.$("#sessions")).toBeNull();
    await served.stop();
  });
});

describe("a session", () => {
  test("is read without any script, and is back to its first prompt with it", async () => {
    const { id } = await claude(120);
    const served = await serve();
    const page = await open(served);
    const silent = await browser.newContext({ ...phone, javaScriptEnabled: false });
    contexts.push(silent);
    await silent.addCookies(await page.context().cookies());
    const plain = await silent.newPage();
    await plain.goto(`${served.origin}/s/${id}`);
    expect(await plain.textContent("main")).toContain("answer 119.");

    await page.goto(`${served.origin}/s/${id}`);
    await page.waitForSelector("#standing[data-is=live]");
    expect((await answers(page)).at(-1)).toBe("answer 119.");
    for (let pages = 0; pages < 20 && (await page.isVisible("#older")); pages += 1) {
      const before = (await answers(page)).length;
      await page.evaluate(() => scrollTo(0, 0));
      await page.waitForFunction(
        (count) => document.querySelectorAll("article.model").length > count,
        before,
      );
    }
    expect(await answers(page)).toEqual(numbered(120));
    await page.click("#newest");
    await page.click("#previous");
    await page.waitForFunction(() => document.activeElement?.tagName === "H2");
    expect(await page.evaluate(() => document.activeElement?.closest("section")?.textContent)).toContain(
      "question",
    );
    expect(strayed).toEqual([]);
    await served.stop();
  });

  test("is followed at its end; where something earlier is read, its place holds and what is new is counted", async () => {
    const { id, path } = await claude(30);
    const served = await serve();
    const page = await open(served);
    await page.goto(`${served.origin}/s/${id}`);
    await page.waitForSelector("#standing[data-is=live]");
    await appendFile(path, record(60, "user", "question 30") + record(61, "assistant", said("answer 30.")));
    await page.waitForFunction(() => document.body.textContent?.includes("answer 30."));
    await page.waitForFunction(() => scrollY + innerHeight > document.documentElement.scrollHeight - 61);
    await page.evaluate(() => scrollBy(0, -400));
    await page.waitForSelector("#newest:not([hidden])");
    const top = await page.evaluate(() => scrollY);
    await appendFile(path, record(62, "user", "question 31") + record(63, "assistant", said("answer 31.")));
    await page.waitForFunction(() => document.getElementById("newest")?.textContent === "2 new ↓");
    expect(await page.evaluate(() => scrollY)).toBe(top);
    await page.click("#newest");
    await page.waitForSelector("#newest", { state: "hidden" });
    expect((await answers(page)).slice(-2)).toEqual(["answer 30.", "answer 31."]);
    await served.stop();
  });

  test("comes through a restart of the server and a network that was away: nothing lost, nothing doubled, and its age told", async () => {
    const { id, path } = await claude(3);
    let served = await serve();
    const { port } = served;
    const page = await open(served);
    await page.goto(`${served.origin}/s/${id}`);
    await page.waitForSelector("#standing[data-is=live]");
    const add = async (turn: number) =>
      appendFile(
        path,
        record(2 * turn, "user", `question ${turn}`) +
          record(2 * turn + 1, "assistant", said(`answer ${turn}.`)),
      );
    await add(3);
    await page.waitForFunction(() => document.body.textContent?.includes("answer 3."));
    await served.stop();
    await page.waitForFunction(() =>
      /No connection: as it was \d+:\d\d ago/.test(document.getElementById("standing")?.textContent ?? ""),
    );
    await add(4);
    served = await serve(port);
    await page.evaluate(() => dispatchEvent(new Event("online")));
    await page.waitForFunction(() => document.body.textContent?.includes("answer 4."));
    await page.context().setOffline(true);
    await add(5);
    await page.context().setOffline(false);
    await page.evaluate(() => dispatchEvent(new Event("online")));
    await page.waitForFunction(() => document.body.textContent?.includes("answer 5."));
    expect(await answers(page)).toEqual(numbered(6));
    await served.stop();
  });

  test("finished turns are rolled up and open in place; what is running has a clock", async () => {
    const { path, id } = await claude(1);
    const call = (toolId: string) => [
      { type: "tool_use", id: toolId, name: "Bash", input: { command: "ls" } },
    ];
    const result = (toolId: string) => [{ type: "tool_result", tool_use_id: toolId, content: "files" }];
    await appendFile(
      path,
      record(2, "user", "look") +
        record(3, "assistant", call("t1")) +
        record(4, "user", result("t1")) +
        record(5, "assistant", call("t2")) +
        record(6, "user", result("t2")) +
        record(7, "assistant", said("Seen.")),
    );
    const served = await serve();
    const page = await open(served);
    await page.goto(`${served.origin}/s/${id}`);
    await page.waitForSelector("#standing[data-is=live]");
    await appendFile(path, record(8, "user", "again") + record(9, "assistant", call("t3")));
    await page.waitForFunction(() => document.querySelector(".clock")?.textContent?.startsWith("running"));
    expect(await texts(page, "details.roll > summary")).toEqual(["2 tool calls"]);
    expect(await page.isVisible("details.roll article")).toBe(false);
    await page.click("details.roll > summary");
    expect(await page.isVisible("details.roll article")).toBe(true);
    await served.stop();
  });
});

describe("an agent that Hansard drives", () => {
  const scenario: Scenario = {
    prompts: [
      [
        { type: "text", text: "I would write it. " },
        {
          type: "ask",
          id: "w1",
          title: "Write notes.txt",
          kind: "edit",
          diff: { path: "notes.txt", newText: "one\n" },
          answers: {
            allow: [{ type: "update", id: "w1", status: "completed" }],
            reject: [{ type: "update", id: "w1", status: "failed" }],
          },
        },
        { type: "text", text: "Written as asked." },
      ],
      [{ type: "echo" }],
    ],
  };

  test("two pages watch one run; one answers, the other sees it; a late answer is told who was first; a prompt goes in", async () => {
    const command = await fakeCommand(scenario, place.home);
    const watched = await drive(command, place.home, { sessions: place.sessions });
    await watched.driven.prompt("write it");
    const served = await serve();
    const id = servedId("hansard", watched.driven.path ?? "");
    const [first, second] = [await open(served), await open(served, { colorScheme: "dark" })];
    for (const page of [first, second]) {
      await page.goto(`${served.origin}/s/${id}`);
      await page.waitForSelector("#asked .answers button");
      expect(await page.textContent("#asked h3")).toContain("notes.txt");
      expect(await violationsOf(page)).toEqual([]);
    }
    // The second page does not hear of the answer before its own is on the way.
    const button = await second.$("#asked .allow");
    await first.click("#asked .allow");
    await watched.turnEnd();
    for (const page of [first, second]) {
      await page.waitForFunction(() => document.body.textContent?.includes("Written as asked."));
      await page.waitForSelector("#asked", { state: "hidden" });
    }
    const { approval = "", option = "" } = ((await button?.evaluate((each) => ({
      ...(each as HTMLElement).dataset,
    }))) ?? {}) as Record<string, string>;
    const late = await second.evaluate(
      async ([path, body]) => {
        const answer = await fetch(path as string, {
          method: "POST",
          headers: { "content-type": "application/json" },
          body: body as string,
        });
        return [answer.status, await answer.json()];
      },
      [`/api/sessions/${id}/answers`, JSON.stringify({ approval, option })],
    );
    expect(late).toEqual([409, { taken: false, by: "test" }]);
    await first.fill("#text", "from the phone");
    await first.click("#prompt button[type=submit]");
    await watched.turnEnd(2);
    await second.waitForFunction(
      () =>
        document.querySelectorAll("article.model").length > 0 &&
        document.body.textContent?.includes("from the phone"),
    );
    await second.waitForFunction(() =>
      [...document.querySelectorAll("article.model")].some((each) =>
        each.textContent?.includes("from the phone"),
      ),
    );
    expect(await first.inputValue("#text")).toBe("");
    expect(strayed).toEqual([]);
    await served.stop();
    await watched.driven.close();
  });
});

describe("a hostile session", () => {
  test("does nothing: no script runs, no dialog opens, nothing is fetched; axe-core finds no violation", async () => {
    const { path, id } = await claude(1);
    const evil = [
      `<script>alert(1)</script>`,
      `<img src=x onerror="alert(2)">`,
      `"><svg onload=alert(3)>`,
      `</script></section></main><h1>gone</h1>`,
      `[a](javascript:alert(4)) ![b](http://192.0.2.1/x.png) <http://192.0.2.1/>`,
      `\u202Eevil\u0000\u001b]0;x\u0007`,
      `' onfocus='alert(5)' autofocus='`,
    ].join("\n\n");
    await appendFile(
      path,
      record(2, "user", evil) +
        record(3, "assistant", [
          { type: "thinking", thinking: evil },
          { type: "tool_use", id: evil, name: evil, input: { [evil]: evil } },
        ]) +
        record(4, "user", [{ type: "tool_result", tool_use_id: evil, content: evil, is_error: true }]) +
        record(5, "assistant", said(evil)) +
        `${JSON.stringify({ type: "custom-title", customTitle: evil, sessionId: "c1" })}\n{"torn`,
    );
    const served = await serve();
    for (const options of [{}, { colorScheme: "dark" }] as const) {
      const page = await open(served, options);
      await page.goto(`${served.origin}/`);
      expect(await violationsOf(page)).toEqual([]);
      await page.goto(`${served.origin}/s/${id}`);
      await page.waitForSelector("#standing[data-is=live]");
      for (const summary of await page.$$("summary"))
        await summary.evaluate((each) => each.parentElement?.setAttribute("open", ""));
      expect(await texts(page, "main h1")).toEqual([]);
      expect(
        await page.$$eval("a[href]", (all) =>
          all.map((each) => new URL((each as HTMLAnchorElement).href).protocol),
        ),
      ).not.toContain("javascript:");
      expect(await violationsOf(page)).toEqual([]);
    }
    await appendFile(
      path,
      `\n${record(6, "user", evil)}${record(7, "assistant", said(`answer 9. ${evil}`))}`,
    );
    const page = contexts.at(-1)?.pages()[0];
    await page?.waitForFunction(() => document.body.textContent?.includes("answer 9."));
    expect(strayed).toEqual([]);
    await served.stop();
  });
});

test("the built script is the one that is served, and may be kept for ever; documents may not", async () => {
  const served = await serve();
  const page = await open(served);
  const seen = new Map<string, string>();
  page.on("response", (response) =>
    seen.set(new URL(response.url()).pathname, response.headers()["cache-control"] ?? ""),
  );
  await page.goto(`${served.origin}/`);
  const script = [...seen].find(([path]) => path.endsWith(".js"));
  expect(script?.[1]).toContain("immutable");
  expect(seen.get("/")).toBe("no-store");
  expect(await readFile(new URL("../../dist/web/page.js", import.meta.url), "utf8")).toBe(
    await readPageScript(),
  );
  await served.stop();
});
