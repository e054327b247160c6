/** The page's lane over a clock and a network that tests turn by hand. */
import { describe, expect, test } from "vitest";
import type { LaneFrame } from "../../src/web/frames.ts";
import {
  EVENT_UNITS_MAX,
  HELD_UP_MS,
  RETRY_FIRST_MS,
  RETRY_MAX_MS,
  SILENT_MS_MAX,
} from "../../src/web/limits.ts";
import { LaneClient, type Standing } from "../../src/web/page/lane.ts";
import { createVirtualClock } from "../support/terminal/clock.ts";

interface Call {
  readonly path: string;
  readonly signal: AbortSignal;
  answer(status: number, headers?: Record<string, string>, body?: string): void;
  /** An answer that goes on. */
  stream(): { send(text: string): void; end(): void };
  fail(): void;
}

function rig(position = "p0") {
  const clock = createVirtualClock(async () => {
    for (let turn = 0; turn < 60; turn += 1) await Promise.resolve();
  });
  const calls: Call[] = [];
  const frames: LaneFrame[] = [];
  const standings: string[] = [];
  const lane = new LaneClient({
    path: "/lane",
    position,
    ports: {
      now: () => clock.now(),
      after: (ms, act) => clock.after(ms, act),
      fetch: (path, { signal }) =>
        new Promise<Response>((resolve, reject) => {
          signal.addEventListener("abort", () => reject(new DOMException("aborted", "AbortError")));
          calls.push({
            path,
            signal,
            answer: (status, headers = {}, body) =>
              resolve(new Response(status === 204 ? null : (body ?? ""), { status, headers })),
            stream() {
              let out: ReadableStreamDefaultController<Uint8Array> | undefined;
              const body = new ReadableStream<Uint8Array>({
                start(controller) {
                  out = controller;
                  signal.addEventListener("abort", () =>
                    controller.error(new DOMException("aborted", "AbortError")),
                  );
                },
              });
              resolve(new Response(body));
              return {
                send: (text) => out?.enqueue(new TextEncoder().encode(text)),
                end: () => out?.close(),
              };
            },
            fail: () => reject(new TypeError("no network")),
          });
        }),
    },
    onFrame: (frame) => frames.push(frame),
    onStanding: (standing: Standing, words) =>
      standings.push(words === "" ? standing : `${standing}: ${words}`),
  });
  const over = lane.run();
  const settle = () => clock.advance(0);
  return { clock, calls, frames, standings, lane, over, settle };
}

const event = (id: string, frame: LaneFrame) => `id: ${id}\ndata: ${JSON.stringify(frame)}\n\n`;
const notice = (text: string): LaneFrame => ({ type: "notice", tone: "information", text });

