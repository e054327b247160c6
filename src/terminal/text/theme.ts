/** Which colours a terminal can show, from what its environment says. */
import type { ColorDepth, Theme } from "./types.ts";

type Environment = Readonly<Record<string, string | undefined>>;

function depthOf(env: Environment, isTerminal: boolean): ColorDepth {
  if ((env["NO_COLOR"] ?? "") !== "") return "none";
  const forced = env["FORCE_COLOR"];
  if (forced !== undefined) {
    if (forced === "0" || forced === "false") return "none";
    if (forced === "3") return "true";
    if (forced === "2") return "256";
    if (!isTerminal) return "16";
  }
  const term = env["TERM"] ?? "";
  if (!isTerminal || term === "dumb") return "none";
  if (/^(?:truecolor|24bit)$/i.test(env["COLORTERM"] ?? "") || /-direct$/.test(term)) return "true";
  if (env["WT_SESSION"] !== undefined) return "true";
  return /256/.test(term) ? "256" : "16";
}

/** Reads `COLORFGBG` (`15;0`, `0;default;15`): the last field is the background's colour number. */
function backgroundOf(env: Environment): Theme["background"] {
  const last = env["COLORFGBG"]?.split(";").at(-1);
  return last === "7" || last === "15" ? "light" : "dark";
}

/** The theme for an output: no colour where it is no terminal, for `NO_COLOR` and `TERM=dumb`; `FORCE_COLOR` 0 to 3 decides before TERM. */
export function themeOf(env: Environment, isTerminal: boolean): Theme {
  return { depth: depthOf(env, isTerminal), background: backgroundOf(env) };
}
