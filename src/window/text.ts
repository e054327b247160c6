/**
 * The one-line text of configurations, states, events and effects, as docs/window.md describes it. Used by golden scripts, traces,
 * the explorer and bug reports. Printing and parsing are inverse to each other on every value of the vocabulary.
 */
import { closedPager } from "./state.ts";
import type {
  PagerState,
  ReadDirection,
  SaveMode,
  WindowConfig,
  WindowEffect,
  WindowEvent,
  WindowState,
} from "./types.ts";

// Printing

function formatNumber(value: number): string {
  return Object.is(value, -0) ? "-0" : String(value);
}

function call(name: string, ...args: readonly (number | string)[]): string {
  return `${name}(${args.map((arg) => (typeof arg === "number" ? formatNumber(arg) : arg)).join(",")})`;
}

/** `window=4 step=2 slice=2 live=2`, then `held=…`, `follow` and `jump` where they are switched on. */
export function formatConfig(config: WindowConfig): string {
  const words = [
    `window=${config.window}`,
    `step=${config.step}`,
    `slice=${config.slice}`,
    `live=${config.maxLive}`,
  ];
  if (config.maxHeld !== undefined) words.push(`held=${config.maxHeld}`);
  if (config.followWhileOpen) words.push("follow");
  if (config.jump) words.push("jump");
  return words.join(" ");
}

function formatPager(ctrlo: PagerState): readonly string[] {
  if (!ctrlo.open) return [];
  const words = [`ctrlo=${ctrlo.anchor}[${ctrlo.lo},${ctrlo.hi})`];
  if (ctrlo.atStart) words.push("at_start");
  const { pending } = ctrlo;
  if (pending !== undefined) words.push(`read=${pending.token}:${pending.dir}@${pending.from}`);
  return words;
}

/** The state without its configuration, on one line. What is at rest (no turn, nothing live, pager closed) is left out. */
export function formatState(state: WindowState): string {
  const words = [state.save, `cycle=${state.cycle}`];
  if (state.prevFirst !== undefined) words.push(`prev=${state.prevFirst}`);
  words.push(`first=${state.cycleFirst}`);
  if (state.heldFloor !== (state.prevFirst ?? state.cycleFirst)) words.push(`floor=${state.heldFloor}`);
  words.push(`next=${state.nextSeq}`, `through=${state.savedThrough}`);
  if (state.live.length > 0) words.push(`live={${state.live.join(",")}}`);
  if (state.turnOpen) words.push("turn");
  words.push(`epoch=${state.epoch}`, `painted=${state.paintedThrough}`);
  if (state.reprinting) words.push("reprinting");
  words.push(...formatPager(state.ctrlo), `token=${state.nextToken}`);
  return words.join(" ");
}

/** An event as the documents write it: `turn_started`, `block_finished(3)`, `log_read_done(0,2)`, `log_read_done(0,2,met)`. */
export function formatEvent(event: WindowEvent): string {
  switch (event.type) {
    case "block_opened":
    case "block_changed":
    case "block_finished":
      return call(event.type, event.id);
    case "saved_through":
      return call(event.type, event.seq);
    case "ctrlo_scrolled":
      return call(event.type, event.dir);
    case "ctrlo_jumped":
      return call(event.type, event.to);
    case "log_read_done":
      return call(event.type, event.token, event.count, ...(event.met === true ? ["met"] : []));
    case "log_read_failed":
      return call(event.type, event.token);
    case "resumed":
      return call(event.type, event.cycle, event.cycleFirst, event.nextSeq);
    default:
      return event.type;
  }
}

/** An effect as the documents write it: `paint_final(3)`, `drop(0,4)`, `ctrlo_show(2,6)`; `ctrlo_show(0,4,start)` counts from the start. */
export function formatEffect(effect: WindowEffect): string {
  switch (effect.type) {
    case "paint_final":
      return call(effect.type, effect.seq);
    case "repaint_block":
      return call(effect.type, effect.id);
    case "reprint_slice":
    case "drop":
      return call(effect.type, effect.from, effect.to);
    case "ctrlo_show":
      return call(effect.type, effect.lo, effect.hi, ...(effect.anchor === "start" ? ["start"] : []));
    case "read_log":
      return call(effect.type, effect.token, effect.dir, effect.from, effect.count);
    case "reprint_begin":
    case "repaint_live":
      return effect.type;
  }
}

// Parsing

function fail(what: string, text: string): never {
  throw new SyntaxError(`window text: ${what} in ${JSON.stringify(text)}`);
}

