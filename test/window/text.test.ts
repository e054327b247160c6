// The one-line notation: printing and parsing are inverse to each other, and a text that nothing prints is refused with its words.
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { WindowEffect, WindowEvent } from "../../src/window/index.ts";
import {
  formatConfig,
  formatEffect,
  formatEvent,
  formatState,
  parseConfig,
  parseEffect,
  parseEvent,
  parseState,
  step,
} from "../../src/window/index.ts";
import { configs, runs, stepsOf } from "./random-runs.ts";

const config = parseConfig("window=4 step=2 slice=2 live=2");
const state = (text: string) => parseState(text, config);

describe("what is printed is parsed again", () => {
  test("configurations", () => {
    fc.assert(
      fc.property(configs, (one) => {
        expect(parseConfig(formatConfig(one))).toStrictEqual(one);
      }),
    );
  });

  test("states, events and effects of random runs", () => {
    fc.assert(
      fc.property(runs, (run) => {
        for (const { event, result } of stepsOf(run, step)) {
          expect(parseState(formatState(result.state), run.config)).toEqual(result.state);
          const { met, ...rest } = event as WindowEvent & { met?: boolean };
          expect(parseEvent(formatEvent(event))).toEqual(met === true ? event : rest);
          for (const effect of result.effects) expect(parseEffect(formatEffect(effect))).toEqual(effect);
        }
      }),
      { numRuns: 60 },
    );
  });
});

describe("words", () => {
  const events: readonly (readonly [string, WindowEvent])[] = [
    ["turn_started", { type: "turn_started" }],
    ["turn_ended", { type: "turn_ended" }],
    ["block_opened(7)", { type: "block_opened", id: 7 }],
    ["block_changed(7)", { type: "block_changed", id: 7 }],
    ["block_finished(7)", { type: "block_finished", id: 7 }],
    ["saved_through(3)", { type: "saved_through", seq: 3 }],
    ["compacted", { type: "compacted" }],
    ["resized", { type: "resized" }],
    ["reprint_tick", { type: "reprint_tick" }],
    ["ctrlo_opened", { type: "ctrlo_opened" }],
    ["ctrlo_scrolled(older)", { type: "ctrlo_scrolled", dir: "older" }],
    ["ctrlo_scrolled(newer)", { type: "ctrlo_scrolled", dir: "newer" }],
    ["ctrlo_jumped(start)", { type: "ctrlo_jumped", to: "start" }],
    ["ctrlo_jumped(end)", { type: "ctrlo_jumped", to: "end" }],
    ["ctrlo_closed", { type: "ctrlo_closed" }],
    ["log_read_done(0,2)", { type: "log_read_done", token: 0, count: 2 }],
    ["log_read_done(0,2,met)", { type: "log_read_done", token: 0, count: 2, met: true }],
    ["log_read_failed(0)", { type: "log_read_failed", token: 0 }],
    ["resumed(1,2,3)", { type: "resumed", cycle: 1, cycleFirst: 2, nextSeq: 3 }],
  ];
  test.each(events)("event %s", (text, event) => {
    expect(formatEvent(event)).toBe(text);
    expect(parseEvent(text)).toEqual(event);
    expect(parseEvent(`  ${text.replaceAll(",", " , ")} `)).toEqual(event);
  });

  test("an event with met false is printed without it", () => {
    expect(formatEvent({ type: "log_read_done", token: 0, count: 2, met: false })).toBe("log_read_done(0,2)");
  });

  const effects: readonly (readonly [string, WindowEffect])[] = [
    ["paint_final(3)", { type: "paint_final", seq: 3 }],
    ["repaint_block(7)", { type: "repaint_block", id: 7 }],
    ["reprint_begin", { type: "reprint_begin" }],
    ["reprint_slice(1,4)", { type: "reprint_slice", from: 1, to: 4 }],
    ["repaint_live", { type: "repaint_live" }],
    ["drop(0,4)", { type: "drop", from: 0, to: 4 }],
    ["ctrlo_show(0,4)", { type: "ctrlo_show", lo: 0, hi: 4, anchor: "tail" }],
    ["ctrlo_show(0,4,start)", { type: "ctrlo_show", lo: 0, hi: 4, anchor: "start" }],
    ["read_log(0,older,4,2)", { type: "read_log", token: 0, dir: "older", from: 4, count: 2 }],
    ["read_log(0,newer,4,2)", { type: "read_log", token: 0, dir: "newer", from: 4, count: 2 }],
    ["read_log(0,first,0,4)", { type: "read_log", token: 0, dir: "first", from: 0, count: 4 }],
  ];
  test.each(effects)("effect %s", (text, effect) => {
    expect(formatEffect(effect)).toBe(text);
    expect(parseEffect(text)).toEqual(effect);
  });

  test.each([
    "window=4 step=2 slice=2 live=2",
    "window=4 step=2 slice=2 live=2 held=3",
    "window=4 step=2 slice=2 live=2 follow",
    "window=4 step=2 slice=2 live=2 held=3 follow jump",
  ])("configuration %s", (text) => expect(formatConfig(parseConfig(text))).toBe(text));

  test.each([
    "saved cycle=0 first=0 next=0 through=0 epoch=0 painted=0 token=0",
    "unsaved cycle=0 first=0 next=0 through=0 epoch=0 painted=0 token=0",
    "saved cycle=1 prev=0 first=3 next=5 through=4 live={7,9} turn epoch=2 painted=4 reprinting ctrlo=tail[1,5) at_start read=0:older@1 token=1",
    "saved cycle=1 first=3 floor=4 next=5 through=5 epoch=2 painted=5 ctrlo=start[0,2) read=12:first@0 token=13",
    "saved cycle=1 first=3 next=5 through=5 live={10} epoch=2 painted=5 ctrlo=tail[0,2) read=2:newer@2 token=3",
  ])("state %s", (text) => expect(formatState(state(text))).toBe(text));
});

