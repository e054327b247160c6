// Traces of the running shell: lawful, and together they show every event and every effect of the window core.
import { describe, expect, test } from "vitest";
import { checkTrace } from "../../spec/trace.ts";
import { tailBlocks, windowConfig } from "../../src/terminal/shell/limits.ts";
import { WindowRunner } from "../../src/terminal/shell/window-runner.ts";
import type { TraceLine, WindowEffect, WindowEvent } from "../../src/window/index.ts";
import { entryOf } from "./fake-session.ts";
import { call, entries, type Rig, rig, said, streaming } from "./support.ts";

const keys = { history: "\x0f", home: "\x1b[H", end: "\x1b[F", pageUp: "\x1b[5~", pageDown: "\x1b[6~" };
/** More than the pager shows at once, on both sides of what is held. */
const longLog = 3 * windowConfig.window;
const pagesMax = 120;

const eventTypes: Readonly<Record<WindowEvent["type"], true>> = {
  turn_started: true,
  turn_ended: true,
  block_opened: true,
  block_changed: true,
  block_finished: true,
  saved_through: true,
  compacted: true,
  resized: true,
  reprint_tick: true,
  ctrlo_opened: true,
  ctrlo_scrolled: true,
  ctrlo_jumped: true,
  ctrlo_closed: true,
  log_read_done: true,
  log_read_failed: true,
  resumed: true,
};
const effectTypes: Readonly<Record<WindowEffect["type"], true>> = {
  paint_final: true,
  repaint_block: true,
  reprint_begin: true,
  reprint_slice: true,
  repaint_live: true,
  drop: true,
  ctrlo_show: true,
  read_log: true,
};

const linesOf = (r: Rig): readonly TraceLine[] => r.trace.map((line) => JSON.parse(line) as TraceLine);

/** Presses a key until the trace holds what is looked for; fails where that takes too many. */
async function press(r: Rig, key: string, isThere: (line: TraceLine) => boolean): Promise<void> {
  for (let count = 0; count < pagesMax; count += 1) {
    await r.key(key);
    if (linesOf(r).some(isThere)) return;
  }
  expect.unreachable("no such step in the trace");
}

const isScroll =
  (dir: "older" | "newer") =>
  ({ event }: TraceLine): boolean =>
    event?.type === "ctrlo_scrolled" && event.dir === dir;
const reads =
  (dir: "older" | "newer" | "first") =>
  ({ effects }: TraceLine): boolean =>
    effects.some((effect) => effect.type === "read_log" && effect.dir === dir);

const scripts: Readonly<Record<string, () => Promise<Rig>>> = {
  "a turn with a call and a growing answer": async () => {
    const r = rig({ log: entries(2) });
    await r.settle();
    r.emit({ type: "turnStarted" }, { type: "blockOpened", entry: call("running") });
    await r.settle();
    r.finish(call("done"));
    r.emit({ type: "blockOpened", entry: streaming("a") }, { type: "blockChanged", entry: streaming("a b") });
    await r.settle();
    r.finish(said("a b c", "s"));
    r.emit({ type: "turnEnded" });
    await r.settle();
    return r;
  },
  "the log paged older by reads, one of which fails, and back": async () => {
    const r = rig({ log: entries(longLog) });
    await r.settle();
    await r.key(keys.history);
    await press(r, keys.pageUp, isScroll("older"));
    r.session.failNext = "the disk is gone";
    await press(r, keys.pageUp, ({ event }) => event?.type === "log_read_failed");
    await press(r, keys.pageUp, ({ event }) => event?.type === "log_read_done");
    await press(r, keys.pageUp, ({ state: { ctrlo, next_seq } }) => ctrlo.open && ctrlo.hi < next_seq);
    await press(r, keys.pageDown, isScroll("newer"));
    await r.key("q");
    return r;
  },
  "the first block and the last by one key each": async () => {
    const r = rig({ log: entries(longLog) });
    await r.settle();
    await r.key(keys.history);
    await press(r, keys.home, reads("first"));
    await press(r, keys.pageDown, reads("newer"));
    await r.key(keys.end);
    await r.key("q");
    return r;
  },
  "a compaction, and a resize in a turn": async () => {
    const r = rig({ log: entries(30), resizeWay: "reprint" });
    await r.settle();
    r.emit({ type: "turnStarted" });
    await r.settle();
    await r.resize(40, 12);
    r.emit({ type: "compacted" });
    r.finish(entryOf(30));
    r.emit({ type: "turnEnded" });
    await r.settle();
    return r;
  },
  "more blocks between turns than are held": async () => {
    const r = rig({ log: entries(tailBlocks) });
    await r.settle();
    const { maxHeld = 0 } = windowConfig;
    for (let index = tailBlocks; index < maxHeld + 5; index += 1) r.finish(entryOf(index));
    await r.settle();
    const held = linesOf(r).filter(({ effects }) => effects.some(({ type }) => type === "drop"));
    expect(held).toHaveLength(5);
    return r;
  },
};

describe("the traces of the shell", () => {
  const seen = {
    events: new Set<string>(),
    effects: new Set<string>(),
    reads: new Set<string>(),
    rejected: 0,
  };

  test.each(Object.entries(scripts))("%s", async (_name, play) => {
    const r = await play();
    const { fault, steps } = checkTrace(r.trace.join(""));
    expect(fault).toBeUndefined();
    expect(steps).toBe(r.trace.length - 1);
    for (const { event, effects } of linesOf(r)) {
      if (event !== undefined) seen.events.add(event.type);
      for (const effect of effects) {
        seen.effects.add(effect.type);
        if (effect.type === "read_log") seen.reads.add(effect.dir);
      }
    }
    r.shell.end("quit");
    await r.settle();
    await r.ended;
  });

  test("show every event, every effect, and reads every way", () => {
    expect([...seen.events].sort()).toEqual(Object.keys(eventTypes).sort());
    expect([...seen.effects].sort()).toEqual(Object.keys(effectTypes).sort());
    expect([...seen.reads].sort()).toEqual(["first", "newer", "older"]);
  });

  test("hold what was refused and why, of a window of another configuration and without a log", () => {
    const lines: string[] = [];
    const config = { window: 2, step: 1, slice: 1, maxLive: 1, followWhileOpen: false, jump: true };
    const runner = new WindowRunner({
      config,
      save: "unsaved",
      run: () => undefined,
      trace: (line) => lines.push(line),
    });
    runner.feed({ type: "turn_started" });
    for (const id of [0, 1, 2]) runner.feed({ type: "block_finished", id });
    const answers = [
      runner.offer({ type: "ctrlo_closed" }),
      runner.offer({ type: "ctrlo_opened" }),
      runner.offer({ type: "ctrlo_scrolled", dir: "newer" }),
      runner.offer({ type: "log_read_done", token: 0, count: 1 }),
    ];
    const refused = ["pager is closed", undefined, "at the end", "not the pending read"];
    expect(answers).toEqual(refused);
    expect(lines.slice(-4).map((line) => (JSON.parse(line) as TraceLine).rejected)).toEqual(refused);
    expect(checkTrace(lines.join(""))).toMatchObject({ steps: 8, rejected: 3 });
    expect(checkTrace(lines.join("")).fault).toBeUndefined();
  });
});