/** A number as JavaScript prints it: hostile scripts hold NaN, -1, 1.5 and 1e+21 as well. */
function parseNumber(word: string | undefined, text: string): number {
  if (word === undefined || !/^(?:NaN|-?Infinity|-?\d+(?:\.\d+)?(?:e[+-]?\d+)?)$/.test(word)) {
    return fail(`no number: ${String(word)}`, text);
  }
  return Number(word);
}

/** A number of a state or a configuration: always a natural one. */
function parseNatural(word: string | undefined, text: string): number {
  const value = word !== undefined && /^\d+$/.test(word) ? Number(word) : Number.NaN;
  return Number.isSafeInteger(value) ? value : fail(`no natural number: ${String(word)}`, text);
}

function oneOf<Word extends string>(word: string | undefined, words: readonly Word[], text: string): Word {
  return (
    words.find((candidate) => candidate === word) ?? fail(`none of ${words.join("|")}: ${String(word)}`, text)
  );
}

const directions: readonly ReadDirection[] = ["older", "newer", "first"];

interface Call {
  readonly name: string;
  readonly args: readonly string[];
}

function parseCall(text: string): Call {
  const match = /^([a-z_]+)(?:\(([^()]*)\))?$/.exec(text.trim());
  if (match === null) return fail("no event or effect", text);
  const [, name = "", inner] = match;
  return { name, args: inner === undefined ? [] : inner.split(",").map((arg) => arg.trim()) };
}

/** Arguments of a call, checked for their count. */
function take(call: Call, least: number, most: number, text: string): readonly string[] {
  if (call.args.length < least || call.args.length > most) fail(`${call.args.length} arguments`, text);
  return call.args;
}

/** The event that `formatEvent` prints so. Throws a SyntaxError on anything else. */
export function parseEvent(text: string): WindowEvent {
  const parsed = parseCall(text);
  const number = (index: number): number => parseNumber(parsed.args[index], text);
  switch (parsed.name) {
    case "turn_started":
    case "turn_ended":
    case "compacted":
    case "resized":
    case "reprint_tick":
    case "ctrlo_opened":
    case "ctrlo_closed":
      take(parsed, 0, 0, text);
      return { type: parsed.name };
    case "block_opened":
    case "block_changed":
    case "block_finished":
      take(parsed, 1, 1, text);
      return { type: parsed.name, id: number(0) };
    case "saved_through":
      take(parsed, 1, 1, text);
      return { type: parsed.name, seq: number(0) };
    case "ctrlo_scrolled":
      return { type: parsed.name, dir: oneOf(take(parsed, 1, 1, text)[0], ["older", "newer"], text) };
    case "ctrlo_jumped":
      return { type: parsed.name, to: oneOf(take(parsed, 1, 1, text)[0], ["start", "end"], text) };
    case "log_read_done": {
      const met = take(parsed, 2, 3, text)[2];
      const event = { type: parsed.name, token: number(0), count: number(1) } as const;
      if (met === undefined) return event;
      oneOf(met, ["met"], text);
      return { ...event, met: true };
    }
    case "log_read_failed":
      take(parsed, 1, 1, text);
      return { type: parsed.name, token: number(0) };
    case "resumed":
      take(parsed, 3, 3, text);
      return { type: parsed.name, cycle: number(0), cycleFirst: number(1), nextSeq: number(2) };
    default:
      return fail(`unknown event ${parsed.name}`, text);
  }
}

/** The effect that `formatEffect` prints so. Throws a SyntaxError on anything else. */
export function parseEffect(text: string): WindowEffect {
  const parsed = parseCall(text);
  const natural = (index: number): number => parseNatural(parsed.args[index], text);
  switch (parsed.name) {
    case "reprint_begin":
    case "repaint_live":
      take(parsed, 0, 0, text);
      return { type: parsed.name };
    case "paint_final":
      take(parsed, 1, 1, text);
      return { type: parsed.name, seq: natural(0) };
    case "repaint_block":
      take(parsed, 1, 1, text);
      return { type: parsed.name, id: natural(0) };
    case "reprint_slice":
    case "drop":
      take(parsed, 2, 2, text);
      return { type: parsed.name, from: natural(0), to: natural(1) };
    case "ctrlo_show": {
      const anchor = take(parsed, 2, 3, text)[2];
      if (anchor !== undefined) oneOf(anchor, ["start"], text);
      return {
        type: parsed.name,
        lo: natural(0),
        hi: natural(1),
        anchor: anchor === undefined ? "tail" : "start",
      };
    }
    case "read_log": {
      const dir = oneOf(take(parsed, 4, 4, text)[1], directions, text);
      return { type: parsed.name, token: natural(0), dir, from: natural(2), count: natural(3) };
    }
    default:
      return fail(`unknown effect ${parsed.name}`, text);
  }
}

