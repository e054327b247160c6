/** What the server is given from outside: sessions, search, the page, the clock. */
import type { Frame, LaneEvent } from "../follow/index.ts";
import type { Answered, DriverState, Session, SessionInfo } from "../session/index.ts";

/** Time, as a port: tests turn it by hand. */
export interface Clock {
  /** Milliseconds since the epoch. */
  now(): number;
  /** Runs `act` once after `delayMs`, unless the returned function is called before. Does not keep the process alive. */
  after(delayMs: number, act: () => void): () => void;
}

/** Who acts, as those that come late are told. */
export type Actor = string;

/** What became of a prompt: taken, or why not. */
export type Prompted =
  | { readonly taken: true }
  /** `not-driven`: nobody runs the agent now. `full`: as many prompts wait as may, or this one is too long. */
  | { readonly taken: false; readonly why: "not-driven" | "full" };

/** What can be done to a session whose agent Hansard runs, in this process or in another one. */
export interface SessionActs {
  /** Answers a waiting call, once; undefined where no such call waits, or it has no such option. */
  answer(approvalId: string, optionId: string, by: Actor): Promise<Answered | undefined>;
  /** Sends a prompt, or queues it behind the running turn. */
  prompt(text: string, by: Actor): Promise<Prompted>;
  /** Asks the agent to stop; absent where only its own process can. */
  cancel?(by: Actor): Promise<void>;
}

/** An opened session; `acts` is absent where it can only be read. */
export interface ServedSession {
  readonly session: Session;
  /** Follows its steps, one after another, until aborted; absent where it has none that can be followed. */
  readonly steps?: (signal: AbortSignal) => AsyncIterable<LaneEvent>;
  /** What the step under way has told up to now, as one frame; an empty one where none is. Absent where it has no steps. */
  readonly step?: () => Promise<Frame>;
  /** How its agent stands, at each change, until aborted; for a session that does not tell it among its own changes. */
  readonly drivers?: (signal: AbortSignal) => AsyncIterable<DriverState>;
  readonly acts?: SessionActs;
}

/** A session of the catalogue under the id that the server gives it: opaque, of letters, digits, `-` and `_`, the same at each start. */
export interface CatalogueItem {
  readonly id: string;
  readonly info: SessionInfo;
}

/** The sessions there are. */
export interface Catalogue {
  /** Newest first. With `described` only names and times may be known. */
  list(): Promise<readonly CatalogueItem[]>;
  /** The one under an id; undefined where there is none. */
  find(id: string): Promise<CatalogueItem | undefined>;
  /** What is known of a session, its title among it. */
  describe(item: CatalogueItem): Promise<SessionInfo>;
  /** Opens it; whoever opened it closes it. */
  open(item: CatalogueItem): Promise<ServedSession>;
}

/** One place where the words of a search were found. */
export interface SearchHit {
  /** The session, as the catalogue names it. */
  readonly session: string;
  /** The position just before the entry. */
  readonly at: string;
  readonly entry: string;
  readonly excerpt: string;
  readonly time?: number;
}

export interface SearchRequest {
  readonly words: string;
  readonly limit: number;
  /** Whether a session may be looked at. */
  readonly allows: (session: string) => boolean;
  readonly session?: string;
  readonly signal: AbortSignal;
}

export type Search = (request: SearchRequest) => Promise<readonly SearchHit[]>;

/** A file of the page. */
export interface Asset {
  readonly contentType: string;
  readonly body: string | Uint8Array;
  /** True where the content under this path never changes. */
  readonly isImmutable?: boolean;
  /** True where the document says that what was asked for is not here. */
  readonly isMissing?: boolean;
  /** The SHA-256, in base64, of the one style sheet that a document has in itself. */
  readonly styleHash?: string;
}

/** What the page is asked for. */
export interface PageRequest {
  readonly path: string;
  /** Who asks; absent without a key, and then nothing of any session may be in the answer. */
  readonly reader?: PageReader;
}

/** What a page may be made from on the server, within the scope of who asks. */
export interface PageReader {
  readonly mayAnswer: boolean;
  list(limit: number): Promise<readonly CatalogueItem[]>;
  find(id: string): Promise<CatalogueItem | undefined>;
  describe(item: CatalogueItem): Promise<SessionInfo>;
  /** Runs `work` over an opened session, which is closed after it. */
  use<T>(item: CatalogueItem, work: (served: ServedSession) => Promise<T>): Promise<T>;
}

/** The files of the page by path; undefined where there is none. */
export type Pages = (request: PageRequest) => Promise<Asset | undefined>;

/** One request as the access log tells it: the route, never the path or the query; the key's id, never its secret. */
export interface AccessLine {
  readonly at: number;
  readonly address: string;
  readonly method: string;
  readonly route: string;
  readonly status: number;
  readonly ms: number;
  readonly key?: string;
}
