/** An agent that records its sessions: `node examples/embed-log.js <sessions folder> [<session>]`. With a session, it goes on with it. */
import { createLog, openLogForRead, openLogForWrite } from "hansard/log";

const [sessions = "sessions", id] = process.argv.slice(2);
const listener = { notice: ({ text }) => console.error(text) };
const log = await (id === undefined
  ? createLog({ sessions, agent: "mine", listener })
  : openLogForWrite({ sessions, id, listener }));
const say = (role, payload) => ({ kind: "message", role, payload });
await log.append([{ kind: "turnStarted" }, say("user", { text: "What time is it?" })]);
// Recorded before it runs: after a crash it is known that it may have run.
await log.append(say("tool_call", { toolCallId: "1", toolName: "clock" }));
await log.append(say("tool_result", { toolCallId: "1", text: new Date().toISOString() }));
await log.append([
  say("assistant", { content: [{ type: "text", text: "Late." }] }),
  { kind: "turnCommitted" },
]);
console.log((await log.close()).message);

const reader = await openLogForRead({ sessions, id: log.id });
for (const item of (await reader.tail(50)).items) console.log(JSON.stringify(item));
await reader.close();
