/** Every route, asked by those who may not: all refused, nothing leaked, and the server goes on serving. */
import { createConnection } from "node:net";
import { expect, test } from "vitest";
import {
  BODY_BYTES_MAX,
  FAILURES_MAX,
  FAILURES_WINDOW_MS,
  HEADER_BYTES_MAX,
  TARGET_MAX,
} from "../../src/server/limits.ts";
import { routes } from "../../src/server/routes.ts";
import {
  type Asked,
  ask,
  askJson,
  catalogueOf,
  HandClock,
  makeLog,
  makeServer,
  openLane,
  type TestServer,
  tempFolder,
} from "./support.ts";

interface World extends TestServer {
  readonly secret: string;
  readonly clock: HandClock;
}

/** Two sessions with telling words in them. */
async function makeWorld(): Promise<World> {
  const folder = await tempFolder();
  const [a, b] = [await makeLog(folder, "a.jsonl"), await makeLog(folder, "b.jsonl")];
  await a.append(a.promptLine("SECRETWORD of a"));
  await b.append(b.promptLine("SECRETWORD of b"));
  const clock = new HandClock();
  const made = await makeServer({
    catalogue: catalogueOf({ sa: a.path, sb: b.path }),
    clock,
    search: async () => [{ session: "sa", at: "0", entry: "e", excerpt: "SECRETWORD" }],
  });
  return { ...made, clock, secret: (await made.addKey()).secret };
}

const bodies: Readonly<Record<string, string>> = {
  "/api/exchange": JSON.stringify({ code: "00000-00000" }),
  "/api/sessions/:id/answers": JSON.stringify({ approval: "a", option: "o" }),
  "/api/sessions/:id/prompts": JSON.stringify({ text: "do it" }),
  "/api/sessions/:id/cancel": "{}",
};

const queries: Readonly<Record<string, string>> = {
  "/api/search": "?q=SECRETWORD",
  "/api/sessions/:id/older": "?from=0",
  "/api/sessions/:id/newer": "?from=0",
  "/api/sessions/:id/entry": "?at=0",
  "/api/sessions/:id/raw": "?at=0",
  "/api/sessions/:id/changes": "?offset=-1",
};

interface Call {
  readonly path: string;
  readonly method: string;
  readonly target: string;
  readonly body?: string;
}

function calls(id: string): readonly Call[] {
  return routes.map(({ method, path }) => {
    const body = bodies[path];
    const target = path.replace(":id", id) + (queries[path] ?? "");
    return { path, method, target, ...(method === "POST" && body !== undefined ? { body } : {}) };
  });
}

/** A refusal says its code and nothing of a session, a path or the program's inside. */
function expectRefused(asked: Asked, what: string): void {
  expect(asked.status, what).toBeGreaterThanOrEqual(400);
  expect(asked.body, what).not.toMatch(/SECRETWORD|own-s|jsonl|node_modules|\bat \/|Error:/);
  expect(asked.headers["set-cookie"], what).toBeUndefined();
}

function headersAreStrict(asked: Asked): void {
  expect(asked.headers["content-security-policy"]).toContain("default-src 'none'");
  expect(asked.headers["x-content-type-options"]).toBe("nosniff");
  expect(asked.headers["referrer-policy"]).toBe("no-referrer");
  expect(asked.headers["cache-control"]).toContain("no-store");
  expect(asked.headers["access-control-allow-origin"]).toBeUndefined();
}

async function stillServes({ server, secret }: World): Promise<void> {
  const { sessions } = await askJson<{ sessions: unknown[] }>(server, "/api/sessions", { secret });
  expect(sessions).toHaveLength(2);
}

test("every route is in the walk", () => {
  for (const { method, path } of routes) if (method === "POST") expect(bodies[path], path).toBeDefined();
  expect(routes.filter(({ need }) => need === "nothing").map(({ path }) => path)).toEqual(["/api/exchange"]);
});

