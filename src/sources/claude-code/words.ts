/** Words out of the tags that Claude Code wraps them in. */

/** A command as it was typed, from the tags it is wrapped in; other text as it is. */
export function commandWords(text: string): string {
  const name = /<command-name>([\s\S]*?)<\/command-name>/.exec(text)?.[1]?.trim();
  if (name === undefined) return withoutTags(text);
  const args = /<command-args>([\s\S]*?)<\/command-args>/.exec(text)?.[1]?.trim() ?? "";
  const typed = name.startsWith("/") ? name : `/${name}`;
  return args === "" ? typed : `${typed} ${args}`;
}

/** A text without the one tag that wraps it. */
function withoutTags(text: string): string {
  const wrapped = /^\s*<([a-z-]+)>([\s\S]*?)<\/\1>\s*$/.exec(text);
  return wrapped?.[2] ?? text;
}
