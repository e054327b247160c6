/**
 * Changes of a session told as the frames of a lane, for agents that publish no step directory: a step is what one message of the model says
 * and the calls it makes. Text is told as it is written, calls as they are recorded. Pure: changes in, frames out.
 */
import { EVENT_INPUT_MAX, elideMiddle, type Frame, type LaneEvent, type ToolEvent } from "../follow/index.ts";
import type { TailPage } from "../sources/index.ts";
import type { CallOutcome, Entry, ModelEntry, StreamingEntry, ToolResultEntry } from "../transcript/index.ts";
import { FRAME_TEXT_MAX, TOLD_CALLS_MAX } from "./limits.ts";
import type { Change } from "./types.ts";

type Speech = ModelEntry | StreamingEntry;
interface Words {
  readonly text: string;
  readonly thinking: string;
}

export interface LaneTeller {
  /** The step that is under way at the end of a tail page. */
  begin(page: TailPage): readonly LaneEvent[];
  tell(change: Change): readonly LaneEvent[];
  /** Ends the read that is told, as where positions became void. */
  end(): readonly LaneEvent[];
}

export function createLaneTeller(): LaneTeller {
  /** What the entries of the step have said, in log order; emptied with each step. */
  let parts = new Map<string, Words>();
  let messageId: string | undefined;
  let told: Words = { text: "", thinking: "" };
  let hasTold = false;
  /** Speech that was told and is not finished: at most as much as the tracker lets wait. */
  const open = new Set<string>();
  /** The part of it that belongs to steps before. */
  const past = new Set<string>();
  /** Calls of any step, oldest first: true once told to be complete. */
  const calls = new Map<string, boolean>();

  function end(): readonly LaneEvent[] {
    const ended = hasTold;
    for (const name of open) past.add(name);
    parts = new Map();
    messageId = undefined;
    told = { text: "", thinking: "" };
    hasTold = false;
    return ended ? [{ type: "over" }] : [];
  }

  function frame(stream: Frame["stream"], tools: readonly ToolEvent[], again = false): LaneEvent {
    hasTold = true;
    return { type: "frame", frame: { stream, tools, ...(again ? { again } : {}) } };
  }

  function say(entry: Speech, was: string = entry.name): readonly LaneEvent[] {
    const out: LaneEvent[] = [];
    if (beginsStep(entry, was)) out.push(...end());
    messageId = idOf(entry) ?? messageId;
    const words = wordsOf(entry);
    const seat = parts.has(was) ? was : entry.name;
    if (parts.has(seat))
      parts = new Map([...parts].map((part) => (part[0] === seat ? [entry.name, words] : part)));
    else parts.set(entry.name, words);
    const events = entry.kind === "model" ? callEvents(entry) : [];
    out.push(...grow(joined(parts), events));
    return out;
  }

  /** A message of another id, or without one where something else has been said before, is another call of the model. */
  function beginsStep(entry: Speech, was: string): boolean {
    if (parts.size === 0 || parts.has(was) || parts.has(entry.name)) return false;
    const id = idOf(entry);
    return id === undefined || messageId === undefined || id !== messageId;
  }

  function grow(now: Words, events: readonly ToolEvent[]): readonly LaneEvent[] {
    const before = told;
    const isGrown = now.text.startsWith(before.text) && now.thinking.startsWith(before.thinking);
    told = now;
    const from = isGrown ? before : { text: "", thinking: "" };
    const streams = streamsOf(now.text.slice(from.text.length), now.thinking.slice(from.thinking.length));
    if (streams.length === 0 && events.length === 0 && isGrown) return [];
    const [first = {}, ...more] = streams;
    return [frame(first, events, !isGrown), ...more.map((stream) => frame(stream, []))];
  }

  function callEvents(entry: ModelEntry): readonly ToolEvent[] {
    const events: ToolEvent[] = [];
    for (const block of entry.blocks) {
      if (block.kind !== "tool-use") continue;
      const { id: toolUse, outcome } = block;
      if (!calls.has(toolUse)) {
        remember(toolUse, false);
        const input = elideMiddle(block.inputSummary, EVENT_INPUT_MAX);
        events.push({ toolUse, tool: block.name, ...(input === "" ? {} : { input }) });
      }
      if (outcome !== undefined && outcome.state !== "running")
        events.push(...complete(toolUse, exitOf(outcome)));
    }
    return events;
  }

  function complete(toolUse: string, exitCode: number): readonly ToolEvent[] {
    if (calls.get(toolUse) !== false) return [];
    remember(toolUse, true);
    return [{ toolUse, exitCode }];
  }

  function remember(toolUse: string, isComplete: boolean): void {
    calls.set(toolUse, isComplete);
    const [oldest] = calls.keys();
    if (calls.size > TOLD_CALLS_MAX && oldest !== undefined) calls.delete(oldest);
  }

  function result(entry: ToolResultEntry): readonly LaneEvent[] {
    const exitCode = entry.outcome ? exitOf(entry.outcome) : Number(entry.isError);
    const events = complete(entry.toolUseId, exitCode);
    return events.length === 0 ? [] : [frame({}, events)];
  }

  function tellEntry(entry: Entry, isFinished: boolean, was: string = entry.name): readonly LaneEvent[] {
    if (entry.kind === "tool-result") return result(entry);
    if (entry.kind !== "model" && entry.kind !== "streaming") return [];
    const isPast = past.delete(was);
    open.delete(was);
    const events = isPast ? reviseCalls(entry) : say(entry, was);
    if (!isFinished) open.add(entry.name);
    if (!isFinished && isPast) past.add(entry.name);
    return events;
  }

  return {
    end,
    begin(page) {
      if (!page.turnOpen) return [];
      const live = new Set(page.live);
      const events = page.entries.flatMap((entry) =>
        entry.kind === "delivered" ? end() : tellEntry(entry, !live.has(entry.name)),
      );
      // Only the last step is under way.
      return events.slice(events.findLastIndex((event) => event.type === "over") + 1);
    },
    tell(change) {
      switch (change.type) {
        case "turnStarted":
        case "turnEnded":
        case "reset":
        case "branchLeft":
          return end();
        case "blockOpened":
          return tellEntry(change.entry, false);
        case "blockFinished":
          return tellEntry(change.entry, true);
        case "blockChanged":
          return tellEntry(change.entry, false, change.was);
        case "blockRevised":
          return reviseCalls(change.entry);
        case "saved":
        case "compacted":
        case "info":
        case "notice":
        case "caughtUp":
        case "driver":
          return [];
      }
    },
  };

  /** A block of a step before may still say how its calls ended; what it said is in the transcript. */
  function reviseCalls(entry: Entry): readonly LaneEvent[] {
    if (entry.kind === "tool-result") return result(entry);
    if (entry.kind !== "model") return [];
    const events = callEvents(entry);
    return events.length === 0 ? [] : [frame({}, events)];
  }
}

