/** The seam between the reader of documents and what one agent's document holds. Pure but for the scan's reading. */
import type { ByteSource } from "../../lines/index.ts";
import type { Census } from "../census.ts";
import type { Classified } from "../classifier.ts";
import type { AgentName, DamageNote, SessionInfo } from "../types.ts";
import type { Row, Standing } from "./rows.ts";

/** A part of a document, found by its bytes. */
export type DocumentPart =
  /** A fact of the document as a whole. */
  | { readonly type: "member"; readonly key: string; readonly start: number; readonly end: number }
  /** One message, or one stretch of the conversation. */
  | { readonly type: "element"; readonly start: number; readonly end: number }
  /** The document's end; not whole where the bytes ended inside it. */
  | { readonly type: "end"; readonly end: number; readonly isWhole: boolean };

/** An element with its place in the document's order. */
export interface DocumentElement {
  readonly value: unknown;
  /** How many elements stand before it. */
  readonly index: number;
  readonly start: number;
  readonly end: number;
}

/** What one agent's document means. */
export interface DocumentFormat {
  readonly agent: AgentName;
  /** Finds the parts between two offsets, in order; white space may come before. Bounded memory. */
  scan(source: ByteSource, start: number, end: number): AsyncIterable<readonly DocumentPart[]>;
  /** The element's value; undefined where the bytes give none. */
  parse(bytes: Uint8Array): unknown;
  /** The element's meaning: pure, total, from the element alone. */
  classify(element: DocumentElement): Classified;
  /** The element's own name, which stays with it however the document is rewritten; absent where it has none. */
  nameOf?(value: unknown): string | undefined;
  /** What a fact of the document says. */
  factsOf?(key: string, value: unknown): Partial<SessionInfo>;
  /** True where the file only ever grows at its end, so that what was read once stays as it is but for the last element. */
  readonly grows?: true;
}

/** Where the elements of a session are kept, with the index of them. */
export interface ElementStore {
  readonly format: DocumentFormat;
  readonly standing: Standing;
  readonly info: Partial<SessionInfo>;
  readonly bytes: number;
  readonly modifiedAt: number;
  /** What to watch, where it is not the session's path. */
  readonly watched?: readonly string[];
  /** Damage within `[start, end)`. */
  damageIn(start: number, end: number): readonly DamageNote[];
  /** Brings the index up to date. What is met half written is left for the next time, unless forced. */
  refresh(isForced?: boolean): Promise<"same" | "changed" | "gone">;
  /** The bytes of a row; undefined where other ones stand there by now. */
  read(row: Row): Promise<Uint8Array | undefined>;
  readBytes(start: number, length: number): Promise<Uint8Array>;
  /** Reads all anew, counting, and leaves the index as it is. */
  count(
    census: Census,
    signal?: AbortSignal,
  ): Promise<{ readonly bytes: number; readonly damaged: readonly DamageNote[] }>;
  close(): Promise<void>;
}
