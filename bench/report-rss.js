// Preloaded into a measured process: tells its greatest memory (KiB) at its exit.
import { writeFileSync } from "node:fs";

const path = process.env.HANSARD_BENCH_RSS;
if (path) process.on("exit", () => writeFileSync(path, String(process.resourceUsage().maxRSS)));
