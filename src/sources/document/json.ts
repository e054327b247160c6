/** Documents that are one JSON value: an object with a list of messages, or the list alone. */
import type { ByteSource } from "../../lines/index.ts";
import { scanObject } from "../json-scan.ts";
import type { DocumentPart } from "./format.ts";

/** The parts of a JSON document: elements of the list, members of the object. */
export async function* scanJson(
  source: ByteSource,
  start: number,
  end: number,
): AsyncIterable<readonly DocumentPart[]> {
  for await (const batch of scanObject(source, start, end)) {
    const parts: DocumentPart[] = [];
    for (const item of batch) if (item.type !== "messages") parts.push(item);
    yield parts;
  }
}

/** The JSON value of some bytes; undefined where they are none. */
export function parseJson(bytes: Uint8Array): unknown {
  try {
    return JSON.parse(new TextDecoder().decode(bytes)) as unknown;
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}
