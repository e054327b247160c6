/** The transcript window core: a pure state machine that decides what is held, painted, dropped and paged. @module */
export { createWindow, heldCount, heldFirst, isAtTail, isHeld, newerCount } from "./state.ts";
export { step } from "./step.ts";
export {
  formatConfig,
  formatEffect,
  formatEvent,
  formatState,
  parseConfig,
  parseEffect,
  parseEvent,
  parseState,
} from "./text.ts";
export type { AbstractState, TraceLine } from "./trace.ts";
export { abstract, formatTraceLine, formatTraceStart } from "./trace.ts";
export type {
  PagerState,
  PendingRead,
  ReadDirection,
  Rejection,
  SaveMode,
  StepResult,
  WindowConfig,
  WindowEffect,
  WindowEvent,
  WindowState,
} from "./types.ts";
