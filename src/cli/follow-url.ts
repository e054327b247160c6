/** The lane of a session of another Hansard, over server-sent events: comes back by itself, from the position it had. */
import { createParser, type EventSourceMessage } from "eventsource-parser";
import { decodeFrame, FRAME_BYTES_MAX, type Frame, type LaneEvent } from "../follow/index.ts";
import { CommandError } from "./errors.ts";
import { exitCodes } from "./exit.ts";

/** A server that says nothing for this long is taken for gone; it says something every 15 s. */
export const SILENCE_MS = 45_000;
/** Time before the first try to come back; doubled with each further one. */
const RETRY_MS = 500;
export const RETRY_MS_MAX = 30_000;
/** Tries in a row to come back before it is given up. */
export const RETRIES_MAX = 40;
const laneIds = /^\/(?:api\/)?s(?:essions)?\/([A-Za-z0-9_-]+)(?:\/|$)/;

export interface UrlOptions {
  /** Sent as a bearer; absent where there is none. */
  readonly key?: string;
  readonly signal: AbortSignal;
  readonly fetch?: typeof globalThis.fetch;
  /** Resolves after the time, or early when the signal is aborted. */
  readonly wait: (ms: number, signal: AbortSignal) => Promise<void>;
  /** Told when the connection is lost, and when it stands again. */
  readonly onLink?: (state: "lost" | "back") => void;
}

/** The address of the lane that a session's address means. Throws a CommandError where it names no session. */
export function laneUrl(text: string): URL {
  return routeUrl(text, "lane");
}

