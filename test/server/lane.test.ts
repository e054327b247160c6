/** Lanes over HTTP: what a client is told, where it goes on, and what it costs the others. */
import { rename, truncate, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { lanePositionOf } from "../../src/server/changes-hub.ts";
import type { LaneFrame } from "../../src/server/index.ts";
import { HEARTBEAT_MS, HUB_LINGER_MS, KEYS_LOOK_MS, LONG_POLL_MS } from "../../src/server/limits.ts";
import type { Page } from "../../src/session/index.ts";
import {
  ask,
  askJson,
  catalogueOf,
  HandClock,
  type LogWriter,
  makeLog,
  makeServer,
  type OpenLane,
  openLane,
  type TestServer,
  tempFolder,
} from "./support.ts";

interface Tail extends Page {
  readonly lane: string;
  readonly live: readonly string[];
}

interface World extends TestServer {
  readonly log: LogWriter;
  readonly secret: string;
  readonly clock: HandClock;
}

async function makeWorld(): Promise<World> {
  const log = await makeLog(await tempFolder());
  const clock = new HandClock();
  const made = await makeServer({ catalogue: catalogueOf({ s1: log.path }), clock });
  const { secret } = await made.addKey();
  return { ...made, log, secret, clock };
}

function wordsOf(frame: LaneFrame): string {
  if (frame.type !== "blockFinished") return frame.type;
  const { entry } = frame;
  if (entry.kind === "delivered") return `+${entry.body}`;
  if (entry.kind === "model") return `+${entry.blocks.map((b) => ("text" in b ? b.text : b.kind)).join("")}`;
  return `+${entry.kind}`;
}

/** Frames until one that is told as `last`, in words. */
async function wordsTo(lane: OpenLane, last: string): Promise<readonly string[]> {
  const words: string[] = [];
  while (words.at(-1) !== last) words.push(wordsOf(await lane.nextFrame<LaneFrame>()));
  return words;
}

const changes = "/api/sessions/s1/changes";

test("a lane from a page's position tells what comes after the page, in order", async () => {
  const { server, secret, log } = await makeWorld();
  const tail = await askJson<Tail>(server, "/api/sessions/s1/tail", { secret });
  expect(tail.entries).toHaveLength(2);
  const lane = await openLane(server, `${changes}?offset=${tail.lane}`, { secret });
  expect(lane.status).toBe(200);
  expect(lane.headers).toMatchObject({
    "content-type": "text/event-stream; charset=utf-8",
    "cache-control": "no-store, no-transform",
    "x-accel-buffering": "no",
  });
  expect(await lane.nextFrame()).toMatchObject({ type: "standing", pending: [], turnOpen: false });
  await log.append(log.promptLine("second question"), log.answerLine("second answer"));
  const words = await wordsTo(lane, "+second answer");
  expect(words.filter((word) => word.startsWith("+"))).toEqual(["+second question", "+second answer"]);
});

test("a lane from the start tells the whole session", async () => {
  const { server, secret } = await makeWorld();
  const lane = await openLane(server, `${changes}?offset=-1`, { secret });
  expect(await wordsTo(lane, "standing")).toEqual(["+first question", "+first answer", "standing"]);
});

test("a client that comes back goes on from the ring, without a frame told twice", async () => {
  const { server, secret, log } = await makeWorld();
  const lane = await openLane(server, `${changes}?offset=now`, { secret });
  await log.append(log.promptLine("second question"), log.answerLine("second answer"));
  await wordsTo(lane, "+second question");
  lane.close();
  const again = await openLane(server, `${changes}?offset=now`, {
    secret,
    headers: { "last-event-id": lane.position },
  });
  await log.append(log.promptLine("third question"));
  const words = await wordsTo(again, "+third question");
  expect(words.filter((word) => word.startsWith("+"))).toEqual(["+second answer", "+third question"]);
  expect(words).not.toContain("standing");
});

test("a position outlives the server: another one goes on from the log", async () => {
  const world = await makeWorld();
  const { server, secret, log, keys } = world;
  const lane = await openLane(server, `${changes}?offset=now`, { secret });
  await log.append(log.promptLine("second question"), log.answerLine("second answer"));
  await wordsTo(lane, "+second question");
  await server.close();
  await log.append(log.promptLine("third question"));
  const next = await makeServer({ catalogue: catalogueOf({ s1: log.path }), keys });
  const again = await openLane(next.server, `${changes}?offset=${lane.position}`, { secret });
  expect(await wordsTo(again, "standing")).toEqual(["+second answer", "+third question", "standing"]);
});

test("a running call is in the standing, its end settles it", async () => {
  const { server, secret, log } = await makeWorld();
  await log.append(log.promptLine("run it"), log.callLine("t1", "make"));
  const tail = await askJson<Tail>(server, "/api/sessions/s1/tail", { secret });
  expect(tail.live).toHaveLength(1);
  const lane = await openLane(server, `${changes}?offset=${tail.lane}`, { secret });
  const standing = await lane.nextFrame<LaneFrame>();
  expect(standing).toMatchObject({ type: "standing", turnOpen: true });
  expect(standing.type === "standing" && standing.pending.map((entry) => entry.name)).toEqual(tail.live);
  await log.append(log.resultLine("t1", "made"), log.answerLine("done"));
  const words = await wordsTo(lane, "+done");
  expect(words.filter((word) => word.startsWith("+"))).toEqual(["+tool-use", "+tool-result", "+done"]);
});

test("positions that lead nowhere are told as such: unreadable, foreign, of a log that is another now", async () => {
  const { server, secret, log } = await makeWorld();
  const foreign = lanePositionOf({
    entries: [{ name: "@9", kind: "raw", reason: "", text: "" }],
    positions: ["0"],
    start: "0",
    end: "0",
    atStart: true,
    atEnd: true,
    damage: [],
    turnOpen: false,
    live: [],
  });
  for (const offset of ["rubbish", "a.b.c.d", foreign, "-.0.-.OTk5OTk5"]) {
    const lane = await openLane(server, `${changes}?offset=${offset}`, { secret });
    const frames = await lane.rest();
    expect(frames.map(({ data }) => (JSON.parse(data) as LaneFrame).type)).toEqual(["reset"]);
  }
  expect((await ask(server, `${changes}?offset=rubbish`, { secret })).status).toBe(400);
  expect((await ask(server, `${changes}?offset=${foreign}`, { secret })).status).toBe(410);
  const { lane: position } = await askJson<Tail>(server, "/api/sessions/s1/tail", { secret });
  await writeFile(log.path, `${log.promptLine("quite another").trim()}\n${log.answerLine("log")}`);
  expect((await ask(server, `${changes}?offset=${position}`, { secret })).status).toBe(410);
});

test("a log that becomes shorter resets its lanes and ends them; a new lane is served", async () => {
  const { server, secret, log } = await makeWorld();
  const lane = await openLane(server, `${changes}?offset=-1`, { secret });
  await wordsTo(lane, "standing");
  await truncate(log.path, 0);
  const rest = await lane.rest();
  expect(rest.map(({ data }) => (JSON.parse(data) as LaneFrame).type)).toContain("reset");
  const other = join(await tempFolder(), "other.jsonl");
  await writeFile(other, log.promptLine("anew"));
  await rename(other, log.path);
  const again = await openLane(server, `${changes}?offset=-1`, { secret });
  expect(await wordsTo(again, "standing")).toContain("+anew");
});

test("long-polls: at once where there is something, a wait where there is nothing, 204 after it", async () => {
  const { server, secret, log, clock } = await makeWorld();
  const first = await ask(server, `${changes}?offset=-1&live=long-poll`, { secret });
  expect(first.status).toBe(200);
  expect(first.headers["stream-up-to-date"]).toBe("true");
  expect(Number(first.headers["stream-cursor"])).toBeGreaterThan(0);
  const frames = JSON.parse(first.body) as LaneFrame[];
  expect(frames.map(wordsOf)).toEqual(["+first question", "+first answer", "standing"]);

  const offset = first.headers["stream-next-offset"] as string;
  const waiting = ask(server, `${changes}?offset=${offset}&live=long-poll`, { secret });
  await log.append(log.promptLine("second question"));
  const second = await waiting;
  expect((JSON.parse(second.body) as LaneFrame[]).length).toBeGreaterThan(0);

  let next = second.headers["stream-next-offset"] as string;
  for (;;) {
    const waits = clock.timerSet(LONG_POLL_MS);
    const polling = ask(server, `${changes}?offset=${next}&live=long-poll`, { secret });
    await Promise.race([polling, waits]);
    clock.turn(LONG_POLL_MS);
    const polled = await polling;
    expect(polled.headers["stream-next-offset"]).toBeDefined();
    next = polled.headers["stream-next-offset"] as string;
    if (polled.status !== 204) continue;
    expect(polled.headers["stream-up-to-date"]).toBe("true");
    expect(polled.body).toBe("");
    break;
  }
});

test("plain polls give what there is and where to ask from next; now gives nothing but the end", async () => {
  const { server, secret } = await makeWorld();
  const all = await ask(server, `${changes}?offset=-1`, { secret });
  expect((JSON.parse(all.body) as LaneFrame[]).map(wordsOf)).toEqual([
    "+first question",
    "+first answer",
    "standing",
  ]);
  const none = await ask(server, `${changes}?offset=${all.headers["stream-next-offset"]}`, { secret });
  expect([none.status, none.body, none.headers["stream-up-to-date"]]).toEqual([200, "[]", "true"]);
  expect(none.headers["stream-next-offset"]).toBe(all.headers["stream-next-offset"]);
  const now = await ask(server, `${changes}?offset=now`, { secret });
  expect([now.status, now.body, now.headers["stream-up-to-date"]]).toEqual([200, "[]", "true"]);
});

test("the protocol's own events: data in arrays, control after each, up to date at the end", async () => {
  const { server, secret } = await makeWorld();
  const lane = await openLane(server, `${changes}?offset=-1&live=sse`, { secret });
  const kinds: string[] = [];
  let control: { upToDate?: boolean; streamNextOffset?: string; streamCursor?: string } = {};
  while (control.upToDate !== true) {
    const event = await lane.next();
    kinds.push(event?.event ?? "");
    if (event?.event === "control") control = JSON.parse(event.data) as typeof control;
    else expect(Array.isArray(JSON.parse(event?.data ?? ""))).toBe(true);
  }
  expect(kinds).toEqual(["data", "control", "data", "control", "data", "control", "control"]);
  expect(control.streamNextOffset).toBe(lane.position);
  expect(Number(control.streamCursor)).toBeGreaterThan(0);
});

test("a silent lane says that it lives", async () => {
  const { server, secret, clock } = await makeWorld();
  const lane = await openLane(server, `${changes}?offset=-1`, { secret });
  await wordsTo(lane, "standing");
  const comment = lane.comment();
  clock.turn(HEARTBEAT_MS + KEYS_LOOK_MS);
  await comment;
  expect(lane.comments).toBe(1);
});

test("all watchers of a session share one hub, which stays a while after the last has gone", async () => {
  const { server, secret, clock } = await makeWorld();
  const lanes = await Promise.all(
    Array.from({ length: 20 }, () => openLane(server, `${changes}?offset=now`, { secret })),
  );
  expect(server.load).toEqual({ lanes: 20, hubs: 1 });
  for (const lane of lanes) lane.close();
  await until(() => server.load.lanes === 0);
  expect(server.load.hubs).toBe(1);
  clock.turn(HUB_LINGER_MS - 1);
  expect(server.load.hubs).toBe(1);
  clock.turn(1);
  expect(server.load.hubs).toBe(0);
});

test("no more sessions are followed at once than may be; one that nobody watches makes room", async () => {
  const folder = await tempFolder();
  const [a, b] = [await makeLog(folder, "a.jsonl"), await makeLog(folder, "b.jsonl")];
  const { server, addKey } = await makeServer({
    catalogue: catalogueOf({ a: a.path, b: b.path }),
    clock: new HandClock(),
    hubsMax: 1,
  });
  const { secret } = await addKey();
  const lane = await openLane(server, "/api/sessions/a/changes?offset=now", { secret });
  const refused = await ask(server, "/api/sessions/b/changes?offset=now", { secret });
  expect([refused.status, refused.headers["retry-after"]]).toEqual([503, "10"]);
  lane.close();
  await until(() => server.load.lanes === 0);
  expect((await ask(server, "/api/sessions/b/changes?offset=now", { secret })).status).toBe(200);
});

test("a revoked key ends its lanes and no others; they are told not to come back", async () => {
  const { server, secret, clock, keys, addKey } = await makeWorld();
  const { key, secret: other } = await addKey({ label: "a phone" });
  const gone = await openLane(server, `${changes}?offset=now`, { secret: other });
  const stays = await openLane(server, `${changes}?offset=now`, { secret });
  await keys.revoke(key.id);
  clock.turn(KEYS_LOOK_MS);
  const frames = (await gone.rest()).map(({ data }) => JSON.parse(data) as LaneFrame);
  expect(frames).toEqual([{ type: "closed", reason: "the key was revoked", again: false }]);
  expect((await ask(server, `${changes}?offset=now`, { secret: other })).status).toBe(401);
  const comment = stays.comment();
  clock.turn(HEARTBEAT_MS + KEYS_LOOK_MS);
  await comment;
});

test("a key that is revoked in the middle of a lane ends it, of whatever kind, and lets none of what comes later through", async () => {
  const { server, log, clock, keys, addKey } = await makeWorld();
  const { key, secret } = await addKey({ label: "a phone" });
  const position = (await ask(server, `${changes}?offset=now`, { secret })).headers["stream-next-offset"];
  const kinds = [
    `${changes}?offset=now&live=events`,
    `${changes}?offset=now&live=sse`,
    "/api/sessions/s1/lane",
  ];
  const lanes = await Promise.all(kinds.map((target) => openLane(server, target, { secret })));
  const waits = clock.timerSet(LONG_POLL_MS);
  const polling = ask(server, `${changes}?offset=${position}&live=long-poll`, { secret });
  await waits;
  expect(server.load.lanes).toBe(4);
  await keys.revoke(key.id);
  clock.turn(KEYS_LOOK_MS);
  const ends = await Promise.all(lanes.map((lane) => lane.rest()));
  expect(
    ends.map((events) => events.slice(-1).map(({ event, data }) => [event, JSON.parse(data) as object])),
  ).toEqual([
    [[undefined, { type: "closed", reason: "the key was revoked", again: false }]],
    [["control", { streamClosed: true, streamCursor: expect.any(String) }]],
    [["closed", { reason: "the key was revoked", again: false }]],
  ]);
  expect((await polling).status).toBe(204);
  expect(server.load.lanes).toBe(0);
  await log.append(log.promptLine("SECRETWORD"));
  const again = await ask(server, `${changes}?offset=${position}`, { secret });
  expect([again.status, again.body]).toEqual([401, expect.not.stringContaining("SECRETWORD")]);
});

test("a server that ends tells its lanes to come back", async () => {
  const { server, secret } = await makeWorld();
  const lane = await openLane(server, `${changes}?offset=now`, { secret });
  await server.close();
  const frames = (await lane.rest()).map(({ data }) => JSON.parse(data) as LaneFrame);
  expect(frames).toEqual([{ type: "closed", reason: "the server ends", again: true }]);
});

/** Waits for something that a closed socket brings about. */
async function until(isTrue: () => boolean): Promise<void> {
  while (!isTrue()) await new Promise((resolve) => setImmediate(resolve));
}
