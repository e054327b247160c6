/**
 * A process that writes a session until it is killed. What it sends and what was acknowledged goes down a pipe at once, so that the one
 * who kills it knows what it may expect: `open`, `sent <name>`, `written <name>`, `saved <name>`.
 */
import { writeSync } from "node:fs";
import { type Appended, takeOverLog } from "../src/log/index.ts";
import { specOf } from "./ledger.ts";
import { randomFrom, whole } from "./random.ts";

const [sessions = "", id = "", life = "", seed = "0"] = process.argv.slice(2);
const random = randomFrom(Number(seed));
/** Records that may wait for their acknowledgement at once. */
const WAITING_MAX = 12;

function say(words: string): void {
  const bytes = Buffer.from(`${words}\n`);
  for (let done = 0; done < bytes.length; ) done += writeSync(1, bytes, done);
}

// Waiting for the right to write keeps no process alive; this one is to wait.
const alive = setInterval(() => {}, 1000);
say("ready");
const writer = await takeOverLog({ sessions, id });
say("open");
let count = 0;
for (;;) {
  const isOpen = writer.tail.openTurn !== undefined;
  if (random() < 0.2) {
    const marks = await writer.append([isOpen ? { kind: "turnCommitted" } : { kind: "turnStarted" }]);
    if (marks.state !== "written" && marks.state !== "saved") break;
  }
  const group = Array.from({ length: whole(random, 1, WAITING_MAX) }, () => `${life}-${count++}`);
  const sent: Promise<Appended>[] = [];
  for (const name of group) {
    say(`sent ${name}`);
    sent.push(
      writer.append(specOf(name)).then((appended) => {
        say(`${appended.state} ${name}`);
        return appended;
      }),
    );
  }
  await Promise.all(sent);
  if (random() < 0.2 && (await writer.flush()).saved) say(`saved-all ${group.at(-1) ?? ""}`);
}
clearInterval(alive);
