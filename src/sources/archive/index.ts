/** Verbatim copies of other agents' sessions in our state folder. @module */
export { archiveFolder, MANIFEST_NAME } from "./format.ts";
export { describeArchived, discoverArchived, openArchived } from "./read.ts";
export { type Archived, archiveSession } from "./write.ts";
