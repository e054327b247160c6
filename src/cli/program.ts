/** The commands, their options and their help. Each command's own code is loaded when it is run. */
import { Command, CommanderError, InvalidArgumentError, Option } from "commander";
import type { ContinueOptions } from "./continue.ts";
import { asCommandError, type CommandError } from "./errors.ts";
import { exitCodes } from "./exit.ts";
import type { ExportOptions } from "./export.ts";
import { type Io, type Output, processIo } from "./io.ts";
import type { ListOptions } from "./list.ts";
import type { ResumeOptions } from "./resume.ts";
import type { AgentWords, RunOptions } from "./run.ts";
import type { SearchOptions } from "./search.ts";
import type { ServeOptions } from "./serve.ts";

/** The names of the readers; a test holds them to be all. */
export const agents = [
  "hansard",
  "claude-code",
  "codex",
  "gemini",
  "copilot",
  "qwen",
  "droid",
  "amp",
  "cline",
  "kimi",
  "aider",
  "fx",
  "clio-coder",
  "opencode",
  "goose",
  "crush",
  "cursor",
  "pi",
  "messages",
] as const;

const sessionArgument = "an id, a unique start of one, a title, a path, or `last`";

const exitHelp = `
Exit codes: 0 done · 1 a bug in Hansard · 2 wrong options · 3 no such session or file · 4 the name fits several sessions ·
5 a file cannot be read or written · 6 the file holds no session · 7 check found damage · 8 the terminal cannot do it ·
9 the agent is missing, failed or did not finish · 129, 130, 143 ended by SIGHUP, SIGINT, SIGTERM`;

function count(text: string): number {
  const value = Number(text);
  if (!Number.isSafeInteger(value) || value < 1)
    throw new InvalidArgumentError("It must be a whole number of at least 1.");
  return value;
}

function speed(text: string): number {
  const value = Number(text);
  if (!(value > 0)) throw new InvalidArgumentError("It must be a number above 0.");
  return value;
}

function port(text: string): number {
  const value = Number(text);
  if (!/^\d+$/.test(text) || value > 65_535)
    throw new InvalidArgumentError("It must be a whole number from 0 to 65535.");
  return value;
}

function collect(text: string, before: readonly string[] | undefined): readonly string[] {
  return [...(before ?? []), text];
}

/** What the program itself says: help, the version, words it does not know. `said` resolves when all of it is out. */
interface Voice {
  tell(output: Output, text: string): void;
  said(): Promise<unknown>;
}

function createVoice(): Voice {
  let last: Promise<unknown> = Promise.resolve();
  return {
    tell(output, text) {
      last = last.then(() => output.write(text));
    },
    said: () => last,
  };
}

function resizeOption(): Option {
  return new Option("--resize <way>", "what a new width does to printed rows").choices(["adopt", "reprint"]);
}

/** The arguments before and behind the two dashes of a command line. */
function agentWords(argv: readonly string[], args: readonly string[]): AgentWords {
  const dashes = argv.indexOf("--");
  if (dashes < 0) return { names: args, command: undefined };
  const behind = argv.length - dashes - 1;
  return { names: args.slice(0, args.length - behind), command: argv.slice(dashes + 1) };
}

