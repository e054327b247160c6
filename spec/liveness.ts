/**
 * Laws of runs: something that begins must come to its end, in every fair run. The reachable worlds are made into a graph; a law is
 * broken by a fair cycle (standing still counts as one) that never comes to the end.
 */
import type { WindowEvent } from "../src/window/index.ts";
import type { StepFunction } from "./explore.ts";
import { Explorer } from "./explore.ts";
import type { Universe } from "./universe.ts";
import { universeNamed } from "./universe.ts";
import type { World } from "./world.ts";
import { isTrueReply } from "./world.ts";

/** What must not be put off for ever. Weak: once it is allowed all the time. Strong: once it is allowed again and again. */
interface Fairness {
  readonly kind: "weak" | "strong";
  readonly isStep: (before: World, event: WindowEvent) => boolean;
}

export interface RunLaw {
  readonly id: string;
  readonly name: string;
  readonly universe: Universe;
  readonly begins: (world: World) => boolean;
  readonly ends: (world: World) => boolean;
  /** Steps that end it, wherever they lead. */
  readonly isEnd?: (event: WindowEvent) => boolean;
  /** The steps of the runs that the law speaks of; absent: all. */
  readonly isInRun?: (before: World, event: WindowEvent) => boolean;
  readonly fair: readonly Fairness[];
}

const isEvent =
  (...types: readonly WindowEvent["type"][]) =>
  (_before: World, event: WindowEvent): boolean =>
    types.includes(event.type);

const isScroll =
  (dir: "older" | "newer") =>
  (_before: World, event: WindowEvent): boolean =>
    event.type === "ctrlo_scrolled" && event.dir === dir;

const isTrue = (before: World, event: WindowEvent): boolean =>
  event.type === "log_read_done" && isTrueReply(before, event);

const isMainScreen = isEvent(
  "turn_started",
  "turn_ended",
  "block_opened",
  "block_changed",
  "block_finished",
  "saved_through",
  "compacted",
  "resized",
  "reprint_tick",
);

const isPaging = ({ abs, truthful }: World): boolean => abs.ctrlo.open && abs.save === "saved" && truthful;

/** Runs that only scroll one way, while the log answers truly or not at all, and the main screen goes on. */
const scrolling = (dir: "older" | "newer"): Pick<RunLaw, "universe" | "begins" | "isInRun" | "fair"> => ({
  universe: universeNamed("paging"),
  begins: isPaging,
  isInRun: (before, event) =>
    isScroll(dir)(before, event) ||
    isTrue(before, event) ||
    event.type === "log_read_failed" ||
    isMainScreen(before, event),
  fair: [
    { kind: "weak", isStep: isScroll(dir) },
    { kind: "strong", isStep: isTrue },
  ],
});

export const runLaws: readonly RunLaw[] = [
  {
    id: "L14",
    name: "PreviousCycleDropped",
    universe: universeNamed("running"),
    begins: ({ abs }) => abs.prev_first !== -1,
    ends: ({ abs }) => abs.prev_first === -1,
    fair: [
      {
        kind: "weak",
        isStep: ({ abs }, event) => event.type === "block_finished" && abs.live.includes(event.id),
      },
      { kind: "weak", isStep: isEvent("turn_ended") },
      {
        kind: "weak",
        isStep: ({ abs }, event) => event.type === "saved_through" && event.seq > abs.saved_through,
      },
    ],
  },
  {
    id: "L15",
    name: "ReprintFinishes",
    universe: universeNamed("running"),
    begins: ({ abs }) => abs.reprinting,
    ends: ({ abs }) => !abs.reprinting,
    isEnd: ({ type }) => type === "resized" || type === "resumed",
    fair: [{ kind: "weak", isStep: isEvent("reprint_tick") }],
  },
  {
    id: "L16",
    name: "CtrlOReachesStart",
    ends: ({ abs }) => abs.ctrlo.at_start,
    ...scrolling("older"),
  },
  {
    id: "X13",
    name: "CtrlOReachesEnd",
    ends: ({ abs }) => abs.ctrlo.anchor === "tail" && abs.ctrlo.hi === abs.next_seq,
    ...scrolling("newer"),
  },
];

export interface RunCheck {
  readonly states: number;
  readonly steps: number;
  /** Worlds in which the law had begun and not ended. */
  readonly waiting: number;
  /** A way into the cycle, as a golden script. */
  readonly violation?: string;
}

const BEGUN = 1;
const ENDED = 2;

/** The steps of the reachable worlds, as arrays. */
interface Graph {
  readonly states: number;
  readonly from: readonly number[];
  readonly to: readonly number[];
  /** For each step, the fair actions it is a step of, as bits. */
  readonly actions: readonly number[];
  /** For each step, whether the law's runs go on with it. */
  readonly goesOn: readonly boolean[];
  readonly flags: Uint8Array;
  /** For each world, the fair actions it allows. */
  readonly allowed: Uint8Array;
}

function within(old: Uint8Array, index: number): Uint8Array {
  if (index < old.length) return old;
  const grown = new Uint8Array(Math.max(index + 1, old.length * 2));
  grown.set(old);
  return grown;
}

