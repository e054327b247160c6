import { describe, expect, test } from "vitest";
import { hasSynchronizedOutput, reflows } from "../../src/terminal/screen/index.ts";

const xterm = { TERM: "xterm-256color" };

describe("cc#19533: what the environment tells of a terminal", () => {
  test.each<readonly [string, Record<string, string>, boolean, boolean]>([
    //                                                                           reflows synchronized
    ["nothing", {}, false, false],
    ["xterm", xterm, false, false],
    ["Linux console", { TERM: "linux" }, false, false],
    ["kitty", { TERM: "xterm-kitty" }, true, true],
    ["kitty under another TERM", { ...xterm, KITTY_WINDOW_ID: "1" }, true, true],
    ["ghostty", { TERM: "xterm-ghostty" }, true, true],
    ["foot", { TERM: "foot-extra" }, true, true],
    ["alacritty", { TERM: "alacritty" }, true, true],
    ["alacritty under another TERM", { ...xterm, ALACRITTY_WINDOW_ID: "7" }, true, true],
    ["wezterm", { ...xterm, TERM_PROGRAM: "WezTerm" }, true, true],
    ["iTerm2", { ...xterm, TERM_PROGRAM: "iTerm.app" }, true, true],
    ["VS Code (xterm.js)", { ...xterm, TERM_PROGRAM: "vscode" }, true, true],
    ["Apple's", { ...xterm, TERM_PROGRAM: "Apple_Terminal" }, true, false],
    ["VTE", { ...xterm, VTE_VERSION: "7600" }, true, false],
    ["Konsole", { ...xterm, KONSOLE_VERSION: "240800" }, true, false],
    ["Windows Terminal", { ...xterm, WT_SESSION: "0-0" }, true, true],
    ["tmux", { TERM: "tmux-256color", TMUX: "/tmp/tmux-0/default,1,0" }, true, true],
    [
      "tmux that calls itself screen",
      { TERM: "screen-256color", TMUX: "/tmp/tmux-0/default,1,0" },
      true,
      false,
    ],
    ["screen", { TERM: "screen.xterm-256color", STY: "1.pts-0" }, false, false],
    ["screen in kitty", { TERM: "screen", STY: "1.pts-0", KITTY_WINDOW_ID: "1" }, false, false],
    ["empty variables", { TERM: "", TMUX: "", STY: "", VTE_VERSION: "" }, false, false],
  ])("%s", (_, env, doesReflow, isSynchronized) => {
    expect({ reflows: reflows(env), synchronized: hasSynchronizedOutput(env) }).toEqual({
      reflows: doesReflow,
      synchronized: isSynchronized,
    });
  });
});
