/** A home directory that holds sessions of every agent in the agents' own layout, at known times. */
import { copyFile, cp, mkdir, utimes } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { AgentName, Surroundings } from "../../src/sources/index.ts";
import { fixturePath } from "./fixtures.ts";

/** The moment of the newest session; each further one of the list below is an hour older. */
export const HOME_NEWEST_AT = Date.UTC(2026, 7, 10, 12);
const HOUR_MS = 3_600_000;

export interface HomeSession {
  readonly agent: AgentName;
  readonly id: string;
  readonly path: string;
  readonly modifiedAt: number;
}

interface Kept {
  readonly agent: AgentName;
  readonly id: string;
  readonly from: string;
  /** Where the agent keeps it, below the home directory. */
  readonly to: string;
}

const compactedId = "a6856208-d769-4bb7-a8d0-54f3cf6b5b5d";

/** Newest first. */
const kept = {
  pi: {
    agent: "pi",
    id: "1e9e2ae1-f9fb-4308-a28c-8d175b7a8063",
    from: "pi.jsonl",
    to: ".pi/agent/sessions/--home-user-project--/2026-04-24T20-33-40-331Z_1e9e2ae1-f9fb-4308-a28c-8d175b7a8063.jsonl",
  },
  titled: {
    agent: "claude-code",
    id: "e0779ef8-46c8-43b1-ac48-e26ea9c130a2",
    from: "claude-titled.jsonl",
    to: ".claude/projects/-home-user-project/e0779ef8-46c8-43b1-ac48-e26ea9c130a2.jsonl",
  },
  codexLive: {
    agent: "codex",
    id: "6a5f557f-4d67-4125-adfd-1d0e7a5108fb",
    from: "codex-live.jsonl",
    to: ".codex/sessions/2026/06/18/rollout-2026-06-18T00-57-05-6a5f557f-4d67-4125-adfd-1d0e7a5108fb.jsonl",
  },
  geminiChat: {
    agent: "gemini",
    id: "2026-08-04T09-00-5d0d8f1c",
    from: "gemini.jsonl",
    to: ".gemini/tmp/project/chats/session-2026-08-04T09-00-5d0d8f1c.jsonl",
  },
  compacted: {
    agent: "claude-code",
    id: compactedId,
    from: "claude-compacted.jsonl",
    to: `.claude/projects/-home-user-project/${compactedId}.jsonl`,
  },
  messages: {
    agent: "messages",
    id: "20260805T100000Z-aaaa",
    from: "messages",
    to: "workspace/agents/20260805T100000Z-aaaa/messages",
  },
  geminiLegacy: {
    agent: "gemini",
    id: "2026-03-17T20-26-95a32fd8",
    from: "gemini-legacy.json",
    to: ".gemini/tmp/b2ca8a330f343b36c88f4b1fb78c678cf7c9340fb5c712040dd6b4847f617ec2/chats/session-2026-03-17T20-26-95a32fd8.json",
  },
  codexArchived: {
    agent: "codex",
    id: "2ce5c005-e64a-4490-a4c2-05e53f81a327",
    from: "codex-archived.jsonl",
    to: ".codex/archived_sessions/rollout-2026-06-17T10-07-16-2ce5c005-e64a-4490-a4c2-05e53f81a327.jsonl",
  },
  /** Begins with the prompt of `codexArchived`: their titles are one. */
  codexCold: {
    agent: "codex",
    id: "71d0aa3e-5a0f-4c3b-9a54-7c3f2f1f9e10",
    from: "codex-cold.jsonl.zst",
    to: ".codex/sessions/2026/06/17/rollout-2026-06-17T10-07-16-71d0aa3e-5a0f-4c3b-9a54-7c3f2f1f9e10.jsonl.zst",
  },
  pending: {
    agent: "claude-code",
    id: "0efe3702-1939-4df7-a30c-562917ba9715",
    from: "claude-pending.jsonl",
    to: ".claude/projects/-home-user-other/0efe3702-1939-4df7-a30c-562917ba9715.jsonl",
  },
} as const satisfies Record<string, Kept>;

export type HomeSessionName = keyof typeof kept;

export interface Home {
  readonly path: string;
  /** Newest first. */
  readonly sessions: Readonly<Record<HomeSessionName, HomeSession>>;
  /** A subagent's file, of the session `compacted`. */
  readonly subagent: string;
  /** The variables that make it the home of a process, and of nothing else. */
  readonly env: Readonly<Record<string, string>>;
  readonly around: Surroundings;
}

/** Variables that would lead out of a home directory; emptied for a child process. */
const elsewhere = [
  "CLAUDE_CONFIG_DIR",
  "CODEX_HOME",
  "GEMINI_CLI_HOME",
  "PI_CODING_AGENT_DIR",
  "HANSARD_WORKSPACES",
  "HANSARD_TRACE",
];

/** The variables of a home directory in which no agent was ever run. */
export function emptyHomeEnv(path: string): Record<string, string> {
  return {
    ...Object.fromEntries(elsewhere.map((name) => [name, ""])),
    HOME: path,
    USERPROFILE: path,
    TERM: "dumb",
    NO_COLOR: "1",
  };
}

/** Fills `path`, a directory of the test's own. */
export async function makeHome(path: string): Promise<Home> {
  const sessions: Partial<Record<HomeSessionName, HomeSession>> = {};
  for (const [at, [name, { agent, id, from, to }]] of Object.entries(kept).entries()) {
    const target = join(path, to);
    const modifiedAt = HOME_NEWEST_AT - at * HOUR_MS;
    await mkdir(dirname(target), { recursive: true });
    await cp(fixturePath(join("home", from)), target, { recursive: true });
    await utimes(target, modifiedAt / 1000, modifiedAt / 1000);
    sessions[name as HomeSessionName] = { agent, id, path: target, modifiedAt };
  }
  const subagent = join(
    path,
    `.claude/projects/-home-user-project/${compactedId}/subagents/agent-0a1b2c3d.jsonl`,
  );
  await mkdir(dirname(subagent), { recursive: true });
  await copyFile(fixturePath("home/claude-subagent.jsonl"), subagent);
  const env = { ...emptyHomeEnv(path), HANSARD_WORKSPACES: join(path, "workspace") };
  return {
    path,
    sessions: sessions as Record<HomeSessionName, HomeSession>,
    subagent,
    env,
    around: { env, home: path, platform: process.platform },
  };
}
