/** A question of the agent's: what it wants to do, and the keys that answer. */
import type { Approval, ApprovalOption } from "../../session/index.ts";
import type { Entry } from "../../transcript/index.ts";
import { type RenderOptions, renderEntry } from "../render/index.ts";
import {
  cellsOf,
  cutCells,
  type Line,
  type Span,
  sanitizeLine,
  splitRows,
  type Tone,
} from "../text/index.ts";
import { optionsMax } from "./limits.ts";

const letters: Readonly<Record<ApprovalOption["kind"], string>> = {
  "allow-once": "y",
  "allow-always": "a",
  "reject-once": "n",
  "reject-always": "x",
};

const tones: Readonly<Record<ApprovalOption["kind"], Tone>> = {
  "allow-once": "good",
  "allow-always": "good",
  "reject-once": "bad",
  "reject-always": "bad",
};

interface KeyedOption {
  readonly option: ApprovalOption;
  /** A number, and a letter for the first option of its kind. */
  readonly keys: readonly string[];
}

function keyedOptions(options: readonly ApprovalOption[]): readonly KeyedOption[] {
  const taken = new Set<string>();
  return options.slice(0, optionsMax).map((option, index) => {
    const letter = letters[option.kind];
    const keys = taken.has(letter) ? [String(index + 1)] : [String(index + 1), letter];
    taken.add(letter);
    return { option, keys };
  });
}

/** The option that a key answers with; undefined for a key that answers nothing. */
export function optionOf(approval: Approval, keyText: string): ApprovalOption | undefined {
  return keyedOptions(approval.options).find(({ keys }) => keys.includes(keyText.toLowerCase()))?.option;
}

/** The call as an entry of the transcript, its changes in it: for the box, and for the history where the call there has none. */
export function approvalEntry(approval: Approval): Entry {
  const { id, name, subject, inputSummary } = approval.call;
  return {
    kind: "model",
    name: `approval ${approval.id}`,
    usage: {},
    blocks: [
      {
        kind: "tool-use",
        id,
        name,
        inputSummary,
        ...(subject === undefined ? {} : { subject }),
        ...(approval.changes === undefined ? {} : { changes: approval.changes }),
      },
    ],
  };
}

export interface ApprovalBoxOptions {
  /** Cells of a row, 1 at least. */
  readonly width: number;
  readonly rowsMax: number;
  /** Which option the arrows chose. */
  readonly chosen: number | undefined;
  /** Whether its keys count now. */
  readonly isArmed: boolean;
  /** Its changes stand above already, in the transcript. */
  readonly isShown: boolean;
  /** Questions that wait behind this one. */
  readonly further: number;
  readonly layout: Pick<RenderOptions, "highlighter" | "time" | "moreKey">;
}

function rowOf(spans: readonly Span[]): Line {
  return { spans, wrap: "fit" };
}

/** What is asked: the call and its changes in at most `rowsMax` rows; what is left out is told with the key that shows it. */
function callRows(approval: Approval, options: ApprovalBoxOptions, rowsMax: number): readonly Line[] {
  if (rowsMax <= 0) return [];
  const { width, layout } = options;
  const lines = renderEntry(approvalEntry(approval), { ...layout, width, detail: "compact" });
  const rows = lines.flatMap((line) => splitRows({ ...line, wrap: "flow" }, width));
  if (options.isShown) return rows.slice(0, 1);
  if (rows.length <= rowsMax) return rows;
  if (rowsMax === 1) return rows.slice(0, 1);
  const hidden = rows.length - rowsMax + 1;
  const more = cutCells(`   … ${hidden} more (Ctrl+O)`, width);
  return [...rows.slice(0, rowsMax - 1), rowOf([{ text: more, tone: "dim" }])];
}

function optionRows(approval: Approval, options: ApprovalBoxOptions): readonly Line[] {
  const { width, chosen, isArmed } = options;
  return keyedOptions(approval.options).map(({ option, keys }, index) => {
    const isChosen = chosen === index;
    const key = ` ${isChosen ? "›" : " "} ${keys.join(" ")}`.padEnd(8);
    const label = cutCells(sanitizeLine(option.label), Math.max(0, width - cellsOf(key)));
    const tone: Tone = isArmed ? tones[option.kind] : "dim";
    return rowOf([
      { text: cutCells(key, width), tone, bold: isArmed },
      { text: label, ...(isArmed ? { inverse: isChosen } : { tone: "dim" }) },
    ]);
  });
}

/** All answers in one row, each with its key first. */
function optionsRow(approval: Approval, { width, isArmed }: ApprovalBoxOptions): Line {
  const keyed = keyedOptions(approval.options);
  const share = Math.max(1, Math.floor((width - 1) / Math.max(1, keyed.length)) - 2);
  const spans = keyed.flatMap(({ option, keys }, index): readonly Span[] => {
    const key = keys.at(-1) ?? "";
    const label = share < 4 ? "" : ` ${cutCells(sanitizeLine(option.label), share - 2)}`;
    return [
      { text: index === 0 ? "" : " " },
      { text: key, tone: isArmed ? tones[option.kind] : "dim", bold: isArmed },
      { text: label, tone: "dim" },
    ];
  });
  const text = spans.map((span) => span.text).join("");
  return cellsOf(text) <= width ? rowOf(spans) : rowOf([{ text: cutCells(text, width), tone: "dim" }]);
}

/** The box in at most `rowsMax` rows, none wider than `width`: the keys are there in one row at least. */
export function approvalBox(approval: Approval, options: ApprovalBoxOptions): readonly Line[] {
  const { width, rowsMax, further } = options;
  if (rowsMax <= 0) return [];
  const rows = optionRows(approval, options);
  const keys = rows.length + 3 <= rowsMax ? rows : [optionsRow(approval, options)];
  const room = rowsMax - keys.length;
  if (room < 2) return [...callRows(approval, options, room), ...keys];
  const title = `The agent asks${further > 0 ? ` (${further} more behind)` : ""}`;
  const head = rowOf([{ text: cutCells(` ? ${title}`, width), tone: "warn", bold: true }]);
  return [head, ...callRows(approval, options, room - 1), ...keys];
}