test("no key, a wrong key, half a key: the same refusal on every route, whether it exists or not", async () => {
  const world = await makeWorld();
  const { server, secret } = world;
  const wrong = secret.slice(0, -1) + (secret.endsWith("A") ? "B" : "A");
  const seen = new Set<string>();
  for (const call of [...calls("sa"), { path: "-", method: "GET", target: "/api/nothing" }]) {
    if (call.path === "/api/exchange") continue;
    for (const headers of [
      {},
      { authorization: `Bearer ${wrong}` },
      { authorization: "Bearer x" },
      { authorization: `Basic ${Buffer.from(`k:${secret}`).toString("base64")}` },
      { cookie: `hansard=${secret}` },
      { cookie: `hansard-${server.port}=` },
    ]) {
      const asked = await ask(server, call.target, { ...call, headers });
      expectRefused(asked, `${call.method} ${call.target}`);
      expect([401, 429]).toContain(asked.status);
      headersAreStrict(asked);
      if (asked.status === 401) seen.add(asked.body);
    }
    const inQuery = await ask(
      server,
      `${call.target}${call.target.includes("?") ? "&" : "?"}key=${secret}`,
      call,
    );
    expect(inQuery.status).toBe(401);
  }
  expect(seen.size).toBe(1);
  await stillServes(world);
});

test("a key for one session: every other one is as one that does not exist, byte for byte", async () => {
  const world = await makeWorld();
  const { server, addKey } = world;
  const { secret } = await addKey({ sessions: ["sa"] });
  const bare = ({ status, headers, body }: Asked): object => ({
    status,
    body,
    headers: { ...headers, date: "" },
  });
  for (const [index, hidden] of calls("sb").entries()) {
    if (!hidden.path.includes(":id")) continue;
    const absent = calls("zz")[index] as Call;
    const [asHidden, asMissing] = [
      await ask(server, hidden.target, { ...hidden, secret }),
      await ask(server, absent.target, { ...absent, secret }),
    ];
    expectRefused(asHidden, hidden.target);
    expect(asHidden.status).toBe(404);
    expect(bare(asHidden)).toEqual(bare(asMissing));
  }
  const { sessions } = await askJson<{ sessions: { id: string }[] }>(server, "/api/sessions", { secret });
  expect(sessions.map(({ id }) => id)).toEqual(["sa"]);
  expect((await ask(server, "/api/sessions?before=sb", { secret })).status).toBe(404);
  expect((await ask(server, "/api/search?q=x&session=sb", { secret })).status).toBe(404);
  const other = await addKey({ sessions: ["sb"] });
  expect(await askJson(server, "/api/search?q=x", { secret: other.secret })).toEqual({ hits: [] });
});

test("a key that may read answers nothing; a server that only shows lets nobody answer", async () => {
  const world = await makeWorld();
  const { secret } = await world.addKey({ may: "read" });
  for (const call of calls("sa")) {
    const route = routes.find(({ path, method }) => path === call.path && method === call.method);
    if (route?.need !== "answer") continue;
    const asked = await ask(world.server, call.target, { ...call, secret });
    expect([asked.status, asked.body]).toEqual([403, expect.stringContaining("read-only-key")]);
  }
  const log = await makeLog(await tempFolder());
  const showing = await makeServer({ catalogue: catalogueOf({ sa: log.path }), isReadOnly: true });
  const full = await showing.addKey();
  const asked = await ask(showing.server, "/api/sessions/sa/prompts", {
    secret: full.secret,
    body: '{"text":"x"}',
  });
  expect([asked.status, asked.body]).toEqual([403, expect.stringContaining("read-only-server")]);
});

