// `hansard serve` and `hansard keys`: from the first start to a request that is answered.
import { generateKeyPairSync } from "node:crypto";
import { writeFile } from "node:fs/promises";
import { get } from "node:https";
import type { NetworkInterfaceInfo } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { processIo } from "../../src/cli/io.ts";
import { type ServeOptions, serveUntil } from "../../src/cli/serve.ts";
import { ADDRESSES_MAX, openAt } from "../../src/cli/serve-addresses.ts";
import { createCatalogue, DESCRIBED_MAX, servedId } from "../../src/cli/serve-catalogue.ts";
import type { RunningServer } from "../../src/server/index.ts";
import type { FoundSession } from "../../src/sources/index.ts";
import { type Home, makeHome } from "../support/agents-home.ts";
import { makeCertificate } from "../support/certificate.ts";
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

test("with a certificate: HTTPS at every address that a phone may reach, with the code for it", async () => {
  const home = await makeAround();
  const { cert, certPath, keyPath } = makeCertificate(await tempFolder());
  const options = { host: "0.0.0.0", tlsCert: certPath, tlsKey: keyPath };
  await serving(home, options, async (server, told) => {
    const lines = told().out.trimEnd().split("\n");
    expect(lines.length).toBeGreaterThan(0);
    for (const line of lines) expect(line).toMatch(/^https:\/\/[0-9.]+:\d+\/#code=[0-9A-Z]{5}-[0-9A-Z]{5}$/);
    expect(told().err).toContain("once it trusts the certificate");
    const secret = /^hansard_\S+$/m.exec(told().err)?.[0];
    const status = await new Promise((resolve, reject) => {
      get(
        {
          host: "127.0.0.1",
          port: server.port,
          path: "/api/me",
          ca: cert,
          agent: false,
          headers: { authorization: `Bearer ${secret}` },
        },
        (answer) => resolve(answer.resume().statusCode),
      ).on("error", reject);
    });
    expect(status).toBe(200);
  });
});

test("a certificate that cannot be served is refused in words that say why", async () => {
  const home = await makeAround();
  const folder = await tempFolder();
  const { certPath, keyPath } = makeCertificate(folder);
  const other = join(folder, "other.pem");
  await writeFile(
    other,
    generateKeyPairSync("ec", { namedCurve: "P-256" }).privateKey.export({ type: "pkcs8", format: "pem" }),
  );
  for (const [cert, key, exit, words] of [
    [certPath, other, 2, "do not belong together"],
    [keyPath, certPath, 2, "certificate cannot be read"],
    [certPath, certPath, 2, "key cannot be read"],
    [folder, keyPath, 5, "It is a folder"],
    [certPath, join(folder, "none.pem"), 5, "There is no such file"],
  ] as const) {
    const told = await run(home, ["serve", "--port", "0", "--tls-cert", cert, "--tls-key", key]);
    expect(told.err).toContain(words);
    expect(told.code).toBe(exit);
    expect(told.out).toBe("");
  }
});

const address = (address: string, family: "IPv4" | "IPv6", internal = false): NetworkInterfaceInfo =>
  ({ address, family, internal }) as NetworkInterfaceInfo;
const interfaces = {
  lo: [address("127.0.0.1", "IPv4", true), address("::1", "IPv6", true)],
  wlan: [address("fe80::1", "IPv6"), address("2001:db8::5", "IPv6"), address("192.0.2.7", "IPv4")],
};

test.each([
  ["https://127.0.0.1:7", "127.0.0.1", ["https://127.0.0.1:7"]],
  ["https://0.0.0.0:7", "0.0.0.0", ["https://192.0.2.7:7"]],
  ["https://[::]:7", "::", ["https://192.0.2.7:7", "https://[2001:db8::5]:7"]],
  ["https://name.example", "0.0.0.0", ["https://name.example"]],
  ["https://192.0.2.7:7", "192.0.2.7", ["https://192.0.2.7:7"]],
])("%s, listening at %s, is opened at %j", (origin, host, origins) => {
  expect(openAt({ origin, port: 7 }, host, interfaces)).toEqual(origins);
});

test("so many addresses are shown, and without a network this computer's own", () => {
  const many = Array.from({ length: ADDRESSES_MAX + 1 }, (_, at) => address(`192.0.2.${at}`, "IPv4"));
  const server = { origin: "https://0.0.0.0:7", port: 7 };
  expect(openAt(server, "0.0.0.0", { many })).toHaveLength(ADDRESSES_MAX);
  expect(openAt(server, "0.0.0.0", { lo: interfaces.lo })).toEqual(["https://127.0.0.1:7"]);
});

test.each([
  [{}, "only this computer reaches it"],
  [{ behindProxy: true }, "give the proxy's own address as --origin"],
  [{ behindProxy: true, origin: ["https://name.example"] }, "pass on the Host header"],
] as const)("%j tells how another device gets there", async (options, words) => {
  const home = await makeAround();
  await serving(home, options, async (_, told) => expect(told().err).toContain(words));
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

test("the descriptions of so many sessions are remembered, those that were asked for last, while their files stay as they are", async () => {
  let now = 0;
  let all = Array.from({ length: DESCRIBED_MAX + 1 }, (_, at): FoundSession => {
    return { agent: "pi", id: `s${at}`, path: `/x/${at}`, bytes: 1, modifiedAt: 1 };
  });
  const asked: string[] = [];
  const catalogue = createCatalogue({
    now: () => now,
    find: async () => all,
    async describe(found) {
      asked.push(found.id);
      return found;
    },
  });
  const items = await catalogue.list();
  const describeAt = async (at: number): Promise<void> => {
    const item = items[at];
    if (item !== undefined) await catalogue.describe(item);
  };
  for (let at = 0; at < DESCRIBED_MAX; at += 1) await describeAt(at);
  await describeAt(0);
  expect(asked).toHaveLength(DESCRIBED_MAX);
  await describeAt(DESCRIBED_MAX);
  await describeAt(0);
  expect(asked).toHaveLength(DESCRIBED_MAX + 1);
  await describeAt(1);
  expect(asked.slice(-2)).toEqual([`s${DESCRIBED_MAX}`, "s1"]);
  all = all.map((found) => ({ ...found, modifiedAt: 2 }));
  now = 1_000;
  await describeAt(0);
  expect(asked.at(-1)).toBe("s0");
});
