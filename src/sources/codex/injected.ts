/** Which texts of role `user` are the program's own context, not a person's prompt. */

/** Openings of injected texts, with the topic each is shown under. */
const OPENINGS: readonly (readonly [string, string])[] = [
  ["# AGENTS.md instructions", "instructions"],
  ["<user_instructions>", "instructions"],
  ["<INSTRUCTIONS>", "instructions"],
  ["<environment_context>", "context"],
  ["<permissions instructions>", "instructions"],
  ["<collaboration_mode>", "instructions"],
  ["<turn_aborted>", "interrupted"],
  ["<skill>", "skill"],
  ["<skills_instructions>", "skill"],
  ["<user_shell_command>", "command"],
  ["<subagent_notification>", "subagent"],
  ["<goal_context>", "goal"],
];

/** Longest tag name that counts as one. */
const TAG_NAME = /^<([A-Za-z][A-Za-z0-9_-]{0,60})(?: [^<>\n]{0,60})?>/;

/**
 * The topic of an injected text, absent where the text may be a prompt. Known openings decide; apart from them, a text that is one
 * element with an underscore or a space in its tag, from its first to its last character, is the program's.
 */
export function injectedTopic(text: string): string | undefined {
  const trimmed = text.trimStart();
  for (const [opening, topic] of OPENINGS) if (trimmed.startsWith(opening)) return topic;
  const tag = TAG_NAME.exec(trimmed);
  const name = tag?.[1];
  if (!name || !(name.includes("_") || tag[0].includes(" "))) return undefined;
  return trimmed.trimEnd().endsWith(`</${name}>`) ? "context" : undefined;
}
