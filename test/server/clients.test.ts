/** Clients that are slow, sessions that are driven, two who answer, the lane of steps. */
import { mkdir, readFile, writeFile } from "node:fs/promises";
import type { ServerResponse } from "node:http";
import { createConnection } from "node:net";
import { join } from "node:path";
import { Writable } from "node:stream";
import { setImmediate as turn } from "node:timers/promises";
import { createParser } from "eventsource-parser";
import { expect, test } from "vitest";
import { callFile, callFolder, type LaneEvent, stepFolder, stepsFolder } from "../../src/follow/index.ts";
import { Access } from "../../src/server/access.ts";
import { type Catalogue, type LaneFrame, type ServedSession, servedSession } from "../../src/server/index.ts";
import { type Hub, Lane } from "../../src/server/lane.ts";
import {
  APPROVALS_MAX,
  BATCH_BYTES_MAX,
  CLIENT_BYTES_MAX,
  CLIENT_STALL_MS,
  KEY_LANES_MAX,
  KEYS_LOOK_MS,
  POLL_FRAMES_MAX,
  STEP_EVENTS_MAX,
} from "../../src/server/limits.ts";
import { foldDriver, restingDriver } from "../../src/server/parks.ts";
import { pollLane } from "../../src/server/poll.ts";
import { Shared } from "../../src/server/shared.ts";
import { plainEnvelope, SseClient } from "../../src/server/sse.ts";
import { openStepsHub } from "../../src/server/steps-hub.ts";
import { drivenSession, pushed, scriptedSession } from "./scripted.ts";
import { ask, catalogueOf, HandClock, makeLog, makeServer, openLane, tempFolder } from "./support.ts";

async function until(isTrue: () => boolean): Promise<void> {
  while (!isTrue()) await turn();
}

function catalogueWith(served: () => ServedSession): Catalogue {
  const item = { id: "s1", info: served().session.info };
  return {
    list: async () => [item],
    find: async (id) => (id === item.id ? item : undefined),
    describe: async () => item.info,
    open: async () => served(),
  };
}

const BIG_ANSWERS = 320;
const BIG_TEXT = 64 * 1024;

test("a client that takes nothing holds nobody and no memory; what it missed it gets when it comes back", async () => {
  const log = await makeLog(await tempFolder());
  const clock = new HandClock();
  const made = await makeServer({ catalogue: catalogueOf({ s1: log.path }), clock });
  const { secret } = await made.addKey();
  const { server } = made;
  // A socket that is not read from.
  const slow = createConnection({ port: server.port, host: "127.0.0.1" });
  slow.pause();
  const path = "/api/sessions/s1/changes?offset=now";
  slow.write(
    `GET ${path} HTTP/1.1\r\nHost: 127.0.0.1:${server.port}\r\nAccept: text/event-stream\r\nAuthorization: Bearer ${secret}\r\n\r\n`,
  );
  await until(() => server.load.lanes === 1);
  const quick = await openLane(server, path, { secret });
  const names: string[] = [];
  for (let at = 0; at < BIG_ANSWERS; at += 1) {
    await log.append(log.answerLine(`${at} ${"x".repeat(BIG_TEXT)}`));
    for (;;) {
      const frame = await quick.nextFrame<LaneFrame>();
      if (frame.type !== "blockFinished") continue;
      names.push(frame.entry.name);
      break;
    }
  }
  expect(names).toHaveLength(BIG_ANSWERS);

  // It wakes up: it gets what was on its way, is told that it lagged, and asks again from where it was.
  const got: string[] = [];
  let position = "";
  let isLagged = false;
  const take = (data: string, id: string | undefined): void => {
    const frame = JSON.parse(data) as LaneFrame;
    if (frame.type === "lagged") isLagged = true;
    if (frame.type === "blockFinished") got.push(frame.entry.name);
    if (id !== undefined) position = id;
  };
  const parser = createParser({ onEvent: ({ data, id }) => take(data, id) });
  let answer = "";
  const ended = new Promise((resolve) => slow.once("close", resolve));
  slow.setEncoding("latin1");
  slow.on("data", (text: string) => {
    answer += text;
  });
  slow.resume();
  await until(() => answer.includes('"lagged"'));
  slow.end();
  await ended;
  parser.feed(answer.slice(answer.indexOf("\r\n\r\n") + 4));
  expect(isLagged).toBe(true);
  expect(got.length).toBeGreaterThan(0);
  expect(got.length).toBeLessThan(BIG_ANSWERS);
  const again = await openLane(server, path, { secret, headers: { "last-event-id": position } });
  while (got.length < BIG_ANSWERS) {
    const event = await again.next();
    take(event?.data ?? "{}", event?.id);
  }
  expect(got).toEqual(names);
});

