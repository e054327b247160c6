// `hansard serve` and `hansard keys`: from the first start to a request that is answered.
import { join } from "node:path";
import { expect, test } from "vitest";
import { processIo } from "../../src/cli/io.ts";
import { type ServeOptions, serveUntil } from "../../src/cli/serve.ts";
import { createCatalogue, servedId } from "../../src/cli/serve-catalogue.ts";
import type { RunningServer } from "../../src/server/index.ts";
import type { FoundSession } from "../../src/sources/index.ts";
import { type Home, makeHome } from "../support/agents-home.ts";
import { run, tempFolder } from "./support.ts";

async function makeAround(): Promise<Pick<Home, "around">> {
  const home = await makeHome(await tempFolder());
  const around = {
    ...home.around,
    env: { ...home.around.env, HANSARD_HOME: join(home.around.home, "state") },
  };
  return { around };
}

interface Served {
  readonly out: string;
  readonly err: string;
}

/** Serves while `work` runs. */
async function serving(
  home: Pick<Home, "around">,
  options: ServeOptions,
  work: (server: RunningServer, told: () => Served) => Promise<void>,
): Promise<void> {
  const stop = new AbortController();
  const text = { out: "", err: "" };
  const output = (name: "out" | "err") => ({
    isTTY: false,
    columns: undefined,
    async write(words: string) {
      text[name] += words;
      return true;
    },
  });
  const io = { ...processIo(), out: output("out"), err: output("err"), around: home.around };
  let failure: unknown;
  await serveUntil(
    io,
    { port: 0, ...options },
    {
      signal: stop.signal,
      onStart: (server) => {
        void work(server, () => ({ ...text }))
          .catch((error: unknown) => {
            failure = error;
          })
          .finally(() => stop.abort());
      },
    },
  );
  if (failure !== undefined) throw failure;
}

test("the first start makes a key and a code; the code makes a key that sees the sessions, the log tells no secret", async () => {
  const home = await makeAround();
  await serving(home, { log: true }, async (server, told) => {
    const code = /#code=([0-9A-Z]{5}-[0-9A-Z]{5})\n$/.exec(told().out)?.[1];
    expect(told().err).toMatch(/made the first key.*\nhansard_[a-z2-7]{12}_/);
    const asked = await fetch(`${server.origin}/api/exchange`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ code, as: "bearer", label: "a phone" }),
    });
    const { secret } = (await asked.json()) as { secret: string };
    const headers = { authorization: `Bearer ${secret}` };
    const list = await fetch(`${server.origin}/api/sessions?limit=3`, { headers });
    const { sessions } = (await list.json()) as { sessions: Record<string, unknown>[] };
    expect(sessions).toHaveLength(3);
    expect(sessions[0]).not.toHaveProperty("path");
    const tail = await fetch(`${server.origin}/api/sessions/${sessions[0]?.["id"]}/tail`, { headers });
    expect(((await tail.json()) as { entries: unknown[] }).entries.length).toBeGreaterThan(0);
    await expect.poll(() => told().err).toContain("GET /api/sessions/:id/tail 200");
    expect(told().err).not.toContain(secret.slice(-30));
  });
  const keys = await run(home, ["keys", "list"]);
  expect(keys.out.split("\n").filter((line) => line !== "")).toHaveLength(2);
  expect(keys.out).toContain("a phone  read, answer · all sessions");
});

test("a later start makes no key, and serves the named sessions alone", async () => {
  const home = await makeAround();
  const added = await run(home, ["keys", "add", "--label", "a laptop", "--read-only", "--sessions", "last"]);
  const secret = added.out.trim();
  expect([added.code, added.err]).toEqual([
    0,
    expect.stringContaining("(read · 1 session). It is shown this once"),
  ]);
  await serving(home, { sessions: ["last"], readOnly: true }, async (server, told) => {
    expect(told().err).not.toContain("made the first key");
    const headers = { authorization: `Bearer ${secret}` };
    const list = await fetch(`${server.origin}/api/sessions`, { headers });
    expect(((await list.json()) as { sessions: unknown[] }).sessions).toHaveLength(1);
    const me = await fetch(`${server.origin}/api/me`, { headers });
    expect(await me.json()).toMatchObject({ mayAnswer: false });
  });
});

test("keys are listed, given codes and revoked", async () => {
  const home = await makeAround();
  expect((await run(home, ["keys", "list"])).out).toContain("There are no keys yet");
  expect((await run(home, ["keys", "code"])).code).toBe(3);
  await run(home, ["keys", "add", "--label", "one"]);
  const [key] = (await run(home, ["keys", "list", "--json"])).out.trim().split("\n");
  const { id } = JSON.parse(key ?? "") as { id: string };
  expect(key).not.toContain("hash");
  expect((await run(home, ["keys", "code"])).out).toMatch(/^[0-9A-Z]{5}-[0-9A-Z]{5}\n$/);
  expect((await run(home, ["keys", "code", "aaaaaaaaaaaa"])).code).toBe(3);
  expect((await run(home, ["keys", "revoke", id])).err).toContain(`revoked ${id}`);
  expect((await run(home, ["keys", "revoke", id])).code).toBe(3);
});

test.each([
  [["--host", "0.0.0.0"], "without TLS"],
  [["--host", "example.com"], "without TLS"],
  [["--tls-cert", "/nowhere/cert.pem"], "belong together"],
  [["--origin", "example.com"], "no origin"],
  [["--port", "70000"], "0 to 65535"],
])("serve %j is refused", async (words, told) => {
  const home = await makeAround();
  const { code, err } = await run(home, ["serve", "--port", "0", ...words]);
  expect(code).toBe(2);
  expect(err).toContain(told);
});

test("a catalogue looks at most once a second, and knows its ids again", async () => {
  let now = 0;
  let looks = 0;
  const found = (name: string): FoundSession => ({
    agent: "pi",
    id: name,
    path: `/x/${name}`,
    bytes: 1,
    modifiedAt: 1,
  });
  const catalogue = createCatalogue({
    now: () => now,
    async find() {
      looks += 1;
      return [found("a"), found("b")];
    },
    only: new Set([servedId("pi", "/x/a")]),
  });
  const [first] = await catalogue.list();
  expect([first?.id, (await catalogue.list()).length]).toEqual([servedId("pi", "/x/a"), 1]);
  expect(first?.id).toMatch(/^[A-Za-z0-9_-]{22}$/);
  expect(await catalogue.find(servedId("pi", "/x/b"))).toBeUndefined();
  expect(await catalogue.find("../../etc")).toBeUndefined();
  expect(looks).toBe(1);
  now = 1_000;
  await catalogue.list();
  expect(looks).toBe(2);
  if (first !== undefined) expect(await catalogue.describe(first)).toMatchObject({ id: "a" });
});
