/** The server of `bench/serve.ts` in a process of its own: says where it is, and its memory when asked. */
import { openKeyStore, servedSession, startServer } from "../src/server/index.ts";
import { createSession } from "../src/session/index.ts";
import { openLog } from "../src/sources/index.ts";

const [folder = "", ...paths] = process.argv.slice(2);
const items = paths.map((path, at) => ({
  id: `s${at}`,
  info: { agent: "claude-code" as const, id: `s${at}`, path },
}));
const keys = await openKeyStore(`${folder}/keys`, Date.now);
const { secret } = await keys.add({ label: "bench", sessions: "all", may: "read" });
const server = await startServer({
  port: 0,
  keys,
  catalogue: {
    list: async () => items,
    find: async (id) => items.find((item) => item.id === id),
    describe: async (item) => item.info,
    async open(item) {
      const log = await openLog(item.info.path);
      return servedSession(createSession(log, await log.info()));
    },
  },
});
process.on("message", () => process.send?.({ rssMB: process.memoryUsage().rss / 1e6 }));
process.send?.({ port: server.port, secret });
