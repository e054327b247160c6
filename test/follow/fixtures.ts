/** Recorded responses of steps. */
import { readFileSync } from "node:fs";

export function fixtureText(name: string): string {
  return readFileSync(new URL(`../fixtures/follow/${name}`, import.meta.url), "utf8");
}
