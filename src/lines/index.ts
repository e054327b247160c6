/** Bytes to lines: forward, backward and following, with damage recovered and reported. @module */
export type {
  ByteSource,
  DamageItem,
  DamageReason,
  FollowEvent,
  LineItem,
  LineLimits,
  RecordItem,
} from "./types.ts";
