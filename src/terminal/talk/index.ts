/** Talking to an agent that Hansard drives: what stands below the transcript, and its keys. @module */
export type { Foot } from "./foot.ts";
export { turnLine } from "./parts.ts";
export { Talk, type TalkOptions } from "./talk.ts";
