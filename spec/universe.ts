/** Bounded universes: which constants, and every event with every argument in and just out of range. */
import type { SaveMode, WindowConfig, WindowEvent } from "../src/window/index.ts";
import type { Shift } from "./shifts.ts";
import { everyShift, farShifts } from "./shifts.ts";
import type { World } from "./world.ts";

/** The constants of one exploration; the same names as in the TLA+ configuration files. */
export interface Universe {
  readonly name: string;
  readonly config: WindowConfig;
  readonly saves: readonly SaveMode[];
  /** Finished and live blocks together never exceed this: every live block has a number to finish with. */
  readonly maxSeq: number;
  /** What `resumed` may say of `nextSeq`, with every `cycleFirst` up to it, and a log that begins there or at 0; absent: everything. */
  readonly resumesTo?: readonly number[];
  /** Whether each question is asked twice, for equal answers (L17); it takes as much time again. */
  readonly isTwice?: boolean;
  /** How counters are shifted for X19; absent: not at all. */
  readonly shifts?: readonly Shift[];
  /** Ids of blocks are `0 … ids-1`; more than `maxLive` of them shows what a full set refuses. */
  readonly ids: number;
}

/** One event as the explorer feeds it. `logFirst` is where the log begins, chosen with a resume. */
export interface Move {
  readonly event: WindowEvent;
  readonly logFirst?: number;
}

function upTo(most: number): readonly number[] {
  return Array.from({ length: most + 1 }, (_, i) => i);
}

/** What no state accepts, whatever the type checker of a caller says. */
const malformed: readonly WindowEvent[] = [
  { type: "block_opened", id: -1 },
  { type: "block_changed", id: 0.5 },
  { type: "block_finished", id: Number.NaN },
  { type: "saved_through", seq: -0 },
  { type: "saved_through", seq: Number.POSITIVE_INFINITY },
  { type: "log_read_done", token: Number.NaN, count: 1 },
  { type: "log_read_done", token: 0, count: -1 },
  { type: "log_read_failed", token: -1 },
  { type: "resumed", cycle: 0.5, cycleFirst: 0, nextSeq: 0 },
  { type: "resumed", cycle: 0, cycleFirst: -1, nextSeq: 0 },
  { type: "resumed", cycle: 0, cycleFirst: 0, nextSeq: 2 ** 53 },
];

function steadyMoves({ config, maxSeq, resumesTo = upTo(maxSeq), ids }: Universe): readonly Move[] {
  const events: WindowEvent[] = [
    { type: "turn_started" },
    { type: "turn_ended" },
    { type: "compacted" },
    { type: "resized" },
    { type: "reprint_tick" },
    { type: "ctrlo_opened" },
    { type: "ctrlo_closed" },
    { type: "ctrlo_scrolled", dir: "older" },
    { type: "ctrlo_scrolled", dir: "newer" },
    { type: "ctrlo_jumped", to: "start" },
    { type: "ctrlo_jumped", to: "end" },
    ...malformed,
  ];
  for (const id of upTo(ids - 1)) {
    events.push({ type: "block_opened", id }, { type: "block_changed", id }, { type: "block_finished", id });
  }
  for (const seq of upTo(maxSeq + 1)) events.push({ type: "saved_through", seq });
  const moves: Move[] = events.map((event) => ({ event }));
  for (const nextSeq of resumesTo) {
    for (const cycleFirst of upTo(nextSeq)) {
      for (const logFirst of new Set([0, cycleFirst])) {
        moves.push({ event: { type: "resumed", cycle: 1, cycleFirst, nextSeq }, logFirst });
      }
    }
  }
  moves.push({ event: { type: "resumed", cycle: 1, cycleFirst: 1, nextSeq: 0 } });
  if (config.maxHeld !== undefined) {
    moves.push({ event: { type: "resumed", cycle: 0, cycleFirst: maxSeq, nextSeq: 0 } });
  }
  return moves;
}

function replyMoves({ config }: Universe, nextToken: number): readonly Move[] {
  const moves: Move[] = [];
  // The pending read's token, an older one, and one that was not given out yet.
  for (let token = Math.max(0, nextToken - 2); token <= nextToken; token += 1) {
    moves.push({ event: { type: "log_read_failed", token } });
    for (const count of upTo(config.window + 1)) {
      moves.push({ event: { type: "log_read_done", token, count } });
      if (config.jump) moves.push({ event: { type: "log_read_done", token, count, met: true } });
    }
  }
  return moves;
}

/** All moves to try in a world, rejected ones included. */
export function movesOf(universe: Universe): (world: World) => readonly Move[] {
  const steady = steadyMoves(universe);
  const byToken: (readonly Move[])[] = [];
  return (world) => {
    const token = world.abs.next_token;
    const known = byToken[token];
    if (known !== undefined) return known;
    const moves = [...steady, ...replyMoves(universe, token)];
    byToken[token] = moves;
    return moves;
  };
}