test("no more than so many bytes wait in a client's socket", async () => {
  const out = new Writable({ highWaterMark: 1024, write: () => undefined });
  const client = new SseClient(out as ServerResponse, plainEnvelope, Date.now);
  const lane = new Lane();
  const frameBytes = 10_000;
  for (let at = 0; at < 60; at += 1) lane.publish(JSON.stringify("x".repeat(frameBytes)), { log: "0" });
  const running = client.run(hubOf(lane), undefined);
  await turn();
  for (let at = 0; at < 5; at += 1) lane.publish('"more"', { log: "0" });
  expect(out.writableLength).toBeGreaterThanOrEqual(CLIENT_BYTES_MAX);
  expect(out.writableLength).toBeLessThan(CLIENT_BYTES_MAX + 2 * frameBytes);
  out.destroy();
  await running;
});

test("frames of one moment are one write, as many as a batch may hold; a longer frame goes alone", async () => {
  const lane = new Lane();
  const writes: number[] = [];
  const out = new Writable({
    decodeStrings: false,
    write(chunk: Buffer | string, _, done) {
      if (typeof chunk !== "string") writes.push(chunk.toString().split("\n\n").length - 1);
      done();
    },
  });
  const client = new SseClient(out as ServerResponse, plainEnvelope, Date.now);
  const running = client.run(hubOf(lane), undefined);
  await turn();
  // Numbers of one digit: the heads of all frames are of one length.
  const publish = (bytes: number): void => lane.publish(JSON.stringify("x".repeat(bytes - 2)), { log: "0" });
  for (let at = 0; at < 3; at += 1) publish(10);
  await turn();
  const first = lane.frame(1);
  const headBytes = typeof first === "string" ? 0 : first.event.length - 10;
  const half = BATCH_BYTES_MAX / 2 - headBytes;
  publish(half);
  publish(half);
  await turn();
  publish(half);
  publish(half + 1);
  await turn();
  publish(2 * BATCH_BYTES_MAX);
  publish(10);
  await turn();
  expect(writes).toEqual([3, 2, 1, 1, 1, 1]);
  out.destroy();
  await running;
});

test("a client that takes nothing for too long is let go of", async () => {
  const scripted = scriptedSession();
  const clock = new HandClock();
  const made = await makeServer({ catalogue: catalogueWith(() => ({ session: scripted.session })), clock });
  const { secret } = await made.addKey();
  const { server } = made;
  const slow = createConnection({ port: server.port, host: "127.0.0.1" });
  slow.pause();
  slow.write(
    `GET /api/sessions/s1/changes?live=events HTTP/1.1\r\nHost: 127.0.0.1:${server.port}\r\nAuthorization: Bearer ${secret}\r\n\r\n`,
  );
  await until(() => server.load.lanes === 1);
  for (let at = 0; at < 400; at += 1) {
    scripted.push({ type: "notice", tone: "information", text: "x".repeat(BIG_TEXT) });
    await turn();
  }
  clock.turn(CLIENT_STALL_MS + KEYS_LOOK_MS);
  await until(() => server.load.lanes === 0);
  slow.destroy();
});

test("two answer one call: the first is taken, the second is told who was first; the lane tells both", async () => {
  const { session, prompts } = drivenSession();
  const made = await makeServer({ catalogue: catalogueWith(() => servedSession(session)) });
  const { server } = made;
  const [phone, laptop] = [await made.addKey({ label: "phone" }), await made.addKey({ label: "laptop" })];
  const lane = await openLane(server, "/api/sessions/s1/changes?offset=-1", { secret: phone.secret });
  const standing = await lane.nextFrame<{ driver: { approvals: { id: string }[] } }>();
  expect(standing.driver.approvals.map(({ id }) => id)).toEqual(["a1"]);
  const body = JSON.stringify({ approval: "a1", option: "yes" });
  const answers = await Promise.all(
    [phone, laptop].map(({ secret }) => ask(server, "/api/sessions/s1/answers", { secret, body })),
  );
  expect(answers.map(({ status }) => status).sort()).toEqual([200, 409]);
  const late = answers.find(({ status }) => status === 409);
  const first = answers[0]?.status === 200 ? "phone" : "laptop";
  expect(JSON.parse(late?.body ?? "")).toEqual({ taken: false, by: first });
  expect(await lane.nextFrame()).toMatchObject({ type: "driver", driver: { approvals: [] } });
  const prompt = await ask(server, "/api/sessions/s1/prompts", {
    secret: phone.secret,
    body: '{"text":"go on"}',
  });
  expect([prompt.status, prompts]).toEqual([200, ["go on"]]);
  expect((await ask(server, "/api/sessions/s1/cancel", { secret: phone.secret, body: "{}" })).status).toBe(
    200,
  );
});