test("a foreign host, origin or page is refused before the key is looked at", async () => {
  const world = await makeWorld();
  const { server, secret } = world;
  const ours = `127.0.0.1:${server.port}`;
  const foreign: readonly Readonly<Record<string, string>>[] = [
    { host: "example.com" },
    { host: `example.com:${server.port}` },
    { host: "127.0.0.1" },
    { host: `127.0.0.1.example.com:${server.port}` },
    { host: `127.0.0.1:${server.port + 1}` },
    { host: `a@127.0.0.1:${server.port}` },
    { origin: "https://example.com" },
    { origin: "null" },
    { origin: "" },
    { origin: `https://${ours}` },
    { origin: `http://${ours}.example.com` },
    { origin: `http://${ours}/` },
    { origin: `http://127.0.0.1:${server.port + 1}` },
    { origin: `file://${ours}` },
    { "sec-fetch-site": "cross-site" },
    { "sec-fetch-site": "same-site", "sec-fetch-mode": "navigate" },
  ];
  for (const call of [...calls("sa"), { path: "/", method: "POST", target: "/", body: "{}" }])
    for (const headers of foreign) {
      const asked = await ask(server, call.target, { ...call, secret, headers });
      expectRefused(asked, `${call.target} ${JSON.stringify(headers)}`);
      expect(asked.status, JSON.stringify(headers)).toBe(403);
      headersAreStrict(asked);
    }
  for (const headers of [
    { host: `localhost:${server.port}` },
    { origin: `http://${ours}` },
    { host: `LOCALHOST:${server.port}`, origin: `http://localhost:${server.port}` },
    { "sec-fetch-site": "same-origin" },
    { "sec-fetch-site": "none" },
  ])
    expect((await ask(server, "/api/me", { secret, headers })).status).toBe(200);
  await stillServes(world);
});

test("two Host headers are one too many, none and an empty one too few", async () => {
  const { server, secret } = await makeWorld();
  for (const host of ["", "Host:\r\n", "Host: \r\n"])
    expect(
      await rawly(
        server.port,
        `GET /api/me HTTP/1.1\r\n${host}Authorization: Bearer ${secret}\r\nConnection: close\r\n\r\n`,
      ),
    ).toMatch(/^HTTP\/1\.1 (?:400|403) /);
  const head = `GET /api/me HTTP/1.1\r\nHost: 127.0.0.1:${server.port}\r\nHost: example.com\r\nAuthorization: Bearer ${secret}\r\n\r\n`;
  expect(await rawly(server.port, head)).toMatch(/^HTTP\/1\.1 (?:400|403) /);
});

test("a cookie alone does not act: the page has to say that it is ours", async () => {
  const { server, secret } = await makeWorld();
  const cookie = { cookie: `other=1; hansard-${server.port}=${secret}` };
  expect((await ask(server, "/api/me", { headers: cookie })).status).toBe(200);
  const path = "/api/sessions/sa/cancel";
  const without = await ask(server, path, { headers: cookie, body: "{}" });
  expect([without.status, without.body]).toEqual([403, expect.stringContaining("foreign-origin")]);
  const withOrigin = { ...cookie, origin: `http://127.0.0.1:${server.port}` };
  const from = await ask(server, path, { headers: withOrigin, body: "{}" });
  expect([from.status, from.body]).toEqual([409, expect.stringContaining("not-driven")]);
});

test("bodies are JSON, of bounded size, with the fields they need and no others", async () => {
  const world = await makeWorld();
  const { server, secret } = world;
  const types = [
    "text/plain",
    "application/x-www-form-urlencoded",
    "multipart/form-data; boundary=x",
    "application/json; charset=utf-16",
    "text/plain; application/json",
    "",
  ];
  const wrong = [
    "",
    "{",
    "null",
    "[]",
    '"x"',
    "{}",
    '{"text":1}',
    '{"text":"x","more":1}',
    "\ufeff{",
    '{"code":{}}',
  ];
  for (const call of calls("sa").filter(({ method }) => method === "POST")) {
    for (const type of types) {
      const asked = await ask(server, call.target, { ...call, secret, headers: { "content-type": type } });
      expectRefused(asked, `${call.target} ${type}`);
      expect(asked.status).toBe(415);
    }
    for (const body of wrong) {
      if (call.path.endsWith("/cancel") && body === "{}") continue;
      const asked = await ask(server, call.target, { ...call, secret, body });
      expectRefused(asked, `${call.target} ${body}`);
      expect(asked.status).toBe(400);
    }
    const packed = await ask(server, call.target, {
      ...call,
      secret,
      headers: { "content-encoding": "gzip" },
    });
    expect(packed.status).toBe(415);
    const large = await ask(server, call.target, {
      ...call,
      secret,
      body: `"${"x".repeat(BODY_BYTES_MAX)}"`,
    });
    expect(large.status).toBe(413);
  }
  await stillServes(world);
});

