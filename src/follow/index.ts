/**
 * Following a step while it runs: the fold of a model's partial output, the step directory, frames and the lane. Pure; what touches files
 * is in `follow/node`.
 * @module
 */
export { absorbStream, type Decoded, foldStream, type Stream } from "../transcript/index.ts";
export { elideMiddle } from "./elide.ts";
export {
  absorbFrame,
  decodeFrame,
  emptyHeld,
  encodeFrame,
  type Frame,
  type Held,
  isEmptyStream,
  type ToolEvent,
} from "./frame.ts";
export {
  followWorld,
  type HoldOptions,
  holdRead,
  type LaneEvent,
  type ReadEnd,
  readOnce,
  type Stop,
  type World,
} from "./hold.ts";
export {
  type LaneState,
  type Look,
  type Outcome,
  type Polled,
  poll,
  readerFor,
  type StepLook,
  startLane,
  type Want,
} from "./lane.ts";
export {
  EVENT_INPUT_MAX,
  FRAME_BYTES_MAX,
  FRAME_EVENTS_MAX,
  GUARD_BYTES,
  HOLD_MS,
  HOLD_TICK_MS,
  LINE_BYTES_MAX,
  READ_BYTES_MAX,
  REASK_MS,
} from "./limits.ts";
export {
  type Growth,
  isContinued,
  type ReaderState,
  type Reading,
  readGrowth,
  startReader,
} from "./reader.ts";
export {
  CALL_NAME_MAX,
  callFile,
  callFiles,
  callFolder,
  callFolderName,
  callIdOf,
  inboxFolder,
  isStepName,
  latestStepName,
  stepFile,
  stepFiles,
  stepFolder,
  stepName,
  stepsFolder,
  toolsFolder,
} from "./step-directory.ts";
export {
  type AnswerRecord,
  type CallInputRecord,
  type CallOutputRecord,
  isExitCode,
  type ParkOption,
  type ParkRecord,
  type PromptRecord,
  parseAnswer,
  parseCallInput,
  parseCallOutput,
  parsePark,
  parsePrompt,
} from "./step-records.ts";
export {
  type CallLook,
  emptyWindow,
  isParked,
  lookAtCalls,
  type Told,
  type ToolWindow,
} from "./tool-window.ts";
