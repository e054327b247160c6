/** What a lane says, for the page: the server's frames, and how a block grows. */
export { appendToBlock, type LaneFrame } from "../server/frames.ts";
