// Lines of a trace, byte for byte: what is written here is read by a checker in another language.
import { expect, test } from "vitest";
import {
  createWindow,
  formatTraceLine,
  formatTraceStart,
  parseConfig,
  step,
} from "../../src/window/index.ts";

const config = parseConfig("window=4 step=2 slice=2 live=2");
const head = '{"config":{"window":4,"step":2,"slice":2,"maxLive":2,"followWhileOpen":false,"jump":false},';
const tail = (nextSeq: number, painted: number) =>
  `"state":{"save":"saved","cycle":0,"cycle_first":0,"prev_first":-1,"held_first":0,"next_seq":${nextSeq},"saved_through":0,` +
  `"live":[],"turn_open":false,"epoch":0,"painted_through":${painted},"reprinting":false,"ctrlo":{"open":false,"anchor":"tail",` +
  '"lo":0,"hi":0,"at_start":false,"pending":{"token":-1,"dir":"none","from":0}},"next_token":0}}\n';

const begun = createWindow(config, "saved");

test("the birth of a window", () => {
  expect(formatTraceStart(begun)).toBe(`${head}"effects":[],${tail(0, 0)}`);
});

test("a step", () => {
  const event = { type: "block_finished", id: 7 } as const;
  expect(formatTraceLine(event, step(begun, event))).toBe(
    `${head}"event":{"type":"block_finished","id":7},"effects":[{"type":"paint_final","seq":0}],${tail(1, 1)}`,
  );
});

test("a rejected step", () => {
  const event = { type: "turn_ended" } as const;
  expect(formatTraceLine(event, step(begun, event))).toBe(
    `${head}"event":{"type":"turn_ended"},"effects":[],"rejected":"no turn is open",${tail(0, 0)}`,
  );
});
