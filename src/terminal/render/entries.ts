/** Each kind of entry to lines. */
import {
  type CompactedEntry,
  type ContentBlock,
  type DeliveredEntry,
  type FileChange,
  handoffNoteLabel,
  handoffNoteTopic,
  type ModelEntry,
  type RawEntry,
  type StreamingEntry,
  type ToolResultEntry,
  type Usage,
  type Wound,
  type WoundedEntry,
} from "../../transcript/index.ts";
import { cellsOf, type Line, type Span, safeSpans, spansCells } from "../text/index.ts";
import { callLine, type ToolUse } from "./call.ts";
import { changeCount, diffLines } from "./diff.ts";
import { countLines, foldedLines } from "./fold.ts";
import { createClock, formatTokens, plural } from "./format.ts";
import { blankLine, cutSpans, fitLine, indentOf, spread, tone, wrapped } from "./layout.ts";
import { diffRowsMax, outputRowsMax, outputTailRows, promptRowsMax } from "./limits.ts";
import { proseLines } from "./markdown.ts";
import type { RenderOptions } from "./options.ts";
import {
  attachmentLines,
  foldedTyped,
  moreKeyOf,
  outputIndent,
  proseIndent,
  thinkingLines,
} from "./parts.ts";
import { isUnderCall } from "./shape.ts";
import { toolWord } from "./tools.ts";

const unfolded = Number.POSITIVE_INFINITY;
let ownClock: ((timeMs: number) => string) | undefined;

function timeSpans(timeMs: number | undefined, options: RenderOptions): readonly Span[] {
  if (timeMs === undefined) return [];
  ownClock ??= createClock();
  return safeSpans((options.time ?? ownClock)(timeMs), { tone: "dim" });
}

function isFolded(options: RenderOptions): boolean {
  return options.detail === "compact";
}

/** Puts `right` at the end of the first of `lines`, where it has room. */
function withRight(lines: readonly Line[], right: readonly Span[], width: number): readonly Line[] {
  const [head, ...others] = lines;
  if (head === undefined || right.length === 0 || head.wrap === "flow") return lines;
  // What was said is never cut to make room.
  if (spansCells(head.spans) + 2 + spansCells(right) > width - 1) return lines;
  return [spread(head.spans, right, width), ...others];
}

export function deliveredLines(entry: DeliveredEntry, options: RenderOptions): readonly Line[] {
  if (entry.sender === "system")
    return entry.topic === handoffNoteTopic ? noteLines(entry, options) : systemLines(entry, options);
  const { width } = options;
  const isUser = entry.sender === "user";
  const indent = indentOf(width, proseIndent);
  const right: readonly Span[] = [
    ...(entry.queued === true ? [tone("queued  ", "dim")] : []),
    ...timeSpans(entry.time, options),
  ];
  const rest = [{ text: " ".repeat(indent) }];
  const sign = [{ text: " ".repeat(Math.max(0, indent - 2)) }, tone(indent >= 2 ? "› " : "›", "prompt")];
  const lines: Line[] = [];
  if (!isUser) {
    const name = safeSpans(entry.senderName ?? entry.sender, { tone: "prompt" });
    const end =
      entry.epitaph === undefined
        ? []
        : [tone(" ended: ", "dim"), ...safeSpans(entry.epitaph, { tone: "warn" })];
    lines.push(spread([...sign, ...name, ...end], right, width));
  }
  const body = foldedTyped(
    entry.body.replace(/^(?:[ \t]*\r?\n)+/, ""),
    {
      rowsMax: isFolded(options) ? promptRowsMax : unfolded,
      style: isUser ? { bold: true } : {},
      first: isUser ? sign : rest,
      rest,
      indent: proseIndent,
    },
    // The first row shares its width with the time.
    { ...options, width: Math.max(1, width - promptMargin(right, width)) },
  );
  const hasStubs = (entry.attachments?.length ?? 0) > 0;
  const isEmpty = entry.body.trim() === "";
  const shown = isEmpty
    ? hasStubs && !isUser
      ? []
      : [fitLine(cutSpans([...(isUser ? sign : rest), ...(hasStubs ? [] : [tone("(empty)", "dim")])], width))]
    : body;
  lines.push(...(isUser ? withRight(shown, right, width) : shown));
  lines.push(...attachmentLines(entry.attachments, proseIndent, options));
  return lines;
}

