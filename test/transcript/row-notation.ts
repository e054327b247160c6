/** Rows in one line each, for tables: `▾` open, `▸` shut, nothing where there is nothing to open. */
import type { Row } from "../../src/transcript/index.ts";

/** `▾ user: hello [response plain user]`, the key in front where it is wanted. */
export function rowLine(row: Row): string {
  const words = [row.class, row.tone, row.role].filter((word) => word !== undefined).join(" ");
  return `${signOf(row)}${[row.prefix, row.preview].filter((text) => text !== "").join(" ")} [${words}]`;
}

function signOf(row: Row): string {
  if (row.body === undefined && row.fold === "payload") return "";
  return row.isExpanded ? "▾ " : "▸ ";
}

export function keyedLine(row: Row): string {
  return `${row.key} ${rowLine(row)}`;
}
