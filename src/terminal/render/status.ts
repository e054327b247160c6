/** The status row and notices. */
import {
  cellsOf,
  type Line,
  type Span,
  safeSpans,
  sanitizeLine,
  spansCells,
  type Tone,
} from "../text/index.ts";
import { formatElapsed, formatTokens } from "./format.ts";
import { cutSpans, fitLine, tone, wrapped } from "./layout.ts";

/** What the status row tells; what is absent is left out. */
export interface Status {
  readonly agent: string;
  readonly model?: string;
  readonly title?: string;
  readonly tokens?: number;
  readonly state?:
    | "running"
    | "idle"
    | "waiting"
    | "ended"
    | "gone"
    | "starting"
    | "ready"
    | "working"
    | "cancelling"
    | "asking";
  /** The mode that the agent works in, by its name. */
  readonly mode?: string;
  readonly elapsedMs?: number;
  /** Keys and what they do, most important first: `Ctrl+O history`. */
  readonly keys?: readonly string[];
}

const stateTones: Readonly<Record<NonNullable<Status["state"]>, Tone>> = {
  running: "running",
  idle: "dim",
  waiting: "warn",
  ended: "dim",
  gone: "warn",
  starting: "running",
  ready: "dim",
  working: "running",
  cancelling: "warn",
  asking: "warn",
};

/** One row: what runs at the left, keys at the right. Where the width is short, keys go first, then the title, tokens, the model, the mode. */
export function renderStatus(status: Status, width: number): Line {
  const room = Math.max(1, width - 1);
  const dim = { tone: "dim" } as const;
  const elapsed = status.elapsedMs === undefined ? "" : ` ${formatElapsed(status.elapsedMs)}`;
  const state =
    status.state === undefined ? [] : [tone(`${status.state}${elapsed}`, stateTones[status.state])];
  const agent = safeSpans(status.agent, dim);
  const model = status.model === undefined ? [] : safeSpans(status.model, dim);
  const title = status.title === undefined ? [] : cutSpans(safeSpans(status.title, dim), 40);
  const mode = status.mode === undefined ? [] : cutSpans(safeSpans(status.mode, { tone: "emphasis" }), 24);
  const tokens = status.tokens === undefined ? [] : [tone(`${formatTokens(status.tokens)} tokens`, "dim")];
  const forms: readonly (readonly (readonly Span[])[])[] = [
    [agent, model, title, mode, tokens, state],
    [agent, model, mode, tokens, state],
    [agent, model, mode, state],
    [agent, mode, state],
    [agent, state],
    [state.length > 0 ? state : agent],
  ];
  const lefts = forms.map((parts) => joined(parts, width));
  const left = lefts.find((spans) => spansCells(spans) <= room) ?? cutSpans(lefts.at(-1)!, room);
  const keys = keySpans(status.keys ?? [], room - spansCells(left) - 2);
  const gap = room - spansCells(left) - spansCells(keys);
  return fitLine(keys.length === 0 ? left : [...left, { text: " ".repeat(gap) }, ...keys]);
}

function joined(parts: readonly (readonly Span[])[], width: number): readonly Span[] {
  const spans: Span[] = width >= 8 ? [{ text: " " }] : [];
  for (const [index, part] of parts.filter((spansOf) => spansOf.length > 0).entries()) {
    if (index > 0) spans.push(tone(" · ", "rule"));
    spans.push(...part);
  }
  return spans;
}

/** As many keys as fit, the first ones first. */
function keySpans(keys: readonly string[], room: number): readonly Span[] {
  let text = "";
  for (const raw of keys) {
    const key = sanitizeLine(raw);
    const longer = text === "" ? key : `${text} · ${key}`;
    if (cellsOf(longer) > room) break;
    text = longer;
  }
  return text === "" ? [] : [tone(text, "dim")];
}

/** Something the program itself has to say. */
export interface Notice {
  readonly tone: "information" | "warning" | "error";
  readonly text: string;
}

const noticeSigns = { information: ["i", "dim"], warning: ["!", "warn"], error: ["✖", "bad"] } as const;

/** The rows of a notice, wrapped. */
export function renderNotice(notice: Notice, width: number): readonly Line[] {
  const [sign, name] = noticeSigns[notice.tone];
  const lead = width >= 24 ? [{ text: " " }, tone(`${sign} `, name)] : [];
  const rest = width >= 24 ? [{ text: "   " }] : [];
  return wrapped(safeSpans(notice.text, { tone: name }), Math.max(1, width), lead, rest);
}
