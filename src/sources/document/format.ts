/** The seam between the reader of documents and what one agent's document holds. Pure but for the scan's reading. */
import type { ByteSource } from "../../lines/index.ts";
import type { Classified } from "../classifier.ts";
import type { AgentName, SessionInfo } from "../types.ts";

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