/** The program over `io`; `setExit` receives the exit code of the command that ran. */
function createProgram(
  io: Io,
  argv: readonly string[],
  version: string,
  voice: Voice,
  setExit: (code: number) => void,
): Command {
  const program = new Command("hansard")
    .description("Keeps, shows and follows conversations with AI coding agents.")
    .version(version, "-V, --version", "print the version")
    .helpOption("-h, --help", "show help")
    .addHelpText("after", exitHelp)
    .showHelpAfterError("(hansard --help tells what there is)")
    .exitOverride()
    .configureOutput({
      writeOut: (text) => voice.tell(io.out, text),
      writeErr: (text) => voice.tell(io.err, text),
    });

  const agentOption = (): Option =>
    new Option("--agent <name>", "only sessions of this agent").choices([...agents]);

  program
    .command("list", { isDefault: false })
    .description("list the sessions found on this computer, newest first")
    .addOption(agentOption())
    .option("--cwd <folder>", "only sessions at work in this folder or below it")
    .option("--since <time>", "only sessions that changed since then: a date, or 90m, 2h, 3d, 1w ago")
    .option("--title <words>", "only sessions whose title has this in it")
    .addOption(new Option("--sort <by>", "in this order").choices(["time", "size", "title", "cwd", "agent"]))
    .option("--reverse", "the other way round")
    .option("--json", "one session a line as JSON")
    .option("--limit <n>", "at most this many", count)
    .action(async (options: ListOptions) => {
      const { runList } = await import("./list.ts");
      setExit(await runList(io, options));
    });

  program
    .command("search")
    .argument("<words...>", 'words that must all be in an entry, "a phrase", -without')
    .description("find words in all sessions of this computer, newest sessions first")
    .addOption(agentOption())
    .option("--since <time>", "only what was said since: a date, a date with a time, or 2h, 3d, 1w")
    .option("--limit <n>", "at most this many hits", count)
    .option("--json", "one hit a line as JSON")
    .action(async (words: string[], options: SearchOptions) => {
      const { runSearch } = await import("./search.ts");
      setExit(await runSearch(io, words, options));
    });

  program
    .command("open")
    .argument("<session>", sessionArgument)
    .description("show a session in the terminal, follow it while it grows, page back with Ctrl+O")
    .option("--plain", "linear text without cursor movement; follows until Ctrl+C")
    .addOption(resizeOption())
    .action(async (name: string, options: { plain?: boolean; resize?: "adopt" | "reprint" }) => {
      const { runOpenCommand } = await import("./open.ts");
      setExit(await runOpenCommand(io, name, options));
    });

  program
    .command("show")
    .argument("<session>", sessionArgument)
    .description("print a session as text, or its entries as JSON with their places")
    .option("--json", "one entry a line as JSON")
    .option("--limit <n>", "the newest entries only", count)
    .option("--before <position>", "entries before this position (as printed by show)")
    .action(async (name: string, options: { json?: boolean; limit?: number; before?: string }) => {
      const { runShow } = await import("./show.ts");
      setExit(await runShow(io, name, options));
    });

  program
    .command("follow")
    .argument("<session>", `${sessionArgument}, or the address of one that another Hansard serves`)
    .description("show what a session's agent is doing as it does it: prose, tools, calls that wait")
    .option("--json", "one frame a line as JSON (docs/follow.md)")
    .option("--once", "what the step under way has told up to now, and no more")
    .action(async (name: string, options: { json?: boolean; once?: boolean }) => {
      const { runFollow } = await import("./follow.ts");
      setExit(await runFollow(io, name, options));
    });

  program
    .command("run")
    .argument("[agent]", "a known agent (claude, codex, gemini …), or `-- <command> [arguments…]`")
    .argument(
      "[command...]",
      "behind `--`: the command of any other agent, or further arguments of a known one",
    )
    .description(
      "talk to an agent in the terminal; every turn is kept. Piped in, one prompt is answered as text",
    )
    .option("--no-save", "keep nothing: no log, nothing read or written")
    .option("--cwd <folder>", "where the agent works")
    .addOption(resizeOption())
    .action(async (_agent, _command, options: RunOptions, command: Command) => {
      const { runRun } = await import("./run.ts");
      setExit(await runRun(io, version, agentWords(argv, command.args), options));
    });

  program
    .command("continue")
    .argument("[session]", sessionArgument)
    .argument("[command...]", "behind `--`: the command of the agent that carries on")
    .description(
      "carry a session of any agent on with another agent: its notes, what was said, and the newest request",
    )
    .option("--with <agent>", "the agent that carries on (as for run)")
    .option("--from <turn>", "carry on from this turn, counted from 1, as if it were the last", count)
    .option("--tail <n>", "quote so many turns", count)
    .option("--budget <tokens>", "quote as much as fits into so many tokens", count)
    .option("--dry-run", "print what would be sent, and its price; make nothing")
    .option("-y, --yes", "send without asking")
    .option("--cwd <folder>", "where the agent works")
    .addOption(resizeOption())
    .action(async (_session, _command, options: ContinueOptions, command: Command) => {
      const { runContinue } = await import("./continue.ts");
      setExit(await runContinue(io, version, agentWords(argv, command.args), options));
    });

  program
    .command("resume")
    .argument("[session]", `${sessionArgument}; the newest that Hansard keeps where it is left out`)
    .argument("[command...]", "behind `--`: the agent's command, where it is not a known one")
    .description("carry on a session that Hansard keeps; one that another process carries on is followed")
    .option("--cwd <folder>", "where the agent works now")
    .option("--steal", "take it from the process that has it, whatever becomes of that")
    .addOption(resizeOption())
    .action(async (_session, _command, options: ResumeOptions, command: Command) => {
      const { runResume } = await import("./resume.ts");
      setExit(await runResume(io, version, agentWords(argv, command.args), options));
    });

  program
    .command("check")
    .argument("<session>", sessionArgument)
    .description("read a whole session and tell what it holds and what is damaged")
    .option("--json", "one JSON object")
    .action(async (name: string, options: { json?: boolean }) => {
      const { runCheck } = await import("./check.ts");
      setExit(await runCheck(io, name, options));
    });

  program
    .command("export")
    .argument("<session>", sessionArgument)
    .description("write a session as a file for others")
    .addOption(
      new Option("--to <form>", "what it is written as")
        .choices(["markdown", "html", "json", "text"])
        .makeOptionMandatory(),
    )
    .option("--out <file>", "where to; else it is printed")
    .option("--force", "replace the file that is there")
    .option("--since <time>", "entries from then on: a date, a date and a time, or how long ago (2h, 3d)")
    .option("--raw", "each entry's record too, as it lies in the log")
    .option(
      "--redact",
      "replace secrets, keys, home folders and e-mail addresses; prints what was replaced where",
    )
    .action(async (name: string, options: ExportOptions) => {
      const { runExport } = await import("./export.ts");
      setExit(await runExport(io, name, options));
    });

  program
    .command("log")
    .argument("<session>", sessionArgument)
    .description("print the records of a session that Hansard keeps, with what is damaged in its place")
    .option("--json", "one record a line as JSON, with its bytes' place")
    .option("--limit <n>", "the newest records only", count)
    .action(async (name: string, options: { json?: boolean; limit?: number }) => {
      const { runLog } = await import("./log.ts");
      setExit(await runLog(io, name, options));
    });

  program
    .command("fork")
    .argument("<session>", sessionArgument)
    .description("make a session with the path that leads to a message of one that Hansard keeps")
    .option("--at <turn>", "the number of a turn, or a message's id; the newest message where it is left out")
    .option("--json", "one JSON object")
    .action(async (name: string, options: { at?: string; json?: boolean }) => {
      const { runFork } = await import("./fork.ts");
      setExit(await runFork(io, name, options));
    });

  const handoff = program
    .command("handoff")
    .description(
      "the handoff notes of a session that Hansard keeps, and how they stand: list, show, recover",
    );
  handoff
    .command("list")
    .argument("<session>", sessionArgument)
    .description("all handoffs of a session, oldest first: phase, whose it is, the note's beginning")
    .option("--json", "one handoff a line as JSON")
    .action(async (name: string, options: { json?: boolean }) => {
      const { runHandoffList } = await import("./handoff.ts");
      setExit(await runHandoffList(io, name, options));
    });
  handoff
    .command("show")
    .argument("<session>", sessionArgument)
    .argument("[handoff]", "its id, or a unique start of one; the newest where it is left out")
    .description("how a handoff stands: phase, authority, what is to happen and why, what is wrong; its note")
    .option("--json", "one JSON object")
    .action(async (name: string, id: string | undefined, options: { json?: boolean }) => {
      const { runHandoffShow } = await import("./handoff.ts");
      setExit(await runHandoffShow(io, name, id, options));
    });

  handoff
    .command("recover")
    .argument("<session>", sessionArgument)
    .argument("[command...]", "behind `--`: the agent's command, where it is not a known one")
    .description("take the session up and go on with its newest handoff, also a paused or failed one")
    .option("--cwd <folder>", "where the agent works now")
    .addOption(resizeOption())
    .action(async (_session, _command, options: ResumeOptions, command: Command) => {
      const { runResume } = await import("./resume.ts");
      const words = agentWords(argv, command.args);
      setExit(await runResume(io, version, words, { ...options, recover: "all" }));
    });

  program
    .command("doctor")
    .argument("[session]", `${sessionArgument}; all that Hansard keeps where it is left out`)
    .description(
      "judge session logs; repair those that Hansard keeps, or copy those of other agents repaired",
    )
    .option("--all", "every session on this computer, of every agent")
    .option("--repair", "write damaged logs of Hansard's own anew, keeping them as they were beside")
    .option("--out <file>", "with --repair: where the repaired copy of another agent's log goes")
    .option("--json", "one session a line as JSON")
    .action(
      async (
        name: string | undefined,
        options: { all?: boolean; repair?: boolean; out?: string; json?: boolean },
      ) => {
        const { runDoctor } = await import("./doctor.ts");
        setExit(await runDoctor(io, name, options));
      },
    );

  program
    .command("serve")
    .description("show the sessions of this computer to a browser and to other machines")
    .option("--port <n>", "where to listen (7737; 0 takes a free port)", port)
    .option("--host <address>", "the address to listen at (127.0.0.1); any other needs TLS")
    .option("--tls-cert <file>", "serve HTTPS with this certificate (PEM)")
    .option("--tls-key <file>", "and this key of it (PEM)")
    .option("--behind-proxy", "a proxy in front of it speaks TLS")
    .option("--origin <url>", "a further address it is reached under; may be given again", collect)
    .option("--read-only", "nobody may answer or prompt")
    .option("--sessions <name...>", "serve these sessions only")
    .option("--log", "one line a request on the error stream")
    .action(async (options: ServeOptions) => {
      const { runServe } = await import("./serve.ts");
      setExit(await runServe(io, options));
    });

  const keys = program.command("keys").description("who may ask `hansard serve`: list, add, code, revoke");
  keys
    .command("list")
    .description("the keys there are")
    .option("--json", "one key a line as JSON")
    .action(async (options: { json?: boolean }) => {
      const { runKeysList } = await import("./keys.ts");
      setExit(await runKeysList(io, options));
    });
  keys
    .command("add")
    .description("make a key and show it, this once")
    .requiredOption("--label <words>", "whose it is; others are told who answered")
    .option("--sessions <name...>", "these sessions only")
    .option("--read-only", "to read, not to answer")
    .action(async (options: { label: string; sessions?: string[]; readOnly?: boolean }) => {
      const { runKeysAdd } = await import("./keys.ts");
      setExit(await runKeysAdd(io, options));
    });
  keys
    .command("code")
    .argument("[id]", "the key it is a code of; the first one where it is left out")
    .description("make a one-time code that a browser exchanges for a key of its own")
    .action(async (id?: string) => {
      const { runKeysCode } = await import("./keys.ts");
      setExit(await runKeysCode(io, id));
    });
  keys
    .command("revoke")
    .argument("<id>", "a key")
    .description("revoke a key and all that came from its codes")
    .action(async (id: string) => {
      const { runKeysRevoke } = await import("./keys.ts");
      setExit(await runKeysRevoke(io, id));
    });

  program
    .command("archive")
    .argument("[session]", sessionArgument)
    .description("keep a verbatim, compressed copy of another agent's session, which outlives the original")
    .option("--all", "every session of every agent; those that have not changed are left as they are")
    .option("--json", "one session a line as JSON")
    .action(async (name: string | undefined, options: { all?: boolean; json?: boolean }) => {
      const { runArchive } = await import("./archive.ts");
      setExit(await runArchive(io, name, options));
    });

  program
    .command("demo")
    .description("play a made session into a real file and show it as it grows")
    .option("--live", "talk to a scripted agent; nothing is saved")
    .option("--speed <times>", "times faster than at talking pace", speed, 1)
    .option("--plain", "linear text without cursor movement")
    .addOption(resizeOption())
    .action(
      async (options: { speed: number; live?: boolean; plain?: boolean; resize?: "adopt" | "reprint" }) => {
        const { runDemo, runLiveDemo } = await import("./demo.ts");
        setExit(await (options.live === true ? runLiveDemo(io, version, options) : runDemo(io, options)));
      },
    );

  program
    .helpCommand(false)
    .command("help")
    .argument("[command]", "a command")
    .description("show help for a command")
    .action((name?: string) => {
      const command = name === undefined ? program : program.commands.find((each) => each.name() === name);
      if (command === undefined) return program.error(`error: unknown command '${name}'`);
      command.help();
    });

  for (const command of program.commands.flatMap((each) => [each, ...each.commands]))
    command.copyInheritedSettings(program);
  return program;
}