test("a call that is parked on disk is answered there, once; prompts wait for a driver that is there", async () => {
  const folder = await tempFolder();
  const { session } = scriptedSession({ agent: "hansard", path: join(folder, "log.jsonl") });
  const step = stepFolder(stepsFolder(folder), "001");
  await mkdir(callFolder(step, "t1"), { recursive: true });
  await writeFile(callFile(step, "t1", "input"), '{"id":"t1","name":"Bash","input":{}}\n');
  await writeFile(
    callFile(step, "t1", "parked"),
    '{"tool_use_id":"t1","tool":"Bash","options":[{"id":"yes","label":"Yes","kind":"allow-once"}]}\n',
  );
  const { acts } = servedSession(session, () => Date.UTC(2026, 7, 10));
  expect(await acts?.answer("t2", "yes", "phone")).toBeUndefined();
  expect(await acts?.answer("t1", "nonsense", "phone")).toBeUndefined();
  expect(await acts?.answer("t1", "yes", "phone")).toEqual({ taken: true });
  expect(await acts?.answer("t1", "yes", "laptop")).toEqual({ taken: false, by: "phone" });
  expect(JSON.parse(await readFile(callFile(step, "t1", "answer"), "utf8"))).toMatchObject({
    option: "yes",
    by: "phone",
  });
  expect(await acts?.prompt("x", "phone")).toEqual({ taken: false, why: "not-driven" });
  expect(acts?.cancel).toBeUndefined();
});

test("sessions of other programs are only read", () => {
  expect(servedSession(scriptedSession().session).acts).toBeUndefined();
});

test("what waits for an answer is folded from a session's steps", () => {
  const frame = (tools: object[]): LaneEvent => ({
    type: "frame",
    frame: { stream: {}, tools: tools as never },
  });
  const resting = restingDriver("an agent");
  const parked = foldDriver(
    resting,
    frame([{ toolUse: "t1", tool: "Bash", held: "rm", input: "{}", options: [] }]),
    7,
  );
  expect(parked.phase).toBe("working");
  expect(parked.approvals).toEqual([
    {
      id: "t1",
      call: { id: "t1", name: "Bash", inputSummary: "{}", subject: "rm" },
      options: [],
      askedAt: 7,
    },
  ]);
  expect(foldDriver(parked, frame([{ toolUse: "t2", tool: "Read" }]), 8)).toBe(parked);
  expect(foldDriver(parked, frame([{ toolUse: "t1", answered: { by: "x" } }]), 8).approvals).toEqual([]);
  expect(foldDriver(parked, frame([{ toolUse: "t1", exitCode: 0 }]), 8).approvals).toEqual([]);
  expect(foldDriver(parked, { type: "over" }, 8)).toEqual(resting);
  const many = Array.from({ length: APPROVALS_MAX + 3 }, (_, at) => ({ toolUse: `t${at}`, held: "" }));
  expect(foldDriver(resting, frame(many), 1).approvals).toHaveLength(APPROVALS_MAX);
});

test("the lane of steps: a frame as it comes, the whole step for who comes late, over before it for who comes back", async () => {
  const { session } = scriptedSession();
  const steps = pushed<LaneEvent>();
  const made = await makeServer({
    catalogue: catalogueWith(() => ({ session, steps: (signal) => steps.stream(signal) })),
  });
  const { secret } = await made.addKey();
  const { server } = made;
  const first = await openLane(server, "/api/sessions/s1/lane", { secret });
  steps.push({ type: "frame", frame: { stream: { text: "Hel", lastDelta: "text" }, tools: [] } });
  steps.push({
    type: "frame",
    frame: { stream: { text: "lo", lastDelta: "text" }, tools: [{ toolUse: "t1" }] },
  });
  const got = [await first.next(), await first.next()];
  expect(got.map((event) => [event?.event, event?.data])).toEqual([
    ["frame", '{"kind":"follow","ok":true,"stream":{"delta":"text","text":"Hel"},"tools":[]}'],
    [
      "frame",
      '{"kind":"follow","ok":true,"stream":{"delta":"text","text":"lo"},"tools":[{"tool_use":"t1"}]}',
    ],
  ]);
  const late = await openLane(server, "/api/sessions/s1/lane", { secret });
  expect(JSON.parse((await late.next())?.data ?? "")).toMatchObject({ stream: { text: "Hello" } });
  const back = await openLane(server, "/api/sessions/s1/lane", {
    secret,
    headers: { "last-event-id": got[0]?.id ?? "" },
  });
  expect((await back.next())?.data).toBe(got[1]?.data);
  const stranger = await openLane(server, "/api/sessions/s1/lane?after=abc.1.-.MA", { secret });
  expect([(await stranger.next())?.event, (await stranger.next())?.event]).toEqual(["over", "frame"]);
  steps.push({ type: "over" });
  expect((await first.next())?.event).toBe("over");
  const idle = await openLane(server, "/api/sessions/s1/lane", { secret });
  steps.push({ type: "frame", frame: { stream: { text: "new" }, tools: [] } });
  expect((await idle.next())?.data).toContain('"new"');
});

