/** What an event of a call says, and its form on the wire. */
import { expect, it } from "vitest";
import {
  decodeFrame,
  EVENT_INPUT_MAX,
  elideMiddle,
  emptyWindow,
  encodeFrame,
  lookAtCalls,
  type ToolEvent,
} from "../../src/follow/index.ts";
import { ELIDE_MIN, EVENT_OPTIONS_MAX, EVENT_WORDS_MAX, FRAME_BYTES_MAX } from "../../src/follow/limits.ts";
import { Steps } from "./support.ts";

const eventsOf = (call: { readonly input?: string; readonly output?: string; readonly parked?: string }) =>
  lookAtCalls(emptyWindow, [{ folder: "t1", ...call }]).events;

it("a_call_says_what_it_runs_when_it_opens_and_how_it_ended_when_it_closes", () => {
  const input = '{"id":"t1","name":"Bash","input":{"timeout":5,"command":"uptime"}}';
  const output = '{"stdout":"up","stderr":"","exit_code":2}';
  expect(eventsOf({ input, output })).toEqual([
    { toolUse: "t1", tool: "Bash", input: '{"command":"uptime","timeout":5}' },
    { toolUse: "t1", exitCode: 2 },
  ]);
});

it("a_routed_call_names_the_machine", () => {
  expect(eventsOf({ input: '{"name":"box2_Bash"}' })).toEqual([{ toolUse: "t1", tool: "box2_Bash" }]);
});

it("the_listing_is_landed_calls_in_id_order", async () => {
  const steps = new Steps();
  for (const id of ["toolu_03", "toolu_01", "call_9"]) steps.call(id, "input", { name: id });
  steps.put("001", "tools/toolu_02/notes.txt", "bare");
  const { tools } = await steps.reader().frame();
  expect(tools.map((event) => event.toolUse)).toEqual(["call_9", "toolu_01", "toolu_03"]);
});

it("a_step_with_no_tool_subtree_lists_nothing", async () => {
  const steps = new Steps();
  steps.put("001", "request.json", {});
  expect((await steps.once()).tools).toEqual([]);
});

it("an_unreadable_record_degrades_rather_than_lying", () => {
  expect(eventsOf({ input: '{"name":"Ba', output: "{}" })).toEqual([
    { toolUse: "t1" },
    { toolUse: "t1", exitCode: 0 },
  ]);
  for (const output of ["{", '{"exit_code":"1"}', '{"exit_code":1.5}', '{"exit_code":2147483648}'])
    expect(eventsOf({ input: "{}", output }).at(-1)).toEqual({ toolUse: "t1", exitCode: 0 });
});

it("a_long_input_is_bounded_at_both_ends", () => {
  const command = `head${"🎉".repeat(400)}tail`;
  const [event] = eventsOf({ input: JSON.stringify({ name: "n", input: { command } }) });
  const points = Array.from(event?.input ?? "");
  expect(points).toHaveLength(EVENT_INPUT_MAX);
  expect(points.indexOf("…")).toBe(120);
  expect(points.slice(121)).toHaveLength(119);
  expect(event?.input?.startsWith('{"command":"head')).toBe(true);
  expect(event?.input?.endsWith('tail"}')).toBe(true);
});

it.each([
  [EVENT_INPUT_MAX, EVENT_INPUT_MAX],
  [EVENT_INPUT_MAX + 1, EVENT_INPUT_MAX],
])("an input of %i code points has %i in its event", (points, expected) => {
  for (const char of ["x", "🎉"])
    expect(Array.from(elideMiddle(char.repeat(points), EVENT_INPUT_MAX))).toHaveLength(expected);
});

it("nothing is made shorter than the least", () => {
  expect(elideMiddle("abcdefghijklmnop", 3)).toBe("abcdefghijklmnop");
  expect(elideMiddle("abcdefghijklmnopq", 3)).toHaveLength(ELIDE_MIN);
});

it("an input too deep to write out is cut, not refused", () => {
  const input = `${'{"a":'.repeat(5000)}1${"}".repeat(5000)}`;
  expect(eventsOf({ input: `{"name":"n","input":${input}}` })[0]?.input).toContain("…");
});

