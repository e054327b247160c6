/** Transcripts of any course: rewinds, subagents, repeats, compactions, damage. Every way of reading gives one result. */
import fc from "fast-check";
import { expect, test } from "vitest";
import { createClaudeClassifier } from "../../src/sources/claude-code/classifier.ts";
import { cutPlaces, expectFollowed, logOf, readBackward, readForward } from "../support/log-laws.ts";

const classifier = createClaudeClassifier(false);

/** One step of a conversation; `back` says how many conversation rows above its parent stands. */
type Step =
  | { readonly do: "prompt" | "text" | "end" | "call" | "longer" | "thinking"; readonly back: number }
  | { readonly do: "result"; readonly call: number }
  | {
      readonly do:
        | "side"
        | "progress"
        | "snapshot"
        | "queued"
        | "interrupt"
        | "duration"
        | "task"
        | "compact";
    }
  | { readonly do: "damage"; readonly bytes: string };

const steps: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 8,
    arbitrary: fc.record({
      do: fc.constantFrom("prompt", "text", "end", "call", "longer", "thinking"),
      back: fc.oneof({ weight: 6, arbitrary: fc.constant(0) }, { weight: 1, arbitrary: fc.nat(8) }),
    }),
  },
  { weight: 3, arbitrary: fc.record({ do: fc.constant("result" as const), call: fc.nat(3) }) },
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constantFrom(
        "side",
        "progress",
        "snapshot",
        "queued",
        "interrupt",
        "duration",
        "task",
        "compact",
      ),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      do: fc.constant("damage" as const),
      bytes: fc.constantFrom(
        "\0\0\0\n",
        '{"type":"us',
        '{"type":"user","mess\n',
        "not json\n",
        "[1]\n",
        "\n",
        "{}",
      ),
    }),
  },
);

function written(course: readonly Step[]): Buffer {
  const parts: string[] = [];
  const chain: string[] = [];
  /** Calls without a result. */
  const open: string[] = [];
  let count = 0;
  let message = 0;
  let text = "";
  const row = (type: string, more: object, back = 0): void => {
    const uuid = `u${count}`;
    const time = new Date(1_780_000_000_000 + count * 1000).toISOString();
    count += 1;
    const parentUuid = chain[chain.length - 1 - back] ?? null;
    parts.push(`${JSON.stringify({ parentUuid, type, uuid, timestamp: time, sessionId: "s", ...more })}\n`);
    chain.push(uuid);
  };
  const answer = (content: object, back: number, more: object = {}): void =>
    row(
      "assistant",
      {
        message: {
          id: `m${message}`,
          model: "opus",
          content: [content],
          usage: { output_tokens: count },
          ...more,
        },
      },
      back,
    );
  for (const step of course) {
    switch (step.do) {
      case "prompt":
        row("user", { message: { content: `prompt ${count}` } }, step.back);
        message += 1;
        break;
      case "text":
        text = `text ${count}`;
        answer({ type: "text", text }, step.back);
        break;
      case "longer":
        // The same block again, longer: written by older versions while a message came in.
        text += " more";
        answer({ type: "text", text }, step.back);
        break;
      case "thinking":
        answer({ type: "thinking", thinking: `hm ${count}` }, step.back);
        break;
      case "end":
        answer({ type: "text", text: `end ${count}` }, step.back, { stop_reason: "end_turn" });
        message += 1;
        break;
      case "call":
        open.push(`t${count % 7}`);
        answer(
          { type: "tool_use", id: open.at(-1), name: "Bash", input: { command: `run ${count}` } },
          step.back,
        );
        break;
      case "result": {
        const id = open.splice(-1 - step.call, 1)[0] ?? `lost${count}`;
        row("user", {
          message: {
            content: [
              {
                type: "tool_result",
                tool_use_id: id,
                content: `out ${count}`,
              },
            ],
          },
        });
        message += 1;
        break;
      }
      case "side":
        row("user", { isSidechain: true, agentId: "a", message: { content: `side ${count}` } });
        chain.pop();
        break;
      case "progress":
        row("progress", { data: { type: "bash_progress" } });
        break;
      case "snapshot":
        parts.push(
          `${JSON.stringify({ type: "file-history-snapshot", messageId: chain.at(-1), snapshot: {} })}\n`,
        );
        break;
      case "queued":
        row("attachment", { attachment: { type: "queued_command", prompt: `queued ${count}` } });
        break;
      case "interrupt":
        row("user", { message: { content: [{ type: "text", text: "[Request interrupted by user]" }] } });
        break;
      case "duration":
        row("system", { subtype: "turn_duration" });
        break;
      case "task":
        row("user", { origin: { kind: "task-notification" }, message: { content: `report ${count}` } });
        break;
      case "compact": {
        const logicalParentUuid = chain.at(-1);
        row("system", { subtype: "compact_boundary", parentUuid: null, logicalParentUuid });
        row("user", { isCompactSummary: true, message: { content: `summary ${count}` } });
        break;
      }
      case "damage":
        parts.push(step.bytes);
        break;
    }
  }
  return Buffer.from(parts.join(""));
}

const courses: fc.Arbitrary<Buffer> = fc.array(steps, { minLength: 1, maxLength: 40 }).map(written);

test("pages of any size, from either end, give the whole", async () => {
  await fc.assert(
    fc.asyncProperty(courses, fc.integer({ min: 1, max: 9 }), async (bytes, limit) => {
      const whole = await readBackward(await logOf("claude-code", classifier, bytes), 1000);
      expect(await readBackward(await logOf("claude-code", classifier, bytes), limit)).toEqual(whole);
      expect(await readForward(await logOf("claude-code", classifier, bytes), limit)).toEqual(whole);
    }),
    { numRuns: 300 },
  );
});

test("followed in any pieces, the whole", async () => {
  await fc.assert(
    fc.asyncProperty(courses, cutPlaces, (bytes, places) =>
      expectFollowed("claude-code", classifier, bytes, places, true),
    ),
    { numRuns: 300 },
  );
});

test("names are those of the record's place, and stay as the log grows", async () => {
  await fc.assert(
    fc.asyncProperty(courses, fc.double({ min: 0, max: 1, noNaN: true }), async (bytes, place) => {
      const whole = await readForward(await logOf("claude-code", classifier, bytes), 1000);
      for (const entry of whole) expect(entry.name).toMatch(/^@\d+(\.\d+)?$/);
      expect(new Set(whole.map((e) => e.name)).size).toBe(whole.length);
      const cut = bytes.lastIndexOf(0x0a, Math.floor(place * bytes.length)) + 1;
      const part = await readForward(await logOf("claude-code", classifier, bytes.subarray(0, cut)), 1000);
      const names = whole.map((e) => e.name);
      for (const entry of part) expect(names).toContain(entry.name);
    }),
    { numRuns: 100 },
  );
});
