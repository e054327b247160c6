/** Cline, Roo Code and their relatives: where their tasks are, how one is told from other files, and what stands beside it. */
import { basename, dirname, join } from "node:path";
import type { DocumentFormat } from "../document/format.ts";
import { parseJson, scanJson } from "../document/json.ts";
import { createDocumentSource } from "../document/source.ts";
import { parseLine } from "../ends.ts";
import { arrayOf, objectOf, timeOf, wordOf } from "../fields.ts";
import { type FoundFile, type OnProblem, textBeside } from "../line-source.ts";
import { titleFromPrompt } from "../prompt-title.ts";
import type { SessionInfo, Source, Surroundings } from "../types.ts";
import { type WalkedFile, walkFiles } from "../walk.ts";
import { classifyRow, nameOf } from "./message.ts";
import { clinePlaces } from "./places.ts";

const ROWS = "ui_messages.json";
const TURNS = "api_conversation_history.json";

export const clineFormat: DocumentFormat = {
  agent: "cline",
  scan: scanJson,
  parse: parseJson,
  classify: classifyRow,
  nameOf,
};

export const clineSource: Source = createDocumentSource({
  places: clinePlaces,
  format: clineFormat,
  find,
  idOf,
  isOwn,
  aside,
});

/** A task is a folder; the rows that the editor shows tell more of it than the turns that the model was sent. */
async function* find(around: Surroundings, onProblem: OnProblem): AsyncIterable<FoundFile> {
  for (const root of clinePlaces.roots(around)) {
    let task: WalkedFile | undefined;
    const accepts = (name: string): boolean => name === ROWS || name === TURNS;
    for await (const file of walkFiles(root, 1, accepts, onProblem)) {
      if (dirname(file.path) === root) continue;
      // Within a folder the turns come first, in name order.
      if (task !== undefined && dirname(task.path) !== dirname(file.path)) yield foundAt(task);
      task = file;
    }
    if (task !== undefined) yield foundAt(task);
  }
}

function foundAt(file: WalkedFile): FoundFile {
  return { id: idOf(file.path), path: file.path, bytes: file.bytes, modifiedAt: file.modifiedAt };
}

function idOf(path: string): string {
  const name = basename(path);
  return name === ROWS || name === TURNS ? basename(dirname(path)) : name.replace(/\.json$/, "");
}

function isOwn(head: Uint8Array): boolean {
  const text = new TextDecoder().decode(head).replace(/^\uFEFF/, "");
  if (/^\s*\[\s*\{\s*(?:"ts"\s*:\s*\d+\s*,\s*)?"type"\s*:\s*"(?:say|ask)"/.test(text)) return true;
  return (
    /^\s*\[\s*\{\s*"role"\s*:\s*"(?:user|assistant)"\s*,\s*"content"\s*:/.test(text) &&
    /<task>|<environment_details>|<user_message>/.test(text)
  );
}

/** What the task's other files say: when it began, where, with which model, under which title. */
async function aside(path: string): Promise<Partial<SessionInfo>> {
  const folder = dirname(path);
  const item = await jsonBeside(join(folder, "history_item.json"));
  const metadata = await jsonBeside(join(folder, "task_metadata.json"));
  const cwd = wordOf(item?.["workspace"]) ?? wordOf(item?.["cwdOnTaskInitialization"]);
  const used = objectOf(arrayOf(metadata?.["model_usage"])?.at(-1));
  const model = wordOf(used?.["model_id"]);
  const startedAt = /^\d{13}$/.test(idOf(path)) ? timeOf(Number(idOf(path))) : undefined;
  const title = titleFromPrompt(wordOf(item?.["task"]) ?? "");
  return {
    ...(title === undefined ? {} : { title }),
    ...(cwd === undefined ? {} : { cwd }),
    ...(model === undefined ? {} : { model }),
    ...(startedAt === undefined ? {} : { startedAt }),
  };
}

async function jsonBeside(path: string): Promise<Readonly<Record<string, unknown>> | undefined> {
  const text = await textBeside(path);
  return text === undefined ? undefined : parseLine(text);
}
