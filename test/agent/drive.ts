/** Real agents over real stdio for tests, and what a driven session said, awaited instead of slept for. */
import { mkdtempSync, rmSync } from "node:fs";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { buildSync } from "esbuild";
import { onTestFinished } from "vitest";
import type { Scenario } from "../../src/agent/fake/scenario.ts";
import { type AgentCommand, createDriven, type Driven, type DrivenOptions } from "../../src/agent/index.ts";
import type { Change, DriverState } from "../../src/session/index.ts";
import { openHansardLog } from "../../src/sources/hansard/open.ts";

const root = fileURLToPath(new URL("../..", import.meta.url));

/** A folder of its own, removed with the test. */
export async function makeFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "hansard-agent-"));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  return folder;
}

let scenarios = 0;
let built: string | undefined;

/** The scripted agent as one file, so that it starts quickly; made once a test file. */
function fakeMain(): string {
  if (built === undefined) {
    const folder = mkdtempSync(join(tmpdir(), "hansard-fake-"));
    process.on("exit", () => rmSync(folder, { recursive: true, force: true }));
    built = join(folder, "fake.mjs");
    const entry = join(root, "src/agent/fake/main.ts");
    buildSync({ entryPoints: [entry], outfile: built, bundle: true, platform: "node", format: "esm" });
  }
  return built;
}

/** The command of the scripted agent. */
export async function fakeCommand(scenario: Scenario, folder: string): Promise<AgentCommand> {
  scenarios += 1;
  const path = join(folder, `scenario-${scenarios}.json`);
  await writeFile(path, JSON.stringify(scenario));
  return { program: process.execPath, args: [fakeMain(), path] };
}

/** The example agent of an older version of the official SDK. */
export const exampleCommand: AgentCommand = {
  program: process.execPath,
  args: [join(root, "node_modules/acp-sdk-1/dist/examples/agent.js")],
};

/** What a session says, kept in order. */
export class Watched {
  readonly changes: Change[] = [];
  readonly #abort = new AbortController();
  #wake: (() => void)[] = [];
  #isOver = false;
  readonly driven: Driven;

  constructor(driven: Driven) {
    this.driven = driven;
  }

  async begin(): Promise<void> {
    const page = await this.driven.tail(100);
    void this.#read(page);
  }

  async #read(page: Awaited<ReturnType<Driven["tail"]>>): Promise<void> {
    for await (const change of this.driven.changes(page, this.#abort.signal)) {
      this.changes.push(change);
      for (const wake of this.#wake.splice(0)) wake();
    }
    this.#isOver = true;
    for (const wake of this.#wake.splice(0)) wake();
  }

  /** Resolves with the first change, from the start or behind `from`, that fits. */
  async until<T extends Change>(fits: (change: Change) => change is T, from?: number): Promise<T>;
  async until(fits: (change: Change) => boolean, from?: number): Promise<Change>;
  async until(fits: (change: Change) => boolean, from = 0): Promise<Change> {
    for (let at = from; ; ) {
      for (; at < this.changes.length; at += 1) {
        const change = this.changes[at];
        if (change !== undefined && fits(change)) return change;
      }
      if (this.#isOver) throw new Error(`it did not come; what came: ${this.told().join(" | ")}`);
      await new Promise<void>((resolve) => this.#wake.push(resolve));
    }
  }

  async untilState(fits: (state: DriverState) => boolean): Promise<DriverState> {
    if (fits(this.driven.driver)) return this.driven.driver;
    const from = this.changes.length;
    await this.until((change) => change.type === "driver" && fits(change.driver), from);
    return this.driven.driver;
  }

  async turnEnd(count = 1): Promise<void> {
    let seen = 0;
    let from = 0;
    while (seen < count) {
      const found = await this.until((change) => change.type === "turnEnded", from);
      from = this.changes.indexOf(found, from) + 1;
      seen += 1;
    }
    await this.untilState((state) => state.phase === "ready" || state.phase === "ended");
  }

  /** One short line a change, in order. */
  told(): readonly string[] {
    return this.changes.flatMap((change) => tell(change));
  }

  stop(): void {
    this.#abort.abort();
  }
}

export function tell(change: Change): readonly string[] {
  switch (change.type) {
    case "blockOpened":
    case "blockFinished":
    case "blockRevised":
      return [`${change.type} ${tellEntry(change.entry)}`];
    case "blockChanged":
      return [
        `blockChanged ${tellEntry(change.entry)}${change.was === undefined ? "" : ` was ${change.was}`}`,
      ];
    case "notice":
      return [`${change.tone}: ${change.text}`];
    case "driver":
      return [];
    default:
      return [change.type];
  }
}

type Told = (Change & { readonly type: "blockOpened" })["entry"];

export function tellEntry(entry: Told): string {
  switch (entry.kind) {
    case "delivered":
      return `${entry.sender}: ${entry.body}`;
    case "model":
      return entry.blocks
        .map((block) => {
          if (block.kind === "text") return `text(${block.text})`;
          if (block.kind === "thinking") return `thinking(${block.text})`;
          if (block.kind === "tool-use")
            return `call(${block.name}${block.subject === undefined ? "" : ` ${block.subject}`}, ${block.outcome?.state ?? "?"})`;
          return block.kind;
        })
        .join(" ");
    case "tool-result":
      return `result(${entry.outcome?.state ?? "?"}, ${JSON.stringify(entry.content.slice(0, 60))})`;
    case "wounded":
      return `wound(${entry.wound.kind}${"words" in entry.wound ? `, ${entry.wound.words}` : ""})`;
    case "raw":
      return `raw(${entry.reason})`;
    case "compacted":
      return `compacted(${entry.summary})`;
    case "streaming":
      return "streaming";
  }
}

/** What of a session was finished, in order. */
export function finished(watched: Watched): readonly string[] {
  return watched.changes.flatMap((change) =>
    change.type === "blockFinished" ? [tellEntry(change.entry)] : [],
  );
}

/** Drives an agent in a folder of its own; closed with the test. */
export async function drive(
  command: AgentCommand,
  folder: string,
  { unsaved, ...options }: Partial<DrivenOptions> & { readonly unsaved?: boolean } = {},
): Promise<Watched> {
  const driven = await createDriven({
    command,
    agent: "fake",
    cwd: folder,
    env: process.env,
    client: { name: "hansard-test", version: "0" },
    ...(unsaved === true ? {} : { sessions: join(folder, "sessions") }),
    openHistory: (path) => openHansardLog(path),
    ...options,
  });
  onTestFinished(() => driven.close());
  const watched = new Watched(driven);
  await watched.begin();
  return watched;
}
