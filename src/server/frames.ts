/** What a lane says, and how changes of a session become it: what grew is told as what was appended. Pure. */
import type { Change, DriverState, Position, SessionInfo } from "../session/index.ts";
import type { ContentBlock, Entry, ModelEntry, StreamingEntry } from "../transcript/index.ts";

/** What of a session a client is told: its files' places are nobody's business on another machine. */
export type WireInfo = Omit<SessionInfo, "path" | "id"> & {
  /** The agent's own id of the session. */
  readonly agentSessionId: string;
};

/** All that is not finished, at one moment. Replaces whatever a client holds of it. */
export interface Standing {
  readonly type: "standing";
  readonly turnOpen: boolean;
  /** The blocks that may still change, in log order. */
  readonly pending: readonly Entry[];
  readonly info: WireInfo;
  /** Absent where Hansard does not drive the agent. */
  readonly driver?: DriverState;
}

/** Text that came at the end of a live block: of a streaming entry's half, or of a model entry's content block by its index. */
export interface BlockAppended {
  readonly type: "blockAppended";
  readonly name: string;
  readonly to: "text" | "thinking" | number;
  readonly text: string;
}

/** A block that is finished as it was last told. */
export interface BlockSettled {
  readonly type: "blockSettled";
  readonly name: string;
  readonly start: Position;
  readonly end: Position;
}

/** The client was too slow: what it missed is read from its position when it asks again. The lane ends. */
export interface Lagged {
  readonly type: "lagged";
}

/** The lane is not served any more: the key was revoked or the server ends. With `again` false there is no use in coming back. */
export interface LaneClosed {
  readonly type: "closed";
  readonly reason: string;
  readonly again: boolean;
}

type Told = Exclude<Change, { readonly type: "saved" | "caughtUp" | "info" }>;

/** One thing that a lane says. Each frame about a block names it: a client that holds the name puts the frame's in its place. */
export type LaneFrame =
  | Told
  | { readonly type: "info"; readonly info: WireInfo }
  | Standing
  | BlockAppended
  | BlockSettled
  | Lagged
  | LaneClosed;

export function wireInfo({ path: _, id, ...info }: SessionInfo): WireInfo {
  return { ...info, agentSessionId: id };
}

/** What a block's growth is made of, or undefined where it changed otherwise. */
function growthOf(before: Entry, after: Entry): readonly BlockAppended[] | undefined {
  if (before.name !== after.name) return undefined;
  if (before.kind === "streaming" && after.kind === "streaming") return streamGrowth(before, after);
  if (before.kind === "model" && after.kind === "model") return modelGrowth(before, after);
  return undefined;
}

function isSame(a: unknown, b: unknown): boolean {
  return a === b || JSON.stringify(a) === JSON.stringify(b);
}

function streamGrowth(before: StreamingEntry, after: StreamingEntry): readonly BlockAppended[] | undefined {
  if (!after.text.startsWith(before.text) || !after.thinking.startsWith(before.thinking)) return undefined;
  if (!isSame({ ...before, text: "", thinking: "" }, { ...after, text: "", thinking: "" })) return undefined;
  const { name } = after;
  const grown: BlockAppended[] = [];
  for (const half of ["thinking", "text"] as const)
    if (after[half].length > before[half].length)
      grown.push({ type: "blockAppended", name, to: half, text: after[half].slice(before[half].length) });
  return grown;
}

function wordsOf(block: ContentBlock | undefined): string | undefined {
  return block?.kind === "text" || block?.kind === "thinking" ? block.text : undefined;
}

function modelGrowth(before: ModelEntry, after: ModelEntry): readonly BlockAppended[] | undefined {
  const last = after.blocks.length - 1;
  const was = before.blocks.at(-1);
  const is = after.blocks[last];
  const [old, now] = [wordsOf(was), wordsOf(is)];
  if (before.blocks.length !== after.blocks.length || was?.kind !== is?.kind) return undefined;
  if (old === undefined || now === undefined || !now.startsWith(old)) return undefined;
  if (
    !isSame(
      { ...before, blocks: before.blocks.slice(0, -1) },
      { ...after, blocks: after.blocks.slice(0, -1) },
    )
  )
    return undefined;
  if (now.length === old.length) return [];
  return [{ type: "blockAppended", name: after.name, to: last, text: now.slice(old.length) }];
}

/** A client's copy of a block, grown by what was appended; as it was where the frame does not fit it. */
export function appendToBlock(entry: Entry, { to, text }: BlockAppended): Entry {
  if (entry.kind === "streaming" && typeof to === "string") return { ...entry, [to]: entry[to] + text };
  if (entry.kind !== "model" || typeof to !== "number") return entry;
  const blocks = entry.blocks.map((block, index) =>
    index === to && (block.kind === "text" || block.kind === "thinking")
      ? { ...block, text: block.text + text }
      : block,
  );
  return { ...entry, blocks };
}

/** What a lane keeps between changes: the live blocks as they were last told. */
export interface LiveBlocks {
  /** By name, in log order. */
  readonly pending: ReadonlyMap<string, Entry>;
  readonly turnOpen: boolean;
}

/** The frames that tell a change, and what is live after it. `saved` and `caughtUp` say nothing that a client needs. */
export function tellChange(
  live: LiveBlocks,
  change: Change,
): { readonly frames: readonly LaneFrame[]; readonly live: LiveBlocks } {
  switch (change.type) {
    case "saved":
    case "caughtUp":
      return { frames: [], live };
    case "turnStarted":
    case "turnEnded":
      return { frames: [change], live: { ...live, turnOpen: change.type === "turnStarted" } };
    case "info":
      return { frames: [{ type: "info", info: wireInfo(change.info) }], live };
    case "blockOpened":
      return { frames: [change], live: withBlock(live, change.entry) };
    case "blockChanged": {
      const before = live.pending.get(change.was ?? change.entry.name);
      const growth = change.was === undefined && before ? growthOf(before, change.entry) : undefined;
      return { frames: growth ?? [change], live: withBlock(live, change.entry, change.was) };
    }
    case "blockFinished": {
      const { entry, start, end } = change;
      const before = live.pending.get(entry.name);
      const settled = { type: "blockSettled", name: entry.name, start, end } as const;
      return {
        frames: [before !== undefined && isSame(before, entry) ? settled : change],
        live: withoutBlock(live, entry.name),
      };
    }
    case "blockRevised":
    case "compacted":
    case "branchLeft":
    case "notice":
    case "reset":
    case "driver":
      return { frames: [change], live };
  }
}

function withBlock(live: LiveBlocks, entry: Entry, was: string = entry.name): LiveBlocks {
  // A renamed block keeps its seat.
  if (was !== entry.name && live.pending.has(was)) {
    const seats = [...live.pending].map(([name, each]) => (name === was ? entry : each) as Entry);
    return { ...live, pending: new Map(seats.map((each) => [each.name, each])) };
  }
  return { ...live, pending: new Map(live.pending).set(entry.name, entry) };
}

function withoutBlock(live: LiveBlocks, name: string): LiveBlocks {
  const pending = new Map(live.pending);
  pending.delete(name);
  return { ...live, pending };
}
