/** The fold of a model's partial output: what it has thought and said so far, from the events of a call that is under way. Pure. */

/** What a stream has said. An accumulator that got nothing is absent, never "". */
export interface Stream {
  readonly text?: string;
  readonly thinking?: string;
  /** Which half moved last; absent before the first delta. */
  readonly lastDelta?: "text" | "thinking";
}

/**
 * Folds events, one JSON object a line. Only `content_delta` counts; lines that cannot be read are passed over. Text accumulates in
 * stream order, whichever block it is for, and over every attempt in the file. A delta without a character moves nothing.
 */
export function foldStream(events: string): Stream {
  const text: string[] = [];
  const thinking: string[] = [];
  let lastDelta: "text" | "thinking" | undefined;
  for (const line of events.split("\n")) {
    // Most lines are deltas; the others are told by a look, which spares parsing them.
    if (!line.includes("content_delta")) continue;
    const delta = deltaOf(line);
    if (delta === undefined) continue;
    lastDelta = delta.half;
    (delta.half === "text" ? text : thinking).push(delta.words);
  }
  return streamOf(text.join(""), thinking.join(""), lastDelta);
}

/** The stream that `later` continues: folding two parts and absorbing gives what folding the whole gives, cut at any line end. */
export function absorbStream(stream: Stream, later: Stream): Stream {
  const text = `${stream.text ?? ""}${later.text ?? ""}`;
  const thinking = `${stream.thinking ?? ""}${later.thinking ?? ""}`;
  return streamOf(text, thinking, later.lastDelta ?? stream.lastDelta);
}

function streamOf(text: string, thinking: string, lastDelta: "text" | "thinking" | undefined): Stream {
  return {
    ...(text === "" ? {} : { text }),
    ...(thinking === "" ? {} : { thinking }),
    ...(lastDelta === undefined ? {} : { lastDelta }),
  };
}

interface Delta {
  readonly half: "text" | "thinking";
  readonly words: string;
}

function heard(half: Delta["half"], words: string): Delta | undefined {
  return words === "" ? undefined : { half, words };
}

function deltaOf(line: string): Delta | undefined {
  let event: unknown;
  try {
    event = JSON.parse(line);
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
  if (typeof event !== "object" || event === null) return undefined;
  const { type, delta } = event as { type?: unknown; delta?: unknown };
  if (type !== "content_delta" || typeof delta !== "object" || delta === null) return undefined;
  const arms = delta as { text_delta?: unknown; thinking_delta?: unknown };
  if (typeof arms.text_delta === "string") return heard("text", arms.text_delta);
  if (typeof arms.thinking_delta === "string") return heard("thinking", arms.thinking_delta);
  return undefined;
}
