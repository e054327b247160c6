/**
 * What a reader of a ledger may show and replay: the fold of the reader's own transactions, and the notes a fork inherited, for reading
 * only. Each origin is folded under its own unchanged id. Inherited notes come from the copied prefix alone: the ledger up to the message
 * it was forked at. Disagreement about a name is looked for before the origins are parted, since each of them alone would look clean.
 */
import { canonicalJson } from "./canonical.ts";
import type { ContinuityAnomaly, ContinuityAuthority, ContinuityPhase } from "./contract.ts";
import { resolveEvidence } from "./evidence.ts";
import { foldOrigin, prepareLedger } from "./fold.ts";
import type { ContinuityFoldResult } from "./fold-result.ts";
import { type ContinuityClaim, messageTurnIds, readContinuityClaims } from "./ledger.ts";
import { fieldsOf } from "./values.ts";

/** What a forked session says of its origin, from its own metadata. The path of the parent's log is no id and no part of it. */
export interface ContinuityForkBinding {
  readonly parentSessionId: string;
  /** The message it was forked at; the copied prefix ends with it. */
  readonly parentTurnId: string;
  /** The same fact from the log's first line, where the reader has it; it must agree. */
  readonly headerParentTurnId?: string | undefined;
}

export interface ContinuityProjectionInput {
  /** The whole applicable ledger before any replay cut, parsed JSON in file order. */
  readonly entries: readonly unknown[];
  /** The session that reads. Undefined: a reader who does not say who it is, and for whom nothing is projected. */
  readonly sessionId: string | undefined;
  /** Lines of the ledger that its reader could not read as entries. */
  readonly unreadableRecords: number;
  readonly nowMs: number;
  /** The selected path. Absent: all messages of `entries`. */
  readonly pathTurnIds?: readonly string[] | undefined;
  readonly fork?: ContinuityForkBinding | undefined;
  /**
   * True only for a look at an earlier moment of the session's own transactions (a fork being previewed). A live selection in the tree
   * is not historical, whatever it hides from view.
   */
  readonly historical?: boolean | undefined;
}

/** The note of the session's own current transaction. */
export interface ProjectedContinuityNote {
  /** The accepted text, exactly. */
  readonly note: string;
  readonly handoffId: string;
  readonly commitId: string;
  readonly originSessionId: string;
  readonly phase: ContinuityPhase;
  readonly authority: ContinuityAuthority;
}

/** `inherited_prior`: of an earlier transaction of its origin. */
export type ContinuityRecallProvenance = "inherited" | "inherited_prior";

/** An inherited note. There is deliberately nothing in it that could be acted on. */
export interface ContinuityRecallNote {
  readonly originSessionId: string;
  readonly handoffId: string;
  readonly commitId: string;
  /** The accepted text, exactly. */
  readonly note: string;
  readonly phase: ContinuityPhase;
  readonly provenance: ContinuityRecallProvenance;
  /** False where the origin's own fold is disputed. */
  readonly validated: boolean;
}

export interface ContinuityProjection {
  /** The session's own fold; null where there is no continuity record, or no session. */
  readonly current: ContinuityFoldResult | null;
  readonly note: ProjectedContinuityNote | null;
  /** Origins in order of appearance; of one origin the newest transaction, then its priors, oldest first. */
  readonly inherited: readonly ContinuityRecallNote[];
  /** What is wrong between the origins, or with the fork's boundary. */
  readonly anomalies: readonly ContinuityAnomaly[];
  /** True where a dispute or an unknown boundary took the session's own authority away. */
  readonly authoritySuppressed: boolean;
  /** The first record of the projected note's transaction: a measurement taken behind it has counted the note. */
  readonly noteAnchorTurnId: string | null;
  /** The fork's message, where notes are inherited: only a measurement taken behind it has counted them. */
  readonly inheritedAnchorTurnId: string | null;
  /** Distinct records of other origins behind the fork's message: not inherited, whatever they claim. */
  readonly foreignRecordsIgnored: number;
}

