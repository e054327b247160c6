/**
 * Following a step while it runs: the fold of a model's partial output, the step directory, frames and the lane. Pure; what touches files
 * is in `follow/node`.
 * @module
 */
export { absorbStream, foldStream, type Stream } from "../transcript/index.ts";
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
  isParkOption,
  type ParkOption,
  type ParkRecord,
  type PromptRecord,
  parseAnswer,
  parseCallInput,
  parseCallOutput,
  parsePark,
  parsePrompt,
} from "./step-records.ts";
