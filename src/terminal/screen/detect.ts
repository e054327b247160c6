/** What a terminal can do, as its environment tells. */

type Environment = Readonly<Record<string, string | undefined>>;

function programOf(env: Environment): string {
  return (env["TERM_PROGRAM"] ?? "").toLowerCase();
}

const reflowingPrograms = new Set([
  "apple_terminal",
  "ghostty",
  "iterm.app",
  "kitty",
  "mintty",
  "tabby",
  "tmux",
  "vscode",
  "warpterminal",
  "wezterm",
]);
const reflowingTerms =
  /^(?:alacritty|contour|foot|ghostty|konsole|rio|tmux|wezterm|xterm-ghostty|xterm-kitty)/;

/** Whether the terminal wraps its lines again when its width changes. Unknown ones are taken not to. */
export function reflows(env: Environment): boolean {
  const term = env["TERM"] ?? "";
  // Inside a multiplexer it is the multiplexer's rows that count.
  if ((env["TMUX"] ?? "") !== "") return true;
  if ((env["STY"] ?? "") !== "" || term.startsWith("screen")) return false;
  if (reflowingTerms.test(term) || reflowingPrograms.has(programOf(env))) return true;
  return ["KITTY_WINDOW_ID", "WT_SESSION", "VTE_VERSION", "KONSOLE_VERSION", "ALACRITTY_WINDOW_ID"].some(
    (name) => (env[name] ?? "") !== "",
  );
}

const synchronizedPrograms = new Set(["ghostty", "iterm.app", "kitty", "vscode", "wezterm", "warpterminal"]);
const synchronizedTerms = /^(?:alacritty|contour|foot|ghostty|rio|wezterm|xterm-ghostty|xterm-kitty)/;

/** Whether the terminal is known to have synchronized output (mode 2026). Where it has not, the marks are left out. */
export function hasSynchronizedOutput(env: Environment): boolean {
  if ((env["STY"] ?? "") !== "" || (env["TERM"] ?? "").startsWith("screen")) return false;
  if ((env["TMUX"] ?? "") !== "") return true;
  if (synchronizedTerms.test(env["TERM"] ?? "") || synchronizedPrograms.has(programOf(env))) return true;
  return ["KITTY_WINDOW_ID", "WT_SESSION", "ALACRITTY_WINDOW_ID"].some((name) => (env[name] ?? "") !== "");
}
