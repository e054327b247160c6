/** The sessions that the server holds open: one hub a session while it is watched, and sessions opened for one reading. */
import { openChangesHub } from "./changes-hub.ts";
import type { Hub } from "./lane.ts";
import { type Held, Shared } from "./shared.ts";
import { openStepsHub } from "./steps-hub.ts";
import type { Catalogue, CatalogueItem, Clock, ServedSession } from "./types.ts";

export interface SessionsOptions {
  readonly catalogue: Catalogue;
  readonly clock: Clock;
  readonly onFailure: (error: unknown) => void;
  readonly hubsMax?: number;
}

interface Watched {
  readonly hub: Hub;
  readonly served: ServedSession;
}

/** Which lane of a session: the changes of its transcript, or the steps of its agent. */
export type LaneKind = "changes" | "steps";

export class Sessions {
  readonly catalogue: Catalogue;
  readonly #options: SessionsOptions;
  readonly #hubs: Shared<Watched>;
  readonly #watched = new Map<string, ServedSession>();

  constructor(options: SessionsOptions) {
    this.catalogue = options.catalogue;
    this.#options = options;
    this.#hubs = new Shared<Watched>({
      clock: options.clock,
      isSpent: ({ hub }) => hub.lane.isOver,
      close: async ({ hub, served }) => {
        await hub.close();
        await served.session.close();
      },
      ...(options.hubsMax === undefined ? {} : { countMax: options.hubsMax }),
    });
  }

  /** Hubs that run now. */
  get hubs(): number {
    return this.#hubs.count;
  }

  /** The lane of a session, held until released; undefined where too many sessions are watched already. */
  async watch(item: CatalogueItem, kind: LaneKind): Promise<Held<Hub> | undefined> {
    const held = await this.#hubs.hold(`${kind}:${item.id}`, () => this.#open(item, kind));
    return held === undefined ? undefined : { value: held.value.hub, release: held.release };
  }

  /** Runs `work` over a session: the one that is being watched, or one that is opened for it and closed after it. */
  async use<T>(item: CatalogueItem, work: (served: ServedSession) => Promise<T>): Promise<T> {
    const watched = this.#watched.get(item.id);
    if (watched !== undefined) return work(watched);
    const served = await this.catalogue.open(item);
    try {
      return await work(served);
    } finally {
      await served.session.close();
    }
  }

  async close(): Promise<void> {
    await this.#hubs.close();
  }

  async #open(item: CatalogueItem, kind: LaneKind): Promise<Watched> {
    const served = await this.catalogue.open(item);
    const { session } = served;
    // Such a session learns of a replaced file by following it; it is shared as long as it does.
    const leave = (): void => {
      if (this.#watched.get(item.id) === served) this.#watched.delete(item.id);
    };
    try {
      const { onFailure } = this.#options;
      const hub =
        kind === "steps" ? await openStepsHub(served, onFailure) : await openChangesHub(served, onFailure);
      if (kind === "changes") {
        this.#watched.set(item.id, served);
        const unwatch = hub.lane.watch(() => {
          if (!hub.lane.isOver) return;
          unwatch();
          leave();
        });
      }
      return { hub, served };
    } catch (error) {
      await session.close();
      throw error;
    }
  }
}