test("a body without a length is cut off at the bound; one at the bound is read", async () => {
  const world = await makeWorld();
  const { server, secret } = world;
  const head = (length: number): string =>
    `POST /api/sessions/sa/cancel HTTP/1.1\r\nHost: 127.0.0.1:${server.port}\r\nAuthorization: Bearer ${secret}\r\n` +
    `Content-Type: application/json\r\nConnection: close\r\nTransfer-Encoding: chunked\r\n\r\n` +
    `${length.toString(16)}\r\n{${" ".repeat(length - 2)}}\r\n0\r\n\r\n`;
  expect(await rawly(server.port, head(BODY_BYTES_MAX + 1))).toMatch(/^HTTP\/1\.1 413 /);
  expect(await rawly(server.port, head(BODY_BYTES_MAX))).toMatch(/^HTTP\/1\.1 409 /);
  await stillServes(world);
});

test("no spelling of a path leads anywhere", async () => {
  const world = await makeWorld();
  const { server, secret } = world;
  const ups = [
    "..",
    "%2e%2e",
    ".%2e",
    "..%2f",
    "..%5c",
    "..\\",
    "%252e%252e",
    "..;",
    "....//",
    "..%00",
    "%c0%ae%c0%ae",
    "．．",
  ];
  for (const up of ups)
    for (const target of [
      `/${up}/${up}/etc/passwd`,
      `/api/sessions/${up}/tail`,
      `/api/sessions/${up}%2f${up}%2fetc%2fpasswd/tail`,
      `/api/sessions/sa/${up}/sb/tail`,
      `/api/${up}/api/me`,
      `//${up}/x`,
      `/api/sessions/sa/raw?at=${up}/${up}/etc/passwd`,
      `/api/sessions/sa/older?from=/${up}/etc/passwd`,
    ]) {
      const asked = await askSpelled(server.port, target, secret);
      expect(asked, target).toMatch(/^HTTP\/1\.1 40[04] /);
      expect(asked, target).not.toMatch(/SECRETWORD|root:/);
    }
  for (const target of [
    "*",
    "http://example.com/api/me",
    "api/me",
    "/api/me#x",
    "/api//me",
    "/api/./me",
    "/%61pi/me",
  ])
    expect(await askSpelled(server.port, target, secret), target).toMatch(/^HTTP\/1\.1 40[04] /);
  const long = await ask(server, `/api/me?x=${"y".repeat(TARGET_MAX)}`, { secret });
  expect(long.status).toBe(414);
  const atTheBound = await ask(server, `/api/me?x=${"y".repeat(TARGET_MAX - "/api/me?x=".length)}`, {
    secret,
  });
  expect(atTheBound.status).toBe(200);
  await stillServes(world);
});

test("methods that are not served", async () => {
  const world = await makeWorld();
  const { server, secret } = world;
  for (const method of ["PUT", "DELETE", "PATCH", "OPTIONS", "TRACE", "PROPFIND"])
    for (const call of calls("sa")) {
      const asked = await ask(server, call.target, { method, secret });
      expectRefused(asked, `${method} ${call.target}`);
      expect(asked.status).toBe(405);
    }
  for (const call of calls("sa")) {
    const other = call.method === "GET" ? { method: "POST", body: "{}" } : { method: "GET" };
    const asked = await ask(server, call.target, { ...other, secret });
    expect(asked.status, `${other.method} ${call.target}`).toBeGreaterThanOrEqual(404);
  }
  const withBody = await ask(server, "/api/me", { method: "GET", secret, body: "{}" });
  expect(withBody.status).toBe(400);
  await stillServes(world);
});

