/** Step directories on this computer's disk: looking at them, answering their parked calls, sending prompts. @module */
export { type Deposited, depositPrompt, type PromptRequest, waitingPrompts } from "./inbox.ts";
export { INBOX_PROMPTS_MAX, PROMPT_BYTES_MAX } from "./limits.ts";
export { answerParked, latestStep, type ParkAnswered, type ParkRequest } from "./park.ts";
export { nodeWatcherPorts, type WatcherPorts } from "./watcher.ts";
export { openStepWorld, type StepWorld, type StepWorldOptions } from "./world.ts";
