/** What a record of each kind must be. One table, used strictly by writers and forks, and as a remark by readers. */
import { continuityProblem } from "../continuity/index.ts";
import { jsonProblem } from "./json.ts";
import { headerTextBytesMax, idCharsMax, settingBytesMax, settingKeyBytesMax } from "./limits.ts";
import { conversationKinds, lifecycleKinds, messageRoles } from "./records.ts";

type Fields = Readonly<Record<string, unknown>>;
/** What is wrong with a field's value, or undefined. */
type FieldCheck = (value: unknown) => string | undefined;

const text: FieldCheck = (value) => (typeof value === "string" ? undefined : "must be a text");
const flag: FieldCheck = (value) => (typeof value === "boolean" ? undefined : "must be true or false");
const list: FieldCheck = (value) => (Array.isArray(value) ? undefined : "must be a list");
const object: FieldCheck = (value) =>
  typeof value === "object" && value !== null && !Array.isArray(value) ? undefined : "must be an object";

const id: FieldCheck = (value) =>
  typeof value === "string" && value !== "" && value.length <= idCharsMax
    ? undefined
    : `must be a non-empty text of at most ${idCharsMax} characters`;
const nullableId: FieldCheck = (value) => (value === null ? undefined : id(value));
const idOrEmpty: FieldCheck = (value) => (value === "" ? undefined : id(value));
const count: FieldCheck = (value) =>
  Number.isSafeInteger(value) && (value as number) >= 0 ? undefined : "must be a whole number of at least 0";
const positive: FieldCheck = (value) => (value === 0 ? "must be at least 1" : count(value));
const nullableNumber: FieldCheck = (value) =>
  value === null || (typeof value === "number" && Number.isFinite(value))
    ? undefined
    : "must be a number or null";
const headerText: FieldCheck = (value) =>
  typeof value === "string" && value !== "" && Buffer.byteLength(value) <= headerTextBytesMax
    ? undefined
    : `must be a non-empty text of at most ${headerTextBytesMax} bytes`;

const instantForm = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,9})?(Z|[+-]\d\d:\d\d)$/;
const instant: FieldCheck = (value) =>
  typeof value === "string" && instantForm.test(value) && !Number.isNaN(Date.parse(value))
    ? undefined
    : "must be an ISO 8601 time with an offset";

function oneOf(...allowed: readonly unknown[]): FieldCheck {
  return (value) =>
    allowed.includes(value)
      ? undefined
      : `must be ${allowed.map((each) => JSON.stringify(each)).join(" or ")}`;
}

const json: FieldCheck = (value) => (value === undefined ? "is missing" : jsonProblem(value));
function optional(check: FieldCheck): FieldCheck {
  return (value) => (value === undefined ? undefined : check(value));
}
function within(checks: Readonly<Record<string, FieldCheck>>): FieldCheck {
  return (value) => object(value) ?? problemOf(value as Fields, checks);
}
function each(check: FieldCheck): FieldCheck {
  return (value) => {
    if (!Array.isArray(value)) return "must be a list";
    for (const [index, item] of value.entries()) {
      const problem = check(item);
      if (problem !== undefined) return `[${index}] ${problem}`;
    }
    return undefined;
  };
}

const envelope: Readonly<Record<string, FieldCheck>> = {
  turnId: id,
  parentTurnId: nullableId,
  timestamp: instant,
  blobs: optional(
    each(within({ at: text, sha256: (v) => (isSha256(v) ? undefined : "must be a sha256"), bytes: count })),
  ),
};

const settingKey: FieldCheck = (value) =>
  typeof value === "string" && value !== "" && Buffer.byteLength(value) <= settingKeyBytesMax
    ? undefined
    : `must be a non-empty text of at most ${settingKeyBytesMax} bytes`;
const settingValue: FieldCheck = (value) => {
  const problem = json(value);
  if (problem !== undefined) return problem;
  return Buffer.byteLength(JSON.stringify(value)) <= settingBytesMax
    ? undefined
    : `must be at most ${settingBytesMax} bytes as JSON`;
};

