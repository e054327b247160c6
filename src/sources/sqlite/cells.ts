/** Cells of tables that other programs fill. */
import type { Value } from "../../sqlite/index.ts";
import type { SessionRow } from "./format.ts";

/** The JSON in a cell; undefined where there is none, or none that can be read. */
export function jsonCell(value: Value | undefined): unknown {
  const text = value instanceof Uint8Array ? new TextDecoder().decode(value) : value;
  if (typeof text !== "string") return undefined;
  try {
    return JSON.parse(text) as unknown;
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

/** A cell's text; absent where it holds none. */
export function textCell(value: Value | undefined): string | undefined {
  return typeof value === "string" && value !== "" ? value : undefined;
}

/** A list of names for a SELECT, each `NULL AS name` where the table has no such column. */
export function selected(columns: ReadonlySet<string>, wanted: readonly string[]): string {
  return wanted.map((name) => (columns.has(name) ? `"${name}"` : `NULL AS "${name}"`)).join(", ");
}

/** A session by its row's cells; none without an id, or with one that no path can name. */
export function sessionRow(
  id: Value | undefined,
  facts: {
    readonly modifiedAt: number | undefined;
    readonly parent?: Value | undefined;
    readonly archived?: boolean;
  },
): readonly SessionRow[] {
  const word = textCell(id);
  if (word === undefined || /[#/\\]/.test(word)) return [];
  const { modifiedAt, archived } = facts;
  const parentId = textCell(facts.parent);
  return [
    {
      id: word,
      ...(modifiedAt === undefined ? {} : { modifiedAt }),
      ...(parentId === undefined ? {} : { parentId }),
      ...(archived === true ? { archived } : {}),
    },
  ];
}