it("words and options of a park are bounded", () => {
  const options = Array.from({ length: EVENT_OPTIONS_MAX + 1 }, (_, n) => ({
    id: `o${n}`,
    label: "x".repeat(EVENT_WORDS_MAX + 1),
    kind: "allow-once",
  }));
  const park = { tool_use_id: "t1", tool: "t", reason: "y".repeat(EVENT_WORDS_MAX + 1), options };
  const [event] = eventsOf({ parked: JSON.stringify(park) });
  expect(event?.options).toHaveLength(EVENT_OPTIONS_MAX);
  expect(event?.options?.[0]?.label).toHaveLength(EVENT_WORDS_MAX);
  expect(event?.held).toHaveLength(EVENT_WORDS_MAX);
});

const wire = (...tools: unknown[]): string => JSON.stringify({ kind: "follow", ok: true, stream: {}, tools });

it("both_events_round_trip_and_absence_stays_absence", () => {
  const tools: ToolEvent[] = [
    { toolUse: "t1", tool: "Bash", input: "{}" },
    { toolUse: "t1", exitCode: 0 },
    { toolUse: "t1" },
    { toolUse: "t2", tool: "Bash", held: "" },
    { toolUse: "t2", answered: { by: "somebody", option: "yes" } },
  ];
  const json = encodeFrame({ stream: {}, tools });
  expect(decodeFrame(json)).toEqual({ ok: true, value: { stream: {}, tools } });
  expect(json).toBe(
    '{"kind":"follow","ok":true,"stream":{},"tools":[{"input":"{}","tool":"Bash","tool_use":"t1"},{"exit_code":0,"tool_use":"t1"},{"tool_use":"t1"},{"held":"","tool":"Bash","tool_use":"t2"},{"answered":{"by":"somebody","option":"yes"},"tool_use":"t2"}]}',
  );
});

it("the_decoder_refuses_what_it_cannot_read", () => {
  for (const event of [
    7,
    null,
    [],
    {},
    { tool_use: 1 },
    { tool_use: "t", exit_code: "0" },
    { tool_use: "t", exit_code: 2 ** 31 },
    { tool_use: "t", exit_code: 0.5 },
    { tool_use: "t", options: [{ id: "a", label: "b", kind: "maybe" }] },
    { tool_use: "t", answered: {} },
  ])
    expect(decodeFrame(wire(event)).ok).toBe(false);
  expect(decodeFrame(wire({ tool_use: "t", exit_code: null, tool: null, more: 1 }))).toEqual({
    ok: true,
    value: { stream: {}, tools: [{ toolUse: "t" }] },
  });
});

it.each([
  ["not JSON", "{", "not JSON"],
  ["a list", "[]", "frame"],
  ["no stream", '{"kind":"follow","ok":true,"tools":[]}', '"stream"'],
  ["a stream that is none", '{"kind":"follow","ok":true,"stream":7,"tools":[]}', '"stream"'],
  ["no tools", '{"kind":"follow","ok":true,"stream":{}}', '"tools"'],
  ["another kind", '{"kind":"transcript","ok":true,"stream":{},"tools":[]}', '"transcript"'],
  ["no kind", '{"ok":true,"stream":{},"tools":[]}', '"kind"'],
  ["an unknown delta", '{"kind":"follow","ok":true,"stream":{"delta":"both"},"tools":[]}', '"both"'],
  ["a text of 7", '{"kind":"follow","ok":true,"stream":{"text":7},"tools":[]}', '"text"'],
  ["again that is false", '{"again":false,"kind":"follow","ok":true,"stream":{},"tools":[]}', '"again"'],
  ["a refusal", '{"ok":false,"error":"no such session"}', "no such session"],
])("a frame with %s is refused by name", (_, json, offender) => {
  const decoded = decodeFrame(json);
  expect(decoded.ok ? "" : decoded.refusal.message).toContain(offender);
});

it("a frame over the limit is refused before it is read", () => {
  const frame = '{"kind":"follow","ok":true,"stream":{},"tools":[]}';
  expect(decodeFrame(frame.padEnd(FRAME_BYTES_MAX)).ok).toBe(true);
  expect(decodeFrame(frame.padEnd(FRAME_BYTES_MAX + 1)).ok).toBe(false);
});