/** Resolves the projection of one ledger. Does nothing, rewrites nothing, and reads no other session's log; cost linear in the entries. */
export function resolveContinuityProjection(input: ContinuityProjectionInput): ContinuityProjection {
  const claims = readContinuityClaims(input.entries);
  if (claims.length === 0) return emptyProjection([], false);
  const collisions = findCollisions(claims);
  const anomalies = [...collisions.anomalies, ...findUnreadable(claims)];
  const sessionId = input.sessionId === "" ? undefined : input.sessionId;
  const inheritance = inherit(input, sessionId, claims, collisions.disputed);
  if ("problem" in inheritance) anomalies.push(boundaryAnomaly(inheritance.problem));
  if (sessionId === undefined) return emptyProjection(anomalies, true);
  const own = foldOver(
    input.entries,
    input,
    claims,
    [sessionId],
    input.historical ?? false,
  )[0] as ContinuityFoldResult;
  const isSuppressed =
    "problem" in inheritance || (own.identity !== null && collisions.disputed.has(own.identity.handoffId));
  const current = isSuppressed ? suppress(own, anomalies) : own;
  const note = noteOf(current);
  const { notes = [], ignored = 0 } = "problem" in inheritance ? {} : inheritance;
  return {
    current,
    note,
    inherited: notes,
    anomalies,
    authoritySuppressed: isSuppressed,
    noteAnchorTurnId:
      claims.find((claim) => note !== null && claim.handoffId === note.handoffId)?.entryId ?? null,
    inheritedAnchorTurnId: notes.length === 0 ? null : (input.fork?.parentTurnId ?? null),
    foreignRecordsIgnored: ignored,
  };
}

function emptyProjection(
  anomalies: readonly ContinuityAnomaly[],
  authoritySuppressed: boolean,
): ContinuityProjection {
  return {
    current: null,
    note: null,
    inherited: [],
    anomalies,
    authoritySuppressed,
    noteAnchorTurnId: null,
    inheritedAnchorTurnId: null,
    foreignRecordsIgnored: 0,
  };
}

/** One evidence and one fold an origin over one array: positions of different arrays are never compared. */
function foldOver(
  entries: readonly unknown[],
  input: ContinuityProjectionInput,
  claims: readonly ContinuityClaim[],
  origins: readonly string[],
  historical: boolean,
): ContinuityFoldResult[] {
  const path = new Set(input.pathTurnIds ?? messageTurnIds(entries));
  const evidence = resolveEvidence(entries, claims, path, input.unreadableRecords);
  const ledger = prepareLedger(claims, evidence);
  return origins.map((sessionId) => foldOrigin(ledger, { sessionId, path, historical, nowMs: input.nowMs }));
}

// Disagreement about names

interface Collisions {
  readonly anomalies: ContinuityAnomaly[];
  /** Handoffs about which the ledger disagrees with itself. */
  readonly disputed: ReadonlySet<string>;
}

/** What a name was first said to mean, and by whose handoff. */
interface FirstClaim {
  readonly text: string;
  readonly handoffId: string | null;
}

function findCollisions(claims: readonly ContinuityClaim[]): Collisions {
  const anomalies: ContinuityAnomaly[] = [];
  const disputed = new Set<string>();
  const compare = (
    known: Map<string, FirstClaim>,
    name: string,
    value: unknown,
    claim: ContinuityClaim,
  ): boolean => {
    const first = known.get(name);
    const text = canonicalJson(value);
    if (first === undefined) known.set(name, { text, handoffId: claim.handoffId });
    if (first === undefined || first.text === text) return true;
    for (const handoffId of [first.handoffId, claim.handoffId]) {
      if (handoffId !== null) disputed.add(handoffId);
    }
    return false;
  };
  const owners = new Map<string, FirstClaim>();
  const identities = new Map<string, FirstClaim>();
  const notes = new Map<string, FirstClaim>();
  for (const claim of claims) {
    const { entryId, handoffId, originSessionId, identity, accepted } = claim;
    if (entryId !== null && !compare(owners, entryId, { handoffId, originSessionId }, claim)) {
      const detail = "one entry id stands for records of two transactions or origins";
      anomalies.push({ kind: "entry_id_reused", entryId, detail });
    }
    if (handoffId === null) continue;
    if (!compare(identities, handoffId, identity, claim)) {
      const detail = `handoff ${handoffId} has two different immutable identities`;
      anomalies.push({ kind: "duplicate_conflict", entryId, detail });
    }
    // The newer note is never preferred: neither is authority, both stay in the ledger.
    if (accepted !== undefined && !compare(notes, handoffId, accepted, claim)) {
      const detail = `handoff ${handoffId} has two different accepted notes`;
      anomalies.push({ kind: "duplicate_conflict", entryId, detail });
    }
  }
  return { anomalies, disputed };
}

/** Records of which not even the names can be read. They are no one's, so no fold but the reader's own would tell of them. */
function findUnreadable(claims: readonly ContinuityClaim[]): ContinuityAnomaly[] {
  return claims
    .filter((claim) => claim.entryId === null || claim.handoffId === null || claim.originSessionId === null)
    .map(({ entryId, entry }) => ({
      kind: "malformed_continuity_record",
      entryId,
      detail: `a ${String(entry["kind"])} record does not say what it belongs to`,
    }));
}

