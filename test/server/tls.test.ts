/** HTTPS: a real certificate is served, and one that cannot be is refused in words that say why. */
import { generateKeyPairSync, X509Certificate } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { request as plainRequest } from "node:http";
import { type RequestOptions, request } from "node:https";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { certificateProblem } from "../../src/server/certificate.ts";
import { openKeyStore, startServer } from "../../src/server/index.ts";
import { type MadeCertificate, makeCertificate } from "../support/certificate.ts";
import { catalogueOf, makeLog, makeServer, tempFolder } from "./support.ts";

let folder = "";
let made: MadeCertificate;
const pem = { type: "pkcs8", format: "pem" } as const;
const other = generateKeyPairSync("ec", { namedCurve: "P-256" }).privateKey;

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "hansard-tls-"));
  made = makeCertificate(folder);
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function ask(options: RequestOptions): Promise<{ status: number; hsts: unknown; body: string }> {
  return new Promise((resolve, reject) => {
    const asking = request({ host: "127.0.0.1", agent: false, ca: made.cert, ...options }, (answer) => {
      let body = "";
      answer.setEncoding("utf8").on("data", (text: string) => {
        body += text;
      });
      answer.on("end", () =>
        resolve({
          status: answer.statusCode ?? 0,
          hsts: answer.headers["strict-transport-security"],
          body,
        }),
      );
    });
    asking.on("error", reject);
    asking.end();
  });
}

test("a real certificate serves HTTPS, lanes too, and nothing in the clear", async () => {
  const log = await makeLog(await tempFolder());
  const { server, addKey, keys, failures } = await makeServer({
    catalogue: catalogueOf({ sa: log.path }),
    tls: made,
    host: "0.0.0.0",
  });
  const { key, secret } = await addKey();
  const { port } = server;
  const headers = { authorization: `Bearer ${secret}` };
  expect(await ask({ port, path: "/api/me", headers })).toMatchObject({
    status: 200,
    hsts: "max-age=31536000",
  });
  expect(await ask({ port, path: "/api/me" })).toMatchObject({ status: 401 });
  const polled = await ask({ port, path: "/api/sessions/sa/changes?offset=-1", headers });
  expect(polled.body).toContain("first answer");
  // An origin of HTTP is another one.
  const plainOrigin = { ...headers, origin: `http://127.0.0.1:${port}` };
  expect(await ask({ port, path: "/api/me", headers: plainOrigin })).toMatchObject({ status: 403 });
  const ownOrigin = { ...headers, origin: `https://127.0.0.1:${port}` };
  expect(await ask({ port, path: "/api/me", headers: ownOrigin })).toMatchObject({ status: 200 });
  // Who does not know the certificate, and who speaks no TLS, gets no byte of an answer.
  await expect(ask({ port, path: "/api/me", headers, ca: [] })).rejects.toThrow(
    /self-signed|unable to verify/,
  );
  await expect(ask({ port, path: "/", maxVersion: "TLSv1.1", minVersion: "TLSv1" })).rejects.toThrow();
  const inTheClear = new Promise((resolve, reject) => {
    plainRequest({ host: "127.0.0.1", port, path: "/api/me", agent: false }, resolve)
      .on("error", reject)
      .end();
  });
  await expect(inTheClear).rejects.toThrow();
  // A live lane over TLS: an event for what is appended.
  const event = new Promise<string>((resolve, reject) => {
    const path = "/api/sessions/sa/changes?offset=now&live=events";
    const asking = request(
      { host: "127.0.0.1", port, agent: false, ca: made.cert, path, headers },
      (answer) => {
        let text = "";
        answer.setEncoding("utf8").on("error", () => undefined);
        answer.on("data", (more: string) => {
          if (text === "") void log.append(log.promptLine("over TLS"));
          text += more;
          if (!text.includes("over TLS")) return;
          resolve(text);
          asking.destroy();
        });
      },
    );
    asking.on("error", reject).end();
  });
  expect(await event).toContain("blockFinished");
  const { code } = await keys.makeCode(key.id);
  expect(code).toMatch(/-/);
  expect(failures).toEqual([]);
});

describe("is refused", () => {
  const now = Date.now() + 60_000;
  const day = 24 * 3_600_000;
  const cases: readonly (readonly [
    string,
    () => readonly [string | Buffer, string | Buffer, number],
    string,
  ])[] = [
    ["a key of another certificate", () => [made.cert, other.export(pem), now], "do not belong together"],
    ["a text that is no certificate", () => ["rubbish", made.key, now], "certificate cannot be read"],
    ["an empty certificate", () => ["", made.key, now], "certificate cannot be read"],
    ["the key in the certificate's place", () => [made.key, made.key, now], "certificate cannot be read"],
    [
      "a certificate cut short",
      () => [made.cert.subarray(0, 300), made.key, now],
      "certificate cannot be read",
    ],
    [
      "a binary certificate",
      () => [new X509Certificate(made.cert).raw, made.key, now],
      "certificate is not in PEM",
    ],
    ["the certificate in the key's place", () => [made.cert, made.cert, now], "key cannot be read"],
    [
      "a binary key",
      () => [made.cert, other.export({ type: "pkcs8", format: "der" }), now],
      "key is not in PEM",
    ],
    ["a key cut short", () => [made.cert, made.key.subarray(0, 100), now], "key cannot be read"],
    [
      "a key with a passphrase",
      () => [made.cert, other.export({ ...pem, cipher: "aes-256-cbc", passphrase: "p" }), now],
      "locked with a passphrase",
    ],
    ["a certificate that is over", () => [made.cert, made.key, now + 3 * day], "was good until"],
    ["a certificate of the future", () => [made.cert, made.key, now - day], "is good from"],
  ];

  test.each(cases)("%s", async (_, words, told) => {
    const [cert, key, at] = words();
    const log = await makeLog(await tempFolder());
    const keys = await openKeyStore(join(await tempFolder(), "server"), Date.now);
    const clock = { now: () => at, after: () => () => undefined };
    const starting = startServer({
      catalogue: catalogueOf({ sa: log.path }),
      keys,
      port: 0,
      tls: { cert, key },
      clock,
    });
    await expect(starting).rejects.toMatchObject({
      code: "bad-certificate",
      message: expect.stringContaining(told),
      next: expect.stringMatching(/\S/),
    });
  });

  test("and nothing else is", () => {
    expect(certificateProblem(made.cert, made.key, now)).toBeUndefined();
    expect(certificateProblem(made.cert.toString(), made.key.toString(), now)).toBeUndefined();
  });
});
