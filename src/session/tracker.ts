/**
 * Turns what a growing log says into changes in the words of the window. Pure: items in, changes out.
 *
 * Blocks finish in log order: a call without its result holds back what follows it, so that what was printed, what is held and what
 * is read back from the log are the same sequence. A turn that ends finishes everything.
 */
import type { LogItem, Position, TailPage } from "../sources/index.ts";
import type { Entry } from "../transcript/index.ts";
import { PENDING_BLOCKS_MAX } from "./limits.ts";
import type { Change } from "./types.ts";

interface Pending {
  entry: Entry;
  live: boolean;
  start: Position;
  end: Position;
}

export interface Tracker {
  /** The changes that one batch of log items makes, in order; ends with `saved` where anything finished. */
  apply(items: readonly LogItem[]): readonly Change[];
  /** Blocks not finished yet, in log order. */
  pending(): readonly Entry[];
  readonly isTurnOpen: boolean;
}

/** A tracker that continues from a tail page: its live blocks and all that follow them are pending, its turn as the page says. */
export function createTracker(page: TailPage): Tracker {
  const pending: Pending[] = [];
  const liveNames = new Set(page.live);
  for (const [index, entry] of page.entries.entries()) {
    const live = liveNames.has(entry.name);
    if (!live && pending.length === 0) continue;
    pending.push({
      entry,
      live,
      start: page.positions[index] ?? page.start,
      end: page.positions[index + 1] ?? page.end,
    });
  }
  let isTurnOpen = page.turnOpen;

  function finishHead(out: Change[]): void {
    const head = pending.shift();
    if (head) out.push({ type: "blockFinished", entry: head.entry, start: head.start, end: head.end });
  }

  function finishReady(out: Change[]): void {
    while (pending[0] && !pending[0].live) finishHead(out);
  }

  function finishAll(out: Change[]): void {
    while (pending.length > 0) finishHead(out);
  }

  function endTurn(out: Change[], time: number | undefined): void {
    finishAll(out);
    if (!isTurnOpen) return;
    isTurnOpen = false;
    // The turn is committed before its end is told (duty A7 of the window's shell).
    out.push({ type: "saved" }, { type: "turnEnded", ...(time === undefined ? {} : { time }) });
  }

  /** What was streamed is committed: the block goes on under its name in the log. */
  function replaceVirtual(item: LogItem & { readonly type: "entry" }, out: Change[]): boolean {
    const waiting = pending.find((p) => p.entry.name === item.replaces);
    if (!waiting) return false;
    const was = waiting.entry.name;
    waiting.entry = item.entry;
    waiting.live = item.live;
    waiting.start = item.start;
    waiting.end = item.end;
    out.push({ type: "blockChanged", entry: item.entry, was });
    finishReady(out);
    return true;
  }

  function applyItem(item: LogItem, out: Change[]): void {
    switch (item.type) {
      case "entry": {
        if (item.replaces !== undefined && replaceVirtual(item, out)) return;
        if (pending.length === 0 && !item.live) {
          out.push({ type: "blockFinished", entry: item.entry, start: item.start, end: item.end });
          return;
        }
        if (pending.length >= PENDING_BLOCKS_MAX) {
          finishHead(out);
          finishReady(out);
        }
        if (pending.length === 0 && !item.live) {
          out.push({ type: "blockFinished", entry: item.entry, start: item.start, end: item.end });
          return;
        }
        pending.push({ entry: item.entry, live: item.live, start: item.start, end: item.end });
        out.push({ type: "blockOpened", entry: item.entry });
        return;
      }
      case "changed": {
        const waiting = pending.find((p) => p.entry.name === item.entry.name);
        if (!waiting) {
          out.push({ type: "blockRevised", entry: item.entry });
          return;
        }
        waiting.entry = item.entry;
        waiting.live = item.live;
        // A block that finishes at once is not repainted first: its finish paints it.
        if (item.live || pending[0] !== waiting) out.push({ type: "blockChanged", entry: item.entry });
        finishReady(out);
        return;
      }
      case "turnStarted":
        endTurn(out, item.time);
        isTurnOpen = true;
        out.push({ type: "turnStarted", ...(item.time === undefined ? {} : { time: item.time }) });
        return;
      case "turnEnded":
        endTurn(out, item.time);
        return;
      case "compacted":
        out.push({ type: "compacted" });
        return;
      case "branchLeft":
        out.push({ type: "branchLeft", from: item.from, to: item.to });
        return;
      case "info":
      case "damage":
        // Facts are merged by the session; damaged bytes arrive as raw entries of their own.
        return;
    }
  }

  return {
    apply(items) {
      const out: Change[] = [];
      for (const item of items) applyItem(item, out);
      const finished = out.findLastIndex((c) => c.type === "blockFinished");
      if (finished > out.findLastIndex((c) => c.type === "saved")) out.push({ type: "saved" });
      return out;
    },
    pending: () => pending.map((p) => p.entry),
    get isTurnOpen() {
      return isTurnOpen;
    },
  };
}
