/** The JSON export: one document, an entry a line, that Hansard itself reads as a session. */
import type { SessionInfo } from "../session/index.ts";
import type { Exporter } from "./types.ts";

/** Stands in the first line of every export, with the version of its form. */
export const EXPORT_MARK = "hansardExport";
export const EXPORT_VERSION = 1;

/** JSON whose text does nothing in a terminal or a page either: what would is written as its code. Reads as the same value. */
function inertJson(value: unknown): string {
  return JSON.stringify(value).replace(
    /[\u007F-\u009F\u061C\u200E\u200F\u2028-\u202E\u2066-\u2069]/g,
    (sign) => `\\u${sign.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}

/** A valid JSON document: `{"hansardExport":1,"session":{…},"entries":[` and then each entry with its position in a line of its own. */
export function createJsonExporter(): Exporter {
  let isFirst = true;
  return {
    start: (info: SessionInfo) =>
      `${inertJson({ [EXPORT_MARK]: EXPORT_VERSION, session: info }).slice(0, -1)},"entries":[`,
    item({ entry, position, raw }) {
      const line = inertJson({ position, ...entry, ...(raw === undefined ? {} : { raw }) });
      const lead = isFirst ? "\n" : ",\n";
      isFirst = false;
      return lead + line;
    },
    end: () => "\n]}\n",
  };
}
