/** Who asks, and what they may: keys from requests, failures counted, lanes that end with their key. */
import type { IncomingMessage } from "node:http";
import { Failures } from "./failures.ts";
import type { Refusal } from "./gate.ts";
import { allowsSession, type Key, type KeyStore, type MadeKey } from "./keys.ts";
import { CODE_FAILURES_MAX, FAILURES_MAX, KEY_LANES_MAX } from "./limits.ts";
import type { Clock } from "./types.ts";

/** Something that ends when its key is revoked. */
export interface OpenLane {
  close(reason: string, again: boolean): void;
  /** Called about once a second. */
  tick(): void;
}

export interface AccessOptions {
  readonly keys: KeyStore;
  readonly clock: Clock;
  /** The name of the cookie that a browser's key is in. */
  readonly cookie: string;
}

const noKey: Refusal = {
  status: 401,
  code: "no-key",
  message: "A key is needed: `hansard keys` on the computer that serves makes one.",
  headers: { "www-authenticate": "Bearer" },
};

function tooMany(blockedMs: number): Refusal {
  return {
    status: 429,
    code: "too-many-failures",
    message: "Too many failures; wait a while.",
    headers: { "retry-after": String(Math.ceil(blockedMs / 1000)) },
  };
}

/** One for all: what is tried with codes is counted whoever tries. */
const everybody = "*";

export class Access {
  readonly #options: AccessOptions;
  readonly #failures: Failures;
  readonly #codeFailures: Failures;
  readonly #lanes = new Map<string, Set<OpenLane>>();
  #isClosed = false;

  constructor(options: AccessOptions) {
    this.#options = options;
    this.#failures = new Failures(options.clock.now, FAILURES_MAX);
    this.#codeFailures = new Failures(options.clock.now, CODE_FAILURES_MAX);
  }

  get lanes(): number {
    let count = 0;
    for (const lanes of this.#lanes.values()) count += lanes.size;
    return count;
  }

  /** The key of a request, or why it has none. A right key is never refused for what others failed at its address. */
  async admit(request: IncomingMessage, client: string): Promise<Key | Refusal> {
    const given = this.#secretOf(request);
    if (given === undefined) return noKey;
    const key = await this.#options.keys.find(given.secret);
    if (key === undefined) {
      const blockedMs = this.#failures.blockedMs(client);
      this.#failures.fail(client);
      return blockedMs > 0 ? tooMany(blockedMs) : noKey;
    }
    // A browser sends the cookie whoever made it ask; a page of ours says that it did.
    if (given.isCookie && request.method === "POST" && request.headers.origin === undefined)
      return { status: 403, code: "foreign-origin", message: "Other pages may not ask this server." };
    return key;
  }

  /** The key that a one-time code makes, or why it makes none. */
  async redeem(code: string, label: string, client: string): Promise<MadeKey | Refusal> {
    const blockedMs = Math.max(this.#failures.blockedMs(client), this.#codeFailures.blockedMs(everybody));
    if (blockedMs > 0) return tooMany(blockedMs);
    const made = await this.#options.keys.redeem(code, label);
    if (made !== undefined) return made;
    this.#failures.fail(client);
    this.#codeFailures.fail(everybody);
    return { status: 403, code: "wrong-code", message: "The code is wrong, was used or is too old." };
  }

  /** Remembers a lane of a key until the returned function is called; undefined where the key has as many as it may, or all are closed. */
  enter(key: Key, lane: OpenLane): (() => void) | undefined {
    const lanes = this.#lanes.get(key.id) ?? new Set();
    if (this.#isClosed || lanes.size >= KEY_LANES_MAX) return undefined;
    this.#lanes.set(key.id, lanes.add(lane));
    return () => {
      lanes.delete(lane);
      if (lanes.size === 0 && this.#lanes.get(key.id) === lanes) this.#lanes.delete(key.id);
    };
  }

  /** Ends the lanes of keys that are gone, and looks in on all others. */
  async tick(): Promise<void> {
    if (this.#lanes.size === 0) return;
    const valid = await this.#options.keys.valid();
    for (const [id, lanes] of [...this.#lanes])
      for (const lane of [...lanes]) {
        if (valid.has(id)) lane.tick();
        else lane.close("the key was revoked", false);
      }
  }

  /** Ends all lanes, and lets no further ones in. */
  closeLanes(reason: string): void {
    this.#isClosed = true;
    for (const lanes of [...this.#lanes.values()]) for (const lane of [...lanes]) lane.close(reason, true);
  }

  #secretOf({
    headers,
  }: IncomingMessage): { readonly secret: string; readonly isCookie: boolean } | undefined {
    const bearer = /^Bearer ([A-Za-z0-9_-]{1,200})$/i.exec(headers.authorization ?? "")?.[1];
    if (bearer !== undefined) return { secret: bearer, isCookie: false };
    for (const pair of (headers.cookie ?? "").split(";")) {
      const at = pair.indexOf("=");
      if (at > 0 && pair.slice(0, at).trim() === this.#options.cookie)
        return { secret: pair.slice(at + 1).trim(), isCookie: true };
    }
    return undefined;
  }
}

export function isRefusal(value: Key | MadeKey | Refusal): value is Refusal {
  return "status" in value;
}

/** Whether a key sees a session. */
export function sees(key: Key, session: string): boolean {
  return allowsSession(key, session);
}
