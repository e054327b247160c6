/** `hansard export`: a session as a file for others. */
import { createHash, randomBytes } from "node:crypto";
import { type FileHandle, link, open, rename, rm } from "node:fs/promises";
import { basename, dirname, join, resolve } from "node:path";
import {
  createHtmlExporter,
  createJsonExporter,
  createMarkdownExporter,
  createRedactor,
  type Exporter,
  type ExportItem,
  htmlStyle,
  RAW_BYTES_MAX,
  type Redactor,
} from "../export/index.ts";
import { type Log, openLog, type SessionInfo } from "../sources/index.ts";
import { sanitizeLine } from "../terminal/text/index.ts";
import type { Entry } from "../transcript/index.ts";
import { CommandError } from "./errors.ts";
import { exitCodes } from "./exit.ts";
import type { Io } from "./io.ts";
import { resolveSession } from "./resolve.ts";
import { pagesOf } from "./show.ts";
import { parseSince } from "./since.ts";
import { createTextPrinter } from "./text-printer.ts";

export const exportForms = ["markdown", "html", "json", "text"] as const;
export type ExportForm = (typeof exportForms)[number];

export interface ExportOptions {
  readonly to: ExportForm;
  readonly out?: string;
  /** Replace the file at `out`. */
  readonly force?: boolean;
  readonly since?: string;
  readonly raw?: boolean;
  readonly redact?: boolean;
}

/** Places of the review list that are printed; all are counted. */
export const REVIEW_LINES_MAX = 200;

/** Text, an entry at a time: what `hansard show` prints. */
function createTextExporter(io: Io): Exporter {
  const printer = createTextPrinter({ ...io, out: { ...io.out, isTTY: false, columns: undefined } });
  return {
    start: () => "",
    item: ({ entry, raw }) => {
      const record =
        raw === undefined ? [] : [{ ...entry, kind: "raw", reason: "record", text: raw } as Entry];
      return printer.entries([entry, ...record]);
    },
    end: () => "",
  };
}

function exporterOf(form: ExportForm, io: Io): Exporter {
  switch (form) {
    case "html":
      return createHtmlExporter({ styleHash: createHash("sha256").update(htmlStyle).digest("base64") });
    case "markdown":
      return createMarkdownExporter();
    case "json":
      return createJsonExporter();
    case "text":
      return createTextExporter(io);
  }
}

async function rawOf(log: Log, entry: Entry): Promise<{ readonly raw?: string }> {
  if (entry.place === undefined) return {};
  const bytes = await log.raw(entry.place, RAW_BYTES_MAX + 1);
  const text = new TextDecoder().decode(bytes.subarray(0, RAW_BYTES_MAX));
  return { raw: bytes.length > RAW_BYTES_MAX ? `${text}… (cut)` : text };
}

/** Every entry from `since` on, in log order. One without a time of its own has that of the entry before it. */
async function* itemsOf(log: Log, options: { since?: number; raw?: boolean }): AsyncGenerator<ExportItem> {
  let isIn = options.since === undefined;
  for await (const page of pagesOf(log, {})) {
    for (const [at, entry] of page.entries.entries()) {
      if (options.since !== undefined && entry.time !== undefined) isIn = entry.time >= options.since;
      if (!isIn) continue;
      yield {
        entry,
        position: page.positions[at] ?? page.start,
        ...(options.raw === true ? await rawOf(log, entry) : {}),
      };
    }
  }
}

/** Where the export goes: taken whole at `commit`, gone without a trace at `discard`. */
interface Target {
  /** False once nobody reads on. */
  write(text: string): Promise<boolean>;
  commit(): Promise<void>;
  discard(): Promise<void>;
}

function cannotWrite(path: string, error: unknown): CommandError {
  const why = error instanceof Error ? error.message : String(error);
  return new CommandError(exitCodes.unreadable, `the export cannot be written to ${path}: ${why}`, [
    "Name another file with --out.",
  ]);
}

