/** A step directory as the world that a lane looks at. */
import type { World } from "../hold.ts";
import { type Look, readerFor, type StepLook, type Want } from "../lane.ts";
import {
  callFiles,
  latestStepName,
  stepFile,
  stepFiles,
  stepFolder,
  toolsFolder,
} from "../step-directory.ts";
import type { CallLook, Told } from "../tool-window.ts";
import { foldersIn, namesIn, readGrowthOf, readText } from "./files.ts";
import { LOOK_RECORD_BYTES_MAX, RECORD_BYTES_MAX, WATCHED_CALLS_MAX } from "./limits.ts";
import { createWatcher, type WatcherPorts } from "./watcher.ts";

export interface StepWorldOptions {
  /** The folder of the steps. It need not be there. */
  readonly steps: string;
  /** Whether somebody drives the conversation now; asked at each look, so it should be cheap. */
  readonly isDriven: () => Promise<boolean>;
  readonly ports?: WatcherPorts;
}

export interface StepWorld extends World {
  /** Stops watching; a wait that is under way ends. */
  close(): void;
}

/**
 * Looks at the newest step of a folder of steps. A look costs a few listings and what is new; nothing is written, locked or touched. A step
 * is driven while somebody drives the conversation and it is not marked as over; its call is under way until it is settled.
 */
export function openStepWorld({ steps, isDriven, ports }: StepWorldOptions): StepWorld {
  const watcher = createWatcher(ports);

  async function look(want: Want): Promise<Look> {
    watcher.lookingNow();
    const name = latestStepName(await foldersIn(steps));
    if (name === undefined) {
      watcher.setPaths([steps]);
      return { isDriven: await isDriven(), isCalling: false };
    }
    const step = stepFolder(steps, name);
    // The state first: what it lets in is then at least as new.
    const driven = await isDriven();
    const files = new Set(await namesIn(step));
    const isOpen = driven && !files.has(stepFiles.over);
    const hasCall = files.has(stepFiles.response) || files.has(stepFiles.request);
    const isCalling = isOpen && hasCall && !files.has(stepFiles.meta);
    const calls = await lookAtFolders(step, want, isOpen);
    const open = calls.map(({ folder }) => `${toolsFolder(step)}/${folder}`);
    watcher.setPaths([steps, step, toolsFolder(step), ...open.slice(0, WATCHED_CALLS_MAX)]);
    return { isDriven: isOpen, isCalling, step: await lookAtStep(step, want, isCalling, calls) };
  }

  return {
    get tickMs() {
      return watcher.tickMs;
    },
    look,
    wait: (ms) => watcher.wait(ms),
    close: () => watcher.close(),
  };
}

async function lookAtStep(
  step: string,
  want: Want,
  isCalling: boolean,
  calls: readonly CallLook[],
): Promise<StepLook> {
  const reader = readerFor(want, step, isCalling);
  const response = reader && (await readGrowthOf(stepFile(step, "response"), reader));
  return { id: step, calls, ...(response === undefined ? {} : { response }) };
}

/** The calls that are not told to their end, in the order of their names, until the bytes of a look are used up. */
async function lookAtFolders(step: string, want: Want, isDriven: boolean): Promise<readonly CallLook[]> {
  const told = want.step === undefined || want.step === step ? want.window : new Map<string, Told>();
  const calls: CallLook[] = [];
  let room = LOOK_RECORD_BYTES_MAX;
  for (const folder of [...(await foldersIn(toolsFolder(step)))].sort()) {
    const before = told.get(folder);
    if (before?.complete) continue;
    if (room <= 0) break;
    const call = await lookAtCall(`${toolsFolder(step)}/${folder}`, folder, before, isDriven);
    room -= Object.values(call).reduce((sum, text: string) => sum + text.length, 0);
    calls.push(call);
  }
  return calls;
}

/** A park counts only while somebody is there to take its answer. */
async function lookAtCall(
  path: string,
  folder: string,
  told: Told | undefined,
  isDriven: boolean,
): Promise<CallLook> {
  const names = new Set(await namesIn(path));
  const text = async (file: keyof typeof callFiles, isWanted: boolean): Promise<string | undefined> =>
    isWanted && names.has(callFiles[file])
      ? readText(`${path}/${callFiles[file]}`, RECORD_BYTES_MAX)
      : undefined;
  const input = await text("input", !told?.posted);
  const output = await text("output", true);
  const parked = await text("parked", isDriven && output === undefined);
  const answer = await text("answer", parked !== undefined || told?.parked !== undefined);
  return {
    folder,
    ...(input === undefined ? {} : { input }),
    ...(output === undefined ? {} : { output }),
    ...(parked === undefined ? {} : { parked }),
    ...(answer === undefined ? {} : { answer }),
  };
}
