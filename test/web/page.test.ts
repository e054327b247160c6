/** The page in a real browser of a phone's size: over a real server, real logs and a real agent. */
import { appendFile, readFile } from "node:fs/promises";
import { gzipSync } from "node:zlib";
import { describe, expect, test } from "vitest";
import type { Scenario } from "../../src/agent/fake/scenario.ts";
import { servedId } from "../../src/cli/serve-catalogue.ts";
import { readPageScript } from "../../src/web/index.ts";
import { drive, fakeCommand } from "../agent/drive.ts";
import { violationsOf } from "../support/browser.ts";
import { answers, claude, numbered, openLive, record, said, shows, texts, usePages } from "./support.ts";

const rig = usePages();

test("the script is under 60 KB packed", async () => {
  expect(gzipSync(await readPageScript()).length).toBeLessThan(60_000);
});

describe("signing in", () => {
  test("the code of the address goes out of it, and opens the list once", async () => {
    await claude(rig, 1);
    const served = await rig.serve();
    const context = await rig.context();
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
    const other = await rig.context();
    const late = await other.newPage();
    await late.goto(`${served.origin}/#code=${served.code}`);
    await late.waitForFunction(() => document.getElementById("said")?.textContent !== "");
    expect(await late.$("#sessions")).toBeNull();
  });

  test("a link to a session that is not here leads to a page that says so, and on to the list", async () => {
    await claude(rig, 1);
    const served = await rig.serve();
    const page = await rig.open(served);
    const answer = await page.goto(`${served.origin}/s/nosuchsession`);
    expect(answer?.status()).toBe(404);
    expect(await violationsOf(page)).toEqual([]);
    await page.click("a");
    await page.waitForSelector("#sessions");
    expect(rig.strayed).toEqual([]);
  });
});

describe("a session", () => {
  test("is read without any script, and is back to its first prompt with it", async () => {
    const { id } = await claude(rig, 120);
    const served = await rig.serve();
    const page = await rig.open(served);
    const silent = await rig.context({ javaScriptEnabled: false });
    await silent.addCookies(await page.context().cookies());
    const plain = await silent.newPage();
    await plain.goto(`${served.origin}/s/${id}`);
    expect(await plain.textContent("main")).toContain("answer 119.");

    await openLive(page, served, id);
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
    expect(rig.strayed).toEqual([]);
  });

  test("is followed at its end; where something earlier is read, its place holds and what is new is counted", async () => {
    const { id, add } = await claude(rig, 30);
    const served = await rig.serve();
    const page = await rig.open(served);
    await openLive(page, served, id);
    await add(30);
    await shows(page, "answer 30.");
    await page.waitForFunction(() => scrollY + innerHeight > document.documentElement.scrollHeight - 61);
    await page.evaluate(() => scrollBy(0, -400));
    await page.waitForSelector("#newest:not([hidden])");
    const top = await page.evaluate(() => scrollY);
    await add(31);
    await page.waitForFunction(() => document.getElementById("newest")?.textContent === "2 new ↓");
    expect(await page.evaluate(() => scrollY)).toBe(top);
    await page.click("#newest");
    await page.waitForSelector("#newest", { state: "hidden" });
    expect((await answers(page)).slice(-2)).toEqual(["answer 30.", "answer 31."]);
  });

  test("comes through a restart of the server and a network that was away: nothing lost, nothing doubled, and its age told", async () => {
    const { id, add } = await claude(rig, 3);
    let served = await rig.serve();
    const { port } = served;
    const page = await rig.open(served);
    await openLive(page, served, id);
    await add(3);
    await shows(page, "answer 3.");
    await served.stop();
    await page.waitForFunction(() =>
      /No connection: as it was \d+:\d\d ago/.test(document.getElementById("standing")?.textContent ?? ""),
    );
    await add(4);
    served = await rig.serve(port);
    await page.evaluate(() => dispatchEvent(new Event("online")));
    await shows(page, "answer 4.");
    await page.context().setOffline(true);
    await page.waitForFunction(() =>
      document.getElementById("standing")?.textContent?.startsWith("No connection:"),
    );
    await add(5);
    await page.context().setOffline(false);
    await page.evaluate(() => dispatchEvent(new Event("online")));
    await shows(page, "answer 5.");
    expect(await answers(page)).toEqual(numbered(6));
  });

  test("finished turns are rolled up and open in place; what is running has a clock", async () => {
    const { path, id } = await claude(rig, 1);
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
    const served = await rig.serve();
    const page = await rig.open(served);
    await openLive(page, served, id);
    await appendFile(path, record(8, "user", "again") + record(9, "assistant", call("t3")));
    await page.waitForFunction(() => document.querySelector(".clock")?.textContent?.startsWith("for "));
    expect(await texts(page, "details.roll > summary")).toEqual(["2 tool calls"]);
    expect(await page.isVisible("details.roll article")).toBe(false);
    await page.click("details.roll > summary");
    expect(await page.isVisible("details.roll article")).toBe(true);
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
    const command = await fakeCommand(scenario, rig.place.home);
    const watched = await drive(command, rig.place.home, { sessions: rig.place.sessions });
    await watched.driven.prompt("write it");
    const served = await rig.serve();
    const id = servedId("hansard", watched.driven.path ?? "");
    const [first, second] = [await rig.open(served), await rig.open(served, { colorScheme: "dark" })];
    for (const page of [first, second]) {
      await page.goto(`${served.origin}/s/${id}`);
      await page.waitForSelector("#asked .answers button");
      expect(await page.textContent("#asked h3")).toContain("notes.txt");
      // What it would write is in sight before it is answered.
      expect(await texts(page, "#asked .diff .add")).toEqual(["+one"]);
      expect(await violationsOf(page)).toEqual([]);
    }
    // The second page does not hear of the answer before its own is on the way.
    const button = await second.$("#asked .allow-once");
    await first.click("#asked .allow-once");
    await watched.turnEnd();
    for (const page of [first, second]) {
      await shows(page, "Written as asked.");
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
    expect(rig.strayed).toEqual([]);
    await served.stop();
    await watched.driven.close();
  });
});

describe("a hostile session", () => {
  test("does nothing: no script runs, no dialog opens, nothing is fetched; axe-core finds no violation", async () => {
    const { path, id } = await claude(rig, 1);
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
    const served = await rig.serve();
    const pages = [await rig.open(served), await rig.open(served, { colorScheme: "dark" })];
    for (const page of pages) {
      await page.goto(`${served.origin}/`);
      expect(await violationsOf(page)).toEqual([]);
      await openLive(page, served, id);
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
    for (const page of pages) await shows(page, "answer 9.");
    expect(rig.strayed).toEqual([]);
  });
});

test("the built script is the one that is served, and may be kept for ever; documents may not", async () => {
  const served = await rig.serve();
  const page = await rig.open(served);
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
});
