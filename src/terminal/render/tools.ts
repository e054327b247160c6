/** How a tool is called in one word, for the names that agents give their tools. */

/** What a call does, as far as the look is concerned. */
export type ToolSort = "read" | "search" | "edit" | "run" | "other";

export interface ToolWord {
  readonly verb: string;
  readonly sort: ToolSort;
}

const word = (verb: string, sort: ToolSort): ToolWord => ({ verb, sort });
const read = word("Read", "read");
const list = word("List", "read");
const search = word("Search", "search");
const find = word("Find", "search");
const edit = word("Edit", "edit");
const write = word("Write", "edit");
const run = word("Run", "run");
const fetch = word("Fetch", "read");
const web = word("Web", "search");
const plan = word("Plan", "other");
const task = word("Task", "other");

/** By the name in lower case. Claude Code, the kinds of the Agent Client Protocol, then Codex, Gemini CLI, pi. */
const words: Readonly<Record<string, ToolWord>> = {
  read: read,
  execute: run,
  search: search,
  fetch: fetch,
  move: word("Move", "edit"),
  delete: word("Delete", "edit"),
  think: word("Think", "other"),
  notebookread: read,
  ls: list,
  glob: find,
  grep: search,
  edit: edit,
  multiedit: edit,
  write: write,
  notebookedit: edit,
  bash: run,
  bashoutput: word("Output", "run"),
  killshell: word("Stop", "run"),
  killbash: word("Stop", "run"),
  webfetch: fetch,
  websearch: web,
  todowrite: plan,
  todoread: plan,
  exitplanmode: plan,
  task: task,
  agent: task,
  skill: word("Skill", "other"),
  askuserquestion: word("Ask", "other"),
  toolsearch: word("Tools", "search"),
  shell: run,
  exec: run,
  exec_command: run,
  local_shell: run,
  local_shell_call: run,
  shell_command: run,
  "container.exec": run,
  unified_exec: run,
  write_stdin: word("Type", "run"),
  apply_patch: word("Patch", "edit"),
  update_plan: plan,
  view_image: word("View", "read"),
  web_search: web,
  web_search_call: web,
  read_file: read,
  read_many_files: read,
  list_directory: list,
  list_dir: list,
  search_file_content: search,
  grep_search: search,
  grep_files: search,
  replace: edit,
  write_file: write,
  write_todos: plan,
  run_shell_command: run,
  web_fetch: fetch,
  google_web_search: web,
  save_memory: word("Note", "other"),
  save_note: word("Note", "other"),
  find: find,
};

/** The word for a tool; a name that is not known, or comes from a server (`mcp__server__tool`), is shown as it is. */
export function toolWord(name: string): ToolWord {
  const known = Object.hasOwn(words, name.toLowerCase()) ? words[name.toLowerCase()] : undefined;
  return known ?? { verb: name, sort: "other" };
}
