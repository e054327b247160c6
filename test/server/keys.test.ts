/** Keys and codes on disk. */
import { chmod, readdir, readFile, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { type KeyStore, openKeyStore } from "../../src/server/index.ts";
import { CODE_LIFE_MS, CODES_MAX, KEY_SESSIONS_MAX, KEYS_MAX, LABEL_MAX } from "../../src/server/limits.ts";
import { hashSecret, isKeyId, keyIdOf, makeCode, normalizeCode } from "../../src/server/secrets.ts";
import { HandClock, tempFolder } from "./support.ts";

interface World {
  readonly folder: string;
  readonly clock: HandClock;
  readonly store: KeyStore;
}

async function makeWorld(): Promise<World> {
  const folder = join(await tempFolder(), "server");
  const clock = new HandClock();
  return { folder, clock, store: await openKeyStore(folder, clock.now) };
}

const all = { sessions: "all", may: "answer" } as const;

test("a key is stored as a hash, in files that are its owner's alone", async () => {
  const { folder, store, clock } = await makeWorld();
  const { key, secret } = await store.add({ label: "my phone", ...all });
  expect(key).toEqual({ id: keyIdOf(secret), label: "my phone", madeAt: clock.now(), ...all });
  const path = join(folder, "keys", `${key.id}.json`);
  const text = await readFile(path, "utf8");
  expect(text).toContain(hashSecret(secret));
  expect(text).not.toContain(secret.slice(-20));
  expect((await stat(path)).mode & 0o777).toBe(0o600);
  for (const each of [folder, join(folder, "keys"), join(folder, "codes")])
    expect((await stat(each)).mode & 0o777).toBe(0o700);
  expect(await store.find(secret)).toEqual(key);
  expect(await store.find(secret.slice(0, -1))).toBeUndefined();
  expect(await store.find(`${secret.slice(0, -2)}zz`)).toBeUndefined();
  expect(await store.find("")).toBeUndefined();
});

test("a folder that others may read is refused", async () => {
  const { folder } = await makeWorld();
  await chmod(folder, 0o755);
  await expect(openKeyStore(folder, Date.now)).rejects.toMatchObject({ code: "unsafe-folder" });
});

test("another process's keys and revocations count at once", async () => {
  const { folder, store, clock } = await makeWorld();
  const other = await openKeyStore(folder, clock.now);
  const { key, secret } = await other.add({ label: "a", ...all });
  expect(await store.find(secret)).toEqual(key);
  expect([...(await store.valid())]).toEqual([key.id]);
  expect(await other.revoke(key.id)).toEqual([key.id]);
  expect(await store.find(secret)).toBeUndefined();
  expect([...(await store.valid())]).toEqual([]);
  expect(await store.revoke(key.id)).toEqual([]);
});

test("files that are no keys open nothing and are left alone", async () => {
  const { folder, store } = await makeWorld();
  const keys = join(folder, "keys");
  await writeFile(join(keys, "notes.txt"), "mine");
  await writeFile(join(keys, "aaaaaaaaaaaa.json"), "{");
  await writeFile(
    join(keys, "bbbbbbbbbbbb.json"),
    '{"label":"b","madeAt":1,"sessions":[1],"may":"answer","hash":""}',
  );
  await writeFile(
    join(keys, "cccccccccccc.json"),
    '{"label":"c","madeAt":1,"sessions":"all","may":"all","hash":""}',
  );
  expect(await store.list()).toEqual([]);
  expect(await readdir(keys)).toHaveLength(4);
});

test("a code makes one key, whoever tries and however often", async () => {
  const { folder, store, clock } = await makeWorld();
  const { key } = await store.add({ label: "first", sessions: ["s1"], may: "read" });
  const { code, expiresAt } = await store.makeCode(key.id);
  expect(expiresAt).toBe(clock.now() + CODE_LIFE_MS);
  expect((await readdir(join(folder, "codes"))).join()).not.toContain(code.slice(0, 5));
  const stores = await Promise.all(Array.from({ length: 4 }, () => openKeyStore(folder, clock.now)));
  const made = (await Promise.all(stores.flatMap((s) => [s.redeem(code, "a"), s.redeem(code, "b")]))).filter(
    (each) => each !== undefined,
  );
  expect(made).toHaveLength(1);
  expect(made[0]?.key).toMatchObject({ sessions: ["s1"], may: "read", parent: key.id });
  expect(await store.redeem(code, "c")).toBeUndefined();
});

test("a key is void with the key whose code made it, also one made from it in turn", async () => {
  const { store } = await makeWorld();
  const { key } = await store.add({ label: "first", ...all });
  const phone = await store.redeem((await store.makeCode(key.id)).code, "phone");
  const tablet = await store.redeem((await store.makeCode(phone?.key.id ?? "")).code, "tablet");
  expect(tablet?.key.parent).toBe(key.id);
  expect((await store.list()).map(({ label }) => label).sort()).toEqual(["first", "phone", "tablet"]);
  expect((await store.revoke(key.id))[0]).toBe(key.id);
  for (const made of [phone, tablet]) expect(await store.find(made?.secret ?? "")).toBeUndefined();
});

test("a code is void after its time, and with its key", async () => {
  const { store, clock } = await makeWorld();
  const { key } = await store.add({ label: "first", ...all });
  const late = await store.makeCode(key.id);
  clock.turn(CODE_LIFE_MS);
  expect(await store.redeem(late.code, "a")).toBeUndefined();
  const orphan = await store.makeCode(key.id);
  await store.revoke(key.id);
  expect(await store.redeem(orphan.code, "a")).toBeUndefined();
  await expect(store.makeCode(key.id)).rejects.toMatchObject({ code: "no-such-key" });
});

test("codes are read as people type them", () => {
  for (let count = 0; count < 50; count += 1) {
    const code = makeCode();
    expect(code).toMatch(/^[0-9A-HJKMNP-TV-Z]{5}-[0-9A-HJKMNP-TV-Z]{5}$/);
    expect(normalizeCode(` ${code.toLowerCase().replace("-", " ")} `)).toBe(code);
  }
  expect(normalizeCode("O1ILA-BCDEF")).toBe("0111A-BCDEF");
  for (const wrong of ["", "ABCDE", "ABCDE-FGHJKM", "UUUUU-UUUUU", "../..", "x".repeat(100)])
    expect(normalizeCode(wrong)).toBeUndefined();
});

test("as many codes wait as may, those that are over do not count", async () => {
  const { store, clock } = await makeWorld();
  const { key } = await store.add({ label: "first", ...all });
  for (let count = 0; count < CODES_MAX; count += 1) await store.makeCode(key.id);
  await expect(store.makeCode(key.id)).rejects.toMatchObject({ code: "too-many-codes" });
  clock.turn(CODE_LIFE_MS);
  await store.makeCode(key.id);
});

test("as many keys are made as may be, of as many sessions as may be", async () => {
  const { store } = await makeWorld();
  const sessions = Array.from({ length: KEY_SESSIONS_MAX }, (_, at) => `s${at}`);
  await store.add({ label: "many", sessions, may: "read" });
  await expect(store.add({ label: "more", sessions: [...sessions, "x"], may: "read" })).rejects.toMatchObject(
    {
      code: "too-many-sessions",
    },
  );
  for (let count = 1; count < KEYS_MAX; count += 1) await store.add({ label: "a", ...all });
  await expect(store.add({ label: "a", ...all })).rejects.toMatchObject({ code: "too-many-keys" });
  const [first] = await store.list();
  await store.revoke(first?.id ?? "");
  const made = await store.add({ label: "a", ...all });
  expect(isKeyId(made.key.id)).toBe(true);
});

test("labels are printable and short", async () => {
  const { store } = await makeWorld();
  const { key } = await store.add({ label: `\u001b[31m my\nphone ${"x".repeat(LABEL_MAX)}`, ...all });
  expect(key.label).toMatch(/^\[31m my phone x+$/);
  expect(Array.from(key.label)).toHaveLength(LABEL_MAX);
  expect((await store.add({ label: "\u0007", ...all })).key.label).toBe("unnamed");
});