test("tunnels, upgrades and older protocols lead nowhere", async () => {
  const world = await makeWorld();
  const { port } = world.server;
  const key = `Authorization: Bearer ${world.secret}\r\nConnection: close\r\n`;
  const host = `Host: 127.0.0.1:${port}\r\n`;
  for (const [request, answer] of [
    [`CONNECT example.com:443 HTTP/1.1\r\n${host}${key}\r\n`, /^$/],
    [`GET http://example.com/api/me HTTP/1.1\r\n${host}${key}\r\n`, /^HTTP\/1\.1 400 /],
    [`GET /api/me HTTP/1.0\r\n${key}\r\n`, /^HTTP\/1\.1 403 /],
    ["PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", /^(?:HTTP\/1\.1 4\d\d |$)/],
    [
      `GET /api/me HTTP/1.1\r\n${host}Connection: Upgrade, close\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n`,
      /^HTTP\/1\.1 401 /,
    ],
    [
      `POST /api/sessions/sa/prompts HTTP/1.1\r\nHost: example.com\r\n${key}Content-Type: application/json\r\nContent-Length: 12\r\nExpect: 100-continue\r\n\r\n{"text":"x"}`,
      /^(?:HTTP\/1\.1 100 Continue\r\n\r\n)?HTTP\/1\.1 403 /,
    ],
  ] as const)
    expect(await rawly(port, request), request).toMatch(answer);
  await stillServes(world);
});

test("HEAD is GET without its body: no lane is opened, and nothing waits", async () => {
  const world = await makeWorld();
  const { server, secret } = world;
  const lanes = ["changes?live=events", "changes?live=sse", "changes?offset=now&live=long-poll", "lane"];
  const targets = [
    ...calls("sa").flatMap(({ method, target }) => (method === "GET" ? [target] : [])),
    ...lanes.map((lane) => `/api/sessions/sa/${lane}`),
  ];
  for (const target of targets) {
    const asked = await ask(server, target, { method: "HEAD", secret });
    expect([asked.status < 300 || asked.status === 400, asked.body], target).toEqual([true, ""]);
    headersAreStrict(asked);
    const hidden = await ask(server, target.replace("/sa", "/zz"), { method: "HEAD", secret });
    if (target.includes("/sa")) expect(hidden.status, target).toBe(404);
    expect((await ask(server, target, { method: "HEAD" })).status, target).toBe(401);
  }
  expect(server.load.lanes).toBe(0);
  await stillServes(world);
});

test("every route, its session spelled as a way out: nothing is found, and nothing is told", async () => {
  const world = await makeWorld();
  const { server, secret } = world;
  const ids = [
    "..",
    "%2e%2e",
    "..%2fsb",
    "%2Fetc%2Fpasswd",
    "sa%00",
    "sa%2f..%2fsb",
    "sa;x",
    "sa\\..\\sb",
    "s%61",
    "SA",
    "sa.jsonl",
    "~",
    "-",
    "x".repeat(3_000),
  ];
  for (const call of calls("ID").filter(({ path }) => path.includes(":id")))
    for (const id of ids) {
      const target = call.target.replace("ID", id);
      const body = call.body ?? "";
      const head = `${call.method} ${target} HTTP/1.1\r\nHost: 127.0.0.1:${server.port}\r\nAuthorization: Bearer ${secret}\r\nConnection: close\r\n`;
      const entity =
        call.body === undefined ? "" : `Content-Type: application/json\r\nContent-Length: ${body.length}\r\n`;
      const told = await rawly(server.port, `${head}${entity}\r\n${body}`);
      expect(told, target).toMatch(/^HTTP\/1\.1 40[04] /);
      expect(told, target).not.toMatch(/SECRETWORD|root:|jsonl/);
    }
  await stillServes(world);
});

