/** Pages of the session's own log, with what is not finished on top. Read when it is first asked for. */
import type { Page, Position, TailPage } from "../session/index.ts";
import type { Entry, Place } from "../transcript/index.ts";
import type { LiveBlock } from "./blocks.ts";
import type { History } from "./types.ts";

const nothing: Page = {
  entries: [],
  positions: [],
  start: "0",
  end: "0",
  atStart: true,
  atEnd: true,
  damage: [],
};

export class HistoryPages {
  readonly #open: (() => Promise<History>) | undefined;
  #history: Promise<History> | undefined;

  /** Without `open` there is nothing to read: all pages are empty. */
  constructor(open: (() => Promise<History>) | undefined) {
    this.#open = open;
  }

  /** The newest page. With `isBroken` (the log cannot be written) a log that cannot be read is an empty one. */
  async tail(
    limit: number,
    live: readonly LiveBlock[],
    turnOpen: boolean,
    isBroken: boolean,
  ): Promise<TailPage> {
    const page = await this.#readTail(Math.max(limit, live.length), isBroken);
    const fresh = new Map(live.map(({ entry }) => [entry.name, entry]));
    const entries: Entry[] = page.entries.map((entry) => fresh.get(entry.name) ?? entry);
    const positions: Position[] = [...page.positions];
    const names = new Set(page.entries.map(({ name }) => name));
    for (const { entry } of live) {
      if (names.has(entry.name)) continue;
      entries.push(entry);
      positions.push(page.end);
    }
    return { ...page, entries, positions, turnOpen, live: live.map(({ entry }) => entry.name) };
  }

  async #readTail(limit: number, isBroken: boolean): Promise<Page> {
    try {
      return (await (await this.#opened())?.tail(limit)) ?? nothing;
    } catch (error) {
      if (!isBroken || !(error instanceof Error)) throw error;
      return nothing;
    }
  }

  async older(from: Position, limit: number): Promise<Page> {
    return (await (await this.#opened())?.older(from, limit)) ?? nothing;
  }

  async newer(from: Position, limit: number): Promise<Page> {
    return (await (await this.#opened())?.newer(from, limit)) ?? nothing;
  }

  async first(limit: number): Promise<Page> {
    return (await (await this.#opened())?.first(limit)) ?? nothing;
  }

  async raw(place: Place, limit?: number): Promise<Uint8Array> {
    return (await (await this.#opened())?.raw(place, limit)) ?? new Uint8Array(0);
  }

  async close(): Promise<void> {
    const history = this.#history;
    this.#history = undefined;
    if (history !== undefined) await history.then((log) => log.close()).catch(ignoreUnopened);
  }

  async #opened(): Promise<History | undefined> {
    if (this.#open === undefined) return undefined;
    this.#history ??= this.#open();
    try {
      return await this.#history;
    } catch (error) {
      // It may be there at the next try.
      this.#history = undefined;
      throw error;
    }
  }
}

function ignoreUnopened(error: unknown): void {
  if (!(error instanceof Error)) throw error;
}
