/** Logs of ours made in memory, by the real writer on a simulated computer. */
import fc from "fast-check";
import { createLog, type LogWriter, openLogForWrite, type RecordSpec } from "../../src/log/index.ts";
import { hansardDecoder } from "../../src/sources/hansard/decoder.ts";
import { SimComputer } from "../log/sim-disk.ts";

export const sessions = "/state/sessions";
export const logPath = `${sessions}/s/log.jsonl`;

/** Looks for blobs where there are none. */
export const decoder = hansardDecoder("/nowhere/blobs");

/** What happens to a session: a record, or its process killed and another one taking it up. */
export type Step = RecordSpec | "crash" | "reopen";

/** The bytes of a session's log after these steps. */
export async function bytesOfLog(steps: readonly Step[]): Promise<Buffer> {
  const computer = new SimComputer();
  let life = computer.spawn();
  let writer: LogWriter = await createLog({ sessions, id: "s", cwd: "/work", agent: "fake" }, life.ports);
  for (const step of steps) {
    if (step === "crash") life.kill();
    else if (step === "reopen") await writer.close();
    else {
      await writer.append(step);
      continue;
    }
    life = computer.spawn();
    writer = await openLogForWrite({ sessions, id: "s" }, life.ports);
  }
  await writer.flush();
  const bytes = computer.bytesAt(logPath);
  if (bytes === undefined) throw new Error("no log");
  return bytes;
}

const word = fc.constantFrom("a", "two words", "é\u2028😀", "x".repeat(300), '{"v":1}');

function message(
  role: "user" | "assistant" | "tool_call" | "tool_result" | "system",
  payload: unknown,
): RecordSpec {
  return { kind: "message", role, payload };
}

const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 3, arbitrary: fc.constant<Step>({ kind: "turnStarted" }) },
  { weight: 3, arbitrary: fc.constant<Step>({ kind: "turnCommitted" }) },
  { weight: 1, arbitrary: fc.constant<Step>({ kind: "turnInterrupted", reason: "cancel" }) },
  { weight: 3, arbitrary: word.map((text) => message("user", { text })) },
  {
    weight: 3,
    arbitrary: fc
      .tuple(word, fc.constantFrom(undefined, "stop", "aborted"))
      .map(([text, stopReason]) =>
        message("assistant", { content: [{ type: "text", text }], ...(stopReason && { stopReason }) }),
      ),
  },
  {
    weight: 3,
    arbitrary: fc.constant<Step>(
      message("tool_call", { toolCallId: "?", toolName: "run", input: { command: "ls" } }),
    ),
  },
  {
    weight: 3,
    arbitrary: word.map((text): Step => message("tool_result", { toolCallId: "?", text })),
  },
  { weight: 1, arbitrary: word.map((text) => message("system", { topic: "mode", text })) },
  { weight: 1, arbitrary: word.map((value): Step => ({ kind: "set", key: "title", value })) },
  {
    weight: 1,
    arbitrary: word.map(
      (summary): Step => ({ kind: "compactionSummary", summary, tokensBefore: 9, firstKeptTurnId: "" }),
    ),
  },
  { weight: 1, arbitrary: fc.constantFrom<Step>("crash", "reopen") },
);

/** What no recorder writes is left out: a second start of a turn, an end of nothing, the result of no call. Calls get their ids. */
export const steps: fc.Arbitrary<readonly Step[]> = fc.array(step, { maxLength: 40 }).map((list) => {
  let isOpen = false;
  let calls = 0;
  const waiting: string[] = [];
  return list.flatMap((each): readonly Step[] => {
    if (each === "crash" || each === "reopen") {
      isOpen = false;
      waiting.length = 0;
      return [each];
    }
    if (each.kind === "turnStarted") {
      if (isOpen) return [];
      isOpen = true;
    } else if (each.kind === "turnCommitted" || each.kind === "turnInterrupted") {
      if (!isOpen) return [];
      isOpen = false;
      waiting.length = 0;
    } else if (each.kind === "message" && each.role === "tool_call") {
      calls += 1;
      waiting.push(`c${calls}`);
      return [{ ...each, payload: { ...(each.payload as object), toolCallId: `c${calls}` } }];
    } else if (each.kind === "message" && each.role === "tool_result") {
      const toolCallId = waiting.shift();
      return toolCallId === undefined
        ? []
        : [{ ...each, payload: { ...(each.payload as object), toolCallId } }];
    }
    return [each];
  });
});
