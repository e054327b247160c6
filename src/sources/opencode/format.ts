/** OpenCode's document: an export, and what the rows of a database are put together to. */
import type { DocumentFormat } from "../document/format.ts";
import { parseJson, scanJson } from "../document/json.ts";
import { objectOf } from "../fields.ts";
import { classifyMessage, nameOf, sessionFacts } from "./message.ts";

export const openCodeFormat: DocumentFormat = {
  agent: "opencode",
  scan: scanJson,
  parse: parseJson,
  classify: classifyMessage,
  nameOf,
  factsOf: (key, value) => (key === "info" ? sessionFacts(objectOf(value) ?? {}) : {}),
};