// Inherited recall

type Inheritance =
  | { readonly notes: readonly ContinuityRecallNote[]; readonly ignored: number }
  | { readonly problem: string };

function inherit(
  input: ContinuityProjectionInput,
  sessionId: string | undefined,
  claims: readonly ContinuityClaim[],
  disputed: ReadonlySet<string>,
): Inheritance {
  const foreign = claims.filter(
    ({ originSessionId }) => originSessionId !== null && originSessionId !== sessionId,
  );
  const origins = new Set(foreign.map((claim) => claim.originSessionId as string));
  if (foreign.length === 0) return { notes: [], ignored: 0 };
  if (input.fork === undefined) {
    return {
      problem: `the ledger has records of ${origins.size} other origin(s) but publishes no fork binding; they are not projected`,
    };
  }
  if (sessionId === undefined) return unresolved("the reader does not say which session it is");
  const { parentTurnId, headerParentTurnId } = input.fork;
  if (headerParentTurnId !== undefined && headerParentTurnId !== parentTurnId) {
    return unresolved("the header and metadata disagree about the fork message");
  }
  const boundary = input.entries.findIndex((value) => {
    const entry = fieldsOf(value);
    return entry?.["kind"] === "message" && entry["turnId"] === parentTurnId;
  });
  if (boundary < 0) return unresolved(`the fork message ${parentTurnId} is not in this ledger`);
  const prefix = input.entries.slice(0, boundary + 1);
  const copied = claims.filter((claim) => claim.position <= boundary);
  const eligible = [...new Set(copied.map((claim) => claim.originSessionId))].filter(
    (origin) => origin !== null && origin !== sessionId,
  ) as string[];
  const folds = foldOver(prefix, input, copied, eligible, true);
  const notes = folds.flatMap((fold, i) => recall(fold, eligible[i] as string, disputed));
  return {
    notes: withoutRepeats(notes),
    ignored: foreign.filter((claim) => claim.position > boundary).length,
  };
}

function unresolved(why: string): Inheritance {
  return { problem: `inherited boundary unresolved: ${why}` };
}

function boundaryAnomaly(detail: string): ContinuityAnomaly {
  return { kind: "malformed_continuity_record", entryId: null, detail };
}

function recall(
  { identity, accepted, phase, validated, priorHandoffs }: ContinuityFoldResult,
  originSessionId: string,
  disputed: ReadonlySet<string>,
): ContinuityRecallNote[] {
  const newest =
    identity === null
      ? []
      : [{ handoffId: identity.handoffId, commitId: identity.commitId, accepted, phase, isPrior: false }];
  const notes: ContinuityRecallNote[] = [];
  for (const each of [...newest, ...priorHandoffs.map((prior) => ({ ...prior, isPrior: true }))]) {
    if (each.accepted === null || disputed.has(each.handoffId)) continue;
    notes.push({
      originSessionId,
      handoffId: each.handoffId,
      commitId: each.commitId,
      note: each.accepted.note,
      phase: each.phase,
      provenance: each.isPrior ? "inherited_prior" : "inherited",
      validated,
    });
  }
  return notes;
}

function withoutRepeats(notes: readonly ContinuityRecallNote[]): ContinuityRecallNote[] {
  const seen = new Set<string>();
  return notes.filter(({ handoffId, commitId, originSessionId, note }) => {
    const key = canonicalJson([handoffId, commitId, originSessionId, note]);
    if (seen.has(key)) return false;
    seen.add(key);
    return true;
  });
}

// The session's own transaction

/** Takes a fold's permissions away, in the fold itself: whoever holds it can neither carry it nor rebuild a commit from it. */
function suppress(fold: ContinuityFoldResult, anomalies: readonly ContinuityAnomaly[]): ContinuityFoldResult {
  return {
    ...fold,
    authority: fold.authority === "none" ? "none" : "recall_only",
    validated: false,
    action: { kind: "recall_only", reason: "conflicting_evidence" },
    missingCommit: null,
    unacknowledgedResponseEntryId: null,
    anomalies: [...fold.anomalies, ...anomalies],
  };
}

function noteOf({
  identity,
  accepted,
  phase,
  authority,
}: ContinuityFoldResult): ProjectedContinuityNote | null {
  if (identity === null || accepted === null) return null;
  const { handoffId, commitId, originSessionId } = identity;
  return { note: accepted.note, handoffId, commitId, originSessionId, phase, authority };
}
