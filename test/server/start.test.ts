/** Where a server may listen, and under which names it is reached. */
import { join } from "node:path";
import { expect, test } from "vitest";
import { isLoopbackHost, openKeyStore, startServer } from "../../src/server/index.ts";
import { ask, catalogueOf, makeLog, makeServer, tempFolder } from "./support.ts";

test("behind a proxy it answers under the proxy's name, with cookies for HTTPS alone", async () => {
  const log = await makeLog(await tempFolder());
  const origin = "https://sessions.example";
  const made = await makeServer({
    catalogue: catalogueOf({ sa: log.path }),
    isBehindProxy: true,
    origins: [origin],
  });
  const { key, secret } = await made.addKey();
  const headers = { host: "sessions.example", origin, "x-forwarded-for": "198.51.100.7" };
  const me = await ask(made.server, "/api/me", { secret, headers });
  expect([me.status, me.headers["strict-transport-security"]]).toEqual([200, "max-age=31536000"]);
  expect(
    (await ask(made.server, "/api/me", { secret, headers: { ...headers, host: "other.example" } })).status,
  ).toBe(403);
  const other = { ...headers, origin: "https://other.example" };
  expect((await ask(made.server, "/api/me", { secret, headers: other })).status).toBe(403);
  const { code } = await made.keys.makeCode(key.id);
  const exchanged = await ask(made.server, "/api/exchange", { headers, body: JSON.stringify({ code }) });
  expect(exchanged.headers["set-cookie"]?.[0]).toMatch(
    /^__Host-hansard=.*; Path=\/; HttpOnly; SameSite=Strict; Secure; /,
  );
  expect(made.server.origin).toBe(origin);
});

test("a certificate that is none, a port that is taken", async () => {
  const log = await makeLog(await tempFolder());
  const catalogue = catalogueOf({ sa: log.path });
  const keys = await openKeyStore(join(await tempFolder(), "server"), Date.now);
  const tls = { cert: "rubbish", key: "rubbish" };
  await expect(startServer({ catalogue, keys, port: 0, tls })).rejects.toMatchObject({
    code: "bad-certificate",
  });
  const { server } = await makeServer({ catalogue });
  await expect(startServer({ catalogue, keys, port: server.port })).rejects.toMatchObject({
    code: "cannot-listen",
  });
  await expect(startServer({ catalogue, keys, port: 0, host: "0.0.0.0" })).rejects.toMatchObject({
    code: "not-loopback",
  });
});

test.each([
  ["127.0.0.1", true],
  ["127.1.2.3", true],
  ["localhost", true],
  ["::1", true],
  ["0.0.0.0", false],
  ["::", false],
  ["127.0.0.1.example.com", false],
  ["192.0.2.1", false],
])("%s is this computer alone: %s", (host, isLoopback) => {
  expect(isLoopbackHost(host)).toBe(isLoopback);
});
