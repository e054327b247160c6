/** The names of agents that the command line takes. */
import { expect, test } from "vitest";
import { agents } from "../../src/cli/program.ts";
import { sources } from "../../src/sources/index.ts";

test("are those of all readers", () => {
  expect([...agents].sort()).toEqual(sources.map((source) => source.agent).sort());
});
