// What the tool says of itself, and of words it does not know.
import { readFile } from "node:fs/promises";
import { expect, test } from "vitest";
import { exitCodes } from "../../src/cli/exit.ts";
import { emptyHomeEnv } from "../support/agents-home.ts";
import { run, tempFolder } from "./support.ts";

const commands = ["list", "open", "show", "follow", "check", "demo"] as const;

async function tell(...argv: string[]): Promise<Awaited<ReturnType<typeof run>>> {
  const path = await tempFolder();
  return run({ around: { env: emptyHomeEnv(path), home: path, platform: "linux" } }, argv);
}

test.each([["--help"], ["-h"], ["help"]])("%s lists every command and every exit code", async (word) => {
  const { code, out, err } = await tell(word);
  expect({ code, err }).toEqual({ code: 0, err: "" });
  for (const command of commands) expect(out).toMatch(new RegExp(`^  ${command} `, "m"));
  for (const exit of [...Object.values(exitCodes), 129, 130, 143])
    expect(out).toMatch(new RegExp(`\\b${exit}\\b`));
});

test.each(commands)("help of %s, told in three ways alike", async (command) => {
  const { code, out, err } = await tell("help", command);
  expect({ code, err }).toEqual({ code: 0, err: "" });
  expect(out).toContain(`Usage: hansard ${command}`);
  expect((await tell(command, "--help")).out).toBe(out);
  expect((await tell(command, "-h")).out).toBe(out);
});

test("every option of every command stands in docs/cli.md", async () => {
  const docs = await readFile(new URL("../../docs/cli.md", import.meta.url), "utf8");
  for (const command of commands) {
    const { out } = await tell(command, "--help");
    for (const [option] of out.matchAll(/--[a-z-]+/g)) {
      if (option !== "--help") expect(docs, `${command} ${option}`).toContain(option);
    }
  }
});

test("every exit code stands in docs/cli.md", async () => {
  const docs = await readFile(new URL("../../docs/cli.md", import.meta.url), "utf8");
  for (const code of Object.values(exitCodes)) expect(docs).toMatch(new RegExp(`^\\| ${code} \\| `, "m"));
  expect(docs).toMatch(/^\| 129, 130, 143 \| /m);
});

test.each([["--version"], ["-V"]])("%s", async (word) => {
  expect(await tell(word)).toMatchObject({ code: 0, out: "9.9.9\n", err: "" });
});

const wrong: readonly (readonly [string, readonly string[], RegExp])[] = [
  ["an unknown command", ["opne"], /unknown command 'opne'/],
  ["an unknown command with words behind it", ["sho", "last"], /unknown command 'sho'/],
  ["an unknown option", ["list", "--colour"], /unknown option '--colour'/],
  ["an unknown option before a command", ["--colour", "list"], /unknown option '--colour'/],
  ["an agent nobody reads", ["list", "--agent", "emacs"], /hansard, claude-code, codex, gemini, copilot, /],
  ["no session named to open", ["open"], /missing required argument 'session'/],
  ["no session named to show", ["show"], /missing required argument 'session'/],
  ["no session named to check", ["check"], /missing required argument 'session'/],
  ["two sessions", ["show", "a", "b"], /too many arguments/],
  ["an option without its value", ["list", "--limit"], /argument missing/],
  ["a limit of 0", ["show", "last", "--limit", "0"], /a whole number of at least 1/],
  ["a limit below 0", ["show", "last", "--limit", "-3"], /a whole number of at least 1/],
  ["a limit in words", ["list", "--limit", "ten"], /a whole number of at least 1/],
  ["a limit in parts", ["list", "--limit", "1.5"], /a whole number of at least 1/],
  ["a limit past counting", ["list", "--limit", "1e400"], /a whole number of at least 1/],
  ["a speed of 0", ["demo", "--speed", "0"], /a number above 0/],
  ["a speed in words", ["demo", "--speed", "fast"], /a number above 0/],
  ["an unknown way of resizing", ["open", "last", "--resize", "wobble"], /adopt, reprint/],
];

test.each(wrong)("%s: a sentence on the error stream and exit code 2", async (_name, argv, sentence) => {
  const { code, out, err } = await tell(...argv);
  expect({ code, out }).toEqual({ code: exitCodes.usage, out: "" });
  expect(err).toMatch(sentence);
  expect(err).toContain("hansard --help");
});

test("help of a command that is none is an error in a sentence", async () => {
  const { code, out, err } = await tell("help", "nope");
  expect({ code, out }).toEqual({ code: 2, out: "" });
  expect(err).toMatch(/^error: unknown command 'nope'\n/);
});