/** With no words: the list; in a terminal with no session on the computer, the demo. */
async function runMainJob(io: Io): Promise<number> {
  const { findSessions } = await import("./resolve.ts");
  if (io.out.isTTY && (await findSessions(io)).length === 0) {
    const { runDemo } = await import("./demo.ts");
    return runDemo(io, { speed: 1 });
  }
  const { runList } = await import("./list.ts");
  return runList(io, {});
}

async function runCommand(argv: readonly string[], version: string, io: Io): Promise<number> {
  if (argv.length === 0) return runMainJob(io);
  const voice = createVoice();
  let code: number = exitCodes.ok;
  try {
    await createProgram(io, argv, version, voice, (exit) => {
      code = exit;
    }).parseAsync([...argv], { from: "user" });
    return code;
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    await voice.said();
    return error.exitCode === 0 ? exitCodes.ok : exitCodes.usage;
  }
}

/** Runs one command line and answers its exit code. Errors of a person are told on the error stream; bugs are thrown on. */
export async function runProgram(
  argv: readonly string[],
  version: string,
  io: Io = processIo(),
): Promise<number> {
  try {
    return await runCommand(argv, version, io);
  } catch (error) {
    const expected: CommandError | undefined = asCommandError(error);
    if (expected === undefined) throw error;
    const { sanitizeLine } = await import("../terminal/text/index.ts");
    const lines = [`hansard: ${expected.message}`, ...expected.lines];
    await io.err.write(lines.map((line) => `${sanitizeLine(line)}\n`).join(""));
    return expected.exitCode;
  }
}