function graphOf(law: RunLaw, explorer: Explorer): Graph {
  const from: number[] = [];
  const to: number[] = [];
  const actions: number[] = [];
  const goesOn: boolean[] = [];
  let flags = new Uint8Array(1024);
  let allowed = new Uint8Array(1024);
  const mark = (index: number, world: World): void => {
    flags = within(flags, index) as typeof flags;
    allowed = within(allowed, index) as typeof allowed;
    flags[index] = (law.begins(world) ? BEGUN : 0) | (law.ends(world) ? ENDED : 0);
  };
  const { states } = explorer.run({
    onEdge: (source, { event }, target, before, after) => {
      mark(source, before);
      mark(target, after);
      let bits = 0;
      for (const [i, { isStep }] of law.fair.entries()) if (isStep(before, event)) bits |= 1 << i;
      allowed[source]! |= bits;
      from.push(source);
      to.push(target);
      actions.push(bits);
      goesOn.push(law.isEnd?.(event) !== true && law.isInRun?.(before, event) !== false);
    },
  });
  return { states, from, to, actions, goesOn, flags, allowed };
}

/** The part of the graph in which the law has begun and not ended: neighbours by world, and the worlds. */
function waitingPart(graph: Graph): { readonly nodes: readonly number[]; readonly out: readonly number[][] } {
  const out: number[][] = Array.from({ length: graph.states }, () => []);
  for (let edge = 0; edge < graph.from.length; edge += 1) {
    const a = graph.from[edge]!;
    const b = graph.to[edge]!;
    const isOpen = (graph.flags[a]! & ENDED) === 0 && (graph.flags[b]! & ENDED) === 0;
    if (isOpen && graph.goesOn[edge] === true) out[a]!.push(edge);
  }
  const isReached = new Uint8Array(graph.states);
  const nodes: number[] = [];
  for (let node = 0; node < graph.states; node += 1) {
    if (graph.flags[node] === BEGUN) {
      isReached[node] = 1;
      nodes.push(node);
    }
  }
  for (let at = 0; at < nodes.length; at += 1) {
    for (const edge of out[nodes[at]!]!) {
      const next = graph.to[edge]!;
      if (isReached[next] === 1) continue;
      isReached[next] = 1;
      nodes.push(next);
    }
  }
  return { nodes, out };
}

/** Strongly connected parts among some nodes (Tarjan's way, without recursion). */
function connectedParts(
  nodes: readonly number[],
  neighbours: (node: number) => readonly number[],
): readonly (readonly number[])[] {
  const order = new Map<number, number>();
  const low = new Map<number, number>();
  const isOnStack = new Set<number>();
  const stack: number[] = [];
  const parts: number[][] = [];
  const inside = new Set(nodes);
  for (const root of nodes) {
    if (order.has(root)) continue;
    const work: { readonly node: number; readonly next: readonly number[]; at: number }[] = [];
    const open = (node: number): void => {
      order.set(node, order.size);
      low.set(node, order.size - 1);
      stack.push(node);
      isOnStack.add(node);
      work.push({ node, next: neighbours(node).filter((other) => inside.has(other)), at: 0 });
    };
    open(root);
    for (let frame = work.at(-1); frame !== undefined; frame = work.at(-1)) {
      const { node } = frame;
      const other = frame.next[frame.at];
      if (other !== undefined) {
        frame.at += 1;
        if (!order.has(other)) open(other);
        else if (isOnStack.has(other)) low.set(node, Math.min(low.get(node)!, order.get(other)!));
        continue;
      }
      work.pop();
      const parent = work.at(-1);
      if (parent !== undefined) low.set(parent.node, Math.min(low.get(parent.node)!, low.get(node)!));
      if (low.get(node) !== order.get(node)) continue;
      const part: number[] = [];
      for (let member = stack.pop(); member !== undefined; member = stack.pop()) {
        isOnStack.delete(member);
        part.push(member);
        if (member === node) break;
      }
      parts.push(part);
    }
  }
  return parts;
}

/** A part in which a fair run may stay for ever, if there is one. */
function fairPart(
  law: RunLaw,
  graph: Graph,
  out: readonly number[][],
  nodes: readonly number[],
): readonly number[] | undefined {
  const targets = (node: number): readonly number[] => out[node]!.map((edge) => graph.to[edge]!);
  for (const part of connectedParts(nodes, targets)) {
    const inside = new Set(part);
    let taken = 0;
    let always = 0xff;
    let sometimes = 0;
    for (const node of part) {
      always &= graph.allowed[node]!;
      sometimes |= graph.allowed[node]!;
      for (const edge of out[node]!) if (inside.has(graph.to[edge]!)) taken |= graph.actions[edge]!;
    }
    let isFair = true;
    let avoided = 0;
    for (const [i, { kind }] of law.fair.entries()) {
      const bit = 1 << i;
      if ((taken & bit) !== 0) continue;
      if (kind === "weak" && (always & bit) !== 0) isFair = false;
      if (kind === "strong" && (sometimes & bit) !== 0) avoided |= bit;
    }
    if (!isFair) continue;
    if (avoided === 0) return part;
    // A strongly fair action is allowed here and never taken: a run may only stay where it is not allowed.
    const rest = part.filter((node) => (graph.allowed[node]! & avoided) === 0);
    const found = fairPart(law, graph, out, rest);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** Checks one law of runs in its universe. Cost: the universe's worlds and steps, in time and memory. */
export function checkRuns(law: RunLaw, step: StepFunction, now: () => number): RunCheck {
  const explorer = new Explorer(law.universe, { step, now, among: [] });
  const graph = graphOf(law, explorer);
  const { nodes, out } = waitingPart(graph);
  const part = fairPart(law, graph, out, nodes);
  const check = { states: graph.states, steps: graph.from.length, waiting: nodes.length };
  if (part === undefined) return check;
  return {
    ...check,
    violation: explorer.scriptTo(Math.min(...part), `${law.id} ${law.name} never ends from here`),
  };
}
