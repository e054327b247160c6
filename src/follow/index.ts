/** Following a step while it runs: the fold of a model's partial output. @module */
export { absorbStream, foldStream, type Stream } from "../transcript/index.ts";
