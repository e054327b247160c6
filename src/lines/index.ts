/** Bytes to lines: forward, backward and following, with damage recovered and reported. @module */
export { backwardBatches, readBackward } from "./backward.ts";
export { type FollowOptions, followFile } from "./follow.ts";
export { forwardBatches, readForward } from "./forward.ts";
export { parseRecord } from "./line.ts";
export type { FollowPorts, Watch } from "./ports.ts";
export {
  bytesOf,
  FileError,
  type FileErrorCode,
  type FileSource,
  type FileState,
  openFile,
} from "./source.ts";
export type {
  ByteSource,
  DamageItem,
  DamageReason,
  FollowEvent,
  LineItem,
  LineLimits,
  LineReadOptions,
  RecordItem,
} from "./types.ts";
