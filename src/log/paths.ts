/** Where things lie. The state folder comes from the environment that is handed in; nothing here reads the process. */
import { join } from "node:path";
import { LogError } from "./errors.ts";

/** What of the computer decides where our state lies. */
export interface StateSurroundings {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly home: string;
  readonly platform: string;
}

/** Our state folder: $HANSARD_HOME, else the platform's own place for state. */
export function stateFolder(around: StateSurroundings): string {
  const own = around.env["HANSARD_HOME"];
  if (own !== undefined && own !== "") return own;
  if (around.platform === "darwin") return join(around.home, "Library", "Application Support", "hansard");
  if (around.platform === "win32") {
    const local = around.env["LOCALAPPDATA"];
    return join(
      local !== undefined && local !== "" ? local : join(around.home, "AppData", "Local"),
      "hansard",
    );
  }
  const xdg = around.env["XDG_STATE_HOME"];
  // The XDG rules say that a relative path is to be ignored.
  return join(xdg?.startsWith("/") ? xdg : join(around.home, ".local", "state"), "hansard");
}

/** The folder that holds one folder a session. */
export function sessionsFolder(state: string): string {
  return join(state, "sessions");
}

export interface SessionPaths {
  readonly id: string;
  readonly sessions: string;
  readonly folder: string;
  readonly log: string;
  readonly blobs: string;
  readonly lease: string;
  readonly steps: string;
}

const idForm = /^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$/;

/** Whether a text may name a session: it becomes a folder's name, so no path, no dot in front, nothing that a shell would read. */
export function isSessionId(text: string): boolean {
  return idForm.test(text);
}

/** The paths of a session. An id that could leave the folder is refused. */
export function sessionPaths(sessions: string, id: string): SessionPaths {
  if (!isSessionId(id))
    throw new LogError("bad-id", `${JSON.stringify(id.slice(0, 200))} cannot name a session`, {
      next: "An id has letters, digits, dots, dashes and underscores, at most 128.",
    });
  return pathsIn(sessions, id, join(sessions, id));
}

/** The same for a folder that does not bear the session's name yet. */
export function pathsIn(sessions: string, id: string, folder: string): SessionPaths {
  return {
    id,
    sessions,
    folder,
    log: join(folder, "log.jsonl"),
    blobs: join(folder, "blobs"),
    lease: join(folder, "lease"),
    steps: join(folder, "steps"),
  };
}