/** Cells at the right that a prompt leaves for its time. */
function promptMargin(right: readonly Span[], width: number): number {
  const cells = spansCells(right);
  return cells === 0 || width < 40 ? 0 : cells + 3;
}

/** A note of the agent for itself: under its label, folded like a prompt. */
function noteLines(entry: DeliveredEntry, options: RenderOptions): readonly Line[] {
  const { width } = options;
  const lead = [{ text: width >= 24 ? " " : "" }, tone("· ", "dim"), tone(handoffNoteLabel, "dim")];
  const indent = { text: " ".repeat(indentOf(width, outputIndent)) };
  const rowsMax = isFolded(options) ? promptRowsMax : unfolded;
  const fold = {
    rowsMax,
    style: { tone: "dim" },
    first: [indent],
    rest: [indent],
    indent: outputIndent,
  } as const;
  return [fitLine(cutSpans(lead, width)), ...foldedTyped(entry.body, fold, options)];
}

const badTopic = /error|fail/i;

function systemLines(entry: DeliveredEntry, options: RenderOptions): readonly Line[] {
  const { width } = options;
  const isBad = entry.topic !== undefined && badTopic.test(entry.topic);
  const name = isBad ? "bad" : "dim";
  const topic =
    entry.topic === undefined
      ? []
      : [...safeSpans(entry.topic, { tone: name, bold: isBad }), tone("  ", "dim")];
  const lead = [{ text: width >= 24 ? " " : "" }, tone(isBad ? "✖ " : "· ", name), ...topic];
  const stubs = attachmentLines(entry.attachments, outputIndent, options);
  if (!isFolded(options)) {
    const body = foldedTyped(
      entry.body,
      {
        rowsMax: unfolded,
        style: { tone: name },
        first: lead,
        rest: [{ text: " ".repeat(indentOf(width, outputIndent)) }],
        indent: 0,
      },
      options,
    );
    return [...(body.length === 0 ? [fitLine(cutSpans(lead, width))] : body), ...stubs];
  }
  const text = entry.body.trim();
  const end = text.indexOf("\n");
  const first = (end === -1 ? text : text.slice(0, end)).slice(0, 2048);
  const said = safeSpans(first.trim(), { tone: name });
  const lines = countLines(text, 0, text.length);
  const hasMore = lines > 1 || cellsOf(first) + spansCells(lead) > width - 2;
  const right = [
    ...(hasMore
      ? [
          tone(
            lines > 1 ? `${plural(lines, "line")} (${moreKeyOf(options)})` : `(${moreKeyOf(options)})`,
            "dim",
          ),
        ]
      : []),
  ];
  return [spread([...lead, ...said], right, width), ...stubs];
}

function usageWords(usage: Usage): string {
  return Object.entries(usage)
    .filter(([, count]) => Number.isFinite(count))
    .map(([name, count]) => `${formatTokens(count)} ${name.replaceAll("_", " ")}`)
    .join(" · ");
}

const quietStops: ReadonlySet<string> = new Set([
  "end_turn",
  "stop",
  "tool_use",
  "toolUse",
  "stop_sequence",
  "STOP",
  "completed",
]);

export function modelLines(entry: ModelEntry, options: RenderOptions): readonly Line[] {
  const lines: Line[] = [];
  let above: ContentBlock | undefined;
  for (const block of entry.blocks) {
    const body = blockLines(block, entry, options);
    if (body.length === 0) continue;
    const isClose =
      above !== undefined && above.kind === block.kind && block.kind !== "text" && block.kind !== "thinking";
    if (above !== undefined && !isClose) lines.push(blankLine);
    lines.push(...body);
    above = block;
  }
  const { width } = options;
  const indent = " ".repeat(indentOf(width, proseIndent));
  if (lines.length === 0)
    lines.push(fitLine(cutSpans([{ text: indent }, tone("(nothing said)", "dim")], width)));
  if (entry.stopReason !== undefined && !quietStops.has(entry.stopReason)) {
    lines.push(
      fitLine(
        cutSpans(
          [{ text: indent }, tone("stopped: ", "warn"), ...safeSpans(entry.stopReason, { tone: "warn" })],
          width,
        ),
      ),
    );
  }
  if (!isFolded(options)) {
    const words = [entry.modelId, usageWords(entry.usage)]
      .filter((text) => text !== undefined && text !== "")
      .join(" · ");
    if (words !== "") lines.push(...wrapped(safeSpans(words, { tone: "dim" }), width, [{ text: indent }]));
  }
  return lines;
}

