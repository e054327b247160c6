/** Each bound of the server: the test that stands at it. */
import { readdir, readFile, writeFile } from "node:fs/promises";
import { Agent, request } from "node:http";
import { createConnection } from "node:net";
import { join } from "node:path";
import { setImmediate as turn } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import type { LaneEvent } from "../../src/follow/index.ts";
import { openChangesHub } from "../../src/server/changes-hub.ts";
import { type Catalogue, type LaneFrame, openKeyStore, servedSession } from "../../src/server/index.ts";
import { Lane } from "../../src/server/lane.ts";
import * as limits from "../../src/server/limits.ts";
import { pollLane } from "../../src/server/poll.ts";
import { encodeEvent } from "../../src/server/ring.ts";
import { Shared } from "../../src/server/shared.ts";
import { openStepsHub } from "../../src/server/steps-hub.ts";
import type { Page, Session } from "../../src/session/index.ts";
import { PENDING_BLOCKS_MAX } from "../../src/session/limits.ts";
import type { Entry } from "../../src/transcript/index.ts";
import { expectHeld, type HeldLimits } from "../support/held-limits.ts";
import { drivenSession, emptyPage, pushed, scriptedSession } from "./scripted.ts";
import {
  type Asked,
  ask,
  askJson,
  catalogueOf,
  HandClock,
  makeLog,
  makeServer,
  tempFolder,
} from "./support.ts";

const {
  CATCH_UP_ENTRIES,
  CODE_FAILURES_MAX,
  CONNECTIONS_MAX,
  COOKIE_LIFE_S,
  FAILURES_WINDOW_MS,
  HEADER_BYTES_MAX,
  HEADERS_MS,
  HUB_TAIL_ENTRIES,
  HUBS_MAX,
  KEEP_ALIVE_MS,
  KEY_FILE_BYTES_MAX,
  LANE_TEXT_MAX,
  LIST_SESSIONS_DEFAULT,
  LIST_SESSIONS_MAX,
  PACKED_UNITS_MIN,
  PAGE_ENTRIES_DEFAULT,
  PAGE_ENTRIES_MAX,
  PAGE_TEXT_MAX,
  POLL_BYTES_MAX,
  PROMPT_MAX,
  RAW_BYTES_MAX,
  REQUEST_MS,
  SEARCH_HITS_MAX,
  SEARCH_WORDS_MAX,
  STEP_BYTES_MAX,
} = limits;

