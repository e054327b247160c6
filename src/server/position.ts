/**
 * Where a client stands in a lane: `<epoch>.<sequence>.<check>.<log position>`. The first half names a frame of a running hub, for as long
 * as the hub keeps it; the second half names a place in the log, which outlives the hub, the server and the computer's sleep. Opaque to
 * clients; made of letters, digits, dots, dashes and underscores, so that it needs no escaping anywhere.
 */
import { createHash } from "node:crypto";
import type { Position } from "../session/index.ts";
import { LANE_POSITION_MAX } from "./limits.ts";

export interface LanePosition {
  /** The hub and its frame; absent in a position that names a place in the log alone. */
  readonly frame?: { readonly epoch: string; readonly seq: number };
  /** Everything before it is finished and was told. */
  readonly log: Position;
  /** Of the entry just before it, so that a place in another log or in a rewritten one is not taken for this one. */
  readonly check?: string;
}

const absent = "-";
const CHECK_LENGTH = 8;

/** What stands for an entry's name in a position. */
export function checkOf(entryName: string): string {
  return createHash("sha256")
    .update(entryName)
    .digest("base64url")
    .slice(0, CHECK_LENGTH)
    .replaceAll("-", "_");
}

export function formatLanePosition({ frame, log, check }: LanePosition): string {
  const place = Buffer.from(log, "utf8").toString("base64url");
  return `${frame?.epoch ?? absent}.${(frame?.seq ?? 0).toString(36)}.${check ?? absent}.${place}`;
}

/** The position that a text names; undefined where the text is none. */
export function parseLanePosition(text: string): LanePosition | undefined {
  if (text.length > LANE_POSITION_MAX) return undefined;
  const match = /^(-|[a-z0-9]{1,16})\.([a-z0-9]{1,10})\.(-|[A-Za-z0-9_]{8})\.([A-Za-z0-9_-]+)$/.exec(text);
  if (match === null) return undefined;
  const [, epoch = absent, seq = "0", check = absent, place = ""] = match;
  const log = Buffer.from(place, "base64url").toString("utf8");
  if (Buffer.from(log, "utf8").toString("base64url") !== place) return undefined;
  return {
    log,
    ...(epoch === absent ? {} : { frame: { epoch, seq: Number.parseInt(seq, 36) } }),
    ...(check === absent ? {} : { check }),
  };
}
