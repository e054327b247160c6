/** The tool window: which calls of a step a read has told of already, and so what a look owes the seat. Pure. */
import { compactJson, elideMiddle } from "./elide.ts";
import type { ToolEvent } from "./frame.ts";
import { EVENT_INPUT_MAX, EVENT_OPTIONS_MAX, EVENT_WORDS_MAX, WINDOW_CALLS_MAX } from "./limits.ts";
import { callFolderName, callIdOf } from "./step-directory.ts";
import {
  type ParkOption,
  type ParkRecord,
  parseAnswer,
  parseCallInput,
  parseCallOutput,
  parsePark,
} from "./step-records.ts";

/** A call's folder as a look found it: the texts of the records that are there. A record that was told of may be left out. */
export interface CallLook {
  readonly folder: string;
  readonly input?: string;
  readonly output?: string;
  readonly parked?: string;
  readonly answer?: string;
}

/** What a read has told of one call. */
export interface Told {
  /** The id that its events bear. */
  readonly id: string;
  readonly posted?: true;
  readonly complete?: true;
  /** The park that waits as far as was told: when it was asked, "" where that is not known. */
  readonly parked?: string;
}

/** What a read has told, by the name of the call's folder. */
export type ToolWindow = ReadonlyMap<string, Told>;

export const emptyWindow: ToolWindow = new Map();

export interface WindowLook {
  readonly window: ToolWindow;
  readonly events: readonly ToolEvent[];
}

/** Whether the call waits for the person: parked, and neither answered nor complete. */
export function isParked(call: CallLook): boolean {
  return waitingPark(call) !== undefined;
}

/**
 * What a look owes: of each call in the order of ids what became of its park, that it was posted, that it is complete; then the parks. A
 * call that is complete never speaks again. Of more than `WINDOW_CALLS_MAX` calls the later ones are not told.
 */
export function lookAtCalls(window: ToolWindow, calls: readonly CallLook[]): WindowLook {
  const fresh = new Map<string, Told>();
  const events: ToolEvent[] = [];
  const parks: ToolEvent[] = [];
  let room = WINDOW_CALLS_MAX - window.size;
  for (const call of [...calls].sort((a, b) => (a.folder < b.folder ? -1 : 1))) {
    const before = window.get(call.folder);
    if (before?.complete || (before === undefined && room === 0)) continue;
    const after = tellCall(call, before ?? { id: idOf(call) }, events, parks);
    if (after === undefined) continue;
    if (before === undefined) room -= 1;
    fresh.set(call.folder, after);
  }
  return fresh.size === 0
    ? { window, events: [] }
    : { window: new Map([...window, ...fresh]), events: [...events, ...parks] };
}

/** Adds what is owed of one call; undefined where nothing is. */
function tellCall(call: CallLook, before: Told, events: ToolEvent[], parks: ToolEvent[]): Told | undefined {
  const toolUse = before.id;
  let told = before;
  const park = waitingPark(call);
  if (told.parked !== undefined && park === undefined) {
    const { parked: _, ...rest } = told;
    events.push({ toolUse, answered: answerOf(call) });
    told = rest;
  }
  if (!told.posted && call.input !== undefined) {
    events.push(postedEvent(toolUse, call.input));
    told = { ...told, posted: true };
  }
  // A folder without an input is still being made: it is no call yet.
  if (told.posted && call.output !== undefined) {
    events.push({ toolUse, exitCode: parseCallOutput(call.output).exit_code ?? 0 });
    told = { ...told, complete: true };
  }
  if (park !== undefined && told.parked !== (park.asked_at ?? "")) {
    parks.push(parkedEvent(toolUse, park));
    told = { ...told, parked: park.asked_at ?? "" };
  }
  return told === before ? undefined : told;
}

/**
 * The park, where the call waits: neither answered nor complete. A call that was posted may be asked about as well, and one that was
 * answered may be asked about again.
 */
function waitingPark(call: CallLook): ParkRecord | undefined {
  const isPast = call.answer !== undefined || call.output !== undefined;
  return call.parked === undefined || isPast ? undefined : parsePark(call.parked);
}

/** A park that is gone without an answer was taken back by who had asked. */
function answerOf(call: CallLook): NonNullable<ToolEvent["answered"]> {
  const { by, option } = (call.answer === undefined ? undefined : parseAnswer(call.answer)) ?? {
    by: "the driver",
  };
  return { by: words(by), ...(option === undefined ? {} : { option: words(option) }) };
}

/** The id that a record tells, where the folder is that id's; else what the folder's name stands for. */
function idOf(call: CallLook): string {
  const posted = call.input === undefined ? undefined : parseCallInput(call.input).id;
  const parked = call.parked === undefined ? undefined : parsePark(call.parked)?.tool_use_id;
  const id = [posted, parked].find((each) => each !== undefined && callFolderName(each) === call.folder);
  return words(id ?? callIdOf(call.folder));
}

function postedEvent(toolUse: string, text: string): ToolEvent {
  const { name, input } = parseCallInput(text);
  return {
    toolUse,
    ...(name === undefined ? {} : { tool: words(name) }),
    ...(input === undefined ? {} : { input: inputText(input) }),
  };
}

function parkedEvent(toolUse: string, { tool, reason, input, options }: ParkRecord): ToolEvent {
  return {
    toolUse,
    tool: words(tool),
    held: words(reason),
    ...(input === undefined ? {} : { input: inputText(input) }),
    ...(options === undefined ? {} : { options: options.slice(0, EVENT_OPTIONS_MAX).map(shortOption) }),
  };
}

function shortOption(option: ParkOption): ParkOption {
  return { ...option, label: words(option.label) };
}

function inputText(input: unknown): string {
  return elideMiddle(compactJson(input), EVENT_INPUT_MAX);
}

function words(text: string): string {
  return elideMiddle(text, EVENT_WORDS_MAX);
}
