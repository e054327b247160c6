/** Lanes over HTTP: server-sent events, long-polls and plain polls of the same frames. */
import type { ServerResponse } from "node:http";
import { RESPONSE_ALREADY_SENT } from "@hono/node-server/utils/response";
import { encodeFrame, type Frame } from "../follow/index.ts";
import type { OpenLane } from "./access.ts";
import { type Ask, asRefused, type RouteContext, sessionOf } from "./ask.ts";
import { cursorOf, durableEnvelope, streamHeaders } from "./durable.ts";
import { laneHeaders } from "./headers.ts";
import type { Hub } from "./lane.ts";
import { pollLane } from "./poll.ts";
import { type LanePosition, parseLanePosition } from "./position.ts";
import { Refused, refused } from "./requests.ts";
import type { LaneKind } from "./sessions.ts";
import type { Held } from "./shared.ts";
import { type Envelope, plainEnvelope, SseClient, stepsEnvelope } from "./sse.ts";

const busy = new Refused({
  status: 503,
  code: "too-many-lanes",
  message: "Too much is being watched at once; come back later.",
  headers: { "retry-after": "10" },
});

const emptyFrame: Frame = { stream: {}, tools: [] };

type Start = LanePosition | "now" | "bad" | undefined;

/** Where a client wants to begin. What it says in `Last-Event-ID` is newer than what its address says. */
function startOf(text: string | undefined): Start {
  if (text === undefined || text === "" || text === "-1") return undefined;
  return text === "now" ? "now" : (parseLanePosition(text) ?? "bad");
}

async function hold(ask: Ask, context: RouteContext, kind: LaneKind): Promise<Held<Hub>> {
  const item = await sessionOf(ask, context);
  let held: Held<Hub> | undefined;
  try {
    held = await context.sessions.watch(item, kind);
  } catch (error) {
    throw asRefused(error);
  }
  if (held === undefined) throw busy;
  return held;
}

/** The changes of a session's transcript. */
export async function serveChanges(ask: Ask, context: RouteContext): Promise<Response> {
  const live = ask.req.query("live");
  const isEvents = live === "events" || (live === undefined && wantsEvents(ask));
  if (isEvents || live === "sse") {
    const envelope = live === "sse" ? durableEnvelope(context.clock.now) : plainEnvelope;
    return serveEvents(ask, context, "changes", envelope);
  }
  if (live === undefined || live === "long-poll") return servePoll(ask, context, live !== undefined);
  throw refused(400, "bad-query", "live is events, sse or long-poll.");
}

/** The steps of a session's agent, as docs/follow.md has them. */
export function serveSteps(ask: Ask, context: RouteContext): Promise<Response> {
  return serveEvents(ask, context, "steps", stepsEnvelope);
}

/** What the step under way has told up to now: the lane of steps for who cannot hold a connection. */
export async function serveStep(ask: Ask, context: RouteContext): Promise<Response> {
  const item = await sessionOf(ask, context);
  try {
    const frame = await context.sessions.use(item, async ({ step }) => step?.());
    return ask.body(encodeFrame(frame ?? emptyFrame), 200, { "content-type": "application/json" });
  } catch (error) {
    throw asRefused(error);
  }
}

function isHeadOnly(ask: Ask): boolean {
  return ask.req.method === "HEAD";
}

function wantsEvents(ask: Ask): boolean {
  return /(?:^|,)\s*text\/event-stream\b/i.test(ask.req.header("accept") ?? "");
}

async function serveEvents(
  ask: Ask,
  context: RouteContext,
  kind: LaneKind,
  envelope: Envelope,
): Promise<Response> {
  // The head alone is an answer; a lane behind it would be read by nobody.
  if (isHeadOnly(ask)) {
    await sessionOf(ask, context);
    return ask.body(null, 200, { ...laneHeaders });
  }
  const text = ask.req.header("last-event-id") ?? ask.req.query("offset") ?? ask.req.query("after");
  const held = await hold(ask, context, kind);
  const { outgoing } = ask.env;
  const client = new SseClient(outgoing as ServerResponse, envelope, context.clock.now);
  const leave = context.access.enter(ask.get("key"), client);
  if (leave === undefined) {
    held.release();
    throw busy;
  }
  // The lane's end is the connection's: without chunks a frame is one piece for the socket, and nothing is left over to be served on it.
  outgoing.useChunkedEncodingByDefault = false;
  outgoing.writeHead(200, laneHeaders);
  const start = startOf(text);
  void run().finally(() => {
    leave();
    held.release();
  });
  return RESPONSE_ALREADY_SENT;

  async function run(): Promise<void> {
    if (start === "bad") return client.reset("the position cannot be read");
    try {
      await client.run(held.value, start);
    } catch (error) {
      // The log is closed under a client that has gone, or was told to: nobody misses what it could not be read for.
      if (client.isOver) return;
      context.onFailure(error);
      client.close("the session cannot be read now", true);
    }
  }
}

async function servePoll(ask: Ask, context: RouteContext, isLong: boolean): Promise<Response> {
  const waits = isLong && !isHeadOnly(ask);
  const text = ask.req.query("offset") ?? ask.req.header("last-event-id");
  const start = startOf(text);
  if (start === "bad") throw refused(400, "bad-position", "That is no position of a lane.");
  if (waits && text === undefined) throw refused(400, "bad-query", "A long-poll needs an offset.");
  const held = await hold(ask, context, "changes");
  const stop = new AbortController();
  const waiter: OpenLane = { close: () => stop.abort(), tick: () => undefined };
  const leave = context.access.enter(ask.get("key"), waiter);
  if (leave === undefined) {
    held.release();
    throw busy;
  }
  ask.env.outgoing.once("close", () => stop.abort());
  try {
    const given = typeof start === "object" ? text : undefined;
    const polled = await pollLane(held.value, start, given, {
      waits,
      clock: context.clock,
      signal: stop.signal,
    });
    if (polled.isVoid)
      throw refused(
        410,
        "gone",
        "That position is of another log, or its records are others now: read the tail again.",
      );
    ask.header(streamHeaders.nextOffset, polled.next);
    if (polled.isUpToDate) ask.header(streamHeaders.upToDate, "true");
    if (polled.isClosed) ask.header(streamHeaders.closed, "true");
    if (waits) ask.header(streamHeaders.cursor, cursorOf(context.clock.now(), ask.req.query("cursor")));
    ask.header("cache-control", "no-store, no-transform");
    if (waits && polled.frames.length === 0) return ask.body(null, 204);
    const json = Buffer.concat([
      Buffer.from("["),
      ...polled.frames.flatMap(({ json: each }, index) => (index === 0 ? [each] : [Buffer.from(","), each])),
      Buffer.from("]"),
    ]);
    return ask.body(Uint8Array.from(json).buffer, 200, { "content-type": "application/json" });
  } catch (error) {
    throw asRefused(error);
  } finally {
    leave();
    held.release();
  }
}