/** The words of a line: flags alone, the rest by their name. A word said twice is an error. */
function readWords(text: string): Map<string, string | undefined> {
  const words = new Map<string, string | undefined>();
  for (const word of text.trim().split(/\s+/)) {
    const at = word.indexOf("=");
    const name = at < 0 ? word : word.slice(0, at);
    if (words.has(name)) fail(`${name} said twice`, text);
    words.set(name, at < 0 ? undefined : word.slice(at + 1));
  }
  return words;
}

/** Takes words out of a line by name, so that what is left is unknown. */
class Words {
  private readonly words: Map<string, string | undefined>;
  private readonly text: string;

  constructor(text: string) {
    this.text = text;
    this.words = readWords(text);
  }

  flag(name: string): boolean {
    if (!this.words.has(name)) return false;
    if (this.words.get(name) !== undefined) fail(`${name} takes no value`, this.text);
    return this.words.delete(name);
  }

  value(name: string): string | undefined {
    const value = this.words.get(name);
    if (this.words.delete(name) && value === undefined) fail(`${name} needs a value`, this.text);
    return value;
  }

  natural(name: string): number {
    return parseNatural(this.value(name), this.text);
  }

  optional(name: string): number | undefined {
    return this.words.has(name) ? this.natural(name) : undefined;
  }

  end(): void {
    for (const name of this.words.keys()) fail(`unknown word ${name}`, this.text);
  }
}

/** The configuration that `formatConfig` prints so. Throws a SyntaxError on anything else. */
export function parseConfig(text: string): WindowConfig {
  const words = new Words(text);
  const config = {
    window: words.natural("window"),
    step: words.natural("step"),
    slice: words.natural("slice"),
    maxLive: words.natural("live"),
  };
  const maxHeld = words.optional("held");
  const switches = { followWhileOpen: words.flag("follow"), jump: words.flag("jump") };
  words.end();
  return maxHeld === undefined ? { ...config, ...switches } : { ...config, maxHeld, ...switches };
}

function parsePager(words: Words, text: string): PagerState {
  const range = words.value("ctrlo");
  const atStart = words.flag("at_start");
  const read = words.value("read");
  if (range === undefined) {
    return atStart || read !== undefined ? fail("a closed pager with more", text) : closedPager;
  }
  const [, anchor, lo, hi] = /^(tail|start)\[(\d+),(\d+)\)$/.exec(range) ?? fail("no pager window", text);
  const asked =
    read === undefined ? undefined : (/^(\d+):([a-z]+)@(\d+)$/.exec(read) ?? fail("no read", text));
  return {
    open: true,
    anchor: anchor === "start" ? "start" : "tail",
    lo: parseNatural(lo, text),
    hi: parseNatural(hi, text),
    atStart,
    pending:
      asked === undefined
        ? undefined
        : {
            token: parseNatural(asked[1], text),
            dir: oneOf(asked[2], directions, text),
            from: parseNatural(asked[3], text),
          },
  };
}

function parseLive(value: string | undefined, text: string): readonly number[] {
  if (value === undefined) return [];
  const inner = /^\{(\d+(?:,\d+)*)\}$/.exec(value)?.[1] ?? fail("no set of live blocks", text);
  return inner.split(",").map((id) => parseNatural(id, text));
}

/** The state that `formatState` prints so, under a configuration. Throws a SyntaxError on anything else. */
export function parseState(text: string, config: WindowConfig): WindowState {
  const words = new Words(text);
  const isSaved = words.flag("saved");
  if (isSaved === words.flag("unsaved")) fail("neither or both of saved, unsaved", text);
  const save: SaveMode = isSaved ? "saved" : "unsaved";
  const prevFirst = words.optional("prev");
  const cycleFirst = words.natural("first");
  const state: WindowState = {
    config,
    save,
    cycle: words.natural("cycle"),
    cycleFirst,
    prevFirst,
    heldFloor: words.optional("floor") ?? prevFirst ?? cycleFirst,
    nextSeq: words.natural("next"),
    savedThrough: words.natural("through"),
    live: parseLive(words.value("live"), text),
    turnOpen: words.flag("turn"),
    epoch: words.natural("epoch"),
    paintedThrough: words.natural("painted"),
    reprinting: words.flag("reprinting"),
    ctrlo: parsePager(words, text),
    nextToken: words.natural("token"),
  };
  words.end();
  return state;
}
