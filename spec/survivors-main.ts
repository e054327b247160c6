/** The second half of `npm run mutate`: fails where a change survived that the list does not explain, or where one of the list did not. */
import { readFileSync } from "node:fs";
import { basename } from "node:path";
import { survivors } from "./survivors.ts";

interface Place {
  readonly line: number;
  readonly column: number;
}

interface Mutant {
  readonly status: string;
  readonly replacement?: string;
  readonly location: { readonly start: Place; readonly end: Place };
}

interface Report {
  readonly files: Readonly<Record<string, { readonly source: string; readonly mutants: readonly Mutant[] }>>;
}

function textAt(source: string, { start, end }: Mutant["location"]): string {
  const lines = source.split("\n").slice(start.line - 1, end.line);
  lines[lines.length - 1] = lines.at(-1)?.slice(0, end.column - 1) ?? "";
  lines[0] = lines[0]?.slice(start.column - 1) ?? "";
  return lines.join("\n");
}

const report = JSON.parse(readFileSync("reports/mutation.json", "utf8")) as Report;
const seen = new Set<number>();
let unexplained = 0;
for (const [path, { source, mutants }] of Object.entries(report.files)) {
  for (const { status, replacement = "", location } of mutants) {
    if (status !== "Survived" && status !== "NoCoverage") continue;
    const text = textAt(source, location);
    const at = survivors.findIndex(
      (one) => one.file === basename(path) && one.text === text && one.put === replacement,
    );
    if (at >= 0) seen.add(at);
    else {
      unexplained += 1;
      process.stdout.write(`${path}:${location.start.line}: survived: ${text} -> ${replacement}\n`);
    }
  }
}
const gone = survivors.filter((_, at) => !seen.has(at));
for (const { file, text, put } of gone)
  process.stdout.write(`src/window/${file}: did not survive: ${text} -> ${put}\n`);
process.stdout.write(`${seen.size} explained survivors, ${unexplained} others\n`);
process.exitCode = unexplained + gone.length === 0 ? 0 : 1;
