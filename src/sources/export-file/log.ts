/** A JSON export as a session again: its entries as they were, under the positions that they had. */
import { once } from "node:events";
import { type FileSource, openFile } from "../../lines/index.ts";
import type { Entry, Place } from "../../transcript/index.ts";
import { readFully } from "../ends.ts";
import { SourceError } from "../errors.ts";
import { numberOf, wordOf } from "../fields.ts";
import { DAMAGE_TEXT_BYTES_MAX } from "../limits.ts";
import { badPosition } from "../position.ts";
import type {
  AgentName,
  CheckReport,
  DamageNote,
  Log,
  LogEvent,
  Page,
  Position,
  SessionInfo,
  TailPage,
} from "../types.ts";
import { type ExportLine, type ExportLines, entryOf, indexExport } from "./index-lines.ts";

/** The position behind the last entry. */
const END = "end";

/** Opens an export; `agents` are those that its session may be of. Throws a SourceError where it is none. */
export async function openExport(path: string, agents: readonly AgentName[]): Promise<Log> {
  const source = await openFile(path);
  try {
    const index = await indexExport(source, path);
    const agent = agents.find((name) => name === index.session["agent"]);
    if (agent === undefined)
      throw new SourceError(
        "unknown-agent",
        `${path} is the export of a session of an agent that is not known.`,
        {
          path,
          next: "A newer version of Hansard may know it.",
        },
      );
    return new ExportLog(path, agent, source, index);
  } catch (error) {
    await source.close();
    throw error;
  }
}

class ExportLog implements Log {
  readonly agent: AgentName;
  readonly path: string;
  readonly #source: FileSource;
  readonly #index: ExportLines;
  readonly #places = new Map<string, number>();

  constructor(path: string, agent: AgentName, source: FileSource, index: ExportLines) {
    this.agent = agent;
    this.path = path;
    this.#source = source;
    this.#index = index;
    for (const [at, { position }] of index.lines.entries()) this.#places.set(position, at);
    this.#places.set(END, index.lines.length);
  }

  async info(): Promise<SessionInfo> {
    const { session, bytes } = this.#index;
    const words = ["title", "cwd", "model", "gitBranch", "agentVersion", "parentId", "forkedFromId"] as const;
    const { modified } = await this.#source.state();
    const startedAt = numberOf(session["startedAt"]);
    return {
      agent: this.agent,
      id: wordOf(session["id"]) ?? "",
      path: this.path,
      bytes,
      modifiedAt: Number(modified / 1_000_000n),
      ...(startedAt === undefined ? {} : { startedAt }),
      ...(session["titled"] === true ? { titled: true } : {}),
      ...Object.fromEntries(
        words.flatMap((key) => {
          const word = wordOf(session[key]);
          return word === undefined ? [] : [[key, word]];
        }),
      ),
    };
  }

  async tail(limit: number): Promise<TailPage> {
    const end = this.#index.lines.length;
    return { ...(await this.#page(Math.max(0, end - limit), end)), turnOpen: false, live: [] };
  }

  async older(from: Position, limit: number): Promise<Page> {
    const end = this.#placeOf(from);
    return this.#page(Math.max(0, end - limit), end);
  }

  async newer(from: Position, limit: number): Promise<Page> {
    const start = this.#placeOf(from);
    return this.#page(start, Math.min(this.#index.lines.length, start + limit));
  }

  first(limit: number): Promise<Page> {
    return this.#page(0, Math.min(this.#index.lines.length, limit));
  }

  /** An export is whole once it is there: it never grows. */
  async *follow(_after: Position, signal: AbortSignal): AsyncGenerator<LogEvent, void, undefined> {
    yield { type: "caughtUp" };
    if (!signal.aborted) await once(signal, "abort");
  }

  async check(): Promise<CheckReport> {
    const recordKinds: Record<string, number> = {};
    for (const line of this.#index.lines) {
      if (line.damage !== undefined) continue;
      const { kind } = await this.#entry(line);
      recordKinds[kind] = (recordKinds[kind] ?? 0) + 1;
    }
    const damaged = this.#damage(0, this.#index.lines.length);
    return {
      agent: this.agent,
      path: this.path,
      bytes: this.#index.bytes,
      records: Object.values(recordKinds).reduce((sum, count) => sum + count, 0),
      recovered: 0,
      damaged,
      recordKinds,
      unknownKinds: [],
    };
  }

  /** The record that was exported with the entry of that place; nothing where it was not. */
  async raw(place: Place, limit: number = Number.MAX_SAFE_INTEGER): Promise<Uint8Array> {
    for (const line of this.#index.lines) {
      if (line.damage !== undefined) continue;
      const told = entryOf(await this.#bytes(line));
      const own = told?.entry.place;
      if (own?.start !== place.start || own.end !== place.end) continue;
      return new TextEncoder().encode(told?.raw ?? "").subarray(0, limit);
    }
    return new Uint8Array();
  }

  async close(): Promise<void> {
    await this.#source.close();
  }

  #placeOf(position: Position): number {
    const place = this.#places.get(position);
    if (place === undefined) throw badPosition(position, "the export has no such place");
    return place;
  }

  async #page(start: number, end: number): Promise<Page> {
    const { lines } = this.#index;
    const shown = lines.slice(start, end);
    return {
      entries: await Promise.all(shown.map((line) => this.#entry(line))),
      positions: shown.map(({ position }) => position),
      start: lines[start]?.position ?? END,
      end: lines[end]?.position ?? END,
      atStart: start === 0,
      atEnd: end === lines.length,
      damage: this.#damage(start, end),
    };
  }

  #damage(start: number, end: number): readonly DamageNote[] {
    const { lines, torn, bytes } = this.#index;
    const notes: DamageNote[] = lines
      .slice(start, end)
      .flatMap((line) =>
        line.damage === undefined ? [] : [{ start: line.start, end: line.end, reason: line.damage }],
      );
    if (torn !== undefined && end === lines.length) notes.push({ start: torn, end: bytes, reason: "torn" });
    return notes;
  }

  async #entry(line: ExportLine): Promise<Entry> {
    const bytes = await this.#bytes(line);
    const told = line.damage === undefined ? entryOf(bytes) : undefined;
    if (told !== undefined) return told.entry;
    return {
      kind: "raw",
      name: `@${line.position}`,
      place: { start: line.start, end: line.end },
      reason: `${line.end - line.start} bytes that are no entry`,
      text: new TextDecoder().decode(bytes),
      damaged: true,
    };
  }

  #bytes({ start, end, damage }: ExportLine): Promise<Uint8Array> {
    const length = end - start;
    return readFully(
      this.#source,
      start,
      damage === undefined ? length : Math.min(length, DAMAGE_TEXT_BYTES_MAX),
    );
  }
}
