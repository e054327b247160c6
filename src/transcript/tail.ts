/** The two virtual entries at the end of a transcript, and the folds that seat them: what is being said, and how it failed. Pure. */
import type { Entry, StreamingEntry, Wound, WoundedEntry } from "./entry.ts";
import type { Stream } from "./stream.ts";

/** The name of the streaming entry. */
export const LIVE_NAME = "«live»";
/** The name of the entry of a settled failure. */
export const WOUND_NAME = "«wound»";

/**
 * The entries with the stream as their last one. An older streaming entry in last place is replaced; a stream that has said nothing only
 * removes it. Folding twice is folding the second.
 */
export function withLive(entries: readonly Entry[], stream: Stream): readonly Entry[] {
  const committed = entries.at(-1)?.kind === "streaming" ? entries.slice(0, -1) : entries;
  const live = liveEntry(stream);
  return live === undefined ? committed : [...committed, live];
}

/** The streaming entry of a stream; absent where it has said nothing. Either half may be empty. */
export function liveEntry(stream: Stream): StreamingEntry | undefined {
  const { text = "", thinking = "" } = stream;
  return text === "" && thinking === "" ? undefined : { kind: "streaming", name: LIVE_NAME, thinking, text };
}

/** The entries with the notice of a failure as their last one; without a wound an older notice in last place is removed. */
export function withWound(entries: readonly Entry[], wound: Wound | undefined): readonly Entry[] {
  const committed = entries.at(-1)?.kind === "wounded" ? entries.slice(0, -1) : entries;
  return wound === undefined ? committed : [...committed, woundEntry(wound)];
}

export function woundEntry(wound: Wound): WoundedEntry {
  return { kind: "wounded", name: WOUND_NAME, wound };
}
