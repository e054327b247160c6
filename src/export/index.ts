/** A session as a file for others: HTML, Markdown, JSON, and what must not leave with it taken out. @module */
export { createHtmlExporter, type HtmlOptions } from "./html.ts";
export { htmlStyle } from "./html-style.ts";
export { createJsonExporter, EXPORT_MARK, EXPORT_VERSION } from "./json.ts";
export { RAW_BYTES_MAX } from "./limits.ts";
export { createMarkdownExporter, safeMarkdown } from "./markdown.ts";
export { createRedactor, type Finding, type Redactor, type RedactorOptions } from "./redact.ts";
export type { SecretKind } from "./secrets.ts";
export type { Exporter, ExportItem } from "./types.ts";
