/** A client of the lanes' chaos run: how it connects, is cut, is slow or asks by polls, and what it holds. */
import { type IncomingMessage, request } from "node:http";
import { createParser } from "eventsource-parser";
import type { LaneFrame } from "../src/server/index.ts";
import { whole } from "./random.ts";
import type { TurnClock } from "./turn-clock.ts";

/** Where a run is asked. */
export interface Place {
  /** The server's own port, whatever stands before it. */
  readonly serverPort: number;
  readonly proxyPort: number;
  readonly secret: string;
}

export interface ClientWorld {
  readonly random: () => number;
  readonly clock: TurnClock;
  readonly place: Place;
  /** False once as many have connected as were to. */
  readonly goesOn: () => boolean;
}

/** A slow client takes so many bytes a second. */
const SLOW_BYTES = 1_024;
const SECOND_MS = 1_000;
/** Most bytes that one slow connection lasts for: each KiB is a second. */
const SLOW_BYTES_MAX = 4 * SLOW_BYTES;
/** A connection is cut after 1 to 10 to the power of this bytes. */
const BYTES_EXPONENT_MAX = 4.2;
/** The longest sleep of a client. */
const SLEEP_MS_MAX = 3_000;

/** What one client holds, and what it found wrong. */
export class Client {
  readonly names: string[] = [];
  readonly #seen = new Set<string>();
  position = "-1";
  doubled = 0;
  falseResets = 0;

  take(frame: LaneFrame, position: string | undefined): void {
    if (frame.type === "reset") {
      this.falseResets += 1;
      this.position = "-1";
      return;
    }
    const name =
      frame.type === "blockFinished"
        ? frame.entry.name
        : frame.type === "blockSettled"
          ? frame.name
          : undefined;
    if (name !== undefined) {
      if (this.#seen.has(name)) this.doubled += 1;
      this.#seen.add(name);
      this.names.push(name);
    }
    if (position !== undefined) this.position = position;
  }
}

export interface Question {
  readonly query: string;
  readonly session?: string;
  readonly isThroughProxy?: boolean;
  readonly lastEventId?: string;
}

/** The answer's head; undefined where the server is down at this moment, or the proxy cut the line. */
export function ask(
  { serverPort, proxyPort, secret }: Place,
  { query, session = "s1", isThroughProxy = false, lastEventId }: Question,
): Promise<IncomingMessage | undefined> {
  return new Promise((resolve) => {
    const asking = request(
      {
        host: "127.0.0.1",
        port: isThroughProxy ? proxyPort : serverPort,
        path: `/api/sessions/${session}/changes?${query}`,
        agent: false,
        headers: {
          // Through the proxy the server is still asked under its own name.
          host: `127.0.0.1:${serverPort}`,
          authorization: `Bearer ${secret}`,
          ...(lastEventId === undefined ? {} : { "last-event-id": lastEventId }),
        },
      },
      resolve,
    );
    asking.on("error", () => resolve(undefined));
    asking.end();
  });
}

export interface Reading {
  readonly bytesMax: number;
  /** Set where it takes `SLOW_BYTES` a second. */
  readonly slowBy?: TurnClock;
  /** False once enough was read. */
  readonly goesOn: () => boolean;
}

/** Reads events until so many bytes came, enough was read, or the line ended. */
export async function readEvents(
  answer: IncomingMessage,
  client: Client,
  { bytesMax, slowBy, goesOn }: Reading,
): Promise<void> {
  const parser = createParser({
    onEvent: ({ event, data, id }) => {
      if (event === "control") return;
      const told = JSON.parse(data) as LaneFrame | readonly LaneFrame[];
      for (const frame of Array.isArray(told) ? told : [told])
        if (frame.type !== "closed" && frame.type !== "lagged") client.take(frame, id);
    },
  });
  let bytes = 0;
  const text = new TextDecoder();
  const take = (chunk: Buffer): boolean => {
    const part = chunk.subarray(0, Math.max(0, bytesMax - bytes));
    bytes += part.length;
    parser.feed(text.decode(part, { stream: true }));
    return bytes < bytesMax && goesOn();
  };
  await new Promise<void>((resolve) => {
    answer.on("end", resolve).on("error", resolve).on("close", resolve);
    const end = (): void => {
      answer.destroy();
      resolve();
    };
    if (slowBy === undefined) {
      answer.on("data", (chunk: Buffer) => {
        if (!take(chunk)) end();
      });
      return;
    }
    const sip = (): void => {
      const part = answer.read(Math.min(SLOW_BYTES, answer.readableLength)) as Buffer | null;
      const isEnough = part !== null && !take(part);
      if (isEnough || answer.destroyed || !goesOn()) end();
      else slowBy.after(SECOND_MS, sip);
    };
    answer.pause();
    sip();
  });
}

/** Asks for what there is; true where that was all. */
export async function poll(
  place: Place,
  client: Client,
  how: Pick<Question, "isThroughProxy"> & { readonly isLong?: boolean } = {},
): Promise<boolean> {
  const query = `${how.isLong === true ? "live=long-poll&" : ""}offset=${client.position}`;
  const answer = await ask(place, { query, isThroughProxy: how.isThroughProxy === true });
  if (answer === undefined) return false;
  const chunks: Buffer[] = [];
  try {
    for await (const chunk of answer as AsyncIterable<Buffer>) chunks.push(chunk);
  } catch (error) {
    // Cut inside of the answer: nothing of it is taken.
    if (error instanceof Error && "code" in error && error.code === "ECONNRESET") return false;
    throw error;
  }
  if (answer.statusCode === 410) client.falseResets += 1;
  const next = answer.headers["stream-next-offset"];
  if (answer.statusCode !== 200 || typeof next !== "string") return answer.statusCode === 204;
  for (const frame of JSON.parse(Buffer.concat(chunks).toString("utf8")) as LaneFrame[])
    client.take(frame, undefined);
  client.position = next;
  return answer.headers["stream-up-to-date"] === "true";
}

/** One connection of a client, of a kind that chance decides, until it ends or is cut. */
export async function connectOnce(world: ClientWorld, client: Client): Promise<void> {
  const { random, clock, place, goesOn } = world;
  const isThroughProxy = random() < 0.3;
  const way = random();
  if (way < 0.05) return clock.wait(whole(random, 1, SLEEP_MS_MAX), () => !goesOn());
  if (way < 0.2) return void (await poll(place, client, { isThroughProxy }));
  if (way < 0.25 && client.position !== "-1")
    return void (await poll(place, client, { isThroughProxy, isLong: true }));
  const isSlow = way < 0.3;
  // The address has the position of long ago, the header the newest, as in a browser that connects anew.
  const query = `live=${way > 0.9 ? "sse" : "events"}&offset=-1`;
  const answer = await ask(place, { query, isThroughProxy, lastEventId: client.position });
  if (answer === undefined) return;
  const bytesMax = Math.floor(10 ** (random() * BYTES_EXPONENT_MAX));
  await readEvents(
    answer,
    client,
    isSlow ? { bytesMax: Math.min(bytesMax, SLOW_BYTES_MAX), slowBy: clock, goesOn } : { bytesMax, goesOn },
  );
}
