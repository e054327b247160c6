/**
 * Explicit-state exploration of the real `step`: breadth first over every world reachable within a universe's bounds, each law asked
 * about each step, the shortest script printed for the first one that breaks.
 */
import type { StepResult, WindowEvent, WindowState } from "../src/window/index.ts";
import { abstract, createWindow, formatEvent } from "../src/window/index.ts";
import { Fingerprint, FingerprintSet } from "./fingerprints.ts";
import type { Law } from "./laws.ts";
import { isSameEffects, isSameState, LawBook, laws, shiftLaw } from "./laws.ts";
import { formatScript } from "./script.ts";
import type { Shift } from "./shifts.ts";
import { shiftFault } from "./shifts.ts";
import type { Move, Universe } from "./universe.ts";
import { encodeWorld, isWithin, movesOf, worldWords } from "./universe.ts";
import type { World } from "./world.ts";
import { advance, worldAt } from "./world.ts";

export type StepFunction = (state: WindowState, event: WindowEvent) => StepResult;

export interface Violation {
  /** The laws it breaks. */
  readonly laws: readonly { readonly id: string; readonly name: string }[];
  /** What was seen instead, where it is no law of the list (an exception, a changed input, an answer that differs). */
  readonly fault?: string;
  /** The shortest way there, as a golden script. */
  readonly script: string;
}

/** How many steps were taken: those of an event that were accepted, and those that were rejected. */
export type StepCounts = Readonly<Record<string, { readonly accepted: number; readonly rejected: number }>>;

export interface Exploration {
  readonly states: number;
  /** Steps by event, accepted and rejected ones. */
  readonly steps: StepCounts;
  readonly depth: number;
  readonly milliseconds: number;
  readonly violation?: Violation;
}

export interface ExploreOptions {
  readonly step: StepFunction;
  /** Milliseconds, from a clock of the caller's. */
  readonly now: () => number;
  readonly among?: readonly Law[];
  readonly statesMax?: number;
  readonly onEdge?: OnEdge;
}

/** Called for each step that stays within the bounds, in order; worlds are numbered from 0 as they are found. */
export type OnEdge = (from: number, move: Move, to: number, before: World, after: World) => void;

interface Node {
  readonly state: WindowState;
  readonly world: World;
  readonly index: number;
}

/** Freezes a state, so that a step that changes its input throws. */
function freeze(state: WindowState): WindowState {
  Object.freeze(state.live);
  Object.freeze(state.ctrlo);
  if (state.ctrlo.pending !== undefined) Object.freeze(state.ctrlo.pending);
  return Object.freeze(state);
}

/** Whether two answers are equal by value. */
function isSameResult(a: StepResult, b: StepResult): boolean {
  return (
    a.rejected === b.rejected &&
    isSameEffects(a.effects, b.effects) &&
    isSameState(abstract(a.state), abstract(b.state))
  );
}

/** How each node was reached, for scripts: its parent and the move from there. */
class Ways {
  private readonly parents: number[] = [];
  private readonly moves: (Move | undefined)[] = [];

  add(parent: number, move: Move | undefined): void {
    this.parents.push(parent);
    this.moves.push(move);
  }

  /** The first node on the way, and the events from there. */
  to(index: number): { readonly root: number; readonly events: readonly string[] } {
    const events: string[] = [];
    let at = index;
    for (let move = this.moves[at]; move !== undefined; move = this.moves[at]) {
      events.push(formatEvent(move.event));
      at = this.parents[at]!;
    }
    return { root: at, events: events.reverse() };
  }
}

/** One exploration, and the ways it found. */
export class Explorer {
  private readonly universe: Universe;
  private readonly options: ExploreOptions;
  private readonly book: LawBook;
  private readonly shifts: readonly Shift[];
  private readonly seen = new FingerprintSet();
  private readonly print = new Fingerprint();
  private readonly words = worldWords();
  private readonly ways = new Ways();
  private readonly counts: Record<string, { accepted: number; rejected: number }> = {};
  private frontier: Node[] = [];
  private found: Node[] = [];
  private onEdge: OnEdge | undefined;

  constructor(universe: Universe, options: ExploreOptions) {
    this.universe = universe;
    this.options = options;
    const among = options.among ?? laws;
    this.book = new LawBook(among);
    this.shifts = among.includes(shiftLaw) ? (universe.shifts ?? []) : [];
  }

