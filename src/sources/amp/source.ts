/** Amp: where its threads are, how one is told from other files, what a thread says of itself. */
import { basename } from "node:path";
import { fileURLToPath } from "node:url";
import type { DocumentFormat } from "../document/format.ts";
import { parseJson, scanJson } from "../document/json.ts";
import { createDocumentSource } from "../document/source.ts";
import { arrayOf, type Fields, objectOf, stringOf, timeOf, wordOf } from "../fields.ts";
import type { FoundFile, OnProblem } from "../line-source.ts";
import type { SessionInfo, Source, Surroundings } from "../types.ts";
import { walkFiles } from "../walk.ts";
import { classifyMessage, nameOf } from "./message.ts";
import { ampPlaces } from "./places.ts";

export const ampFormat: DocumentFormat = {
  agent: "amp",
  scan: scanJson,
  parse: parseJson,
  classify: classifyMessage,
  nameOf,
  factsOf,
};

export const ampSource: Source = createDocumentSource({
  places: ampPlaces,
  format: ampFormat,
  find,
  idOf,
  isOwn,
  tailFacts,
});

async function* find(around: Surroundings, onProblem: OnProblem): AsyncIterable<FoundFile> {
  for (const root of ampPlaces.roots(around))
    for await (const file of walkFiles(root, 0, (name) => /^T-.+\.json$/.test(name), onProblem))
      yield { id: idOf(file.path), path: file.path, bytes: file.bytes, modifiedAt: file.modifiedAt };
}

function idOf(path: string): string {
  return basename(path).replace(/\.json$/, "");
}

/** A thread's id begins with `T-`, and its messages are in the document. */
function isOwn(head: Uint8Array): boolean {
  const text = new TextDecoder().decode(head.subarray(0, 16 * 1024)).replace(/^\uFEFF/, "");
  return (
    /^\s*\{/.test(text) &&
    /^\s*\{(?:(?!"messages"\s*:)[\s\S]){0,8000}"id"\s*:\s*"T-[0-9a-zA-Z-]+"/.test(text) &&
    /"(?:messages|created|v)"\s*:/.test(text)
  );
}

function factsOf(key: string, value: unknown): Partial<SessionInfo> {
  switch (key) {
    case "title": {
      const title = wordOf(value);
      return title === undefined ? {} : { title, titled: true };
    }
    case "created": {
      const startedAt = timeOf(value);
      return startedAt === undefined ? {} : { startedAt };
    }
    case "env":
      return placeFacts(objectOf(objectOf(value)?.["initial"]) ?? {});
    default:
      return {};
  }
}

function placeFacts(initial: Fields): Partial<SessionInfo> {
  const tree = objectOf(arrayOf(initial["trees"])?.[0]);
  const cwd = wordOf(initial["cwd"]) ?? pathOf(tree?.["uri"]);
  const gitBranch = wordOf(objectOf(tree?.["repository"])?.["ref"])?.replace(/^refs\/heads\//, "");
  const agentVersion = wordOf(objectOf(initial["platform"])?.["clientVersion"]);
  return {
    ...(cwd === undefined ? {} : { cwd }),
    ...(gitBranch === undefined ? {} : { gitBranch }),
    ...(agentVersion === undefined ? {} : { agentVersion }),
  };
}

function pathOf(uri: unknown): string | undefined {
  const text = stringOf(uri) ?? wordOf(objectOf(uri)?.["fsPath"]) ?? wordOf(objectOf(uri)?.["path"]);
  if (text === undefined || text === "") return undefined;
  if (!text.startsWith("file://")) return text;
  try {
    return fileURLToPath(text);
  } catch (error) {
    // Another system's address, or none at all: told as it is.
    if (error instanceof TypeError || error instanceof URIError) return text;
    throw error;
  }
}

/** The title that stands behind the messages, where the thread is too large for its head to hold it. */
function tailFacts(tail: string): Partial<SessionInfo> {
  const closing = tail.lastIndexOf('"messageId"');
  const found = [
    ...tail
      .slice(Math.max(0, closing))
      .matchAll(/\]\s*,[^\]]{0,4000}?"title"\s*:\s*("(?:[^"\\]|\\.){1,2000}")/g),
  ];
  const json = found.at(-1)?.[1];
  const title = json === undefined ? undefined : wordOf(parseJson(new TextEncoder().encode(json)));
  return title === undefined ? {} : { title, titled: true };
}