function idOf(entry: Speech): string | undefined {
  return entry.kind === "model" ? entry.messageId : undefined;
}

function wordsOf(entry: Speech): Words {
  if (entry.kind === "streaming") return { text: entry.text, thinking: entry.thinking };
  const of = (kind: "text" | "thinking"): string =>
    paragraphs(entry.blocks.map((block) => (block.kind === kind ? block.text : "")));
  return { text: of("text"), thinking: of("thinking") };
}

function joined(parts: ReadonlyMap<string, Words>): Words {
  const all = [...parts.values()];
  return { text: paragraphs(all.map((p) => p.text)), thinking: paragraphs(all.map((p) => p.thinking)) };
}

function paragraphs(texts: readonly string[]): string {
  return texts.filter((text) => text !== "").join("\n\n");
}

/** What was said, in streams that no frame is too small for: thinking first, as it comes first. */
function streamsOf(text: string, thinking: string): readonly Frame["stream"][] {
  if (text.length + thinking.length <= FRAME_TEXT_MAX) {
    if (text === "" && thinking === "") return [];
    return [
      {
        ...(text === "" ? {} : { text }),
        ...(thinking === "" ? {} : { thinking }),
        lastDelta: text === "" ? "thinking" : "text",
      },
    ];
  }
  return [
    ...pieces(thinking).map((piece) => ({ thinking: piece, lastDelta: "thinking" as const })),
    ...pieces(text).map((piece) => ({ text: piece, lastDelta: "text" as const })),
  ];
}

function pieces(text: string): readonly string[] {
  const all: string[] = [];
  for (let at = 0; at < text.length; at += FRAME_TEXT_MAX) all.push(text.slice(at, at + FRAME_TEXT_MAX));
  return all;
}

/** 0 for a call that went well, 1 for any other without a code of its own. */
function exitOf({ state, exitCode }: CallOutcome): number {
  return exitCode ?? (state === "done" ? 0 : 1);
}
