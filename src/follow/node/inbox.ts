/** Prompts from other processes, for the one that drives the session. */
import { randomUUID } from "node:crypto";
import { mkdir } from "node:fs/promises";
import { inboxFolder } from "../step-directory.ts";
import { codeOf, createWhole, namesIn } from "./files.ts";
import { INBOX_PROMPTS_MAX, PROMPT_BYTES_MAX } from "./limits.ts";

/** What became of a prompt. */
export type Deposited =
  | { readonly state: "deposited"; readonly name: string }
  /** `INBOX_PROMPTS_MAX` prompts wait already. */
  | { readonly state: "full" }
  | { readonly state: "too-large"; readonly bytesMax: number }
  /** The session's folder is not there. */
  | { readonly state: "gone" };

export interface PromptRequest {
  readonly text: string;
  /** Who asks. */
  readonly by: string;
  /** Milliseconds since the epoch. */
  readonly at: number;
}

/**
 * Puts a prompt into the inbox of a session; the driver takes prompts in the order of their names, which is the order of their times.
 * Durable and whole before anybody sees it. Rejects where the disk refuses to write.
 */
export async function depositPrompt(
  sessionFolder: string,
  { text, by, at }: PromptRequest,
): Promise<Deposited> {
  if (Buffer.byteLength(text) > PROMPT_BYTES_MAX) return { state: "too-large", bytesMax: PROMPT_BYTES_MAX };
  const inbox = inboxFolder(sessionFolder);
  if ((await waitingPrompts(inbox)).length >= INBOX_PROMPTS_MAX) return { state: "full" };
  const time = new Date(at).toISOString();
  const name = `${time.replace(/[-:]/g, "")}-${randomUUID()}.json`;
  try {
    await makeFolder(inbox);
    await createWhole(
      `${inbox}/${name}`,
      `${inbox}/.${name}.tmp`,
      `${JSON.stringify({ text, by, at: time })}\n`,
    );
  } catch (error) {
    if (codeOf(error) !== "ENOENT") throw error;
    return { state: "gone" };
  }
  return { state: "deposited", name };
}

/** Names of the prompts that wait, in their order. */
export async function waitingPrompts(inbox: string): Promise<readonly string[]> {
  return (await namesIn(inbox)).filter((name) => name.endsWith(".json") && !name.startsWith(".")).sort();
}

async function makeFolder(folder: string): Promise<void> {
  try {
    await mkdir(folder, { mode: 0o700 });
  } catch (error) {
    if (codeOf(error) !== "EEXIST") throw error;
  }
}
