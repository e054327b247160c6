/** The entries of a messages directory in order: its files, and a mark for each hole in their counters. */
import { readdir, stat } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { isFileError } from "../file-errors.ts";
import { findGaps, gapName, orderNames } from "./name.ts";

/** Newest files whose size and time are looked at again, to see an entry that was not whole when it was first read. */
const FRESH_FILES = 8;

/** One entry of the directory. */
export interface MessageRow {
  readonly name: string;
  readonly entryCount: 1;
  readonly gap?: { readonly first: number; readonly last: number; readonly isEarliest: boolean };
  /** Of one of the newest files: changes when its bytes do. */
  readonly print?: string;
  /** Virtual, at the end: what is being said, or how it failed. */
  readonly isVirtual?: true;
}

/** Where the parts of an agent's workspace are. */
export interface MessagesPlace {
  readonly messages: string;
  readonly summary: string;
  /** Absent where the folder does not lie in a workspace. */
  readonly steps?: string;
  readonly inbox?: string;
  readonly agentId: string;
}

/** The place of a messages folder: of a workspace where it lies in `agents/<id>`. */
export function placeOf(messages: string): MessagesPlace {
  const agent = dirname(messages);
  const agents = dirname(agent);
  const agentId = basename(agent);
  const summary = join(agent, "summary");
  if (basename(agents) !== "agents") return { messages, summary, agentId };
  const workspace = dirname(agents);
  return {
    messages,
    summary,
    agentId,
    steps: join(workspace, "steps", agentId),
    inbox: join(workspace, "inbox", agentId),
  };
}

/** The directory's rows; none where it is not there. Cost: one listing, and a look at the newest files. */
export async function listRows(messages: string): Promise<readonly MessageRow[]> {
  const names = orderNames(await fileNames(messages));
  const prints = new Map<string, string>();
  for (const name of names.slice(-FRESH_FILES)) prints.set(name, await printOf(join(messages, name)));
  const rows: MessageRow[] = [];
  const gaps = findGaps(names);
  let nextGap = 0;
  for (const [at, name] of names.entries()) {
    const gap = gaps[nextGap];
    if (gap?.before === at) {
      const { first, last } = gap;
      rows.push({
        name: gapName(first, last),
        entryCount: 1,
        gap: { first, last, isEarliest: nextGap === 0 },
      });
      nextGap += 1;
    }
    const print = prints.get(name);
    rows.push({ name, entryCount: 1, ...(print === undefined ? {} : { print }) });
  }
  return rows;
}

/** Regular files, and links to them. */
async function fileNames(folder: string): Promise<readonly string[]> {
  try {
    const names: string[] = [];
    for (const entry of await readdir(folder, { withFileTypes: true })) {
      if (entry.isFile()) names.push(entry.name);
      else if (entry.isSymbolicLink() && (await isFile(join(folder, entry.name)))) names.push(entry.name);
    }
    return names;
  } catch (error) {
    if (isFileError(error)) return [];
    throw error;
  }
}

async function isFile(path: string): Promise<boolean> {
  try {
    return (await stat(path)).isFile();
  } catch (error) {
    if (isFileError(error)) return false;
    throw error;
  }
}

async function printOf(path: string): Promise<string> {
  try {
    const { size, mtimeMs, ino } = await stat(path);
    return `${size}:${mtimeMs}:${ino}`;
  } catch (error) {
    if (isFileError(error)) return "gone";
    throw error;
  }
}
