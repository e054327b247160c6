/** How a reader frames what it makes of a record: known with its entries, or unknown and shown as it is. */
import type { Attachment } from "../transcript/index.ts";
import type { Classified, EntryDraft, Mark } from "./classifier.ts";
import { rawDraft, timed } from "./fields.ts";
import type { SessionInfo } from "./types.ts";

/** A record of a known kind; one without entries is silent. */
export function known(
  kind: string,
  entries: readonly EntryDraft[],
  marks: readonly Mark[] = [],
  info: Partial<SessionInfo> = {},
): Classified {
  return {
    kind,
    known: true,
    entries,
    ...(marks.length > 0 ? { marks } : {}),
    ...(Object.keys(info).length > 0 ? { info } : {}),
  };
}

/** `known` for one kind. */
export function knownAs(
  kind: string,
): (entries: readonly EntryDraft[], marks?: readonly Mark[], info?: Partial<SessionInfo>) => Classified {
  return (entries, marks, info) => known(kind, entries, marks, info);
}

/** A record of a kind that no reader knows: one raw entry. */
export function unknown(kind: string, value: unknown, time?: number): Classified {
  return { kind, known: false, entries: [rawDraft(`unknown record kind ${kind}`, value, time)] };
}

/** A record that lacks the field which tells its kind. */
export function nameless(field: "kind" | "type", value: unknown): Classified {
  return { kind: `no ${field}`, known: false, entries: [rawDraft(`a record without a ${field}`, value)] };
}

/** A record that says which session it is of, where it does. */
export function ofSession(said: Classified, session: string | undefined): Classified {
  return session === undefined ? said : { ...said, session };
}

/** A message with its parts' types: one of a type that is not known is shown as it is, and the message is named by it. */
export function withParts(
  said: Classified,
  role: string,
  types: readonly string[],
  isKnown: (type: string) => boolean,
): Classified {
  const strange = types.find((type) => !isKnown(type));
  return strange === undefined ? said : { ...said, kind: `${role} part/${strange}`, known: false };
}

/** What a person typed, with what was sent along. */
export function promptDraft(
  body: string,
  attachments: readonly Attachment[],
  time: number | undefined,
): EntryDraft {
  return {
    kind: "delivered",
    sender: "user",
    body,
    ...(attachments.length > 0 ? { attachments } : {}),
    ...timed(time),
  };
}
