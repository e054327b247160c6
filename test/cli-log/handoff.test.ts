/** `hansard handoff`, and what `check` says of handoffs: over ledgers in real logs. */
import { readFileSync } from "node:fs";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { RecordSpec } from "../../src/log/index.ts";
import { run } from "../cli/support.ts";
import { createLedger, type Ledger } from "../support/handoffs.ts";
import { makeStateHome, type StateHome } from "./support.ts";

let home: StateHome;
beforeEach(() => {
  home = makeStateHome();
});
afterEach(() => home.remove());

/** A ledger as the log of a session of its name. */
async function written(ledger: Ledger, rows = ledger.rows): Promise<string> {
  return await home.session(ledger.sessionId, (log) => log.append(rows as unknown as RecordSpec[]));
}

/** A ledger that begins long before the commands' clock, with a handoff that was finished and one that stands. */
function twoHandoffs(): Ledger {
  const ledger = createLedger("own-1");
  ledger.nowMs = Date.UTC(2025, 0, 1);
  ledger.user();
  ledger.assistant();
  ledger.handoff({ note: "the first note" }).complete();
  ledger.user("more");
  ledger.handoff({ note: "step 4\nis \u001b[31mopen\u202e <b>" }).toReady("continuity_only");
  return ledger;
}

describe("handoff list", () => {
  test("tells each handoff in a line, oldest first, the note's beginning safely", async () => {
    await written(twoHandoffs());
    const { code, out, err } = await run(home, ["handoff", "list", "own-1"]);
    expect([code, err]).toEqual([0, ""]);
    const [first, second, ...more] = out.trimEnd().split("\n");
    expect(more).toEqual([]);
    expect(first).toMatch(/^own-1-h\d+ {2}acknowledged {2,}its own, earlier {2}the first note$/);
    expect(second).toMatch(/^own-1-h\d+ {2}ready {2,}its own {2}step 4/);
    expect(out).not.toContain("\u001b");
    expect(out).not.toContain("\u202e");
  });

  test("as JSON, the notes exact", async () => {
    await written(twoHandoffs());
    const { out } = await run(home, ["handoff", "list", "own-1", "--json"]);
    const rows = out
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line) as { note: string; owner: string });
    expect(rows.map(({ owner, note }) => [owner, note])).toEqual([
      ["prior", "the first note"],
      ["own", "step 4\nis \u001b[31mopen\u202e <b>"],
    ]);
  });

  test("a session without any says so", async () => {
    const ledger = createLedger("own-1");
    ledger.user();
    await written(ledger);
    const { code, out, err } = await run(home, ["handoff", "list", "own-1"]);
    expect([code, out, err]).toEqual([0, "", "hansard: the session has no handoff\n"]);
    const shown = await run(home, ["handoff", "show", "own-1"]);
    expect([shown.code, shown.err]).toEqual([3, "hansard: Session own-1 has no handoff.\n"]);
  });
});

describe("handoff show", () => {
  test("tells phase, authority, action with its reason, attempts and deadline, and the note", async () => {
    await written(twoHandoffs());
    const { out } = await run(home, ["handoff", "show", "own-1"]);
    expect(out).toMatch(/^phase {6}ready$/m);
    expect(out).toMatch(/^outcome {4}continuity_only$/m);
    expect(out).toMatch(/^authority {2}recall_only$/m);
    expect(out).toMatch(/^action {5}fail \(deadline_exceeded: its time is over\)$/m);
    expect(out).toMatch(/^attempts {3}1 of 2$/m);
    expect(out).toMatch(/^deadline {3}2025-01-01T00:\d\d:\d\d\.\d{3}Z$/m);
    expect(out).not.toMatch(/anomalies/);
    expect(out).toContain("\nThe agent's note, recalled (no prompt of a person):\n\nstep 4\n");
  });

  test("why one stopped, and an earlier one by the start of its id", async () => {
    const third = createLedger("own-2");
    third.nowMs = Date.UTC(2025, 0, 1);
    third.user();
    const handoff = third.handoff({ note: "n" });
    handoff.prepare();
    handoff.reduce();
    handoff.fail();
    await written(third);
    const { out } = await run(home, ["handoff", "show", "own-2", handoff.identity.handoffId.slice(0, -1)]);
    expect(out).toMatch(/^phase {6}failed \(provider_failed: the context could not be reduced\)$/m);
    expect(out).toMatch(/^action {5}read only \(failed: it failed\)$/m);
    const json = await run(home, ["handoff", "show", "own-2", "--json"]);
    expect(JSON.parse(json.out)).toMatchObject({
      sessionId: "own-2",
      phase: "failed",
      attemptsSpent: 1,
      action: { kind: "recall_only", reason: "failed" },
      anomalies: [],
    });
    const none = await run(home, ["handoff", "show", "own-2", "nobody"]);
    expect(none.code).toBe(3);
  });
});

describe("check", () => {
  test("counts handoffs; those that contradict themselves are damage", async () => {
    const ledger = twoHandoffs();
    const path = await written(ledger);
    const sound = await run(home, ["check", "own-1"]);
    expect([sound.code, sound.out.match(/handoffs +\d+/)?.[0]]).toEqual([0, "handoffs         2"]);

    const twisted = createLedger("own-3");
    twisted.user();
    const handoff = twisted.handoff();
    handoff.prepare();
    handoff.reduce();
    handoff.write({ phase: "reducing" }, { attempt: 2 });
    await written(twisted);
    const { code, out } = await run(home, ["check", "own-3"]);
    expect(code).toBe(7);
    expect(out).toMatch(/^ {2}handoff anomalies\n {4}illegal_transition at own-3-\S+: /m);
    const json = await run(home, ["check", "own-3", "--json"]);
    expect(JSON.parse(json.out)).toMatchObject({ handoffAnomalies: [{ kind: "illegal_transition" }] });
    // It only read.
    expect(readFileSync(path, "utf8").split("\n").at(-2)).toContain('"closed"');
  });
});
