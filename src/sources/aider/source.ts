/** Aider: its chat histories, how one is told from other files, and what its sections mean. */
import { basename, dirname, join } from "node:path";
import type { Classified, EntryDraft } from "../classifier.ts";
import type { DocumentElement, DocumentFormat } from "../document/format.ts";
import { createDocumentSource } from "../document/source.ts";
import { noteDraft, rawDraft, timed, timeOf, wordOf } from "../fields.ts";
import type { FoundFile, OnProblem } from "../line-source.ts";
import type { SessionInfo, Source, Surroundings } from "../types.ts";
import { walkFiles } from "../walk.ts";
import { aiderPlaces } from "./places.ts";
import { kindOf, scanSections } from "./sections.ts";

const HISTORY = ".aider.chat.history.md";
const RUN = /^# aider chat started at (\d{4}-\d\d-\d\d[ T]\d\d:\d\d:\d\d)/;

export const aiderFormat: DocumentFormat = {
  agent: "aider",
  scan: scanSections,
  parse: (bytes) => new TextDecoder().decode(bytes),
  classify,
  grows: true,
};

export const aiderSource: Source = createDocumentSource({
  places: aiderPlaces,
  format: aiderFormat,
  find,
  idOf,
  isOwn,
  aside: (path) => Promise.resolve({ cwd: dirname(path) }),
});

async function* find(around: Surroundings, onProblem: OnProblem): AsyncIterable<FoundFile> {
  const named = wordOf(around.env["AIDER_CHAT_HISTORY_FILE"]);
  const folders = [...(named === undefined ? [] : [dirname(named)]), ...aiderPlaces.roots(around)];
  const names = new Set([HISTORY, ...(named === undefined ? [] : [basename(named)])]);
  for (const folder of new Set(folders))
    for await (const file of walkFiles(folder, 0, (name) => names.has(name), onProblem))
      yield { id: idOf(file.path), path: file.path, bytes: file.bytes, modifiedAt: file.modifiedAt };
}

/** A history is named by the folder that it lies in: all of them have the same name. */
function idOf(path: string): string {
  const name = basename(path);
  return name === HISTORY ? basename(dirname(join(path))) : name.replace(/\.md$/, "");
}

function isOwn(head: Uint8Array): boolean {
  return /^\s*# aider chat started at \d{4}-\d\d-\d\d/.test(
    new TextDecoder().decode(head.subarray(0, 4096)).replace(/^\uFEFF/, ""),
  );
}

/** The meaning of one section: pure and total. */
function classify(element: DocumentElement): Classified {
  const { value, index } = element;
  if (typeof value !== "string")
    return { kind: "no text", known: false, entries: [rawDraft("a section without text", value)] };
  const lines = value.replace(/^\uFEFF/, "").split("\n");
  const first = lines.find((line) => line.trim() !== "") ?? "";
  const kind = kindOf(first) ?? "answer";
  switch (kind) {
    case "run":
      return run(first, index);
    case "prompt": {
      const body = trimmed(lines.map((line) => bare(line, /^#### ?/)));
      const prompt: EntryDraft = { kind: "delivered", sender: "user", body };
      return { kind, known: true, entries: [prompt], marks: [{ type: "turnStarted" }] };
    }
    case "note": {
      const body = trimmed(lines.map((line) => bare(line, /^> ?/)));
      return { kind, known: true, entries: [noteDraft("notice", body, undefined)], info: factsOf(body) };
    }
    case "answer": {
      const text = trimmed(lines.map((line) => line.replace(/\r$/, "")));
      return {
        kind,
        known: true,
        modelMessage: `@${index}`,
        entries: [{ kind: "model", blocks: [{ kind: "text", text }], usage: {} }],
        marks: [{ type: "turnStarted", automatic: true }, { type: "turnEnded" }],
      };
    }
  }
}

/** A run of the program: what the one before it left open is over. */
function run(line: string, index: number): Classified {
  const time = timeOf(RUN.exec(line)?.[1]);
  return {
    kind: "run",
    known: true,
    entries: [{ ...noteDraft("run", bare(line, /^# /), undefined), ...timed(time) } as EntryDraft],
    marks: [{ type: "turnEnded" }],
    ...(index === 0 && time !== undefined ? { info: { startedAt: time } } : {}),
  };
}

/** A line without its mark, and without the two blanks that break it in Markdown. */
function bare(line: string, mark: RegExp): string {
  return line.replace(/\r$/, "").replace(mark, "").replace(/ {2}$/, "");
}

function trimmed(lines: readonly string[]): string {
  return lines.join("\n").replace(/^\n+/, "").replace(/\s+$/, "");
}

/** The version and the model, as the program says them at its start. */
function factsOf(note: string): Partial<SessionInfo> {
  const agentVersion = /^Aider v(\S+)$/m.exec(note)?.[1];
  const model = /^(?:Main model|Models?): (\S+)/m.exec(note)?.[1]?.replace(/,$/, "");
  return {
    ...(agentVersion === undefined ? {} : { agentVersion }),
    ...(model === undefined ? {} : { model }),
  };
}