/** Whether a world is within the bounds: what lies beyond is checked as a step, and not gone on from. */
export function isWithin(universe: Universe, world: World): boolean {
  return world.abs.next_seq + world.abs.live.length <= universe.maxSeq;
}

const directions = { none: 0, older: 1, newer: 2, first: 3 } as const;
const WORDS_MAX = 64;

/**
 * Writes a world into words and returns how many: equal for worlds whose futures the laws cannot tell apart. The counters `cycle`,
 * `epoch` and `next_token` are left out: no guard and no law reads them but by how a step changes them (X19), and every step is checked.
 * (The VIEW of the TLA+ model.) Numbers are below 255 in every universe.
 */
export function encodeWorld(world: World, words: Int32Array): number {
  const { abs: s, screen, memory, drawn, shown } = world;
  const { ctrlo } = s;
  let live = 0;
  for (const id of s.live) live |= 1 << id;
  let draws = 0;
  for (const id of drawn) draws |= 1 << id;
  words[0] =
    (s.save === "saved" ? 1 : 0) |
    (s.turn_open ? 2 : 0) |
    (s.reprinting ? 4 : 0) |
    (ctrlo.open ? 8 : 0) |
    (ctrlo.anchor === "start" ? 16 : 0) |
    (ctrlo.at_start ? 32 : 0) |
    (world.truthful ? 64 : 0) |
    (shown === undefined ? 0 : 128) |
    (shown?.anchor === "start" ? 256 : 0) |
    (directions[ctrlo.pending.dir] << 9) |
    (live << 12) |
    (draws << 20);
  words[1] = s.cycle_first | ((s.prev_first + 1) << 8) | (s.held_first << 16) | (s.next_seq << 24);
  words[2] = s.saved_through | (s.painted_through << 8) | (ctrlo.lo << 16) | (ctrlo.hi << 24);
  words[3] =
    ctrlo.pending.from |
    (((world.logFirst ?? -1) + 1) << 8) |
    ((shown?.lo ?? 0) << 16) |
    ((shown?.hi ?? 0) << 24);
  let length = 4;
  for (const ranges of [screen, memory]) {
    words[length] = ranges.length;
    length += 1;
    for (let at = 0; at < ranges.length; at += 2) {
      words[length] = ranges[at]! | (ranges[at + 1]! << 16);
      length += 1;
    }
  }
  return length;
}

/** Room for one world. */
export function worldWords(): Int32Array {
  return new Int32Array(WORDS_MAX);
}

const both: readonly SaveMode[] = ["saved", "unsaved"];

function universe(
  name: string,
  bounds: Pick<Universe, "maxSeq" | "ids" | "resumesTo" | "isTwice" | "shifts"> &
    Partial<Pick<Universe, "saves">>,
  config: Partial<WindowConfig>,
): Universe {
  return {
    name,
    saves: both,
    ...bounds,
    config: {
      window: 2,
      step: 1,
      slice: 2,
      maxLive: 1,
      followWhileOpen: false,
      jump: false,
      ...config,
    },
  };
}

const extended: Partial<WindowConfig> = { followWhileOpen: true, jump: true };

/** The sets of constants that are explored by name; spec/README.md holds their counts. */
export const universes: readonly Universe[] = [
  universe("tiny", { maxSeq: 2, ids: 2, isTwice: true, shifts: everyShift }, { ...extended, maxHeld: 1 }),
  universe("plain", { maxSeq: 4, ids: 2 }, {}),
  universe("small", { maxSeq: 3, ids: 2, shifts: farShifts }, { ...extended, maxHeld: 2 }),
  universe("wide", { maxSeq: 5, ids: 1 }, { window: 3, step: 2, slice: 2, ...extended, maxHeld: 2 }),
  universe("large", { maxSeq: 5, ids: 3 }, { ...extended, maxLive: 2, maxHeld: 3 }),
  universe("running", { maxSeq: 4, ids: 1 }, { window: 1, slice: 1, followWhileOpen: true, maxHeld: 2 }),
  universe("paging", { maxSeq: 4, ids: 1, saves: ["saved"] }, { ...extended, maxHeld: 2 }),
  universe(
    "huge",
    { maxSeq: 8, ids: 2, resumesTo: [0, 6] },
    { ...extended, window: 3, step: 2, maxLive: 2, maxHeld: 3 },
  ),
];

export function universeNamed(name: string): Universe {
  const found = universes.find((candidate) => candidate.name === name);
  if (found === undefined) {
    throw new RangeError(`no universe ${name}; there are: ${universes.map((u) => u.name).join(", ")}`);
  }
  return found;
}