/** Where each bound is held: here, or in the file that is named. */
const held: HeldLimits<typeof limits> = {
  COOKIE_LIFE_S: ["limits.test.ts", "COOKIE_LIFE_S"],
  KEYS_MAX: ["keys.test.ts", "as many keys are made as may be"],
  CODES_MAX: ["keys.test.ts", "as many codes wait as may"],
  CODE_LIFE_MS: ["keys.test.ts", "a code is void after its time"],
  KEY_FILE_BYTES_MAX: ["limits.test.ts", "KEY_FILE_BYTES_MAX"],
  KEY_SESSIONS_MAX: ["keys.test.ts", "as many keys are made as may be"],
  LABEL_MAX: ["keys.test.ts", "labels are printable and short"],
  KEYS_LOOK_MS: ["lane.test.ts", "a revoked key ends its lanes"],
  FAILURES_MAX: ["security.test.ts", "failed keys are counted"],
  CODE_FAILURES_MAX: ["limits.test.ts", "CODE_FAILURES_MAX"],
  FAILURES_WINDOW_MS: ["security.test.ts", "failed keys are counted"],
  FAILURE_ADDRESSES_MAX: ["units.test.ts", "failures are counted by address"],
  TARGET_MAX: ["security.test.ts", "no spelling of a path leads anywhere"],
  HEADER_BYTES_MAX: ["limits.test.ts", "HEADER_BYTES_MAX"],
  BODY_BYTES_MAX: ["security.test.ts", "a body without a length is cut off at the bound"],
  PROMPT_MAX: ["limits.test.ts", "PROMPT_MAX"],
  HEADERS_MS: ["limits.test.ts", "HEADERS_MS, REQUEST_MS"],
  REQUEST_MS: ["limits.test.ts", "HEADERS_MS, REQUEST_MS"],
  KEEP_ALIVE_MS: ["limits.test.ts", "KEEP_ALIVE_MS"],
  CONNECTIONS_MAX: ["limits.test.ts", "CONNECTIONS_MAX"],
  PAGE_ENTRIES_DEFAULT: ["limits.test.ts", "PAGE_ENTRIES_DEFAULT, PAGE_ENTRIES_MAX"],
  PAGE_ENTRIES_MAX: ["limits.test.ts", "PAGE_ENTRIES_DEFAULT, PAGE_ENTRIES_MAX"],
  PAGE_TEXT_MAX: ["limits.test.ts", "PAGE_TEXT_MAX, LANE_TEXT_MAX"],
  LIST_SESSIONS_DEFAULT: ["limits.test.ts", "LIST_SESSIONS_DEFAULT, LIST_SESSIONS_MAX"],
  LIST_SESSIONS_MAX: ["limits.test.ts", "LIST_SESSIONS_DEFAULT, LIST_SESSIONS_MAX"],
  RAW_BYTES_MAX: ["limits.test.ts", "RAW_BYTES_MAX"],
  SEARCH_WORDS_MAX: ["limits.test.ts", "SEARCH_WORDS_MAX, SEARCH_HITS_MAX"],
  SEARCH_HITS_MAX: ["limits.test.ts", "SEARCH_WORDS_MAX, SEARCH_HITS_MAX"],
  HUBS_MAX: ["limits.test.ts", "HUBS_MAX"],
  HUB_LINGER_MS: ["lane.test.ts", "all watchers of a session share one hub"],
  RING_FRAMES_MAX: ["units.test.ts", "the ring keeps the newest frames"],
  RING_BYTES_MAX: ["units.test.ts", "the ring keeps the newest frames"],
  STEP_BYTES_MAX: ["limits.test.ts", "STEP_BYTES_MAX"],
  STEP_EVENTS_MAX: ["clients.test.ts", "a step that says more than may be kept"],
  APPROVALS_MAX: ["clients.test.ts", "what waits for an answer is folded"],
  HUB_TAIL_ENTRIES: ["limits.test.ts", "HUB_TAIL_ENTRIES, CATCH_UP_ENTRIES"],
  LANE_TEXT_MAX: ["limits.test.ts", "PAGE_TEXT_MAX, LANE_TEXT_MAX"],
  CATCH_UP_ENTRIES: ["limits.test.ts", "HUB_TAIL_ENTRIES, CATCH_UP_ENTRIES"],
  BATCH_BYTES_MAX: ["clients.test.ts", "frames of one moment are one write"],
  CLIENT_BYTES_MAX: ["clients.test.ts", "no more than so many bytes wait in a client's socket"],
  CLIENT_STALL_MS: ["clients.test.ts", "a client that takes nothing for too long"],
  KEY_LANES_MAX: ["clients.test.ts", "a key has as many lanes as it may"],
  HEARTBEAT_MS: ["lane.test.ts", "a silent lane says that it lives"],
  LONG_POLL_MS: ["lane.test.ts", "long-polls"],
  POLL_FRAMES_MAX: ["clients.test.ts", "a poll gives as many frames"],
  POLL_BYTES_MAX: ["limits.test.ts", "POLL_BYTES_MAX"],
  PACKED_UNITS_MIN: ["limits.test.ts", "PACKED_UNITS_MIN"],
  LANE_POSITION_MAX: ["units.test.ts", "any other text is no position"],
};

test("each bound has its test", () => expectHeld(limits, held, import.meta.url));

