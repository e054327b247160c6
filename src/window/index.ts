/** The transcript window core: a pure state machine that decides what is held, painted, dropped and paged. @module */
export type {
  PagerState,
  PendingRead,
  ReadDirection,
  SaveMode,
  StepResult,
  WindowConfig,
  WindowEffect,
  WindowEvent,
  WindowState,
} from "./types.ts";
