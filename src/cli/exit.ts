/** Exit codes, as `hansard --help` and docs/cli.md list them. */
export const exitCodes = {
  ok: 0,
  /** A bug: anything that was not foreseen. */
  internal: 1,
  /** Wrong options or arguments. */
  usage: 2,
  /** No such session or file. */
  notFound: 3,
  /** The name fits several sessions. */
  ambiguous: 4,
  /** A file cannot be read or written: permission, a directory, a device, a full disk. */
  unreadable: 5,
  /** The file can be read but holds no session that Hansard knows: empty, binary, another program's. */
  notASession: 6,
  /** `check` found damage. */
  damaged: 7,
  /** The terminal cannot do what was asked. */
  terminal: 8,
  /** The agent is not there, does not start, ended by itself, or did not finish its turn. */
  agent: 9,
} as const;

export type ExitCode = number;