function blockLines(block: ContentBlock, entry: ModelEntry, options: RenderOptions): readonly Line[] {
  switch (block.kind) {
    case "text":
      return proseOf(block.text, options);
    case "thinking":
      return thinkingLines(block.text, options);
    case "tool-use":
      return toolUseLines(block, entry.time, options);
    case "attachment":
      return attachmentLines([block.attachment], proseIndent, options);
    case "other":
      return [
        fitLine(
          cutSpans(
            [{ text: " " }, tone("? ", "warn"), ...safeSpans(block.type, { tone: "warn" })],
            options.width,
          ),
        ),
        ...outputLines(block.text, false, options),
      ];
  }
}

function proseOf(text: string, options: RenderOptions): readonly Line[] {
  return proseLines(text, {
    width: options.width,
    indent: proseIndent,
    ...(options.highlighter === undefined ? {} : { highlighter: options.highlighter }),
  });
}

function outputLines(text: string, isBad: boolean, options: RenderOptions): readonly Line[] {
  return foldedLines(text, {
    width: options.width,
    indent: indentOf(options.width, outputIndent),
    rowsMax: isFolded(options) ? outputRowsMax : unfolded,
    tailRows: isFolded(options) && isBad ? outputTailRows : 0,
    moreKey: moreKeyOf(options),
    ...(isBad ? {} : { tone: "dim" as const }),
  });
}

function changeLines(
  changes: readonly FileChange[],
  subject: string | undefined,
  options: RenderOptions,
): readonly Line[] {
  const { width } = options;
  const indent = indentOf(width, outputIndent);
  return changes.flatMap((change) => {
    // One change of the file that the call names needs no title.
    const isNamed = changes.length === 1 && change.path === subject;
    const title = fitLine(
      cutSpans(
        [
          { text: " ".repeat(indent) },
          ...safeSpans(change.path, { bold: true }),
          { text: "  " },
          ...changeCount(change),
        ],
        width,
      ),
    );
    const body = diffLines(change, {
      width,
      indent,
      rowsMax: isFolded(options) ? diffRowsMax : unfolded,
      moreKey: moreKeyOf(options),
    });
    return isNamed && body.length > 0 ? body : [title, ...body];
  });
}

function toolUseLines(use: ToolUse, startMs: number | undefined, options: RenderOptions): readonly Line[] {
  const lines: Line[] = [callLine(use, startMs, options)];
  if (!isFolded(options)) {
    const lead = [{ text: " ".repeat(indentOf(options.width, outputIndent)) }];
    const subject = use.subject ?? "";
    const isCut = subject.includes("\n") || cellsOf(subject) + 12 > options.width;
    if (isCut) lines.push(...outputLines(subject, false, options));
    if (use.inputSummary !== "" && use.inputSummary !== "{}" && use.inputSummary !== subject) {
      const name = toolWord(use.name).verb === use.name ? "" : `${use.name} `;
      lines.push(...wrapped(safeSpans(`${name}${use.inputSummary}`, { tone: "dim" }), options.width, lead));
    }
  }
  if (use.changes !== undefined) lines.push(...changeLines(use.changes, use.subject, options));
  return lines;
}

/** Whether the call above drew its changes already. */
function drewChanges(entry: ToolResultEntry, options: RenderOptions): boolean {
  const { previous } = options;
  if (previous?.kind !== "model") return true;
  const call = previous.blocks.find((block) => block.kind === "tool-use" && block.id === entry.toolUseId);
  return call?.kind !== "tool-use" || (call.changes?.length ?? 0) > 0;
}