test("a session whose lane ends as soon as it is opened is not opened again and again", async () => {
  const opened: number[] = [];
  const closed: number[] = [];
  const shared = new Shared<number>({
    clock: new HandClock(),
    isSpent: () => true,
    close: async (value) => void closed.push(value),
  });
  const open = async (): Promise<number> => opened.push(opened.length);
  const first = await shared.hold("s", open);
  expect([first?.value, opened.length]).toEqual([1, 1]);
  // Who comes later gets a new one; the one that is spent is closed once its holder has gone.
  const second = await shared.hold("s", open);
  expect([second?.value, opened.length]).toEqual([2, 2]);
  first?.release();
  await turn();
  expect(closed).toEqual([1]);
  await shared.close();
  expect(closed).toEqual([1, 2]);
});

test("a step that says more than may be kept is told from here on", async () => {
  const { session } = scriptedSession();
  const steps = pushed<LaneEvent>();
  const hub = await openStepsHub({ session, steps: (signal) => steps.stream(signal) }, (error) => {
    throw error;
  });
  const tools = Array.from({ length: STEP_EVENTS_MAX + 1 }, (_, at) => ({ toolUse: `t${at}` }));
  steps.push({ type: "frame", frame: { stream: {}, tools } });
  steps.push({ type: "frame", frame: { stream: {}, tools: [{ toolUse: "last" }] } });
  await until(() => hub.lane.next === 4);
  const whole = await hub.catchUp(undefined).next();
  expect(typeof whole.value === "object" && JSON.parse(whole.value.json.toString())).toMatchObject({
    tools: [{ tool_use: "last" }],
  });
  await hub.close();
});

function hubOf(lane: Lane): Hub {
  return {
    lane,
    end: "-.0.-.MA",
    async *catchUp() {
      yield* [];
      return 1;
    },
    close: async () => undefined,
  };
}

test("a poll gives as many frames as one answer may hold, and says that there are more", async () => {
  const lane = new Lane();
  for (let at = 0; at < POLL_FRAMES_MAX + 5; at += 1) lane.publish("{}", { log: "0" });
  const options = { waits: false, clock: new HandClock(), signal: new AbortController().signal };
  const polled = await pollLane(hubOf(lane), undefined, undefined, options);
  expect([polled.frames.length, polled.isUpToDate]).toEqual([POLL_FRAMES_MAX, false]);
  const wide = new Lane();
  for (let at = 0; at < 3; at += 1) wide.publish(JSON.stringify("x".repeat(400_000)), { log: "0" });
  const few = await pollLane(hubOf(wide), undefined, undefined, options);
  // The ring holds no more than two of these, and has let go of the first.
  expect(few.frames.length).toBe(0);
});

test("a long-poll is not ended by what it was answered before", async () => {
  const lane = new Lane();
  const stop = new AbortController();
  lane.publish('"old"', { log: "0" });
  const hub: Hub = {
    ...hubOf(lane),
    async *catchUp() {
      yield* [];
      return lane.next;
    },
  };
  // The lane is about to tell of the old frame.
  const polling = pollLane(hub, undefined, undefined, {
    waits: true,
    clock: new HandClock(),
    signal: stop.signal,
  });
  await turn();
  lane.publish('"new"', { log: "0" });
  const { frames } = await polling;
  expect(frames.map(({ json }) => json.toString())).toEqual(['"new"']);
});

test("a key has as many lanes as it may", async () => {
  const clock = new HandClock();
  const access = new Access({ keys: undefined as never, clock, cookie: "c" });
  const key = { id: "k", label: "l", madeAt: 0, sessions: "all", may: "read" } as const;
  const lane = (): { close(): void; tick(): void } => ({ close: () => undefined, tick: () => undefined });
  const leaves = Array.from({ length: KEY_LANES_MAX }, () => access.enter(key, lane()));
  expect(access.enter(key, lane())).toBeUndefined();
  leaves[0]?.();
  expect(access.enter(key, lane())).toBeDefined();
});
