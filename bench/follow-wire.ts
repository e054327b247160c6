/** What a streamed answer costs on the wire: frames that append, beside frames that each hold the whole answer so far. */
import { encodeFrame, type Frame, type LaneState, type Look, poll, startLane } from "../src/follow/index.ts";
import { row } from "./measure.ts";
import { createRandom } from "./random.ts";

const words = 800;

/** An answer as models write: words, sentences, quotes, line breaks, some characters beyond ASCII. */
export function makeAnswer(seed: number = 7): string {
  const random = createRandom(seed);
  const pick = (from: readonly string[]): string => from[random.below(from.length)] ?? "";
  const stems = [
    "the",
    "server",
    "reads",
    "a",
    "frame",
    "once",
    "and",
    "keeps",
    "nothing",
    "größer",
    "`poll()`",
    "state",
  ];
  const ends = [".", ".", ".", ",", ":", "\n\n", ' "so"', " – "];
  let text = "";
  for (let n = 1; n <= words; n++) text += `${pick(stems)}${n % 9 === 0 ? pick(ends) : ""} `;
  return text;
}

export interface WireCost {
  readonly frames: number;
  /** Bytes of the answer itself. */
  readonly answerBytes: number;
  readonly appendBytes: number;
  readonly wholeBytes: number;
  /** What a frame costs whatever it says. */
  readonly fixedBytes: number;
}

const envelope = "event: frame\nid: 0~ftqyn2jzkhzk.1234\ndata: \n\n";
const bytesOf = (frame: Frame): number => Buffer.byteLength(envelope) + Buffer.byteLength(encodeFrame(frame));

/** The cost of an answer that comes in deltas of so many characters, a look after every `deltasALook` of them. */
export function wireCost(answer: string, deltaChars: number, deltasALook: number): WireCost {
  let state: LaneState = startLane();
  let response = new Uint8Array(0);
  let told = "";
  let frames = 0;
  let appendBytes = 0;
  let wholeBytes = 0;
  const look = (): void => {
    const reader = state.reader;
    const start = reader?.offset ?? 0;
    const seen: Look = {
      isDriven: true,
      isCalling: true,
      step: {
        id: "1",
        calls: [],
        response: { identity: "1", start, bytes: response.slice(start), isEnd: true },
      },
    };
    const { state: next, outcome } = poll(state, seen);
    state = next;
    if (outcome.type !== "ready") return;
    frames += 1;
    told += outcome.frame.stream.text ?? "";
    appendBytes += bytesOf(outcome.frame);
    wholeBytes += bytesOf({ ...outcome.frame, stream: { ...outcome.frame.stream, text: told } });
  };
  const chars = Array.from(answer);
  let deltas = 0;
  for (let at = 0; at < chars.length; at += deltaChars) {
    const delta = { text_delta: chars.slice(at, at + deltaChars).join("") };
    const line = Buffer.from(`${JSON.stringify({ type: "content_delta", index: 0, delta })}\n`);
    response = new Uint8Array(Buffer.concat([response, line]));
    deltas += 1;
    if (deltas % deltasALook === 0) look();
  }
  look();
  if (told !== answer) throw new Error("the frames do not sum to the answer");
  const fixedBytes = bytesOf({ stream: { text: "", lastDelta: "text" }, tools: [] });
  return { frames, answerBytes: Buffer.byteLength(answer), appendBytes, wholeBytes, fixedBytes };
}

/** Bytes of a frame's words by bytes of the answer, the fixed cost of the frames taken off. */
export function payloadRatio({ appendBytes, frames, fixedBytes, answerBytes }: WireCost): number {
  return (appendBytes - frames * fixedBytes) / answerBytes;
}

export function benchFollowWire(): void {
  const answer = makeAnswer();
  row("an answer of 800 words", "frames", "own bytes", "appends", "payload", "a frame", "whole texts");
  for (const [label, chars, looks] of [
    ["a frame a token (4 characters)", 4, 1],
    ["a frame every 8 tokens", 4, 8],
    ["a frame every 40 tokens", 4, 40],
    ["in 32 frames", Math.ceil(Array.from(answer).length / 32), 1],
  ] as const) {
    const cost = wireCost(answer, chars, looks);
    row(
      label,
      String(cost.frames),
      String(cost.answerBytes),
      `${(cost.appendBytes / cost.answerBytes).toFixed(2)}x`,
      `${payloadRatio(cost).toFixed(2)}x`,
      `${cost.fixedBytes} B`,
      `${(cost.wholeBytes / cost.answerBytes).toFixed(1)}x`,
    );
  }
}
