/** Opens a rollout: a plain file, or an archive through its decoded bytes. */
import { FileError, type FileSource, type FollowEvent, openFile } from "../../lines/index.ts";
import type { Entry, Place } from "../../transcript/index.ts";
import { readFully } from "../ends.ts";
import { fileStateAt } from "../file-errors.ts";
import { openJsonlLog } from "../jsonl-log.ts";
import type {
  CheckReport,
  DamageNote,
  Log,
  LogEvent,
  Page,
  Position,
  SessionInfo,
  TailPage,
} from "../types.ts";
import { createLooker, nodeWatchPorts, type WatchPorts } from "../watch.ts";
import { isZstd, openZstd, type ZstdSource } from "../zstd/zstd.ts";
import { codexClassifier } from "./classifier.ts";

/**
 * Opens by content: what begins like an archive is decoded, whatever its name. Where the file is not there, the archive that took its
 * place is opened, or the plain file that took an archive's place; `describe` is asked about the one that is.
 */
export async function openRollout(
  asked: string,
  describe: (path: string) => Promise<SessionInfo>,
  ports: WatchPorts = nodeWatchPorts,
): Promise<Log> {
  const { path, source } = await openEither(asked);
  let head: Uint8Array;
  try {
    head = await readFully(source, 0, 4);
  } catch (error) {
    await source.close();
    throw error;
  }
  const about = (): Promise<SessionInfo> => describe(path);
  if (!isZstd(head))
    return openJsonlLog({ agent: "codex", path, classifier: codexClassifier, source, describe: about });
  await source.close();
  const decoded = await openZstd(path);
  const log = await openJsonlLog({
    agent: "codex",
    path,
    classifier: codexClassifier,
    source: decoded,
    describe: about,
    follow: (from, signal) => followArchive(from, signal),
  });
  return new ArchiveLog(log, decoded, ports);
}

/** Codex packs rollouts that have rested for some days, and unpacks one that is taken up again. */
async function openEither(path: string): Promise<{ readonly path: string; readonly source: FileSource }> {
  try {
    return { path, source: await openFile(path) };
  } catch (error) {
    if (!(error instanceof FileError) || error.code !== "not-found") throw error;
    const other = plainPath(path) ?? (path.endsWith(".jsonl") ? `${path}.zst` : undefined);
    if (other === undefined || (await fileStateAt(other)) === undefined) throw error;
    return { path: other, source: await openFile(other) };
  }
}

/** An archive never grows: all it holds has been given. */
async function* followArchive(from: number, signal: AbortSignal): AsyncGenerator<FollowEvent> {
  if (!signal.aborted) yield { type: "caughtUp", end: from, partialBytes: 0 };
}

/** The plain file that Codex writes when it goes on with an archived rollout. */
function plainPath(path: string): string | undefined {
  return path.endsWith(".zst") ? path.slice(0, -".zst".length) : undefined;
}

/** A log over decoded bytes, which says what of its archive could not be read, and when the archive was taken up again. */
class ArchiveLog implements Log {
  readonly agent = "codex";
  readonly path: string;
  readonly #log: Log;
  readonly #source: ZstdSource;
  readonly #ports: WatchPorts;

  constructor(log: Log, source: ZstdSource, ports: WatchPorts) {
    this.path = log.path;
    this.#log = log;
    this.#source = source;
    this.#ports = ports;
  }

  info(): Promise<SessionInfo> {
    return this.#log.info();
  }

  async tail(limit: number): Promise<TailPage> {
    // A rollout is archived when nobody works on it any more.
    return { ...this.#asOver(await this.#log.tail(limit)), turnOpen: false, live: [] };
  }

  async older(from: Position, limit: number): Promise<Page> {
    return this.#asOver(await this.#log.older(from, limit));
  }

  async newer(from: Position, limit: number): Promise<Page> {
    return this.#asOver(await this.#log.newer(from, limit));
  }

  async first(limit: number): Promise<Page> {
    return this.#asOver(await this.#log.first(limit));
  }

  async *follow(after: Position, signal: AbortSignal): AsyncGenerator<LogEvent> {
    yield* this.#log.follow(after, signal);
    const looker = createLooker(signal, this.#ports);
    const plain = plainPath(this.path);
    looker.setPaths([this.path]);
    let isGone = false;
    try {
      while (await looker.next(false)) {
        if (plain !== undefined && (await fileStateAt(plain)) !== undefined) {
          yield { type: "notice", text: `The session goes on in ${plain}: open that file to follow it.` };
          return;
        }
        const hasFile = (await fileStateAt(this.path)) !== undefined;
        if (!hasFile && !isGone) yield { type: "gone" };
        isGone = !hasFile;
      }
    } finally {
      looker.close();
    }
  }

  async check(signal?: AbortSignal): Promise<CheckReport> {
    const report = await this.#log.check(signal);
    return { ...report, damaged: [...report.damaged, ...this.#notes()] };
  }

  raw(place: Place, limit?: number): Promise<Uint8Array> {
    return limit === undefined ? this.#log.raw(place) : this.#log.raw(place, limit);
  }

  close(): Promise<void> {
    return this.#log.close();
  }

  /** What is missing, at the decoded offset where it would come. */
  #notes(): readonly DamageNote[] {
    return this.#source.damage.map(({ fault, offset }) => ({
      start: offset,
      end: offset,
      reason: fault === "truncated" ? "torn" : fault === "limit" ? "too-large" : "not-json",
    }));
  }

  /** The page with no call that still runs, and at the end with what is missing. */
  #asOver<P extends Page>(page: P): P {
    const notes = page.atEnd ? this.#notes() : [];
    return { ...page, entries: page.entries.map(withoutRunning), damage: [...page.damage, ...notes] };
  }
}

function withoutRunning(entry: Entry): Entry {
  if (entry.kind !== "model") return entry;
  const blocks = entry.blocks.map((b) =>
    b.kind === "tool-use" && b.outcome?.state === "running"
      ? { ...b, outcome: { state: "unanswered" as const } }
      : b,
  );
  return { ...entry, blocks };
}