const byKind: Readonly<Record<string, Readonly<Record<string, FieldCheck>>>> = {
  message: { ...envelope, role: oneOf(...messageRoles), payload: json },
  compactionSummary: {
    ...envelope,
    summary: text,
    tokensBefore: count,
    tokensAfter: optional(count),
    firstKeptTurnId: idOrEmpty,
    messagesSummarized: optional(count),
    isSplitTurn: optional(flag),
    trigger: optional(oneOf("auto", "force", "overflow")),
    usage: optional(json),
    userContext: optional(json),
    skillContext: optional(json),
    continuity: optional(json),
    chain: optional(within({ cycle: positive, previous: optional(count), turn: optional(count) })),
  },
  contextEviction: {
    ...envelope,
    policyId: id,
    trigger: id,
    evicted: (value) => list(value) ?? json(value),
    tokensBefore: count,
    tokensAfter: count,
    pressureBefore: nullableNumber,
    snapshotIdBefore: nullableId,
  },
  custom: { ...envelope, customType: id, data: optional(json), display: optional(flag) },
  label: { ...envelope, targetTurnId: id, label: optional(headerText) },
  handoffTransaction: {
    ...envelope,
    schemaVersion: positive,
    identity: (value) => object(value) ?? json(value),
    transition: (value) => object(value) ?? json(value),
    event: (value) => object(value) ?? json(value),
  },
  continuityCommit: { ...envelope, continuity: (value) => object(value) ?? json(value) },
  session: {
    id,
    cwd: optional(headerText),
    agent: optional(headerText),
    agentVersion: optional(headerText),
    agentSessionId: optional(headerText),
    link: optional(oneOf("fork", "continuation")),
    parentSession: optional(headerText),
    parentSessionId: optional(id),
    parentTurnId: optional(id),
  },
  turnStarted: { turn: positive },
  turnCommitted: { turn: positive, data: optional(json) },
  turnInterrupted: { turn: positive, reason: id, data: optional(json) },
  set: { key: settingKey, value: settingValue },
  closed: {},
  snapshot: {
    offset: count,
    turns: count,
    openTurn: optional(within({ turn: positive, offset: count })),
    cycle: count,
    compaction: optional(count),
    compactionTurn: optional(count),
    leafTurnId: optional(id),
    settings: (value) => object(value) ?? json(value),
  },
  missed: {
    reason: oneOf("held-limit", "truncated", "damage"),
    records: optional(count),
    bytes: optional(count),
    start: optional(count),
  },
};

/** The kinds that have a check: all of them, which a test holds against the type. */
export const validatedKinds: readonly string[] = Object.keys(byKind);

const known: ReadonlySet<string> = new Set<string>([...conversationKinds, ...lifecycleKinds]);

/** Whether this version knows the kind. */
export function isKnownKind(kind: string): boolean {
  return known.has(kind);
}

export function isSha256(value: unknown): value is string {
  return typeof value === "string" && /^[0-9a-f]{64}$/.test(value);
}

function problemOf(fields: Fields, checks: Readonly<Record<string, FieldCheck>>): string | undefined {
  for (const [name, check] of Object.entries(checks)) {
    const problem = check(fields[name]);
    if (problem !== undefined)
      return fields[name] === undefined ? `${name} is missing` : `${name} ${problem}`;
  }
  return undefined;
}

/**
 * What is wrong with a record's fields, naming the field, or undefined. The stamp is not looked at. An unknown kind is a problem here;
 * a reader asks `isKnownKind` first. Further fields are tolerated.
 */
export function recordProblem(record: Fields): string | undefined {
  const kind = record["kind"];
  if (typeof kind !== "string" || !Object.hasOwn(byKind, kind))
    return `kind ${JSON.stringify(kind)} is unknown`;
  const problem = problemOf(record, byKind[kind] ?? {});
  if (problem !== undefined) return `${kind}: ${problem}`;
  if (kind === "session" && record["link"] !== undefined && record["parentSession"] === undefined)
    return "session: parentSession is missing";
  const refused = continuityProblem(record);
  return refused === undefined ? undefined : `${kind}: ${refused}`;
}
