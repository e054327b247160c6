/** Words out of the tags that Claude Code wraps them in. */

/** A command as it was typed, from the tags it is wrapped in; other text as it is. */
export function commandWords(text: string): string {
  const name = /<command-name>([\s\S]*?)<\/command-name>/.exec(text)?.[1]?.trim();
  if (name === undefined) return withoutTags(text);
  const args = /<command-args>([\s\S]*?)<\/command-args>/.exec(text)?.[1]?.trim() ?? "";
  const typed = name.startsWith("/") ? name : `/${name}`;
  return args === "" ? typed : `${typed} ${args}`;
}

/** What a background task reported: its summary and its result, and what stands behind the report; other text as it is. */
export function taskWords(text: string): string {
  const report = /<task-notification>([\s\S]*?)<\/task-notification>([\s\S]*)$/.exec(text);
  const summary = /<summary>([\s\S]*?)<\/summary>/.exec(report?.[1] ?? "")?.[1]?.trim();
  if (summary === undefined || summary === "") return text;
  const result = /<result>([\s\S]*?)<\/result>/.exec(report?.[1] ?? "")?.[1]?.trim();
  return [summary, result, report?.[2]?.trim()].filter((words) => words).join("\n\n");
}

/** What stands inside a row of tags, one after the other; a text with anything outside of them as it is. */
function withoutTags(text: string): string {
  const pieces: string[] = [];
  let rest = text.trimStart();
  while (rest !== "") {
    const name = /^<([a-z-]{1,40})>/.exec(rest)?.[1];
    const close = `</${name}>`;
    const end = name === undefined ? -1 : rest.indexOf(close);
    if (name === undefined || end < 0) return text;
    pieces.push(rest.slice(name.length + 2, end));
    rest = rest.slice(end + close.length).trimStart();
  }
  return pieces.filter((piece) => piece.trim() !== "").join("\n");
}
