/** `hansard archive`: keeps verbatim copies of other agents' sessions, so that they outlive their owners' clean-up. */
import { archiveFolder, archiveSession } from "../sources/archive/index.ts";
import { describeSession, discoverAll, type FoundSession, piecesOf, SourceError } from "../sources/index.ts";
import { sanitizeLine } from "../terminal/text/index.ts";
import { CommandError } from "./errors.ts";
import { exitCodes } from "./exit.ts";
import { formatBytes } from "./format.ts";
import type { Io } from "./io.ts";
import { resolveSession } from "./resolve.ts";

export interface ArchiveOptions {
  readonly all?: boolean;
  readonly json?: boolean;
}

/** Archives one session or all. One that fails is told and does not keep the others; the exit code says so. */
export async function runArchive(io: Io, name: string | undefined, options: ArchiveOptions): Promise<number> {
  if ((name === undefined) === (options.all !== true))
    throw new CommandError(exitCodes.usage, "Give a session, or --all.");
  const archive = archiveFolder(io.around);
  let archived = 0;
  let unchanged = 0;
  let failed = 0;
  for (const found of await wanted(io, name)) {
    const told = await archiveOne(io, archive, found);
    if (told.state === "archived") archived += 1;
    else if (told.state === "unchanged") unchanged += 1;
    else failed += 1;
    const words =
      options.json === true
        ? JSON.stringify({ ...told, agent: found.agent, id: found.id, original: found.path })
        : sanitizeLine(
            `${told.state.padEnd(9)}  ${found.agent.padEnd(11)}  ${found.id}  ${told.message ?? formatBytes(found.bytes)}`,
          );
    if (!(await io.out.write(`${words}\n`))) break;
  }
  await io.err.write(
    `hansard: ${archived} archived, ${unchanged} unchanged${failed === 0 ? "" : `, ${failed} failed`} (${archive})\n`,
  );
  return failed === 0 ? exitCodes.ok : exitCodes.unreadable;
}

/** Sessions of other agents, subagents' too; those that Hansard keeps already are none of them. */
async function wanted(io: Io, name: string | undefined): Promise<readonly FoundSession[]> {
  const path = name === undefined ? undefined : await resolveSession(io, name);
  const found: FoundSession[] = [];
  for await (const session of discoverAll(io.around)) {
    const isOther = session.agent !== "hansard" && !session.path.startsWith(archiveFolder(io.around));
    if (isOther && (path === undefined || session.path === path)) found.push(session);
  }
  if (path !== undefined && found.length === 0)
    throw new CommandError(
      exitCodes.usage,
      `${path} is no session that another agent keeps on this computer.`,
      ["Sessions that are listed by `hansard list` can be archived; those that Hansard keeps need not be."],
    );
  return found;
}

interface Told {
  readonly state: "archived" | "unchanged" | "failed";
  readonly path?: string;
  readonly message?: string;
}

async function archiveOne(io: Io, archive: string, found: FoundSession): Promise<Told> {
  try {
    const info = await describeSession(found);
    const { state, path } = await archiveSession(archive, found, info, io.now(), await piecesOf(found));
    return { state, path };
  } catch (error) {
    if (error instanceof SourceError) return { state: "failed", message: error.message };
    const { code, syscall } = error as NodeJS.ErrnoException;
    if (code === undefined || syscall === undefined) throw error;
    return { state: "failed", message: `it cannot be copied (${code})` };
  }
}
