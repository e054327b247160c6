/** Frames as text for a person: prose as it comes, one line for what happens to a call. */
import type { Frame, LaneEvent, ToolEvent } from "../follow/index.ts";
import { encodeLine, sanitize, sanitizeLine, type Theme, type Tone } from "../terminal/text/index.ts";

/** Names of calls that are remembered for the line of their end. */
export const CALL_NAMES_MAX = 4096;

type Half = "text" | "thinking";

export interface FollowPrinter {
  /** The text of what a lane told; "" where there is nothing to show. */
  print(event: LaneEvent): string;
}

export function createFollowPrinter(theme: Theme): FollowPrinter {
  let half: Half | undefined;
  let isLineOpen = false;
  let hasPrinted = false;
  const names = new Map<string, string>();

  const line = (text: string, tone: Tone): string =>
    encodeLine({ spans: [{ text, tone }], wrap: "flow" }, theme);

  function closeLine(): string {
    if (!isLineOpen) return "";
    isLineOpen = false;
    return "\n";
  }

  /** A blank line before what begins, except at the top. */
  function gap(): string {
    const out = closeLine();
    return hasPrinted ? `${out}\n` : out;
  }

  function say(to: Half, words: string | undefined): string {
    if (words === undefined || words === "") return "";
    let out = "";
    if (half !== to) {
      out += gap();
      if (to === "thinking") out += `${line("thinking", "dim")}\n`;
      half = to;
    }
    const tone = to === "thinking" ? "dim" : "text";
    // Each piece is safe by itself, so that no sequence can be put together from several.
    const text = sanitize(words);
    out += text
      .split("\n")
      .map((piece) => (piece === "" ? "" : line(piece, tone)))
      .join("\n");
    isLineOpen = !text.endsWith("\n");
    hasPrinted = true;
    return out;
  }

  function tell(event: ToolEvent): string {
    let out = half === undefined ? closeLine() : gap();
    half = undefined;
    hasPrinted = true;
    remember(event);
    const name = sanitizeLine(names.get(event.toolUse) ?? event.toolUse);
    const { text, tone } = lineOf(event, name);
    out += `${line(sanitizeLine(text), tone)}\n`;
    for (const option of event.options ?? [])
      out += `${line(`    ${sanitizeLine(option.id)}: ${sanitizeLine(option.label)}`, "dim")}\n`;
    return out;
  }

  function remember({ toolUse, tool }: ToolEvent): void {
    if (tool === undefined) return;
    names.set(toolUse, tool);
    const [oldest] = names.keys();
    if (names.size > CALL_NAMES_MAX && oldest !== undefined) names.delete(oldest);
  }

  function frame({ stream, tools, again }: Frame): string {
    let out = "";
    if (again) {
      out += `${gap()}${line("the answer begins anew", "warn")}\n`;
      half = undefined;
      hasPrinted = true;
    }
    // The half that moved last comes last.
    const order: readonly Half[] =
      stream.lastDelta === "thinking" ? ["text", "thinking"] : ["thinking", "text"];
    for (const each of order) out += say(each, stream[each]);
    return out + tools.map(tell).join("");
  }

  return {
    print(event) {
      if (event.type === "frame") return frame(event.frame);
      const out = closeLine();
      half = undefined;
      return out;
    },
  };
}

function lineOf(event: ToolEvent, name: string): { readonly text: string; readonly tone: Tone } {
  if (event.exitCode !== undefined)
    return event.exitCode === 0
      ? { text: `✔ ${name} — ok`, tone: "good" }
      : { text: `✖ ${name} — exit ${event.exitCode}`, tone: "bad" };
  if (event.answered !== undefined) {
    const { by, option } = event.answered;
    return { text: `▸ ${name} — ${option ?? "cancelled"}, said ${by}`, tone: "dim" };
  }
  const input = event.input === undefined ? "" : ` ${event.input}`;
  if (event.held !== undefined) {
    const reason = event.held === "" ? "" : ` (${event.held})`;
    return { text: `⏸ ${name}${input} — waits for you${reason}`, tone: "warn" };
  }
  return { text: `⚙ ${name}${input}`, tone: "running" };
}
