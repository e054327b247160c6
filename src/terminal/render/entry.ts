/** One entry to lines: the renderer's main door. */
import { type Entry, resultsOf } from "../../transcript/index.ts";
import { decodeBytes, type Line, type Span, safeSpans, sanitizeLines } from "../text/index.ts";
import {
  compactedLines,
  deliveredLines,
  modelLines,
  rawLines,
  streamingLines,
  toolResultLines,
  woundedLines,
} from "./entries.ts";
import { formatBytes } from "./format.ts";
import { blankLine, codeLines, cutSpans, fitLine, tone } from "./layout.ts";
import type { RenderOptions } from "./options.ts";
import { isParted } from "./shape.ts";

function bodyLines(entry: Entry, options: RenderOptions): readonly Line[] {
  switch (entry.kind) {
    case "delivered":
      return deliveredLines(entry, options);
    case "model":
      return modelLines(entry, options);
    case "tool-result":
      return resultsOf(entry).flatMap((result) => toolResultLines(result, options));
    case "streaming":
      return streamingLines(entry, options);
    case "compacted":
      return compactedLines(entry, options);
    case "wounded":
      return woundedLines(entry, options);
    case "raw":
      return rawLines(entry, options);
  }
}

/** The verbatim record, every byte of it visible. */
function verbatimLines(entry: Entry, options: RenderOptions): readonly Line[] {
  const { bytes, width } = options;
  const title: Span[] = [tone("record ", "dim"), ...safeSpans(entry.name, { tone: "dim" })];
  if (entry.place !== undefined) title.push(tone(`  bytes ${entry.place.start}–${entry.place.end}`, "dim"));
  if (bytes === undefined) {
    const why =
      entry.place === undefined ? "not in the log: made from what surrounds it" : "its bytes were not read";
    return [fitLine(cutSpans([...title, tone(`  (${why})`, "warn")], width))];
  }
  if (options.isCut === true) title.push(tone(`  first ${formatBytes(bytes.length)}`, "warn"));
  const lines = sanitizeLines(decodeBytes(bytes), { bytes: true, whole: true });
  return [fitLine(cutSpans(title, width)), ...lines.flatMap((line) => codeLines(line, width))];
}

/** Why an entry stands aside of the main talk, if it does. */
function asideOf(entry: Entry): readonly Span[] | undefined {
  const parts: Span[] = [];
  if (entry.subagent !== undefined)
    parts.push(tone("subagent ", "dim"), ...safeSpans(entry.subagent, { tone: "dim" }));
  if (entry.offPath === true)
    parts.push(tone(parts.length > 0 ? ", on a branch that was left" : "on a branch that was left", "dim"));
  return parts.length > 0 ? parts : undefined;
}

function isSameAside(previous: Entry | undefined, entry: Entry): boolean {
  return (
    previous !== undefined &&
    previous.subagent === entry.subagent &&
    (previous.offPath ?? false) === (entry.offPath ?? false)
  );
}

const keptTones: ReadonlySet<string | undefined> = new Set(["bad", "warn", "danger", "running"]);

function dimmed(span: Span): Span {
  return keptTones.has(span.tone) ? span : { ...span, tone: "dim", bold: false };
}

/** Lines that are dim and have a bar at their left, under a row that says why. */
function asideLines(entry: Entry, why: readonly Span[], options: RenderOptions): readonly Line[] {
  const { width } = options;
  const hasBar = width >= 16;
  const inner = bodyLines(entry, hasBar ? { ...options, width: width - 2 } : options);
  const bar = tone("┊", "rule");
  const lines = inner.map((line) => {
    const spans = line.spans.map(dimmed);
    if (!hasBar) return { ...line, spans };
    return { ...line, spans: spans.length === 0 ? [bar] : [bar, { text: " " }, ...spans] };
  });
  if (isSameAside(options.previous, entry)) return lines;
  return [fitLine(cutSpans([...(hasBar ? [bar, { text: " " }] : []), ...why], width)), ...lines];
}

/**
 * The lines of one entry, `fit` lines for `options.width` and unbroken ones. Pure: the same entry and options give the same lines.
 * Compact detail costs what is drawn and a count of the rest; full and raw cost what the entry holds. A result whose content the call
 * line tells already may have no lines.
 */
export function renderEntry(entry: Entry, options: RenderOptions): readonly Line[] {
  const safe = { ...options, width: Math.max(1, Math.floor(options.width)) };
  const why = asideOf(entry);
  const body =
    safe.detail === "raw"
      ? verbatimLines(entry, safe)
      : why === undefined
        ? bodyLines(entry, safe)
        : asideLines(entry, why, safe);
  return body.length > 0 && isParted(options.previous, entry) ? [blankLine, ...body] : body;
}