  /** Explores. Stops at the first violation. */
  run(watch: { readonly onEdge?: OnEdge } = {}): Exploration {
    this.onEdge = watch.onEdge;
    const begun = this.options.now();
    const finish = (depth: number, violation?: Violation): Exploration => ({
      states: this.seen.size,
      steps: this.counts,
      depth,
      milliseconds: this.options.now() - begun,
      ...(violation === undefined ? {} : { violation }),
    });
    for (const save of this.universe.saves) {
      const state = createWindow(this.universe.config, save);
      this.enter(
        state,
        worldAt(this.universe.config, abstract(state), save === "saved" ? 0 : undefined),
        -1,
        undefined,
      );
    }
    const moves = movesOf(this.universe);
    const statesMax = this.options.statesMax ?? Number.POSITIVE_INFINITY;
    for (let depth = 0; ; depth += 1) {
      this.frontier = this.found;
      this.found = [];
      if (this.frontier.length === 0 || this.seen.size >= statesMax) return finish(depth);
      for (const node of this.frontier) {
        for (const move of moves(node.world)) {
          const violation = this.take(node, move);
          if (violation !== undefined) return finish(depth + 1, violation);
        }
      }
    }
  }

  /** The world's number, the same each time it is met. Its own laws are asked about when it is new. */
  private enter(
    state: WindowState,
    world: World,
    parent: number,
    move: Move | undefined,
  ): number | readonly Law[] {
    this.print.of(this.words, encodeWorld(world, this.words));
    const index = this.seen.size;
    const number = this.seen.add(this.print.high, this.print.low);
    if (number !== index) return number;
    const broken = this.book.brokenByState(world);
    if (broken.length > 0) return broken;
    this.ways.add(parent, move);
    this.found.push({ state: freeze(state), world, index });
    return index;
  }

  private take(node: Node, move: Move): Violation | undefined {
    const { state, world } = node;
    const { event } = move;
    let result: StepResult;
    try {
      result = this.options.step(state, event);
    } catch (error) {
      return this.violation(node, move, [], `threw ${String(error)}`);
    }
    const isNothing = result.rejected !== undefined && result.state === state;
    this.counts[event.type] ??= { accepted: 0, rejected: 0 };
    this.counts[event.type]![result.rejected === undefined ? "accepted" : "rejected"] += 1;
    if (this.universe.isTwice === true && !isSameResult(result, this.options.step(state, event))) {
      return this.violation(node, move, [], "another answer to the same question");
    }
    const shifted = shiftFault(this.options.step, this.shifts, state, event, result);
    if (shifted !== undefined) return this.violation(node, move, [shiftLaw], shifted);
    const after = isNothing ? world : advance(world, event, result, move.logFirst, abstract(result.state));
    const broken = this.book.brokenByStep({ before: world, event, result, after });
    if (broken.length > 0) return this.violation(node, move, broken);
    if (isNothing) return undefined;
    if (!isWithin(this.universe, after)) {
      const beyond = this.book.brokenByState(after);
      return beyond.length > 0 ? this.violation(node, move, beyond) : undefined;
    }
    const entered = this.enter(result.state, after, node.index, move);
    if (typeof entered !== "number") return this.violation(node, move, entered);
    this.onEdge?.(node.index, move, entered, world, after);
    return undefined;
  }

  private violation(node: Node, move: Move, broken: readonly Law[], fault?: string): Violation {
    const names = broken.map(({ id, name }) => `${id} ${name}`).join(", ");
    const what = [names, fault].filter((part) => part !== undefined && part !== "").join(": ");
    const script = this.scriptTo(node.index, `breaks ${what}`, move);
    const laws = broken.map(({ id, name }) => ({ id, name }));
    return { laws, script, ...(fault === undefined ? {} : { fault }) };
  }

  /** The shortest way to a world, as a golden script without its answers. */
  scriptTo(index: number, name: string, last?: Move): string {
    const { root, events } = this.ways.to(index);
    const all = last === undefined ? events : [...events, formatEvent(last.event)];
    return formatScript(name, this.universe.config, this.universe.saves[root] ?? "saved", all);
  }
}

/** Explores a universe. Stops at the first violation, which is then the shortest there is. */
export function explore(universe: Universe, options: ExploreOptions): Exploration {
  return new Explorer(universe, options).run(options);
}
