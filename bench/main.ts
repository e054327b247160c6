/** `npm run bench -- <name>`: ratios against something run beside in the same run, and memory. Never a timed assertion. */
const benches: Readonly<Record<string, () => Promise<void>>> = {
  startup: async () => (await import("./startup.ts")).benchStartup(),
  open: async () => (await import("./open.ts")).benchOpen(),
};

const name = process.argv[2];
if (name !== undefined && !(name in benches)) {
  process.stderr.write(`There is no bench "${name}". There are: ${Object.keys(benches).join(", ")}\n`);
  process.exitCode = 2;
} else {
  for (const [each, run] of Object.entries(benches)) {
    if (name !== undefined && each !== name) continue;
    process.stdout.write(`\n${each}\n`);
    await run();
  }
}
