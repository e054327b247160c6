/** Driving agents that speak the Agent Client Protocol. @module */
export {
  type Continuation,
  type ContinuationSpec,
  composeContinuation,
  isPrompt,
} from "./continuation.ts";
export { commandOf, createDriven, type Driven } from "./create.ts";
export { AgentError, type AgentErrorCode } from "./errors.ts";
export { demoAgent } from "./fake/command.ts";
export { handoffTool } from "./handoff-tool/command.ts";
export { type Imported, importEntries } from "./import.ts";
export {
  type CommandSurroundings,
  findKnownAgent,
  findProgram,
  isKnownAgent,
  type KnownAgent,
  knownAgents,
} from "./known.ts";
export type { AgentCommand, AgentProcess, Exit, Spawn } from "./process.ts";
export type { DrivenOptions, DriverPorts, History, WatchFolder } from "./types.ts";