export function toolResultLines(entry: ToolResultEntry, options: RenderOptions): readonly Line[] {
  const isUnder = options.afterCall ?? isUnderCall(options.previous, entry);
  const lines: Line[] = isUnder ? [] : [resultHeader(entry, options)];
  const sort = entry.call === undefined ? "other" : toolWord(entry.call.name).sort;
  const changes = entry.changes ?? [];
  if (!isFolded(options)) {
    lines.push(
      ...changeLines(changes, entry.call?.subject, options),
      ...outputLines(entry.content, entry.isError, options),
    );
  } else {
    if (changes.length > 0 && !drewChanges(entry, options))
      lines.push(...changeLines(changes, entry.call?.subject, options));
    if (entry.isError || !(sort === "read" || sort === "search" || sort === "edit")) {
      lines.push(...outputLines(entry.content, entry.isError, options));
    } else if (
      entry.outcome?.lines === undefined &&
      lines.length === 0 &&
      sort !== "edit" &&
      entry.content.trim() !== ""
    ) {
      lines.push(hiddenOutput(entry, options));
    }
  }
  lines.push(...attachmentLines(entry.attachments, outputIndent, options));
  if (lines.length === 0 && !isFolded(options)) {
    lines.push(
      fitLine(
        cutSpans(
          [{ text: " ".repeat(indentOf(options.width, outputIndent)) }, tone("(no output)", "dim")],
          options.width,
        ),
      ),
    );
  }
  return lines;
}

/** The row that says what a reading tool gave, where its call does not say it. */
function hiddenOutput(entry: ToolResultEntry, options: RenderOptions): Line {
  const count = countLines(entry.content.trimEnd(), 0, entry.content.length);
  const lead = { text: " ".repeat(indentOf(options.width, outputIndent)) };
  return fitLine(
    cutSpans([lead, tone(`${plural(count, "line")} (${moreKeyOf(options)})`, "dim")], options.width),
  );
}

/** Names the call of a result that stands apart from it. */
function resultHeader(entry: ToolResultEntry, options: RenderOptions): Line {
  const { width } = options;
  const state = entry.isError ? tone("✖ ", "bad") : tone("↳ ", "dim");
  const lead: readonly Span[] = [{ text: width >= 24 ? " " : "" }, state];
  if (entry.call === undefined) {
    return fitLine(
      cutSpans(
        [
          ...lead,
          tone("result of a call that is not in the log  ", "warn"),
          ...safeSpans(entry.toolUseId, { tone: "dim" }),
        ],
        Math.max(1, width - 1),
      ),
    );
  }
  const { verb } = toolWord(entry.call.name);
  const subject = (entry.call.subject ?? entry.call.inputSummary).slice(0, 2048);
  const said = [
    ...lead,
    ...safeSpans(verb, { tone: "dim" }),
    { text: "  " },
    ...safeSpans(subject.trim(), { tone: "dim" }),
  ];
  const lines = entry.outcome?.lines;
  return spread(said, lines === undefined ? [] : [tone(plural(lines, "line"), "dim")], width);
}

export function streamingLines(entry: StreamingEntry, options: RenderOptions): readonly Line[] {
  const thinking = thinkingLines(entry.thinking, options);
  const text = entry.text === "" ? [] : proseOf(entry.text, options);
  return thinking.length > 0 && text.length > 0 ? [...thinking, blankLine, ...text] : [...thinking, ...text];
}

export function compactedLines(entry: CompactedEntry, options: RenderOptions): readonly Line[] {
  const { width } = options;
  const { tokensBefore: before, tokensAfter: after, first, last } = entry;
  const words = ["compacted"];
  if (before !== undefined && after !== undefined)
    words.push(`${formatTokens(before)} → ${formatTokens(after)} tokens`);
  else if (before !== undefined) words.push(`${formatTokens(before)} tokens before`);
  else if (after !== undefined) words.push(`${formatTokens(after)} tokens after`);
  if (first !== undefined && last !== undefined)
    words.push(first === last ? `entry ${first}` : `entries ${first}–${last}`);
  if (entry.trigger !== undefined) words.push(entry.trigger);
  const summary = entry.summary.trim();
  const hint =
    summary === "" || !isFolded(options)
      ? ""
      : `summary ${plural(countLines(summary, 0, summary.length), "line")} (${moreKeyOf(options)})`;
  const lines: Line[] = [
    divider([...words, ...(hint === "" ? [] : [hint])], words, timeSpans(entry.time, options), width),
  ];
  if (summary !== "" && !isFolded(options)) {
    lines.push(
      blankLine,
      ...proseLines(entry.summary, { width, indent: proseIndent, style: { tone: "dim" } }),
    );
  }
  return lines;
}

