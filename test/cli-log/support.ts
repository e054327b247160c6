/** A home directory with a session that Hansard keeps. */
import { join } from "node:path";
import {
  createLog,
  type LogWriter,
  type RecordSpec,
  sessionsFolder,
  stateFolder,
} from "../../src/log/index.ts";
import { type Home, makeHome } from "../support/home.ts";

export const prompt = (text: string, turnId: string): RecordSpec => ({
  kind: "message",
  role: "user",
  turnId,
  payload: { text },
});

export const turn = (text: string): RecordSpec[] => [
  { kind: "turnStarted" },
  prompt(text, `${text}-1`),
  {
    kind: "message",
    role: "assistant",
    turnId: `${text}-2`,
    payload: { content: [{ type: "text", text: `on ${text}` }] },
  },
  { kind: "turnCommitted" },
];

export interface StateHome extends Home {
  readonly sessions: string;
  /** Writes a session and closes it; answers its log's path. */
  session(id: string, work: (log: LogWriter) => Promise<unknown>): Promise<string>;
}

export function makeStateHome(): StateHome {
  const home = makeHome();
  const sessions = sessionsFolder(stateFolder(home.around));
  return {
    ...home,
    sessions,
    async session(id, work) {
      const log = await createLog({ sessions, id, cwd: "/w" });
      await work(log);
      await log.close();
      return join(sessions, id, "log.jsonl");
    },
  };
}
