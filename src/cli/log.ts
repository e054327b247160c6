/** `hansard log`: the records of a session that Hansard keeps, as they lie in its log, with what is damaged in its place. */
import { type LogItem, type LogReader, type LogRecord, openLogForRead } from "../log/index.ts";
import { cutCells, sanitizeLine } from "../terminal/text/index.ts";
import { exitCodes } from "./exit.ts";
import type { Io } from "./io.ts";
import { resolveOwn, withLogErrors } from "./own-session.ts";

export interface LogOptions {
  readonly json?: boolean;
  /** The newest records only. Absent: all. */
  readonly limit?: number;
}

/** Items written at once. */
const BATCH_ITEMS = 256;
/** Columns of a line where the output is no terminal. */
const COLUMNS_DEFAULT = 160;
/** Characters of a record's fields that are looked at to show them: no line is that long. */
const DETAIL_CHARS_MAX = 1000;

/** Prints the records; stops quietly when the reader of the output has gone. Exits with `damaged` where bytes are no record. */
export async function runLog(io: Io, name: string, options: LogOptions): Promise<number> {
  return await withLogErrors(async () => {
    const { sessions, id } = await resolveOwn(io, name);
    const reader = await openLogForRead({ sessions, id });
    try {
      return await print(io, reader, options);
    } finally {
      await reader.close();
    }
  });
}

async function print(io: Io, reader: LogReader, options: LogOptions): Promise<number> {
  const width = io.out.columns ?? COLUMNS_DEFAULT;
  const write = options.json === true ? jsonLine : (item: LogItem) => humanLine(item, width);
  let isDamaged = false;
  let lines: string[] = [];
  const flush = async (): Promise<boolean> => {
    const text = lines.join("");
    lines = [];
    return text === "" || (await io.out.write(text));
  };
  for await (const item of await itemsOf(reader, options.limit)) {
    isDamaged ||= item.type === "damage" && item.fault !== "newer";
    lines.push(`${write(item)}\n`);
    if (lines.length >= BATCH_ITEMS && !(await flush())) return exitCodes.ok;
  }
  await flush();
  return isDamaged ? exitCodes.damaged : exitCodes.ok;
}

/** All items, or the newest ones: for these only their places are gone over before. */
async function itemsOf(reader: LogReader, limit: number | undefined): Promise<AsyncIterable<LogItem>> {
  if (limit === undefined) return reader.items();
  let page = await reader.tail(Math.min(limit, BATCH_ITEMS));
  let left = limit - page.items.length;
  while (left > 0 && !page.isAtStart) {
    page = await reader.older(page.start, Math.min(left, BATCH_ITEMS));
    left -= page.items.length;
  }
  return reader.items({ start: page.start });
}

function jsonLine(item: LogItem): string {
  const { start, end } = item;
  if (item.type === "damage") return JSON.stringify({ start, end, damage: item.fault });
  const { record, problem } = item;
  return JSON.stringify({ start, end, record, ...(problem === undefined ? {} : { problem }) });
}

function humanLine(item: LogItem, width: number): string {
  if (item.type === "damage") {
    const bytes = `bytes ${item.start}-${item.end}`;
    return item.fault === "newer"
      ? `     ?  ${bytes}: a record of a newer version`
      : `     !  ${bytes} are no record (${item.fault})`;
  }
  const { record, problem } = item;
  const { v: _v, seq, ts, synced: _synced, kind, ...fields } = record as LogRecord & Record<string, unknown>;
  const mark = item.isUnknown ? "  (unknown kind)" : problem === undefined ? "" : `  (${problem})`;
  const head = `${String(seq).padStart(6)}  ${timeText(ts)}  ${kind}${mark}`;
  return cutCells(sanitizeLine(`${head}  ${detailOf(kind, fields)}`.trimEnd()), width);
}

function timeText(ts: number): string {
  const time = new Date(ts);
  return Number.isNaN(time.getTime()) ? String(ts) : time.toISOString().replace("T", " ").slice(0, 19);
}

/** What of a record tells most in one line. */
function detailOf(kind: string, fields: Readonly<Record<string, unknown>>): string {
  switch (kind) {
    case "message":
      return `${String(fields["role"])}: ${textOf(fields["payload"])}`;
    case "compactionSummary":
      return textOf(fields["summary"]);
    case "set":
      return `${String(fields["key"])} = ${textOf(fields["value"])}`;
    default: {
      const { turnId: _id, parentTurnId: _parent, timestamp: _time, ...rest } = fields;
      return Object.entries(rest)
        .map(([key, value]) => `${key}=${textOf(value)}`)
        .join(" ");
    }
  }
}

function textOf(value: unknown): string {
  if (typeof value === "string") return value.slice(0, DETAIL_CHARS_MAX);
  const text = (value as { readonly text?: unknown } | null | undefined)?.text;
  if (typeof text === "string") return text.slice(0, DETAIL_CHARS_MAX);
  return (JSON.stringify(value) ?? "").slice(0, DETAIL_CHARS_MAX);
}