function catalogueWith(session: Session): Catalogue {
  const item = { id: "s1", info: session.info };
  return {
    list: async () => [item],
    find: async (id) => (id === item.id ? item : undefined),
    describe: async () => item.info,
    open: async () => servedSession(session),
  };
}

function delivered(name: string, body: string): Entry {
  return { kind: "delivered", name, sender: "me", body } as Entry;
}

describe("keys and failures", () => {
  test("COOKIE_LIFE_S: how long a browser keeps its key", async () => {
    const log = await makeLog(await tempFolder());
    const { server, keys, addKey } = await makeServer({ catalogue: catalogueOf({ s1: log.path }) });
    const { code } = await keys.makeCode((await addKey()).key.id);
    const asked = await ask(server, "/api/exchange", { body: JSON.stringify({ code }) });
    expect(asked.headers["set-cookie"]?.[0]).toMatch(new RegExp(`; Max-Age=${COOKIE_LIFE_S}$`));
  });

  test("KEY_FILE_BYTES_MAX: a file of so many bytes is a key, a longer one is none", async () => {
    const folder = join(await tempFolder(), "server");
    const store = await openKeyStore(folder, Date.now);
    const { secret } = await store.add({ label: "one", sessions: "all", may: "read" });
    const [name = ""] = await readdir(join(folder, "keys"));
    const path = join(folder, "keys", name);
    const text = await readFile(path, "utf8");
    for (const [bytes, isKey] of [
      [KEY_FILE_BYTES_MAX, true],
      [KEY_FILE_BYTES_MAX + 1, false],
    ] as const) {
      await writeFile(path, text.padEnd(bytes));
      const fresh = await openKeyStore(folder, Date.now);
      expect((await fresh.find(secret)) !== undefined, String(bytes)).toBe(isKey);
    }
  });

  test("CODE_FAILURES_MAX: codes are guessed so often by all together, from however many addresses", async () => {
    const log = await makeLog(await tempFolder());
    const clock = new HandClock();
    const made = await makeServer({
      catalogue: catalogueOf({ s1: log.path }),
      clock,
      isBehindProxy: true,
    });
    const { code } = await made.keys.makeCode((await made.addKey()).key.id);
    const guess = (from: number, word: string): Promise<Asked> =>
      ask(made.server, "/api/exchange", {
        headers: { "x-forwarded-for": `192.0.2.${from}` },
        body: JSON.stringify({ code: word, as: "bearer" }),
      });
    for (let from = 0; from < CODE_FAILURES_MAX; from += 1)
      expect((await guess(from, "00000-00000")).status).toBe(403);
    const limited = await guess(200, "00000-00000");
    expect([limited.status, limited.headers["retry-after"]]).toEqual([
      429,
      String(FAILURES_WINDOW_MS / 1000),
    ]);
    expect((await guess(201, code)).status).toBe(429);
    clock.turn(FAILURES_WINDOW_MS);
    expect((await guess(201, code)).status).toBe(200);
  });
});

