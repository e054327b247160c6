/** Prompts from other processes: files in the session's inbox, taken in the order of their names, each once. */
import { join } from "node:path";
import { inboxFolder, parsePrompt } from "../follow/index.ts";
import { inboxListMax, promptBytesMax } from "./limits.ts";
import { ensureFolder, namesIn, readSmallFile, removeFile, type SmallFilePorts } from "./small-files.ts";

export interface InboxPrompt {
  readonly name: string;
  readonly text: string;
  readonly by: string;
}

export class Inbox {
  readonly #ports: SmallFilePorts;
  readonly folder: string;
  /** The name that was taken last, as the log tells it. */
  #taken: string | undefined;

  constructor(ports: SmallFilePorts, sessionFolder: string, taken: string | undefined) {
    this.#ports = ports;
    this.folder = inboxFolder(sessionFolder);
    this.#taken = taken;
  }

  async open(): Promise<void> {
    await ensureFolder(this.#ports.files, this.folder);
  }

  /**
   * The first prompt that waits; absent where none does. A file that is no prompt is removed and told to `refuse`; the one whose taking
   * is in the log already (its taker died before it could remove it) is removed.
   */
  async next(refuse: (name: string) => void): Promise<InboxPrompt | undefined> {
    const { files } = this.#ports;
    const names = (await namesIn(files, this.folder))
      .filter((name) => name.endsWith(".json") && !name.startsWith("."))
      .sort()
      .slice(0, inboxListMax);
    for (const name of names) {
      const path = join(this.folder, name);
      if (name === this.#taken) {
        await removeFile(files, path);
        continue;
      }
      const text = await readSmallFile(files, path, promptBytesMax);
      if (text === undefined) continue;
      const prompt = parsePrompt(text);
      if (prompt !== undefined && prompt.text.trim() !== "")
        return { name, text: prompt.text, by: prompt.by };
      await removeFile(files, path);
      refuse(name);
    }
    return undefined;
  }

  /** The prompt is in the log, on stable storage: its file goes. */
  async taken(name: string): Promise<void> {
    this.#taken = name;
    await removeFile(this.#ports.files, join(this.folder, name));
  }
}