/** A file that appears under its name only when it is whole; an existing one is replaced only where `force` says so. */
async function fileTarget(path: string, force: boolean): Promise<Target> {
  const beside = join(dirname(path), `.${basename(path)}.${randomBytes(6).toString("hex")}`);
  let file: FileHandle;
  try {
    file = await open(beside, "wx", 0o600);
  } catch (error) {
    throw cannotWrite(path, error);
  }
  const discard = async (): Promise<void> => {
    await file.close().catch(() => undefined);
    await rm(beside, { force: true });
  };
  return {
    async write(text) {
      try {
        await file.write(text);
        return true;
      } catch (error) {
        throw cannotWrite(path, error);
      }
    },
    async commit() {
      try {
        await file.sync();
        await file.close();
        if (force) await rename(beside, path);
        else await link(beside, path);
      } catch (error) {
        await discard();
        if ((error as NodeJS.ErrnoException).code === "EEXIST") throw alreadyThere(path);
        throw cannotWrite(path, error);
      }
      await rm(beside, { force: true });
    },
    discard,
  };
}

function alreadyThere(path: string): CommandError {
  return new CommandError(exitCodes.unreadable, `${path} is there already; it was left as it is.`, [
    "--force replaces it.",
  ]);
}

/** Kept until all of it is known to be fit to leave: nothing of a redacted export goes out before its end. */
function outTarget(io: Io): Target {
  return {
    write: (text) => io.out.write(text),
    commit: async () => undefined,
    discard: async () => undefined,
  };
}

async function tellReview(io: Io, redactor: Redactor): Promise<void> {
  const total = [...redactor.counts.values()].reduce((sum, count) => sum + count, 0);
  const lines = redactor.findings
    .slice(0, REVIEW_LINES_MAX)
    .map(({ where, kind, length }) => `  ${where}: ${kind}, ${length} characters`);
  if (total > lines.length) lines.push(`  … ${total - lines.length} more`);
  const kinds = [...redactor.counts].map(([kind, count]) => `${count} ${kind}`).join(", ");
  lines.unshift(
    total === 0
      ? "hansard: nothing was found that had to be replaced; look it over before it leaves"
      : `hansard: replaced ${kinds}; look the rest over before it leaves:`,
  );
  await io.err.write(lines.map((line) => `${sanitizeLine(line)}\n`).join(""));
}

function redactorOf(io: Io): Redactor {
  const { home, env } = io.around;
  const names = [env["USER"], env["LOGNAME"], env["USERNAME"], home.split(/[/\\]/).at(-1)];
  return createRedactor({
    homes: home === "" ? [] : [home],
    users: names.filter((name): name is string => name !== undefined && name !== ""),
  });
}

/** Writes the export. Throws a CommandError where it cannot be; then no file is left behind. */
export async function runExport(io: Io, name: string, options: ExportOptions): Promise<number> {
  const since = options.since === undefined ? undefined : parseSince(options.since, io.now());
  const log = await openLog(await resolveSession(io, name));
  try {
    const path = options.out === undefined ? undefined : resolve(io.cwd, options.out);
    const target = path === undefined ? outTarget(io) : await fileTarget(path, options.force === true);
    const redactor = options.redact === true ? redactorOf(io) : undefined;
    try {
      await writeExport(io, log, { ...options, since }, target, redactor);
    } catch (error) {
      await target.discard();
      throw error;
    }
    await target.commit();
    if (redactor !== undefined) await tellReview(io, redactor);
    if (path !== undefined && redactor === undefined)
      await io.err.write(`hansard: wrote ${sanitizeLine(path)}\n`);
    return exitCodes.ok;
  } finally {
    await log.close();
  }
}

async function writeExport(
  io: Io,
  log: Log,
  options: { readonly to: ExportForm; readonly since: number | undefined; readonly raw?: boolean },
  target: Target,
  redactor: Redactor | undefined,
): Promise<void> {
  const exporter = exporterOf(options.to, io);
  const clean = <T>(value: T, where: string): T => redactor?.redact(value, where) ?? value;
  const info: SessionInfo = await log.info();
  if (!(await target.write(exporter.start(clean(info, "the session"))))) return;
  const wanted = {
    ...(options.since === undefined ? {} : { since: options.since }),
    ...(options.raw === undefined ? {} : { raw: options.raw }),
  };
  for await (const item of itemsOf(log, wanted)) {
    const text = exporter.item(clean(item, item.entry.name));
    if (text !== "" && !(await target.write(text))) return;
  }
  await target.write(exporter.end());
}
