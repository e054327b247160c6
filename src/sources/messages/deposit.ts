/** A message as it is deposited for an agent, and as it lies in its inbox until it is delivered: the same bytes. */
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import type { Epitaph } from "../../transcript/index.ts";
import { isFileError } from "../file-errors.ts";
import { compareText } from "../order.ts";
import { readStretch } from "./files.ts";

/** Messages of an inbox that are read, the first ones. */
export const INBOX_MESSAGES_MAX = 1000;
/** Bytes of one of them that are read. */
export const DEPOSIT_BYTES_MAX = 1024 * 1024;

/** What a deposit says; a field that its envelope lacks is absent. */
export interface Deposit {
  readonly body: string;
  /** The id of who sent it. */
  readonly from?: string;
  /** The name of an agent that has one. */
  readonly senderName?: string;
  readonly depositedAt?: string;
  /** How a child ended, and the commit it ended at: of a result alone. */
  readonly epitaph?: Epitaph;
  readonly terminalRef?: string;
}

const OPENER = "---\n";
const CLOSER = "\n---\n";

/**
 * A deposit without its envelope; bytes that are no UTF-8 become U+FFFD. An envelope is there only where the text begins with `---` on a
 * line of its own and a later such line closes it; the first one does, and all behind it is the body. Otherwise all is body.
 */
export function readDeposit(bytes: Uint8Array): Deposit {
  const text = new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes);
  const end = text.startsWith(OPENER) ? text.indexOf(CLOSER, OPENER.length) : -1;
  if (end === -1) return { body: text };
  const fields = fieldsOf(text.slice(OPENER.length, end));
  return {
    body: text.slice(end + CLOSER.length),
    ...named("from", fields.get("from")),
    ...named("senderName", fields.get("from_name")),
    ...named("depositedAt", fields.get("deposited_at")),
    ...named("epitaph", fields.get("epitaph")),
    ...named("terminalRef", fields.get("terminal_ref")),
  };
}

/** The first value of each name; lines without a separator are passed over. */
function fieldsOf(envelope: string): ReadonlyMap<string, string> {
  const fields = new Map<string, string>();
  for (const line of envelope.split("\n")) {
    const colon = line.indexOf(": ");
    const key = line.slice(0, colon);
    if (colon !== -1 && !fields.has(key)) fields.set(key, line.slice(colon + 2).replace(/\r$/, ""));
  }
  return fields;
}

function named<K extends string>(key: K, value: string | undefined): { readonly [P in K]?: string } {
  return value === undefined ? {} : ({ [key]: value } as { readonly [P in K]?: string });
}

/** A message that waits to be delivered. */
export interface WaitingMessage {
  readonly name: string;
  readonly deposit: Deposit;
  /** The file's bytes, up to `DEPOSIT_BYTES_MAX`. */
  readonly bytes: Uint8Array;
}

/** What waits in an agent's inbox, in name order; files that cannot be read, and names that do not end in `.md`, are passed over. */
export async function readInbox(folder: string): Promise<readonly WaitingMessage[]> {
  const waiting: WaitingMessage[] = [];
  for (const name of (await depositNames(folder)).slice(0, INBOX_MESSAGES_MAX)) {
    const bytes = await readStretch(join(folder, name), 0, DEPOSIT_BYTES_MAX);
    if (bytes !== undefined) waiting.push({ name, deposit: readDeposit(bytes), bytes });
  }
  return waiting;
}

async function depositNames(folder: string): Promise<readonly string[]> {
  try {
    return (await readdir(folder)).filter((name) => name.endsWith(".md")).sort(compareText);
  } catch (error) {
    if (isFileError(error)) return [];
    throw error;
  }
}
