/** What the frames of an fx session mean: whole turns as they are committed, or in later versions an event for each thing said. */
import type { RecordItem } from "../../lines/index.ts";
import type { ContentBlock } from "../../transcript/index.ts";
import type { Classified, Classifier, EntryDraft, Mark } from "../classifier.ts";
import {
  compactJson,
  countOf,
  type Fields,
  noteDraft,
  objectOf,
  RAW_TEXT_MAX,
  stringOf,
  timed,
  timeOf,
  wordOf,
} from "../fields.ts";
import { known, nameless, unknown } from "../kinds.ts";
import type { SessionInfo } from "../types.ts";
import {
  durableText,
  interruption,
  messageBlocks,
  promptDraft,
  steeringDraft,
  toolCall,
  toolResult,
  turnDrafts,
} from "./turn.ts";

export const fxClassifier: Classifier = { agent: "fx", classify };

const BEGUN: Mark = { type: "turnStarted", automatic: true };
const STARTED: Mark = { type: "turnStarted" };
const ENDED: Mark = { type: "turnEnded" };

function classify(record: RecordItem): Classified {
  const value = objectOf(record.value);
  const time = timeOf(value?.["timestamp_ms"]);
  const event = objectOf(value?.["event"]);
  const kind = stringOf(value?.["kind"]) ?? (event === undefined ? undefined : Object.keys(event)[0]);
  if (value === undefined || kind === undefined) return nameless("kind", record.value);
  const said =
    event === undefined
      ? frame(kind, objectOf(value["payload"]) ?? {}, time)
      : conversationEvent(kind, objectOf(event[kind]) ?? {}, time, `@${record.start}`);
  return said ?? unknown(kind, value, time);
}

function frame(kind: string, payload: Fields, time: number | undefined): Classified | undefined {
  switch (kind) {
    case "session_started":
      return known(kind, [], [], startInfo(payload));
    case "preferences_changed":
      return known(kind, [], [], modelInfo(payload["model"]));
    case "workspace_rebound": {
      const cwd = wordOf(payload["workspace_root"]);
      return known(kind, [], [], cwd === undefined ? {} : { cwd });
    }
    case "history_turn_committed":
      return committedTurn(kind, payload, time);
    // A turn under way is kept for recovery alone; it is told once it is committed.
    case "recovery_checkpoint_set":
      return known(kind, [], [BEGUN]);
    case "recovery_checkpoint_cleared":
    case "usage_checkpointed":
    case "state_replacement_chunk":
    case "state_replacement_started":
      return known(kind, []);
    case "state_replacement_committed":
      return known(kind, [noteDraft("replacement", compactJson(payload, RAW_TEXT_MAX), time)]);
    default:
      return undefined;
  }
}

function committedTurn(kind: string, payload: Fields, time: number | undefined): Classified {
  const turn = objectOf(payload["turn"]) ?? {};
  const turnKind = stringOf(turn["kind"]) ?? "";
  const total = countOf(payload["total_output_tokens"]);
  return {
    kind: `${kind}/${turnKind}`,
    known: true,
    entries: turnDrafts(turn, time),
    marks: turnKind === "compacted_summary" ? [{ type: "compacted" }] : [STARTED, ENDED],
    ...(total === undefined ? {} : { usage: { scope: "total", outputTokens: total } }),
  };
}

function startInfo(payload: Fields): Partial<SessionInfo> {
  const startedAt = timeOf(payload["created_at_ms"]);
  const cwd = wordOf(payload["workspace_root"]) ?? wordOf(payload["origin_workspace_root"]);
  return {
    ...(startedAt === undefined ? {} : { startedAt }),
    ...(cwd === undefined ? {} : { cwd }),
    ...modelInfo(objectOf(payload["preferences"])?.["model"]),
  };
}

function modelInfo(value: unknown): Partial<SessionInfo> {
  const model = wordOf(durableText(value));
  return model === undefined ? {} : { model };
}

/** One thing said, in the versions that write each on its own. */
function conversationEvent(
  kind: string,
  payload: Fields,
  time: number | undefined,
  key: string,
): Classified | undefined {
  const model = (blocks: readonly ContentBlock[]): Classified => ({
    kind,
    known: true,
    entries: [{ kind: "model", blocks, usage: {}, ...timed(time) }],
    modelMessage: key,
    marks: [BEGUN],
  });
  switch (kind) {
    case "user":
      return known(kind, [promptDraft(payload, time)], [STARTED]);
    case "steering":
      return known(
        kind,
        [steeringDraft(durableText(payload["text"]) ?? "", time)],
        [{ type: "turnStarted", implied: true }],
      );
    case "assistant":
      return model(messageBlocks(payload["text"], payload["parts"]));
    case "tool_call":
      return known(
        kind,
        [{ kind: "model", blocks: [toolCall(payload)], usage: {}, ...timed(time) }],
        [BEGUN],
      );
    case "tool_result":
      return known(kind, [toolResult(payload, time)]);
    case "turn_completed":
      return known(kind, [], [ENDED]);
    case "interrupted": {
      const words = messageBlocks(payload["partial_text"], undefined);
      const partial: readonly EntryDraft[] =
        words.length === 0 ? [] : [{ kind: "model", blocks: words, usage: {}, ...timed(time) }];
      return known(kind, [...partial, interruption(payload["reason"], time)], [ENDED]);
    }
    case "context_checkpoint":
      return known(
        kind,
        [{ kind: "compacted", summary: durableText(payload["summary"]) ?? "", ...timed(time) }],
        [{ type: "compacted" }],
      );
    default:
      return undefined;
  }
}
