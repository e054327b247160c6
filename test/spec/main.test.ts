// `npm run spec` as a command: what it prints and how it exits.
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { committedCounts, countsFault } from "../../spec/counts.ts";
import {
  createWindow,
  formatTraceLine,
  formatTraceStart,
  parseConfig,
  step,
} from "../../src/window/index.ts";

let folder = "";
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "hansard-spec-"));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function spec(...args: readonly string[]): {
  readonly status: number | null;
  readonly out: string;
  readonly error: string;
} {
  const all = ["--import", "./scripts/ts-hook.js", "spec/main.ts", ...args];
  const { status, stdout, stderr } = spawnSync(process.execPath, all, { encoding: "utf8" });
  return { status, out: stdout, error: stderr };
}

function write(name: string, text: string): string {
  const path = join(folder, name);
  writeFileSync(path, text);
  return path;
}

describe("traces", () => {
  const begun = createWindow(parseConfig("window=2 step=1 slice=2 live=1"), "saved");
  const event = { type: "block_finished", id: 0 } as const;
  const good = formatTraceStart(begun) + formatTraceLine(event, step(begun, event));

  test("one that holds", () => {
    const path = write("good.ndjson", good);
    expect(spec("trace", path)).toEqual({
      status: 0,
      out: expect.stringMatching(
        /good\.ndjson: 1 steps of 1 windows, 0 of them rejected; \d+ laws hold\n {2}not judged by it: .*X19.*\n$/,
      ),
      error: "",
    });
  });

  test("one that does not: the line and the law", () => {
    const paths = [
      write("bad.ndjson", good.replace('"next_seq":1', '"next_seq":2')),
      write("also.ndjson", good),
    ];
    const { status, out } = spec("trace", ...paths);
    expect(status).toBe(1);
    expect(out).toMatch(/bad\.ndjson:2: block_finished\(0\) breaks .*X12 Frame/);
    expect(out).toMatch(/also\.ndjson: 1 steps/);
  });

  test("one that is not there", () => {
    const { status, out, error } = spec("trace", join(folder, "none"), write("after.ndjson", good));
    expect(status).toBe(2);
    expect(error).toMatch(/none: cannot be read: ENOENT: [^\n]*\n$/);
    expect(out).toMatch(/after\.ndjson: 1 steps/);
  });

  test("one that is none: one line of its place", () => {
    const path = write("null.ndjson", good.replace('"effects":[]', '"effects":[null]'));
    const { status, out, error } = spec("trace", path, write("empty.ndjson", ""));
    expect({ status, out }).toEqual({ status: 2, out: "" });
    expect(error).toBe(
      `${path}:1: effects[0] is no object\n${join(folder, "empty.ndjson")}:1: a trace without a step\n`,
    );
  });

  test("none said", () =>
    expect(spec("trace")).toMatchObject({ status: 2, error: "npm run spec -- trace <file>…\n" }));
});

describe("explorations", () => {
  test("the table, and 0 where all laws hold", () => {
    const { status, out } = spec("plain");
    expect(status).toBe(0);
    expect(out).toMatch(/^plain: 40,724 states, holds\n/);
    expect(out).toMatch(/^L1 +HeldIsRecentCycles +every state +40,724 +holds$/m);
    expect(out).not.toContain("BROKEN");
  });

  test("what is found is what is written down", () => {
    const counts = committedCounts();
    expect([...counts.keys()]).toEqual(["tiny", "small", "plain", "wide", "large", "huge"]);
    const tiny = counts.get("tiny")!;
    expect(countsFault("tiny", tiny, counts)).toBeUndefined();
    expect(countsFault("tiny", { ...tiny, states: tiny.states + 1 }, counts)).toMatch(
      /README\.md says 2304 at 11$/,
    );
    expect(countsFault("none", tiny, counts)).toMatch(/has no counts of none/);
  });

  test("an unknown set of constants", () => {
    const { status, error } = spec("none");
    expect(status).toBe(2);
    expect(error).toMatch(/^There is no set of constants "none"\. There are: quick, full, tiny, /);
  });
});