test("every route, too large and too slow: in its target, its headers, its body; all at once, and the server goes on", async () => {
  const log = await makeLog(await tempFolder());
  const made = await makeServer({
    catalogue: catalogueOf({ sa: log.path, sb: log.path }),
    headersMs: 50,
    requestMs: 100,
  });
  const { server } = made;
  const { secret } = await made.addKey();
  const line = (name: string, value: string): string => `${name}: ${value}\r\n`;
  const own = line("Host", `127.0.0.1:${server.port}`) + line("Authorization", `Bearer ${secret}`);
  const json = line("Content-Type", "application/json");
  const attacks = calls("sa").flatMap(({ method, target }) => {
    const first = (to: string = target): string => `${method} ${to} HTTP/1.1\r\n`;
    const long = `${target}${target.includes("?") ? "&" : "?"}x=${"y".repeat(TARGET_MAX)}`;
    return [
      `${first(long)}${own}${json}Connection: close\r\n\r\n`,
      `${first()}${own}${line("X", "y".repeat(HEADER_BYTES_MAX))}\r\n`,
      `${first()}${own}${json}${line("Content-Length", String(BODY_BYTES_MAX + 1))}\r\n{`,
      `${first()}${own}${json}${line("Content-Length", "99999999999999999999")}\r\n{`,
      `${first()}${own}${json}${line("Content-Length", "-1")}\r\n`,
      `${first()}${own}${json}${line("Content-Length", "2")}${line("Transfer-Encoding", "chunked")}\r\n{}`,
      // Slow: a head that does not end, a body that does not come.
      `${first()}${own}X-Slow: `,
      `${first()}${own}${json}${line("Content-Length", "9")}\r\n{`,
      `${first()}${own}${json}${line("Transfer-Encoding", "chunked")}\r\n5\r\n{`,
    ];
  });
  const told = await Promise.all(attacks.map((attack) => rawly(server.port, attack)));
  for (const [at, text] of told.entries())
    expect(text, attacks[at]?.slice(0, 200)).toMatch(/^(?:HTTP\/1\.1 4\d\d |$)/);
  expect((await ask(server, "/api/me", { secret })).status).toBe(200);
  expect(server.load.lanes).toBe(0);
  expect(made.failures).toEqual([]);
});

test("slow and broken requests are let go of", async () => {
  const log = await makeLog(await tempFolder());
  const made = await makeServer({
    catalogue: catalogueOf({ sa: log.path, sb: log.path }),
    headersMs: 40,
    requestMs: 80,
  });
  const { secret } = await made.addKey();
  const { port } = made.server;
  const host = `Host: 127.0.0.1:${port}\r\n`;
  expect(await rawly(port, "GET /api/me HT")).toMatch(/^(?:HTTP\/1\.1 4\d\d |$)/);
  expect(await rawly(port, `GET /api/me HTTP/1.1\r\n${host}X: `)).toMatch(/^(?:HTTP\/1\.1 4\d\d |$)/);
  const slowBody = `POST /api/sessions/sa/prompts HTTP/1.1\r\n${host}Authorization: Bearer ${secret}\r\nContent-Type: application/json\r\nContent-Length: 99\r\n\r\n{`;
  expect(await rawly(port, slowBody)).not.toMatch(/^HTTP\/1\.1 2/);
  expect(await rawly(port, "\u0000\u0001\u0002\r\n\r\n")).toMatch(/^HTTP\/1\.1 400 /);
  const longHeader = `GET /api/me HTTP/1.1\r\n${host}X: ${"y".repeat(20_000)}\r\n\r\n`;
  expect(await rawly(port, longHeader)).toMatch(/^HTTP\/1\.1 4/);
  expect((await ask(made.server, "/api/me", { secret })).status).toBe(200);
  expect(made.failures).toEqual([]);
});

test("failed keys are counted: after so many the answer is to wait, and a right key is served all the same", async () => {
  const { server, secret, clock } = await makeWorld();
  for (let count = 0; count < FAILURES_MAX; count += 1)
    expect((await ask(server, "/api/me", { secret: "wrong" })).status).toBe(401);
  const limited = await ask(server, "/api/me", { secret: "wrong" });
  expect([limited.status, limited.headers["retry-after"]]).toEqual([429, "60"]);
  const code = await ask(server, "/api/exchange", { body: '{"code":"00000-00000"}' });
  expect(code.status).toBe(429);
  expect((await ask(server, "/api/me", { secret })).status).toBe(200);
  clock.turn(FAILURES_WINDOW_MS);
  expect((await ask(server, "/api/me", { secret: "wrong" })).status).toBe(401);
});

