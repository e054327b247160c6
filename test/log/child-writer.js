/** Run on the build. A process that writes a session until it is killed, and says on its output what was acknowledged. */
import { takeOverLog } from "../../dist/log/index.js";

const [sessions = "", id = "", name = ""] = process.argv.slice(2);
const writer = await takeOverLog({ sessions, id });
process.stdout.write(`open ${process.pid}\n`);
for (let count = 0; ; count += 1) {
  const turnId = `${name}-${count}`;
  const payload = "p".repeat((count * 7919) % 30_000);
  const { state } = await writer.append({ kind: "message", turnId, role: "user", payload });
  if (state !== "written" && state !== "saved") throw new Error(state);
  process.stdout.write(`${turnId}\n`);
}
