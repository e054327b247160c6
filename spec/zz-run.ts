import { explore } from "./explore.ts";
import { universeNamed } from "./universe.ts";
import { step } from "../src/window/index.ts";
for (const name of process.argv.slice(2)) {
  const r = explore(universeNamed(name), { step, now: () => performance.now(), statesMax: 3000000 });
  console.log(name, r.states, r.accepted, r.rejected, r.depth, Math.round(r.milliseconds), process.memoryUsage().rss>>20);
  if (r.violation) console.log(r.violation.laws.map(l=>l.id), r.violation.fault, r.violation.script);
}