describe("the lane of the page", () => {
  test("goes on from the last position it heard, whatever cut it, and waits longer each time", async () => {
    const r = rig();
    const first = r.calls[0]?.stream();
    first?.send(`${event("p1", notice("a"))}${event("p2", notice("b"))}id: p3\nda`);
    await r.settle();
    expect(r.frames).toEqual([notice("a"), notice("b")]);
    expect(r.standings).toEqual(["live"]);
    first?.end();
    await r.settle();
    expect(r.standings).toEqual(["live", "away"]);
    for (let at = 0, ms = RETRY_FIRST_MS; at < 8; at += 1, ms = Math.min(RETRY_MAX_MS, ms * 2)) {
      expect(r.calls).toHaveLength(at + 1);
      await r.clock.advance(ms - 1);
      expect(r.calls).toHaveLength(at + 1);
      await r.clock.advance(1);
      expect(r.calls[at + 1]?.path).toBe("/lane?offset=p2&live=events");
      r.calls[at + 1]?.fail();
      await r.settle();
    }
    // The network is there again: no waiting.
    r.lane.wake();
    await r.settle();
    r.calls
      .at(-1)
      ?.stream()
      .send(event("p3", notice("c")));
    await r.settle();
    expect(r.frames).toEqual([notice("a"), notice("b"), notice("c")]);
    expect(r.standings.at(-1)).toBe("live");
    r.lane.stop();
    await r.over;
  });

  test("a silent line is opened anew, a heartbeat keeps it", async () => {
    const r = rig();
    const line = r.calls[0]?.stream();
    line?.send(": here\n\n");
    await r.settle();
    await r.clock.advance(SILENT_MS_MAX - 1);
    line?.send(": here\n\n");
    await r.settle();
    await r.clock.advance(SILENT_MS_MAX - 1);
    expect(r.calls[0]?.signal.aborted).toBe(false);
    await r.clock.advance(1);
    expect(r.calls[0]?.signal.aborted).toBe(true);
    await r.clock.advance(RETRY_FIRST_MS);
    expect(r.calls).toHaveLength(2);
    r.lane.stop();
    await r.over;
  });

  test("where nothing comes through a stream at all, polls take its place, and say where to ask next", async () => {
    const r = rig();
    await r.clock.advance(HELD_UP_MS);
    await r.clock.advance(RETRY_FIRST_MS);
    expect(r.calls[1]?.path).toBe("/lane?offset=p0&live=long-poll");
    r.calls[1]?.answer(200, { "stream-next-offset": "p5" }, JSON.stringify([notice("a"), notice("b")]));
    await r.settle();
    await r.settle();
    expect(r.frames).toEqual([notice("a"), notice("b")]);
    expect(r.calls[2]?.path).toBe("/lane?offset=p5&live=long-poll");
    r.calls[2]?.answer(204, { "stream-next-offset": "p5" });
    await r.settle();
    await r.settle();
    expect(r.calls[3]?.path).toBe("/lane?offset=p5&live=long-poll");
    r.lane.stop();
    await r.over;
  });

  test("waking does not cut a line that lives, and cuts one that was not heard for long", async () => {
    const r = rig();
    r.calls[0]?.stream().send(": here\n\n");
    await r.settle();
    r.lane.wake();
    await r.settle();
    expect(r.calls[0]?.signal.aborted).toBe(false);
    r.clock.jump(HELD_UP_MS + 1);
    r.lane.wake();
    await r.settle();
    expect(r.calls[0]?.signal.aborted).toBe(true);
    r.lane.stop();
    await r.over;
  });

  test("lagged asks again at once from where it was; closed comes back where it may", async () => {
    const r = rig();
    const line = r.calls[0]?.stream();
    line?.send(event("p1", notice("a")) + event("p1", { type: "lagged" }));
    line?.end();
    await r.settle();
    await r.settle();
    expect(r.calls[1]?.path).toBe("/lane?offset=p1&live=events");
    r.calls[1]?.stream().send(event("p1", { type: "closed", reason: "the server ends", again: true }));
    await r.settle();
    expect(r.standings.at(-1)).toBe("away");
    await r.clock.advance(RETRY_MAX_MS);
    expect(r.calls).toHaveLength(3);
    r.lane.stop();
    await r.over;
  });

  test.each<readonly [string, (call: Call | undefined) => void, string, readonly LaneFrame["type"][]]>([
    [
      "a key that was revoked",
      (call) =>
        call?.stream().send(event("p", { type: "closed", reason: "the key was revoked", again: false })),
      "over: the key was revoked",
      [],
    ],
    ["signed out", (call) => call?.answer(401), "over: This page is signed out.", []],
    ["a session that is gone", (call) => call?.answer(404), "over: The session is not there any more.", []],
    ["a void position", (call) => call?.answer(410), "over", ["reset"]],
    [
      "a reset on the lane",
      (call) => call?.stream().send(event("p", { type: "reset", reason: "rewritten" })),
      "over",
      ["reset"],
    ],
  ])("ends for good: %s", async (_name, answer, standing, types) => {
    const r = rig();
    answer(r.calls[0]);
    await r.settle();
    await r.over;
    expect(r.standings.at(-1)).toBe(standing);
    expect(r.frames.map(({ type }) => type)).toEqual(types);
    expect(r.calls).toHaveLength(1);
  });

  test("a line of events above its bound ends the connection, not the page", async () => {
    const r = rig();
    const line = r.calls[0]?.stream();
    line?.send(event("p1", notice("a")));
    await r.settle();
    for (let sent = 0; sent <= EVENT_UNITS_MAX; sent += 1_048_576) line?.send("x".repeat(1_048_576));
    await r.settle();
    await r.settle();
    expect(r.standings.at(-1)).toBe("away");
    await r.clock.advance(RETRY_FIRST_MS);
    expect(r.calls[1]?.path).toBe("/lane?offset=p1&live=events");
    r.lane.stop();
    await r.over;
  });
});
