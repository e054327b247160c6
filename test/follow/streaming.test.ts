/** The fold of a step's stream. */
import { mkdirSync } from "node:fs";
import { expect, it } from "vitest";
import { foldStream } from "../../src/follow/index.ts";
import { fixtureText } from "./fixtures.ts";
import { jsonDelta, messageStart, prose, Steps, textDelta, thinkingDelta, waiting } from "./support.ts";

it("accumulates text across indices", () => {
  expect(foldStream(textDelta("a", 0) + textDelta("b", 3) + textDelta("c", 1))).toEqual({
    text: "abc",
    lastDelta: "text",
  });
});

it("brazen vocabulary", () => {
  expect(foldStream(fixtureText("tools.jsonl"))).toEqual({
    thinking: "The box is slow; let me see its load.",
    text: "Looking at both boxes.",
    lastDelta: "text",
  });
});

it("thinking/json not display text", () => {
  expect(foldStream(thinkingDelta("hm") + jsonDelta('{"a":1}'))).toEqual({
    thinking: "hm",
    lastDelta: "thinking",
  });
});

it("legacy events ignored", () => {
  expect(foldStream(fixtureText("older-words.jsonl"))).toEqual({
    text: "ours \u2028 line\rends \u0000 stay",
    lastDelta: "text",
  });
});

it("malformed and partial lines tolerated", () => {
  expect(foldStream(`{"type":"content_delta",\n${textDelta("ok")}{"type":"content_del`).text).toBe("ok");
});

it("empty or blank payload -> absent", () => {
  expect(foldStream("")).toEqual({});
  expect(foldStream("\n\n")).toEqual({});
});

it("content_delta without text skipped", () => {
  const lines = [
    '{"type":"content_delta"}',
    '{"type":"content_delta","delta":{}}',
    '{"type":"content_delta","delta":{"text_delta":null}}',
  ];
  expect(foldStream(lines.join("\n"))).toEqual({});
});

it("latest step's response wins", async () => {
  const steps = new Steps();
  steps.append(textDelta("old"), "001");
  steps.append(textDelta("new"), "002");
  expect(await steps.once()).toEqual(prose("new"));
});

it("absent dir/file -> nothing", async () => {
  const steps = new Steps();
  expect(await steps.once()).toEqual({ stream: {}, tools: [] });
  mkdirSync(steps.path("001"), { recursive: true });
  expect(await steps.once()).toEqual({ stream: {}, tools: [] });
});

it("non-step entries skipped", async () => {
  const steps = new Steps();
  steps.append(textDelta("step"), "001");
  mkdirSync(steps.path("notes"), { recursive: true });
  mkdirSync(steps.path("01a"), { recursive: true });
  expect(await steps.once()).toEqual(prose("step"));
});

it("last_delta none before anything", () => {
  expect(foldStream(messageStart).lastDelta).toBeUndefined();
});

it("newest delta wins either way", () => {
  expect(foldStream(thinkingDelta("a") + textDelta("b")).lastDelta).toBe("text");
  expect(foldStream(textDelta("b") + thinkingDelta("a")).lastDelta).toBe("thinking");
});

it("json_delta moves neither", async () => {
  expect(foldStream(thinkingDelta("a") + jsonDelta("{}")).lastDelta).toBe("thinking");
  const steps = new Steps();
  const reader = steps.reader();
  steps.append(jsonDelta("{}"));
  expect(await reader.poll()).toEqual(waiting);
});

it("both halves of latest step", async () => {
  const steps = new Steps();
  steps.append(thinkingDelta("why") + textDelta("so"));
  expect((await steps.once()).stream).toEqual({ thinking: "why", text: "so", lastDelta: "text" });
});
