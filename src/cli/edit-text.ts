/** A text edited in the person's own editor. */
import { spawn } from "node:child_process";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Surroundings } from "../sources/index.ts";

/** Bytes of an edited text that are taken. */
export const editedBytesMax = 4_000_000;

/** The command of the person's editor: VISUAL, else EDITOR; undefined where neither is set. */
export function editorCommand(env: Surroundings["env"]): string | undefined {
  return [env["VISUAL"], env["EDITOR"]].find((command) => command !== undefined && command.trim() !== "");
}

/** Runs the editor on a file, in the process's terminal; true where it ended well. The command may have arguments of its own. */
function runEditor(command: string, path: string): Promise<boolean> {
  const isWindows = process.platform === "win32";
  const [program, args] = isWindows
    ? [command, [path]]
    : ["/bin/sh", ["-c", `exec ${command} "$1"`, "sh", path]];
  return new Promise((resolve) => {
    const child = spawn(program, args, { stdio: "inherit", shell: isWindows });
    child.once("error", () => resolve(false));
    child.once("exit", (code) => resolve(code === 0));
  });
}

/**
 * The text as the person left it in the editor; undefined where the editor failed or left too much, and the text is to stay as it was.
 * The file is the person's alone and is removed afterwards.
 */
export async function editText(command: string, text: string): Promise<string | undefined> {
  const folder = await mkdtemp(join(tmpdir(), "hansard-prompt-"));
  try {
    const path = join(folder, "prompt.md");
    await writeFile(path, text, { mode: 0o600 });
    if (!(await runEditor(command, path))) return undefined;
    const bytes = await readFile(path);
    return bytes.length > editedBytesMax ? undefined : bytes.toString("utf8");
  } catch (error) {
    // The editor, or somebody, took the file away.
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw error;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