test("blanks around and between words do not matter", () => {
  expect(parseConfig("  window=4   step=2\tslice=2 live=2 ")).toEqual(config);
  expect(parseEvent(" block_opened( 1 ) ")).toEqual({ type: "block_opened", id: 1 });
});

describe("numbers that no event may hold can be written all the same", () => {
  test.each([
    ["NaN", Number.NaN],
    ["-1", -1],
    ["-0", -0],
    ["0.5", 0.5],
    ["-2.25", -2.25],
    ["Infinity", Number.POSITIVE_INFINITY],
    ["-Infinity", Number.NEGATIVE_INFINITY],
    ["1e+21", 1e21],
    ["1.5e-7", 1.5e-7],
  ])("%s", (text, id) => {
    expect(formatEvent({ type: "block_opened", id })).toBe(`block_opened(${text})`);
    expect(parseEvent(`block_opened(${text})`)).toEqual({ type: "block_opened", id });
  });
});

test("an exponent needs no sign", () => {
  expect(parseEvent("block_opened(1e21)")).toEqual({ type: "block_opened", id: 1e21 });
});

describe("refused", () => {
  const refused = (parse: () => unknown, what: RegExp) => {
    expect(parse).toThrow(SyntaxError);
    expect(parse).toThrow(what);
  };

  test.each([
    ["", /no event or effect/],
    ["Turn_started", /no event or effect/],
    ["turn_started x", /no event or effect/],
    ["turn_started(", /no event or effect/],
    ["turn_started()", /1 arguments/],
    ["turn_started(1)", /1 arguments/],
    ["block_opened", /0 arguments/],
    ["block_opened()", /no number: /],
    ["block_opened(x)", /no number: x/],
    ["block_opened(1,2)", /2 arguments/],
    ["block_opened(0x1)", /no number: 0x1/],
    ["block_opened(1x)", /no number: 1x/],
    ["block_opened(x1)", /no number: x1/],
    ["block_opened(1.)", /no number: 1\./],
    ["saved_through", /0 arguments/],
    ["ctrlo_scrolled", /0 arguments/],
    ["ctrlo_scrolled(up)", /none of older\|newer: up/],
    ["ctrlo_jumped(middle)", /none of start\|end: middle/],
    ["ctrlo_jumped(start,end)", /2 arguments/],
    ["log_read_done(0)", /1 arguments/],
    ["log_read_done(0,1,meet)", /none of met: meet/],
    ["log_read_done(0,1,met,met)", /4 arguments/],
    ["log_read_failed(0,1)", /2 arguments/],
    ["resumed(0,1)", /2 arguments/],
    ["resumed(0,1,2,3)", /4 arguments/],
    ["block_vanished(1)", /unknown event block_vanished/],
  ])("event %j", (text, what) => refused(() => parseEvent(text), what));

  test.each([
    ["paint_final", /0 arguments/],
    ["paint_final(-1)", /no natural number: -1/],
    ["paint_final(1.5)", /no natural number: 1\.5/],
    ["paint_final(9007199254740992)", /no natural number/],
    ["paint_final(1x)", /no natural number/],
    ["paint_final(x1)", /no natural number/],
    ["repaint_block(1,2)", /2 arguments/],
    ["reprint_begin(1)", /1 arguments/],
    ["repaint_live(1)", /1 arguments/],
    ["drop(1)", /1 arguments/],
    ["reprint_slice(1,2,3)", /3 arguments/],
    ["ctrlo_show(1)", /1 arguments/],
    ["ctrlo_show(1,2,tail)", /none of start: tail/],
    ["ctrlo_show(1,2,start,3)", /4 arguments/],
    ["read_log(0,older,4)", /3 arguments/],
    ["read_log(0,up,4,2)", /none of older\|newer\|first: up/],
    ["read_log(0,older,4,2,1)", /5 arguments/],
    ["paint_twice(1)", /unknown effect paint_twice/],
  ])("effect %j", (text, what) => refused(() => parseEffect(text), what));

  test.each([
    ["", /unknown word |no natural number: undefined/],
    ["window=4 step=2 slice=2", /no natural number: undefined/],
    ["window=4 step=2 slice=2 live=two", /no natural number: two/],
    ["window=4 step=2 slice=2 live=2 held", /held needs a value/],
    ["window=4 step=2 slice=2 live=2 follow=1", /follow takes no value/],
    ["window=4 step=2 slice=2 live=2 jump jump", /jump said twice/],
    ["window=4 step=2 slice=2 live=2 fly", /unknown word fly/],
    ["window=4 step=2 slice=2 live=2 fly=1", /unknown word fly/],
    ["window=4 step=2 slice=2 live=2 =1", /unknown word {2}in/],
  ])("configuration %j", (text, what) => refused(() => parseConfig(text), what));

  const rest = "cycle=0 first=0 next=0 through=0 epoch=0 painted=0 token=0";
  test.each([
    [rest, /neither or both of saved, unsaved/],
    [`saved unsaved ${rest}`, /neither or both of saved, unsaved/],
    [`saved ${rest} color=1`, /unknown word color/],
    [`saved ${rest} at_start`, /a closed pager with more/],
    [`saved ${rest} read=0:older@1`, /a closed pager with more/],
    [`saved ${rest} ctrlo=[0,1)`, /no pager window/],
    [`saved ${rest} ctrlo=tail[0,1]`, /no pager window/],
    [`saved ${rest} ctrlo=xtail[0,1)`, /no pager window/],
    [`saved ${rest} ctrlo=tail[0,1)x`, /no pager window/],
    [`saved ${rest} ctrlo=tail[0,1) read=0:older`, /no read/],
    [`saved ${rest} ctrlo=tail[0,1) read=x0:older@1`, /no read/],
    [`saved ${rest} ctrlo=tail[0,1) read=0:older@1x`, /no read/],
    [`saved ${rest} ctrlo=tail[0,1) read=0:up@1`, /none of older\|newer\|first: up/],
    [`saved ${rest} live={}`, /no set of live blocks/],
    [`saved ${rest} live={1,}`, /no set of live blocks/],
    [`saved ${rest} live=x{1}`, /no set of live blocks/],
    [`saved ${rest} live={1}x`, /no set of live blocks/],
    [`saved ${rest.replace("next=0", "next=-1")}`, /no natural number: -1/],
    [`saved ${rest} prev=`, /no natural number: /],
  ])("state %j", (text, what) => refused(() => state(text), what));

  test("the text is in the message", () => {
    expect(() => parseEvent("nothing at all")).toThrow('in "nothing at all"');
    expect(() => parseEvent("nothing at all")).toThrow(/^window text: /);
  });
});