function routeUrl(text: string, route: "lane" | "step"): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  const place = url && [url.pathname, url.hash.replace(/^#/, "")].map((path) => laneIds.exec(path)?.[1]);
  const id = place?.find((each) => each !== undefined);
  if (url === undefined || id === undefined)
    throw new CommandError(
      exitCodes.usage,
      `${JSON.stringify(text.slice(0, 200))} is no address of a session.`,
      ["It looks like https://host:port/sessions/<id>."],
    );
  return new URL(`/api/sessions/${id}/${route}`, url.origin);
}

/** Follows until aborted or closed by the server. A refusal or a frame that is none throws a CommandError. */
export async function* followUrl(address: string, options: UrlOptions): AsyncGenerator<LaneEvent, void> {
  const url = laneUrl(address);
  const { signal } = options;
  let position: string | undefined;
  let isConnected = false;
  let tries = 0;
  while (!signal.aborted) {
    try {
      const response = await connect(url, position, options);
      if (isConnected) options.onLink?.("back");
      isConnected = true;
      for await (const message of messages(response, options)) {
        tries = 0;
        position = message.id ?? position;
        if (message.event === "closed") throw closed(message.data);
        const event = eventOf(message);
        if (event !== undefined) yield event;
      }
    } catch (error) {
      if (signal.aborted) return;
      // Who was never let in is told why; a link that was there may come back.
      if (error instanceof CommandError) throw error;
      if (!isConnected) throw unreachable(url, error);
    }
    if (signal.aborted) return;
    if (tries === 0) options.onLink?.("lost");
    if (++tries > RETRIES_MAX) throw unreachable(url, new Error(`gone after ${RETRIES_MAX} tries`));
    await options.wait(Math.min(RETRY_MS_MAX, RETRY_MS * 2 ** (tries - 1)), signal);
  }
}

/**
 * What the step under way has told up to now, as one frame; undefined where it was aborted meanwhile. A refusal, a server that cannot be
 * reached or a frame that is none throws a CommandError.
 */
export async function readUrlOnce(address: string, options: UrlOptions): Promise<Frame | undefined> {
  const url = routeUrl(address, "step");
  try {
    const response = await connect(url, undefined, options, "application/json");
    return frameOf(await textOf(response));
  } catch (error) {
    if (options.signal.aborted) return undefined;
    throw error instanceof CommandError ? error : unreachable(url, error);
  }
}

/** The text of an answer that is no longer than a frame may be. */
async function textOf(response: Response): Promise<string> {
  const decoder = new TextDecoder();
  let text = "";
  let bytes = 0;
  for await (const chunk of (response.body ?? []) as AsyncIterable<Uint8Array>) {
    bytes += chunk.length;
    if (bytes > FRAME_BYTES_MAX) throw new Error(`it sent more than ${FRAME_BYTES_MAX} bytes`);
    text += decoder.decode(chunk, { stream: true });
  }
  return text;
}

async function connect(
  url: URL,
  position: string | undefined,
  options: UrlOptions,
  accept: string = "text/event-stream",
): Promise<Response> {
  const ask = options.fetch ?? globalThis.fetch;
  const response = await ask(url, {
    signal: options.signal,
    // A key is for this address alone.
    redirect: "error",
    headers: {
      accept,
      ...(options.key === undefined ? {} : { authorization: `Bearer ${options.key}` }),
      ...(position === undefined ? {} : { "last-event-id": position }),
    },
  });
  if (response.ok && response.body !== null) return response;
  await response.body?.cancel();
  throw refusal(response.status, options.key !== undefined);
}

function refusal(status: number, hasKey: boolean): Error {
  switch (status) {
    case 401:
      return hasKey
        ? new CommandError(exitCodes.unreadable, "The server does not know the key.", [
            "`hansard keys` on that computer lists the keys.",
          ])
        : new CommandError(exitCodes.unreadable, "The server asks for a key.", ["Give it in HANSARD_KEY."]);
    case 403:
      return new CommandError(exitCodes.unreadable, "The key may not follow this session.");
    case 404:
      return new CommandError(exitCodes.notFound, "The server has no such session for this key.");
    default:
      // Busy, being restarted, behind a proxy that lost it: worth another try.
      return status === 429 || status >= 500
        ? new Error(`the server answers ${status}`)
        : new CommandError(exitCodes.unreadable, `The server refuses with ${status}.`);
  }
}

function unreachable(url: URL, error: unknown): CommandError {
  const { message, cause } = error instanceof Error ? error : new Error(String(error));
  const why = cause instanceof Error ? cause.message : message;
  const code = cause instanceof Error ? (cause as NodeJS.ErrnoException).code : undefined;
  return new CommandError(
    exitCodes.unreadable,
    `${url.origin} cannot be reached: ${why}`,
    hintsFor(url, code ?? ""),
  );
}

function hintsFor({ protocol }: URL, code: string): readonly string[] {
  if (/CERT|SELF_SIGNED|UNABLE_TO_/.test(code))
    return ["A certificate of your own is made known with NODE_EXTRA_CA_CERTS."];
  if (code === "ECONNREFUSED") return ["Nothing listens there: does `hansard serve` run?"];
  if (protocol === "http:" && (code === "UND_ERR_SOCKET" || code === "ECONNRESET"))
    return ["Where it speaks TLS, its address begins with https."];
  return [];
}

function closed(data: string): CommandError {
  let reason = "it is not served any more";
  try {
    const value: unknown = JSON.parse(data);
    const told =
      typeof value === "object" && value !== null ? (value as { reason?: unknown }).reason : undefined;
    if (typeof told === "string") reason = told;
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
  }
  return new CommandError(exitCodes.unreadable, `The server closed the lane: ${reason}`);
}

/** The messages of one connection, until it ends or is silent for too long. */
async function* messages(response: Response, options: UrlOptions): AsyncGenerator<EventSourceMessage, void> {
  const waiting: EventSourceMessage[] = [];
  let problem: Error | undefined;
  const parser = createParser({
    onEvent: (message) => waiting.push(message),
    onError: (error) => {
      if (error.type === "max-buffer-size-exceeded") problem = error;
    },
    maxBufferSize: FRAME_BYTES_MAX,
  });
  const body = response.body?.getReader();
  if (body === undefined) return;
  const decoder = new TextDecoder();
  try {
    for (;;) {
      const chunk = await beforeSilence(body.read(), options);
      if (chunk === undefined || chunk.done) return;
      parser.feed(decoder.decode(chunk.value, { stream: true }));
      if (problem !== undefined) throw problem;
      yield* waiting.splice(0);
    }
  } finally {
    await body.cancel().catch(() => undefined);
  }
}

/** What comes, or undefined once nothing came for `SILENCE_MS`. */
async function beforeSilence<T>(coming: Promise<T>, { wait, signal }: UrlOptions): Promise<T | undefined> {
  const stop = new AbortController();
  const stopping = AbortSignal.any([stop.signal, signal]);
  try {
    return await Promise.race([coming, wait(SILENCE_MS, stopping).then(() => undefined)]);
  } finally {
    stop.abort();
  }
}

function frameOf(text: string): Frame {
  const decoded = decodeFrame(text);
  if (decoded.ok) return decoded.value;
  throw new CommandError(
    exitCodes.unreadable,
    `The server sent a frame that is none: ${decoded.refusal.message}`,
    ["It may be of another version of Hansard."],
  );
}

function eventOf({ event, data }: EventSourceMessage): LaneEvent | undefined {
  switch (event) {
    case "frame":
      return { type: "frame", frame: frameOf(data) };
    case "over":
    case "reset":
      return { type: "over" };
    default:
      return undefined;
  }
}