describe("requests", () => {
  test("HEADER_BYTES_MAX: so many bytes of headers are read", async () => {
    const log = await makeLog(await tempFolder());
    const { server, addKey } = await makeServer({ catalogue: catalogueOf({ s1: log.path }) });
    const { secret } = await addKey();
    const status = async (bytes: number): Promise<number> =>
      (await ask(server, "/api/me", { secret, headers: { x: "y".repeat(bytes) } })).status;
    // The other headers of the request take less than 512 bytes.
    expect(await status(HEADER_BYTES_MAX - 512)).toBe(200);
    expect(await status(HEADER_BYTES_MAX)).toBe(400);
  });

  test("HEADERS_MS, REQUEST_MS: what takes longer is let go of, and what does not is served", async () => {
    expect([HEADERS_MS, REQUEST_MS]).toEqual([10_000, 20_000]);
    const log = await makeLog(await tempFolder());
    const { server, failures } = await makeServer({
      catalogue: catalogueOf({ s1: log.path }),
      headersMs: 30,
      requestMs: 60,
    });
    const slow = createConnection({ port: server.port, host: "127.0.0.1" });
    slow.write(`POST /api/exchange HTTP/1.1\r\nHost: 127.0.0.1:${server.port}\r\n`);
    let told = "";
    slow.setEncoding("latin1").on("data", (text: string) => {
      told += text;
    });
    await new Promise((resolve) => slow.once("close", resolve));
    expect(told).toMatch(/^(?:HTTP\/1\.1 4|$)/);
    expect((await ask(server, "/api/me")).status).toBe(401);
    expect(failures).toEqual([]);
  });

  test("KEEP_ALIVE_MS: an idle connection is kept so long, as its client is told", async () => {
    const log = await makeLog(await tempFolder());
    const { server } = await makeServer({ catalogue: catalogueOf({ s1: log.path }) });
    const agent = new Agent({ keepAlive: true });
    const told = await new Promise((resolve, reject) => {
      request({ host: "127.0.0.1", port: server.port, path: "/api/me", agent }, (answer) => {
        answer.resume().once("end", () => resolve(answer.headers["keep-alive"]));
      })
        .on("error", reject)
        .end();
    });
    agent.destroy();
    expect(told).toBe(`timeout=${KEEP_ALIVE_MS / 1000}`);
  });

  test("CONNECTIONS_MAX: further connections are closed, and those that are there go on", async () => {
    expect(CONNECTIONS_MAX).toBe(4_096);
    const log = await makeLog(await tempFolder());
    const { server, addKey } = await makeServer({
      catalogue: catalogueOf({ s1: log.path }),
      connectionsMax: 2,
    });
    const { secret } = await addKey();
    const open = Array.from({ length: 2 }, () => createConnection({ port: server.port, host: "127.0.0.1" }));
    // Each is counted once it is answered.
    const answered = (socket: (typeof open)[number]): Promise<string> =>
      new Promise((resolve) => {
        socket.setEncoding("latin1").once("data", (text: string) => resolve(text));
        socket.once("close", () => resolve(""));
        socket.on("error", () => undefined);
        socket.write(
          `GET /api/me HTTP/1.1\r\nHost: 127.0.0.1:${server.port}\r\nAuthorization: Bearer ${secret}\r\n\r\n`,
        );
      });
    for (const socket of open) expect(await answered(socket)).toMatch(/^HTTP\/1\.1 200 /);
    expect(await answered(createConnection({ port: server.port, host: "127.0.0.1" }))).toBe("");
    for (const socket of open) expect(await answered(socket)).toMatch(/^HTTP\/1\.1 200 /);
    for (const socket of open) socket.destroy();
  });

  test("PROMPT_MAX: a prompt of so many characters is taken, a longer one is refused", async () => {
    const { session, prompts } = drivenSession();
    const { server, addKey } = await makeServer({ catalogue: catalogueWith(session) });
    const { secret } = await addKey();
    const prompt = (length: number): Promise<Asked> =>
      ask(server, "/api/sessions/s1/prompts", { secret, body: JSON.stringify({ text: "x".repeat(length) }) });
    expect((await prompt(PROMPT_MAX)).status).toBe(200);
    const refused = await prompt(PROMPT_MAX + 1);
    expect([refused.status, refused.body]).toEqual([400, expect.stringContaining("bad-body")]);
    expect(prompts.map(({ length }) => length)).toEqual([PROMPT_MAX]);
  });
});