/** ` ─ words ──── 14:10 ──`: the longest form that fits. */
function divider(
  long: readonly string[],
  short: readonly string[],
  right: readonly Span[],
  width: number,
): Line {
  const room = Math.max(1, width - 1);
  const said = (words: readonly string[]): readonly Span[] => safeSpans(words.join(" · "), { tone: "dim" });
  const forms = [said(long), said(short), said(short.slice(0, 1))];
  const rightCells = right.length === 0 ? 0 : spansCells(right) + 4;
  const form = forms.find((spans) => spansCells(spans) + rightCells + 5 <= room) ?? forms.at(-1)!;
  const end = spansCells(form) + rightCells + 5 <= room ? right : [];
  const endSpans: readonly Span[] =
    end.length === 0 ? [] : [{ text: " " }, ...end, { text: " " }, tone("──", "rule")];
  const used = 4 + spansCells(form) + spansCells(endSpans);
  const fill = Math.max(0, room - used);
  return fitLine(
    cutSpans(
      [
        { text: " " },
        tone("─ ", "rule"),
        ...form,
        { text: " " },
        tone("─".repeat(fill), "rule"),
        ...endSpans,
      ],
      room,
    ),
  );
}

/** What stopped the conversation, and the words it came with. */
export function woundWords(wound: Wound): readonly [string, string | undefined] {
  switch (wound.kind) {
    case "mute":
      return ["the model said nothing", undefined];
    case "spoke":
      return ["the model stopped after these words", wound.words];
    case "output-limit":
      return ["the answer reached the output limit", undefined];
    case "refused":
      return [
        "the provider refused",
        [wound.words, wound.authRow].filter((part) => part !== undefined).join("\n") || undefined,
      ];
    case "interrupted":
      return ["interrupted", wound.words];
  }
}

export function woundedLines(entry: WoundedEntry, options: RenderOptions): readonly Line[] {
  const { width } = options;
  const [title, words] = woundWords(entry.wound);
  const isSoft = entry.wound.kind === "interrupted";
  const name = isSoft ? "warn" : "bad";
  const lead = [
    { text: width >= 24 ? " " : "" },
    tone("▌ ", name),
    { text: `stopped: ${title}`, tone: name, bold: true } as const,
  ];
  const lines: Line[] = [spread(lead, timeSpans(entry.time, options), width)];
  if (words !== undefined) {
    const bar = [{ text: width >= 24 ? " " : "" }, tone(width >= 8 ? "▌ " : "", name)];
    lines.push(
      ...foldedTyped(
        words,
        {
          rowsMax: isFolded(options) ? outputRowsMax : unfolded,
          style: {},
          first: bar,
          rest: bar,
          indent: proseIndent,
        },
        options,
      ),
    );
  }
  return lines;
}

export function rawLines(entry: RawEntry, options: RenderOptions): readonly Line[] {
  const { width } = options;
  const name = entry.damaged === true ? "warn" : "dim";
  const place = entry.place === undefined ? "" : `  bytes ${entry.place.start}–${entry.place.end}`;
  const file =
    entry.place?.file === undefined
      ? []
      : [tone(" of ", "dim"), ...safeSpans(entry.place.file, { tone: "dim" })];
  const said: readonly Span[] = [
    { text: width >= 24 ? " " : "" },
    tone(entry.damaged === true ? "⚠ damaged: " : "? ", name),
    ...safeSpans(entry.reason, { tone: name }),
    tone(place, "dim"),
    ...file,
  ];
  if (!isFolded(options)) return [...wrapped(said, width), ...outputLines(entry.text, false, options)];
  return [spread(said, [tone(`(${moreKeyOf(options)})`, "dim")], width)];
}
