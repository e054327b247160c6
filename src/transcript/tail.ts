/** The two virtual entries at the end of a transcript, and the folds that seat them: what is being said, and how it failed. Pure. */
import type { Entry, StreamingEntry, Wound, WoundedEntry } from "./entry.ts";
import type { Stream } from "./stream.ts";

/** The name of the streaming entry. */
export const LIVE_NAME = "«live»";
/** The name of the entry of a settled failure. */
export const WOUND_NAME = "«wound»";

/**
 * The entries with the stream as their last one. An older streaming entry among the virtual ones at the end is replaced; a stream that has
 * said nothing only removes it. Folding twice is folding the second.
 */
export function withLive(entries: readonly Entry[], stream: Stream): readonly Entry[] {
  const committed = withoutTail(entries, "streaming");
  const live = liveEntry(stream);
  return live === undefined ? committed : [...committed, live];
}

/** The streaming entry of a stream; absent where it has said nothing. Either half may be empty. */
export function liveEntry(stream: Stream): StreamingEntry | undefined {
  const { text = "", thinking = "" } = stream;
  return text === "" && thinking === "" ? undefined : { kind: "streaming", name: LIVE_NAME, thinking, text };
}

/**
 * The entries with the notice of a failure as their last one, in the place of an older notice among the virtual entries at the end; without
 * a wound that one is only removed.
 */
export function withWound(entries: readonly Entry[], wound: Wound | undefined): readonly Entry[] {
  const committed = withoutTail(entries, "wounded");
  return wound === undefined ? committed : [...committed, woundEntry(wound)];
}

export function woundEntry(wound: Wound): WoundedEntry {
  return { kind: "wounded", name: WOUND_NAME, wound };
}

/** Both kinds can stand at the end, in either order; neither fold takes the other's away. */
function withoutTail(entries: readonly Entry[], kind: "streaming" | "wounded"): readonly Entry[] {
  const end = entries.findLastIndex((entry) => !isVirtualTail(entry)) + 1;
  const tail = entries.slice(end);
  return tail.some((entry) => entry.kind === kind)
    ? [...entries.slice(0, end), ...tail.filter((entry) => entry.kind !== kind)]
    : entries;
}

function isVirtualTail(entry: Entry): boolean {
  return (
    (entry.kind === "streaming" && entry.name === LIVE_NAME) ||
    (entry.kind === "wounded" && entry.name === WOUND_NAME)
  );
}
