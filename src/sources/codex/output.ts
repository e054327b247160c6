/** What Codex writes around a command's output: exit code, wall time, the number of a process that goes on. */
import type { Attachment, CallOutcome } from "../../transcript/index.ts";
import {
  arrayOf,
  attachmentOf,
  compactJson,
  lineCount,
  numberOf,
  objectOf,
  RAW_TEXT_MAX,
  stringOf,
} from "../fields.ts";

export interface ToolOutput {
  readonly content: string;
  readonly isError: boolean;
  readonly outcome: CallOutcome;
  readonly attachments?: readonly Attachment[];
}

/** Header lines in front of `Output:`; a text that has none is taken whole. */
const HEADER_LINES_MAX = 12;

interface Header {
  exitCode?: number;
  durationMs?: number;
  process?: string;
  bodyAt: number;
}

function readHeader(text: string): Header | undefined {
  const header: Header = { bodyAt: 0 };
  let at = 0;
  for (let n = 0; n < HEADER_LINES_MAX && at < text.length; n++) {
    const newline = text.indexOf("\n", at);
    const end = newline === -1 ? text.length : newline;
    const line = text.slice(at, Math.min(end, at + 200)).replace(/\r$/, "");
    at = end + 1;
    if (line === "Output:") return n === 0 ? undefined : { ...header, bodyAt: Math.min(at, text.length) };
    const exit = /^(?:Process exited with code|Exit code:) (-?\d+)$/.exec(line);
    const wall = /^Wall time: ([\d.]+)/.exec(line);
    const process = /^Process running with session ID (\S+)$/.exec(line);
    if (exit) header.exitCode = Number(exit[1]);
    else if (wall) header.durationMs = Math.round(Number(wall[1]) * 1000);
    else if (process) header.process = process[1] ?? "";
    else if (!/^(Chunk ID|Original token count|Total output lines|Command):/.test(line)) return undefined;
  }
  return undefined;
}

/** `{"output": …, "metadata": {"exit_code", "duration_seconds"}}`, as text: what the older shell and patch tools wrote. */
function readJsonOutput(
  text: string,
): { content: string; exitCode?: number; durationMs?: number } | undefined {
  if (!text.startsWith('{"') || !text.endsWith("}")) return undefined;
  let parsed: unknown;
  try {
    parsed = JSON.parse(text);
  } catch (error) {
    // Not JSON after all: the text stands for itself.
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
  const fields = objectOf(parsed);
  const metadata = objectOf(fields?.["metadata"]);
  const content = stringOf(fields?.["output"]);
  if (content === undefined || !metadata) return undefined;
  const exitCode = numberOf(metadata["exit_code"]);
  const seconds = numberOf(metadata["duration_seconds"]);
  return {
    content,
    ...(exitCode === undefined ? {} : { exitCode }),
    ...(seconds === undefined ? {} : { durationMs: Math.round(seconds * 1000) }),
  };
}

function outcomeOf(
  content: string,
  exitCode: number | undefined,
  durationMs: number | undefined,
  isFailed: boolean,
  note?: string,
): CallOutcome {
  const words = content.slice(0, 200);
  const state = /^(exec command|patch|command|apply_patch).{0,20} rejected by user|^rejected by user/i.test(
    words,
  )
    ? "denied"
    : /^aborted by user|^aborted$|^command was aborted/i.test(words)
      ? "interrupted"
      : isFailed || (exitCode !== undefined && exitCode !== 0)
        ? "failed"
        : "done";
  return {
    state,
    ...(exitCode === undefined ? {} : { exitCode }),
    ...(durationMs === undefined ? {} : { durationMs }),
    lines: lineCount(content),
    ...(note === undefined ? {} : { note }),
  };
}

function fromText(text: string, isFailed: boolean, attachments: readonly Attachment[]): ToolOutput {
  const header = readHeader(text);
  const json = header ? undefined : readJsonOutput(text);
  const content = header ? text.slice(header.bodyAt) : (json?.content ?? text);
  const note = header?.process === undefined ? undefined : `goes on as process ${header.process}`;
  const outcome = outcomeOf(
    content,
    header?.exitCode ?? json?.exitCode,
    header?.durationMs ?? json?.durationMs,
    isFailed,
    note,
  );
  return {
    content,
    isError: outcome.state !== "done",
    outcome,
    ...(attachments.length > 0 ? { attachments } : {}),
  };
}

/** Content pieces as Codex writes them: texts joined by newlines, images told by kind and size, anything else as JSON. */
export function readPieces(pieces: readonly unknown[]): { texts: string[]; attachments: Attachment[] } {
  const texts: string[] = [];
  const attachments: Attachment[] = [];
  for (const piece of pieces) {
    const fields = objectOf(piece);
    const text =
      typeof piece === "string" ? piece : (stringOf(fields?.["text"]) ?? stringOf(fields?.["refusal"]));
    const image = fields?.["image_url"] ?? fields?.["file_data"] ?? fields?.["file_url"];
    if (text !== undefined) texts.push(text);
    else if (typeof image === "string") attachments.push(attachmentOf(image));
    else if (typeof objectOf(image)?.["url"] === "string")
      attachments.push(attachmentOf(String(objectOf(image)?.["url"])));
    else texts.push(compactJson(piece, RAW_TEXT_MAX));
  }
  return { texts, attachments };
}

/** The output of a tool call: a text, content pieces, or `{content, success}`; headers become facts. */
export function readOutput(output: unknown): ToolOutput {
  if (typeof output === "string") return fromText(output, false, []);
  const pieces = arrayOf(output);
  if (pieces) {
    const { texts, attachments } = readPieces(pieces);
    return fromText(texts.join("\n"), false, attachments);
  }
  const fields = objectOf(output);
  if (!fields)
    return fromText(
      output === undefined || output === null ? "" : compactJson(output, RAW_TEXT_MAX),
      false,
      [],
    );
  const isFailed = fields["success"] === false;
  const inner = arrayOf(fields["content_items"]) ?? arrayOf(fields["content"]);
  if (inner) {
    const { texts, attachments } = readPieces(inner);
    return fromText(texts.join("\n"), isFailed, attachments);
  }
  return fromText(stringOf(fields["content"]) ?? compactJson(output, RAW_TEXT_MAX), isFailed, []);
}