describe("pages and lists", () => {
  test("PAGE_ENTRIES_DEFAULT, PAGE_ENTRIES_MAX", async () => {
    const log = await makeLog(await tempFolder());
    await log.append(...Array.from({ length: PAGE_ENTRIES_MAX + 5 }, (_, at) => log.promptLine(`p${at}`)));
    const { server, addKey } = await makeServer({ catalogue: catalogueOf({ s1: log.path }) });
    const { secret } = await addKey();
    for (const route of ["tail?", "first?", "newer?from=0&"]) {
      const count = async (limit: string): Promise<number> => {
        const asked = await ask(server, `/api/sessions/s1/${route}${limit}`, { secret });
        return asked.status === 200 ? (JSON.parse(asked.body) as Page).entries.length : asked.status;
      };
      expect(await count("")).toBe(PAGE_ENTRIES_DEFAULT);
      expect(await count(`limit=${PAGE_ENTRIES_MAX}`)).toBe(PAGE_ENTRIES_MAX);
      expect(await count(`limit=${PAGE_ENTRIES_MAX + 1}`)).toBe(PAGE_ENTRIES_MAX);
      for (const bad of ["0", "-1", "1.5", "x", "", "1e3", "9999999999"])
        expect(await count(`limit=${bad}`), bad).toBe(400);
    }
  });

  test("PAGE_TEXT_MAX, LANE_TEXT_MAX: a text of just so many units is whole, one unit more is cut and counted", async () => {
    const texts = [PAGE_TEXT_MAX, PAGE_TEXT_MAX + 1, LANE_TEXT_MAX, LANE_TEXT_MAX + 1];
    const log = await makeLog(await tempFolder());
    await writeFile(log.path, texts.map((length) => log.promptLine("x".repeat(length))).join(""));
    const { server, addKey } = await makeServer({ catalogue: catalogueOf({ s1: log.path }) });
    const { secret } = await addKey();
    const cuts = (entries: readonly (Entry & { cut?: number })[]): readonly unknown[] =>
      entries.map((entry) => [entry.kind === "delivered" ? entry.body.length : 0, entry.cut]);
    const page = await askJson<Page>(server, "/api/sessions/s1/tail", { secret });
    expect(cuts(page.entries)).toEqual([
      [PAGE_TEXT_MAX, undefined],
      [PAGE_TEXT_MAX, 1],
      [LANE_TEXT_MAX, undefined],
      [LANE_TEXT_MAX + 1, undefined],
    ]);
    const whole = await askJson<{ entry: Entry }>(server, `/api/sessions/s1/entry?at=${page.positions[1]}`, {
      secret,
    });
    expect(cuts([whole.entry])).toEqual([[PAGE_TEXT_MAX + 1, undefined]]);
    const frames = await askJson<LaneFrame[]>(server, "/api/sessions/s1/changes?offset=-1", { secret });
    expect(cuts(frames.flatMap((frame) => (frame.type === "blockFinished" ? [frame.entry] : [])))).toEqual([
      [LANE_TEXT_MAX, PAGE_TEXT_MAX - LANE_TEXT_MAX],
      [LANE_TEXT_MAX, PAGE_TEXT_MAX - LANE_TEXT_MAX + 1],
      [LANE_TEXT_MAX, undefined],
      [LANE_TEXT_MAX, 1],
    ]);
  });

  test("LIST_SESSIONS_DEFAULT, LIST_SESSIONS_MAX", async () => {
    const ids = Array.from({ length: LIST_SESSIONS_MAX + 3 }, (_, at) => `s${at}`);
    const catalogue = catalogueOf(Object.fromEntries(ids.map((id) => [id, `/nowhere/${id}`])));
    const { server, addKey } = await makeServer({ catalogue });
    const { secret } = await addKey();
    const list = async (query: string): Promise<readonly [number, number]> => {
      const told = await askJson<{ sessions: object[]; left: number }>(server, `/api/sessions${query}`, {
        secret,
      });
      return [told.sessions.length, told.left];
    };
    expect(await list("")).toEqual([LIST_SESSIONS_DEFAULT, ids.length - LIST_SESSIONS_DEFAULT]);
    expect(await list(`?limit=${LIST_SESSIONS_MAX + 1}`)).toEqual([LIST_SESSIONS_MAX, 3]);
    expect(await list(`?before=s${LIST_SESSIONS_MAX - 1}`)).toEqual([3, 0]);
  });

  test("RAW_BYTES_MAX: no more of a record is asked for, whatever the query says", async () => {
    const asked: (number | undefined)[] = [];
    const { session } = scriptedSession();
    const entry = { ...delivered("a", "x"), place: { start: 0, end: 1 } };
    const page: Page = { ...emptyPage, entries: [entry], positions: ["0"] };
    const raw: Session["raw"] = async (_, limit) => {
      asked.push(limit);
      return new Uint8Array([1, 2, 3]);
    };
    const { server, addKey } = await makeServer({
      catalogue: catalogueWith({ ...session, newer: async () => page, raw }),
    });
    const { secret } = await addKey();
    for (const limit of ["", "&limit=7", `&limit=${RAW_BYTES_MAX}`, `&limit=${RAW_BYTES_MAX + 1}`])
      expect((await ask(server, `/api/sessions/s1/raw?at=0${limit}`, { secret })).body).toBe(
        "\u0001\u0002\u0003",
      );
    expect(asked).toEqual([RAW_BYTES_MAX, 7, RAW_BYTES_MAX, RAW_BYTES_MAX]);
  });

  test("SEARCH_WORDS_MAX, SEARCH_HITS_MAX: so many characters are looked for, so many hits are given", async () => {
    const asked: number[] = [];
    const hit = { session: "s1", at: "0", entry: "e", excerpt: "x" };
    const { server, addKey } = await makeServer({
      catalogue: catalogueOf({ s1: "/nowhere" }),
      search: async ({ limit }) => {
        asked.push(limit);
        return new Array(SEARCH_HITS_MAX + 9).fill(hit);
      },
    });
    const { secret } = await addKey();
    const find = (query: string): Promise<Asked> => ask(server, `/api/search?q=${query}`, { secret });
    const found = await find(`${"x".repeat(SEARCH_WORDS_MAX)}&limit=${SEARCH_HITS_MAX + 1}`);
    expect((JSON.parse(found.body) as { hits: object[] }).hits).toHaveLength(SEARCH_HITS_MAX);
    expect((JSON.parse((await find("x&limit=2")).body) as { hits: object[] }).hits).toHaveLength(2);
    expect((await find("x".repeat(SEARCH_WORDS_MAX + 1))).status).toBe(400);
    expect((await find("")).status).toBe(400);
    expect(asked).toEqual([SEARCH_HITS_MAX, 2]);
  });
});

