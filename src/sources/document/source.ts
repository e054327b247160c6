/** A source whose sessions are documents: finding, telling, describing and opening them by what their format means. */
import { readEnds } from "../ends.ts";
import { fileStateAt } from "../file-errors.ts";
import type { FoundFile, OnProblem } from "../line-source.ts";
import { titleFromPrompt } from "../prompt-title.ts";
import type { FoundSession, SessionInfo, Source, SourcePlaces, Surroundings } from "../types.ts";
import { readHead } from "./document.ts";
import type { DocumentFormat } from "./format.ts";
import { openDocumentLog } from "./log.ts";

/** Bytes of each end that a description is made from. */
export const DOCUMENT_HEAD_BYTES: number = 64 * 1024;
export const DOCUMENT_TAIL_BYTES: number = 16 * 1024;

export interface DocumentSourceSpec {
  readonly places: SourcePlaces;
  readonly format: DocumentFormat;
  find(around: Surroundings, onProblem: OnProblem): AsyncIterable<FoundFile>;
  /** The session's id from its path. */
  idOf(path: string): string;
  /** Whether a document that begins so is this agent's. */
  isOwn(head: Uint8Array): boolean;
  /** What the last bytes say, where the head does not hold the whole document. */
  tailFacts?(tail: string): Partial<SessionInfo>;
  /** What files beside the document say; they win over what it says. */
  aside?(path: string): Promise<Partial<SessionInfo>>;
}

/** The source. A description reads both ends; an open document is read once as a whole, and its pages cost what they hold. */
export function createDocumentSource(spec: DocumentSourceSpec): Source {
  const { places, format } = spec;
  return {
    ...places,
    async *discover(around, onProblem) {
      for await (const found of spec.find(around, onProblem)) yield { agent: places.agent, ...found };
    },
    detects: async (_path, head) => spec.isOwn(head),
    describe: (found) => describe(spec, found),
    open: (path) =>
      openDocumentLog({
        path,
        format,
        async describe() {
          const state = await fileStateAt(path);
          const modifiedAt = state === undefined ? 0 : Number(state.modified / 1_000_000n);
          const bytes = state?.size ?? 0;
          return describe(spec, { agent: places.agent, id: spec.idOf(path), path, bytes, modifiedAt });
        },
      }),
  };
}

async function describe(spec: DocumentSourceSpec, found: FoundSession): Promise<SessionInfo> {
  const { head, tail } = await readEnds(found.path, DOCUMENT_HEAD_BYTES, DOCUMENT_TAIL_BYTES);
  const { info, prompt } = await readHead(spec.format, head);
  const title = prompt === undefined ? undefined : titleFromPrompt(prompt);
  const aside = spec.aside === undefined ? {} : await spec.aside(found.path);
  return {
    ...(title === undefined ? {} : { title }),
    ...info,
    ...(tail.length > 0 ? spec.tailFacts?.(new TextDecoder().decode(tail)) : {}),
    ...aside,
    ...found,
  };
}
