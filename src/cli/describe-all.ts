/** Many sessions described side by side. */
import { describeSession, type FoundSession, type SessionInfo } from "../sources/index.ts";

/** Files described at once. */
const DESCRIBE_AT_ONCE_MAX = 16;

/** What is known of a session. `unreadable`: its file could not be looked into. */
export interface Described extends SessionInfo {
  readonly unreadable?: true;
}

/** What is known of each session, in their order; one that cannot be described is told by its name and stat. */
export async function describeAll(found: readonly FoundSession[]): Promise<Described[]> {
  const infos: Described[] = new Array(found.length);
  let next = 0;
  async function work(): Promise<void> {
    for (let i = next++; i < found.length; i = next++) {
      const session = found[i] as FoundSession;
      infos[i] = await describeSession(session).catch((): Described => ({ ...session, unreadable: true }));
    }
  }
  await Promise.all(Array.from({ length: DESCRIBE_AT_ONCE_MAX }, work));
  return infos;
}