describe("lanes", () => {
  test("HUBS_MAX: so many sessions are followed at once; one that nobody watches makes room", async () => {
    const closed: number[] = [];
    const shared = new Shared<number>({
      clock: new HandClock(),
      isSpent: () => false,
      close: async (value) => void closed.push(value),
    });
    const all = Array.from({ length: HUBS_MAX }, (_, at) => shared.hold(`s${at}`, async () => at));
    const helds = await Promise.all(all);
    expect(helds.every((each) => each !== undefined)).toBe(true);
    expect(await shared.hold("more", async () => -1)).toBeUndefined();
    expect(await shared.hold("s3", async () => -1)).toMatchObject({ value: 3 });
    helds[5]?.release();
    expect(await shared.hold("more", async () => -1)).toMatchObject({ value: -1 });
    await shared.close();
    expect(closed[0]).toBe(5);
    expect(closed).toHaveLength(HUBS_MAX + 1);
  });

  test("STEP_BYTES_MAX: a step of so many bytes is told whole to who comes later, one of more from there on", async () => {
    const { session } = scriptedSession();
    const steps = pushed<LaneEvent>();
    const hub = await openStepsHub({ session, steps: (signal) => steps.stream(signal) }, (error) => {
      throw error;
    });
    const empty = '{"kind":"follow","ok":true,"stream":{"text":""},"tools":[]}'.length;
    const push = async (bytes: number): Promise<void> => {
      const { next } = hub.lane;
      steps.push({ type: "frame", frame: { stream: { text: "x".repeat(bytes - empty) }, tools: [] } });
      while (hub.lane.next === next) await turn();
    };
    const whole = async (): Promise<number> => {
      const { value } = await hub.catchUp(undefined).next();
      if (typeof value !== "object") return 0;
      return (JSON.parse(value.json.toString()) as { stream: { text: string } }).stream.text.length;
    };
    await push(STEP_BYTES_MAX / 2);
    await push(STEP_BYTES_MAX / 2);
    expect(await whole()).toBe(STEP_BYTES_MAX - 2 * empty);
    await push(empty + 1);
    expect(await whole()).toBe(1);
    await hub.close();
  });

  test("HUB_TAIL_ENTRIES, CATCH_UP_ENTRIES: how much a hub reads to begin with, and at a time for who comes back", async () => {
    // All that may wait to be finished is within the page that a hub begins with.
    expect(HUB_TAIL_ENTRIES).toBeGreaterThan(PENDING_BLOCKS_MAX);
    const asked: (readonly [string, number])[] = [];
    const { session } = scriptedSession();
    const page: Page = {
      ...emptyPage,
      entries: [delivered("b", "x")],
      positions: ["1"],
      start: "1",
      end: "2",
    };
    const hub = await openChangesHub(
      {
        session: {
          ...session,
          tail: async (limit) => {
            asked.push(["tail", limit]);
            return { ...page, turnOpen: false, live: [] };
          },
          newer: async (_, limit) => {
            asked.push(["newer", limit]);
            return page;
          },
        },
      },
      (error) => {
        throw error;
      },
    );
    const frames = hub.catchUp({ log: "1" });
    expect((await frames.next()).done).toBe(false);
    await frames.return(undefined);
    expect(asked).toEqual([
      ["tail", HUB_TAIL_ENTRIES],
      ["newer", CATCH_UP_ENTRIES],
    ]);
    await hub.close();
  });

  test("POLL_BYTES_MAX: an answer ends with the frame that reaches the bound, of what was missed and of what is new", async () => {
    const options = { waits: false, clock: new HandClock(), signal: new AbortController().signal };
    const half = JSON.stringify("x".repeat(POLL_BYTES_MAX / 2 - 2));
    const missed = [half, half, half].map((json, at) => encodeEvent(json, { log: String(at) }));
    const lane = new Lane();
    const polled = await pollLane(
      {
        lane,
        end: "-.0.-.MA",
        async *catchUp() {
          yield* missed;
          return lane.next;
        },
        close: async () => undefined,
      },
      undefined,
      undefined,
      options,
    );
    expect([polled.frames.length, polled.isUpToDate, polled.next]).toEqual([2, false, missed[1]?.position]);
  });
});

test("PACKED_UNITS_MIN: a document is packed from so many units on, for who takes it", async () => {
  const { server } = await makeServer({
    catalogue: catalogueOf({}),
    pages: async ({ path }) => ({
      contentType: "text/plain",
      body: "x".repeat(path === "/short" ? PACKED_UNITS_MIN - 1 : PACKED_UNITS_MIN),
    }),
  });
  const coding = async (path: string, accepts: string) => {
    const answer = await fetch(`${server.origin}${path}`, { headers: { "accept-encoding": accepts } });
    return [answer.headers.get("content-encoding"), (await answer.text()).length];
  };
  expect(await coding("/long", "br, gzip")).toEqual(["gzip", PACKED_UNITS_MIN]);
  expect(await coding("/long", "gzip;q=0")).toEqual([null, PACKED_UNITS_MIN]);
  expect(await coding("/long", "identity")).toEqual([null, PACKED_UNITS_MIN]);
  expect(await coding("/short", "gzip")).toEqual([null, PACKED_UNITS_MIN - 1]);
});
