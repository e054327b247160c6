/** The names that the Durable Streams protocol gives to the parts of a read (its read side; docs/server.md says which of it). */
import type { Envelope } from "./sse.ts";

export const streamHeaders = {
  nextOffset: "stream-next-offset",
  upToDate: "stream-up-to-date",
  closed: "stream-closed",
  cursor: "stream-cursor",
} as const;

const CURSOR_MS = 20_000;
/** 9 October 2024, as the protocol counts. */
const CURSOR_EPOCH = Date.UTC(2024, 9, 9);

/** The number of the interval that it is now, or one above what the client gave: a cursor never goes back. */
export function cursorOf(now: number, given: string | undefined): string {
  const current = Math.floor((now - CURSOR_EPOCH) / CURSOR_MS);
  const last = given !== undefined && /^\d{1,15}$/.test(given) ? Number(given) : -1;
  return String(last >= current ? last + 1 : current);
}

/** Server-sent events as the protocol has them: `data` with an array of messages, `control` after each. */
export function durableEnvelope(now: () => number): Envelope {
  let cursor: string | undefined;
  const control = (fields: object): string => {
    cursor = cursorOf(now(), cursor);
    return `event: control\ndata: ${JSON.stringify({ ...fields, streamCursor: cursor })}\n\n`;
  };
  const frame: Envelope["frame"] = ({ json, position }) =>
    `event: data\nid: ${position}\ndata: [${json.toString("utf8")}]\n\n${control({ streamNextOffset: position })}`;
  return {
    frame,
    batch: ({ frames }) => frames.map(frame).join(""),
    caughtUp: (position) => control({ streamNextOffset: position, upToDate: true }),
    say: (frame) =>
      frame.type === "reset" || (frame.type === "closed" && !frame.again)
        ? control({ streamClosed: true })
        : "",
  };
}
