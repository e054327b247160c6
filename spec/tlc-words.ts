/** The words of `npm run spec:tlc`. */
import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { parseArgs } from "node:util";
import type { Universe } from "./universe.ts";
import { universes } from "./universe.ts";

export const usage =
  "npm run spec:tlc -- --jar <tla2tools.jar> [--constants <name>] [--trace <file> --community <jar>] | --write\n";

export interface Asked {
  readonly jars: readonly string[];
  readonly constants?: Universe;
  readonly trace?: string;
}

/** What the words ask for, or in a sentence why they cannot be done. */
export function readWords(words: readonly string[]): Asked | "write" | string {
  const options = {
    jar: { type: "string" },
    community: { type: "string" },
    constants: { type: "string" },
    trace: { type: "string" },
    write: { type: "boolean" },
  } as const;
  let values: ReturnType<typeof parseArgs<{ options: typeof options }>>["values"];
  try {
    ({ values } = parseArgs({ args: [...words], options }));
  } catch (error) {
    // The first sentence says what is wrong; the others are of the parser's own ways to write it.
    return error instanceof Error ? (error.message.split(/[.\n]/, 1)[0] ?? "") : String(error);
  }
  const { jar, community, constants, trace, write } = values;
  if (write === true) return words.length === 1 ? "write" : "--write stands alone";
  if (jar === undefined) return "--jar <tla2tools.jar> is missing";
  if (trace !== undefined && constants !== undefined)
    return "a trace has its own constants: leave --constants";
  if (trace !== undefined && community === undefined)
    return "--trace needs --community <CommunityModules-deps.jar>";
  if (trace === undefined && community !== undefined) return "--community is only for --trace";
  const named = [jar, community, trace].filter((path) => path !== undefined);
  const missing = named.find((path) => !existsSync(path));
  if (missing !== undefined) return `there is no file ${JSON.stringify(missing)}`;
  const universe = universes.find(({ name }) => name === constants);
  if (constants !== undefined && universe === undefined) {
    const known = universes.map(({ name }) => name).join(", ");
    return `there is no set of constants ${JSON.stringify(constants)}; there are: ${known}`;
  }
  return {
    jars: [jar, community].filter((path) => path !== undefined).map((path) => resolve(path)),
    ...(universe === undefined ? {} : { constants: universe }),
    ...(trace === undefined ? {} : { trace: resolve(trace) }),
  };
}
