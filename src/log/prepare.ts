/** From what a caller appends to the body of a record: defaults filled in, checked, long texts moved out of the line. */
import { type BlobRef, blobRefOf, moveTexts } from "./blobs.ts";
import { LogError } from "./errors.ts";
import { headOf } from "./json.ts";
import { blobBytesMax, blobHeadChars } from "./limits.ts";
import { type BlobPlace, isConversation, type RecordSpec } from "./records.ts";
import { recordProblem } from "./validate.ts";

export interface Prepared {
  readonly body: { readonly kind: string };
  /** Payloads to be stored before the record is written. */
  readonly blobs: readonly { readonly ref: BlobRef; readonly bytes: Buffer }[];
  readonly turnId?: string;
}

/** How turns stand for the records that come next. */
export interface TurnPlan {
  readonly open: number | undefined;
  readonly turns: number;
}

export interface Surroundings {
  readonly nowMs: number;
  readonly leafTurnId: string | undefined;
  readonly plan: TurnPlan;
  readonly randomId: () => string;
}

function refuse(problem: string): LogError {
  return new LogError("invalid-record", `the record was refused: ${problem}`, {
    next: "Nothing was written; see docs/log.md for what a record of this kind holds.",
  });
}

/** A turn mark gets its turn's number, where it may stand. */
function numberTurn(spec: RecordSpec, plan: TurnPlan): { readonly turn?: number } {
  switch (spec.kind) {
    case "turnStarted":
      if (plan.open !== undefined) throw refuse(`turnStarted: turn ${plan.open} is open`);
      return { turn: plan.turns + 1 };
    case "turnCommitted":
    case "turnInterrupted":
      if (plan.open === undefined) throw refuse(`${spec.kind}: no turn is open`);
      return { turn: plan.open };
    default:
      return {};
  }
}

/** How turns stand after one more record. */
export function advancePlan(plan: TurnPlan, kind: string): TurnPlan {
  if (kind === "turnStarted") return { open: plan.turns + 1, turns: plan.turns + 1 };
  if (kind === "turnCommitted" || kind === "turnInterrupted") return { open: undefined, turns: plan.turns };
  return plan;
}

const reservedFields = ["v", "seq", "ts", "synced", "crc", "chain", "blobs"];
const callerKinds: ReadonlySet<string> = new Set([
  "message",
  "compactionSummary",
  "contextEviction",
  "custom",
  "label",
  "handoffTransaction",
  "continuityCommit",
  "turnStarted",
  "turnCommitted",
  "turnInterrupted",
  "set",
]);

/** The record's fields with their defaults. Throws `invalid-record` where they are not what the kind asks for. */
export function fillIn(spec: RecordSpec, around: Surroundings): { readonly kind: string } {
  if (typeof spec !== "object" || spec === null || !callerKinds.has(spec.kind))
    throw refuse(`kind ${JSON.stringify((spec as { kind?: unknown } | null)?.kind)} cannot be appended`);
  for (const field of reservedFields) {
    if (Object.hasOwn(spec, field)) throw refuse(`${field} is the writer's own`);
  }
  const { kind, ...rest } = spec as RecordSpec & { readonly turn?: unknown };
  let body: { readonly kind: string };
  if (isConversation(spec)) {
    const { turnId, parentTurnId, timestamp, ...fields } = rest as Record<string, unknown>;
    body = {
      kind,
      turnId: turnId ?? around.randomId(),
      parentTurnId: parentTurnId === undefined ? (around.leafTurnId ?? null) : parentTurnId,
      timestamp: timestamp ?? new Date(around.nowMs).toISOString(),
      ...fields,
    } as { readonly kind: string };
  } else {
    const { turn: _turn, ...fields } = rest as Record<string, unknown>;
    body = { kind, ...numberTurn(spec, around.plan), ...fields } as { readonly kind: string };
  }
  const problem = recordProblem(body as Readonly<Record<string, unknown>>);
  if (problem !== undefined) throw refuse(problem);
  return body;
}

/** Moves the texts of a message's payload or of custom data above `bytesMax` into blobs. Other kinds keep all of theirs. */
export function moveOut(body: { readonly kind: string }, bytesMax: number): Prepared {
  const fields = body as Readonly<Record<string, unknown>>;
  const id = fields["turnId"];
  const named = typeof id === "string" ? { turnId: id } : {};
  const field = body.kind === "message" ? "payload" : body.kind === "custom" ? "data" : undefined;
  if (field === undefined || fields[field] === undefined) return { body, blobs: [], ...named };
  const places: BlobPlace[] = [];
  const blobs: { ref: BlobRef; bytes: Buffer }[] = [];
  const value = moveTexts(fields[field], `/${field}`, bytesMax, ({ at, text }) => {
    const bytes = Buffer.from(text);
    if (bytes.length > blobBytesMax)
      throw new LogError(
        "too-large",
        `a text of ${bytes.length} bytes is above the ${blobBytesMax} of a blob`,
      );
    const ref = blobRefOf(bytes);
    places.push({ at, ...ref });
    blobs.push({ ref, bytes });
    return headOf(text, blobHeadChars);
  });
  if (places.length === 0) return { body, blobs: [], ...named };
  return { body: { ...body, [field]: value, blobs: places } as { readonly kind: string }, blobs, ...named };
}