test("a one-time code makes a browser's cookie or a program's key, once", async () => {
  const { server, keys, clock, addKey } = await makeWorld();
  const { key } = await addKey({ label: "the first", sessions: ["sa"], may: "read" });
  const { code } = await keys.makeCode(key.id);
  const asked = await ask(server, "/api/exchange", { body: JSON.stringify({ code, label: "a phone" }) });
  expect(asked.status).toBe(200);
  const [cookie = ""] = asked.headers["set-cookie"] ?? [];
  expect(cookie).toMatch(
    new RegExp(
      `^hansard-${server.port}=hansard_[a-z2-7]{12}_.{43}; Path=/; HttpOnly; SameSite=Strict; Max-Age=`,
    ),
  );
  expect(asked.body).not.toContain("hansard_");
  const me = await askJson<{ key: object }>(server, "/api/me", {
    headers: { cookie: cookie.split(";")[0] ?? "" },
  });
  expect(me.key).toMatchObject({ label: "a phone", may: "read", sessions: "some" });
  const again = await ask(server, "/api/exchange", { body: JSON.stringify({ code }) });
  expect([again.status, again.headers["set-cookie"]]).toEqual([403, undefined]);

  const second = await keys.makeCode(key.id);
  const program = await askJson<{ secret: string }>(server, "/api/exchange", {
    body: JSON.stringify({ code: second.code.toLowerCase().replace("-", " "), as: "bearer" }),
  });
  expect((await ask(server, "/api/me", { secret: program.secret })).status).toBe(200);
  await keys.revoke(key.id);
  expect((await ask(server, "/api/me", { secret: program.secret })).status).toBe(401);
  clock.turn(1);
});

test("the access log has routes and ids, no secrets and no words of a request", async () => {
  const log = await makeLog(await tempFolder());
  const lines: string[] = [];
  const done: (() => void)[] = [];
  const made = await makeServer({
    catalogue: catalogueOf({ sa: log.path }),
    search: async () => [],
    onAccess: (line) => {
      lines.push(JSON.stringify(line));
      done.shift()?.();
    },
  });
  const { key, secret } = await made.addKey();
  for (const target of [
    "/api/search?q=WORDS",
    "/api/sessions/sa/tail",
    "/nowhere/PATHWORD",
    `/api/me?key=${secret}`,
  ]) {
    const logged = new Promise<void>((resolve) => done.push(resolve));
    await ask(made.server, target, { secret });
    await logged;
  }
  const all = lines.join("\n");
  expect(all).toContain('"route":"/api/sessions/:id/tail"');
  expect(all).toContain(key.id);
  expect(all).not.toMatch(/WORDS|PATHWORD|hansard_|"sa"/);
});

test("lanes are refused like any other route", async () => {
  const { server } = await makeWorld();
  for (const path of ["changes", "lane"]) {
    const lane = await openLane(server, `/api/sessions/sa/${path}`, { secret: "wrong" });
    expect(lane.status).toBe(401);
    lane.close();
  }
});

/** Sends bytes and gives what comes back until the connection ends. */
function rawly(port: number, bytes: string): Promise<string> {
  return new Promise((resolve) => {
    const socket = createConnection({ port, host: "127.0.0.1" }, () => socket.write(bytes));
    let text = "";
    socket.setEncoding("latin1");
    socket.on("data", (more: string) => {
      text += more;
    });
    socket.on("error", () => resolve(text));
    socket.on("close", () => resolve(text));
  });
}

/** A GET whose target is sent byte for byte. */
function askSpelled(port: number, target: string, secret: string): Promise<string> {
  return rawly(
    port,
    `GET ${target} HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nAuthorization: Bearer ${secret}\r\nConnection: close\r\n\r\n`,
  );
}
