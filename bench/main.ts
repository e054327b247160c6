/** `npm run bench -- <name>`: ratios against something run beside in the same run, and memory. Never a timed assertion. */
import { parseArgs } from "node:util";

interface Options {
  /** Size of the huge session, in MB. */
  readonly sizeMB: number;
}

const benches: Readonly<Record<string, (options: Options) => Promise<void>>> = {
  startup: async () => (await import("./startup.ts")).benchStartup(),
  follow: async () => (await import("./follow.ts")).benchFollow(),
  log: async () => (await import("./log.ts")).benchLog(),
  "follow-wire": async () => (await import("./follow-wire.ts")).benchFollowWire(),
  run: async () => (await import("./run.ts")).benchRun(),
  serve: async () => (await import("./serve.ts")).benchServe(),
  page: async () => (await import("./page.ts")).benchPage(),
  open: async ({ sizeMB }) => (await import("./open.ts")).benchOpen(sizeMB),
};

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { size: { type: "string", default: "1000" } },
});
const [name] = positionals;
const sizeMB = Number(values.size);
const complaint =
  name !== undefined && !(name in benches)
    ? `There is no bench "${name}". There are: ${Object.keys(benches).join(", ")}`
    : sizeMB >= 1
      ? undefined
      : "--size is the size of the huge session in MB: a number of at least 1.";
if (complaint !== undefined) {
  process.stderr.write(`${complaint}\n`);
  process.exitCode = 2;
} else {
  for (const [each, run] of Object.entries(benches)) {
    if (name !== undefined && each !== name) continue;
    process.stdout.write(`\n${each}\n`);
    await run({ sizeMB });
  }
}
