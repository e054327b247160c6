/** `hansard check`: reads a whole log once and says what is in it and what is damaged. */
import { type CheckReport, openLog } from "../sources/index.ts";
import { sanitizeLine } from "../terminal/text/index.ts";
import { exitCodes } from "./exit.ts";
import { formatBytes } from "./format.ts";
import { anomalyLines } from "./handoff.ts";
import { anomaliesOf, type HandoffReport, ownSessionAt, readHandoffs } from "./handoff-report.ts";
import type { Io } from "./io.ts";
import { withLogErrors } from "./own-session.ts";
import { resolveSession } from "./resolve.ts";

/** Damaged ranges told one by one; past it they are counted. `--json` has them all. */
const DAMAGE_LINES_MAX = 50;

/** Records that a session with handoffs has. A carry alone stands for a lost transaction too. */
const handoffKinds = ["handoffTransaction", "continuityCommit", "compactionSummary"];

function tell(report: CheckReport): string[] {
  const lines = [
    `${sanitizeLine(report.path)}`,
    `  agent            ${report.agent}`,
    `  size             ${formatBytes(report.bytes)}`,
  ];
  const count = (label: string, value: number | undefined, note = ""): void => {
    if (value !== undefined) lines.push(`  ${label.padEnd(16)} ${value}${note}`);
  };
  count(
    "records",
    report.records,
    report.recovered > 0 ? ` (${report.recovered} recovered from bad lines)` : "",
  );
  count("turns", report.turns, report.openTurn === true ? " (the last one is open)" : "");
  count("model messages", report.modelMessages);
  count("output tokens", report.outputTokens);
  count(
    "tool calls",
    report.toolCalls,
    report.unansweredCalls ? ` (${report.unansweredCalls} without a result)` : "",
  );
  count(
    "tool results",
    report.toolResults,
    report.orphanResults ? ` (${report.orphanResults} without a call)` : "",
  );
  count("compactions", report.compactions);
  if (report.sessions !== undefined)
    lines.push(
      `  sessions         ${report.sessions.length}: the records are of more than one session`,
      ...report.sessions.map((id) => `    ${sanitizeLine(id)}`),
    );
  lines.push("  record kinds");
  for (const [kind, n] of Object.entries(report.recordKinds).sort((a, b) => b[1] - a[1])) {
    lines.push(
      `    ${String(n).padStart(7)}  ${sanitizeLine(kind)}${report.unknownKinds.includes(kind) ? "  (unknown: shown as it is)" : ""}`,
    );
  }
  if (report.damaged.length === 0) lines.push("  no damage");
  else {
    lines.push(
      `  damage           ${report.damaged.length} ${report.damaged.length === 1 ? "place" : "places"}`,
    );
    for (const d of report.damaged.slice(0, DAMAGE_LINES_MAX))
      lines.push(`    bytes ${d.start}-${d.end}: ${d.reason}`);
    if (report.damaged.length > DAMAGE_LINES_MAX)
      lines.push(`    … ${report.damaged.length - DAMAGE_LINES_MAX} more (--json lists all)`);
  }
  return lines;
}

/** Handoffs of a session of ours, where it has any. */
async function handoffsOf(io: Io, path: string, report: CheckReport): Promise<HandoffReport | undefined> {
  const own = report.agent === "hansard" ? ownSessionAt(path) : undefined;
  const hasAny = handoffKinds.some((kind) => Object.hasOwn(report.recordKinds, kind));
  if (own === undefined || !hasAny) return undefined;
  return await withLogErrors(() => readHandoffs(own, io.now()));
}

/** Prints the report; exits with `damaged` where bytes could not be read as they stand, or a handoff's records contradict each other. */
export async function runCheck(io: Io, name: string, options: { readonly json?: boolean }): Promise<number> {
  const path = await resolveSession(io, name);
  const log = await openLog(path);
  try {
    const report = await log.check();
    const handoffs = await handoffsOf(io, path, report);
    const anomalies = handoffs === undefined ? [] : anomaliesOf(handoffs.projection);
    const told = handoffs === undefined ? report : { ...report, handoffAnomalies: anomalies };
    const lines = [...tell(report), ...(handoffs === undefined ? [] : handoffLines(handoffs))];
    await io.out.write(options.json === true ? `${JSON.stringify(told)}\n` : `${lines.join("\n")}\n`);
    return report.damaged.length + anomalies.length === 0 ? exitCodes.ok : exitCodes.damaged;
  } finally {
    await log.close();
  }
}

function handoffLines(handoffs: HandoffReport): string[] {
  const wrong = anomalyLines(handoffs);
  const lines = [`handoffs         ${handoffs.rows.length}`];
  if (wrong.length > 0) lines.push("handoff anomalies", ...wrong.slice(1));
  return lines.map((line) => `  ${line}`);
}
