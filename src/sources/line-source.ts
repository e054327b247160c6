/** A source whose sessions are files of one record a line: finding, telling, describing and opening them by what its records mean. */
import { openFile } from "../lines/index.ts";
import type { Classifier } from "./classifier.ts";
import { parseLine, readEnds, textLines } from "./ends.ts";
import type { Fields } from "./fields.ts";
import { fileStateAt, isFileError } from "./file-errors.ts";
import { openJsonlLog } from "./jsonl-log.ts";
import { BESIDE_BYTES_MAX } from "./limits.ts";
import { titleFromPrompt } from "./prompt-title.ts";
import type { FoundSession, Log, SessionInfo, Source, SourcePlaces, Surroundings } from "./types.ts";

/** Bytes of each end that a description is made from. */
export const LINE_HEAD_BYTES: number = 64 * 1024;
export const LINE_TAIL_BYTES: number = 64 * 1024;
/** Records at the start of a file that are looked at to tell whose it is. */
const DETECT_RECORDS = 8;

export type FoundFile = Omit<FoundSession, "agent">;
export type OnProblem = (path: string, message: string) => void;

export interface LineSourceSpec {
  readonly places: SourcePlaces;
  readonly classifier: Classifier;
  find(around: Surroundings, onProblem: OnProblem): AsyncIterable<FoundFile>;
  /** The session's id from its path. */
  idOf(path: string): string;
  /** Whether only this agent writes such a record. */
  isOwn(record: Fields): boolean;
  /** What files beside the log say; they win over what the log says. */
  aside?(path: string): Promise<Partial<SessionInfo>>;
}

/** The source. A description reads both ends of a file; an open log costs what its pages hold. */
export function createLineSource(spec: LineSourceSpec): Source {
  const { places } = spec;
  const { agent } = places;
  const describe = (found: FoundSession): Promise<SessionInfo> => describeFile(spec, found);
  return {
    ...places,
    async *discover(around, onProblem) {
      for await (const found of spec.find(around, onProblem)) yield { agent, ...found };
    },
    detects: async (_path, head) => hasOwnRecord(spec, head),
    describe,
    open: (path) => openLineLog(spec, path),
  };
}

function hasOwnRecord(spec: LineSourceSpec, head: Uint8Array): boolean {
  let seen = 0;
  for (const line of textLines(head, true)) {
    if (line.trim() === "") continue;
    const value = parseLine(line.replace(/^\uFEFF/, ""));
    if (value !== undefined && spec.isOwn(value)) return true;
    seen += 1;
    if (seen >= DETECT_RECORDS) return false;
  }
  return false;
}

async function describeFile(spec: LineSourceSpec, found: FoundSession): Promise<SessionInfo> {
  const { head, tail, bytes } = await readEnds(found.path, LINE_HEAD_BYTES, LINE_TAIL_BYTES);
  const aside = spec.aside === undefined ? {} : await spec.aside(found.path);
  const { archived, parentId } = found;
  return {
    agent: spec.places.agent,
    id: found.id,
    path: found.path,
    bytes: found.bytes,
    modifiedAt: found.modifiedAt,
    ...(parentId === undefined ? {} : { parentId }),
    ...(archived === undefined ? {} : { archived }),
    ...factsOf(spec.classifier, head, head.length === bytes, true),
    ...(tail.length > 0 ? factsOf(spec.classifier, tail, true, false) : {}),
    ...aside,
  };
}

/** What one end says; the head also gives a title made of the first prompt where no title is told. */
function factsOf(
  classifier: Classifier,
  bytes: Uint8Array,
  isWhole: boolean,
  isHead: boolean,
): Partial<SessionInfo> {
  let info: Partial<SessionInfo> = {};
  let prompt: string | undefined;
  let startedAt: number | undefined;
  for (const line of textLines(bytes, isWhole)) {
    const value = parseLine(line.replace(/^\uFEFF/, ""));
    if (value === undefined) continue;
    const said = classifier.classify({ type: "record", start: 0, end: 0, value });
    if (said.info !== undefined) {
      // The first header says when the session began; later ones say when it was taken up again.
      startedAt ??= said.info.startedAt;
      info = { ...info, ...said.info };
    }
    if (!isHead || prompt !== undefined) continue;
    const first = said.entries.find((entry) => entry.kind === "delivered" && entry.sender === "user");
    if (first?.kind === "delivered") prompt = titleFromPrompt(first.body);
  }
  const { startedAt: _last, ...rest } = info;
  return {
    ...rest,
    ...(isHead && startedAt !== undefined ? { startedAt } : {}),
    ...(isHead && info.title === undefined && prompt !== undefined ? { title: prompt } : {}),
  };
}

async function openLineLog(spec: LineSourceSpec, path: string): Promise<Log> {
  return openJsonlLog({
    agent: spec.places.agent,
    path,
    classifier: spec.classifier,
    source: await openFile(path),
    async describe() {
      const state = await fileStateAt(path);
      const modifiedAt = state === undefined ? 0 : Number(state.modified / 1_000_000n);
      return describeFile(spec, {
        agent: spec.places.agent,
        id: spec.idOf(path),
        path,
        bytes: state?.size ?? 0,
        modifiedAt,
      });
    },
  });
}

/** The text of a small file beside a log; absent where it is not there or not for us. Reads at most `BESIDE_BYTES_MAX`. */
export async function textBeside(path: string): Promise<string | undefined> {
  try {
    const { head } = await readEnds(path, BESIDE_BYTES_MAX, 0);
    return new TextDecoder().decode(head);
  } catch (error) {
    if (isFileError(error)) return undefined;
    throw error;
  }
}
