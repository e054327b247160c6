import { describe, expect, test } from "vitest";
import { pasteUnitsMax } from "../../src/terminal/input/index.ts";
import { answerGuardMs, leaveAgainMs } from "../../src/terminal/talk/limits.ts";
import { said, streaming, words } from "../terminal-shell/support.ts";
import { approval, entryOf, talkRig } from "./support.ts";

const lines = (count: number): string =>
  Array.from({ length: count }, (_, index) => `line ${index}`).join("\n");

describe("the screen of a driven session", () => {
  test("an empty prompt, what is typed, what is sent", async () => {
    const r = talkRig();
    await r.settle();
    expect(r.picture()).toMatchInlineSnapshot(`
      "
       › ▮Ask something  ·  Alt+Enter for a new line
       fake-agent · A fake · ready  Ctrl+O history · Ctrl+D quit"
    `);
    await r.key("hello wörld");
    expect(r.picture()).toMatchInlineSnapshot(`
      "
       › hello wörld▮
       fake-agent · A fake · ready  Ctrl+O history · Ctrl+D quit"
    `);
    await r.key("\x1b\rsecond\x1b[D\x1b[D");
    expect(r.picture()).toMatchInlineSnapshot(`
      "
       › hello wörld
         seco▮nd
       fake-agent · A fake · ready  Ctrl+O history · Ctrl+D quit"
    `);
    await r.key("\r");
    expect(r.session.asked).toEqual(["prompt hello wörld\nsecond"]);
    expect(r.picture()).toMatchInlineSnapshot(`
      "
       › ▮Ask something  ·  Alt+Enter for a new line
       fake-agent · A fake · ready  Ctrl+O history · Ctrl+D quit"
    `);
  });

  test("a turn: streaming text, plan, queue, clock, and the line at its end", async () => {
    const r = talkRig({ driver: { modes: [{ id: "a", name: "auto" }], modeId: "a" } });
    await r.settle();
    r.session.stand({ phase: "working", turnStartedAt: r.clock.now() });
    r.finish(entryOf(0, "do it"));
    r.emit({ type: "turnStarted" }, { type: "blockOpened", entry: streaming("I look at it") });
    r.session.stand({
      plan: [
        { text: "read", state: "done" },
        { text: "write", state: "at-work" },
        { text: "test", state: "waiting" },
      ],
    });
    await r.settle(2_000);
    await r.key("next\r");
    r.session.stand({ queued: 1 });
    await r.settle();
    expect(r.picture()).toMatchInlineSnapshot(`
      " › do it                                             12:00

         I look at it

         ● read
         ◐ write
         ○ test
       ⧗ next
       › ▮Type on: it waits for the turn to end
       fake-agent · A fake · auto · working 0:02      Esc cancel"
    `);
    r.finish({ ...said("Done.", "s") });
    r.emit({ type: "turnEnded" });
    r.session.stand({
      phase: "ready",
      plan: [],
      queued: 0,
      lastTurn: { ms: 42_000, stopReason: "end_turn", tokens: 12_345 },
    });
    await r.settle();
    expect(r.picture()).toMatchInlineSnapshot(`
      " › do it                                             12:00

         Done.
       ─ 42 s · 12k tokens ──────────────────────────────────────

       › ▮Ask something  ·  Alt+Enter for a new line
       fake-agent · A fake · auto · ready         Ctrl+O history"
    `);
    r.emulator.takeWritten();
    await r.clock.advance(5_000);
    expect(r.emulator.takeWritten()).toBe(0);
  });

  test("a question: its changes, its keys; the prompt is put aside", async () => {
    const r = talkRig({ rows: 20 });
    await r.key("draft");
    r.session.stand({ phase: "working", approvals: [approval], turnStartedAt: 0 });
    await r.settle(answerGuardMs + 50);
    expect(r.picture()).toMatchInlineSnapshot(`
      "
       ? The agent asks
       ○ Edit   src/a.ts
             one
           - two
           + 2
             three
         1 y  Allow
         2 a  Always allow
         3 n  Reject
       › draft
       fake-agent · A fake · asking 0:00              Esc cancel"
    `);
    await r.key("n");
    expect(r.session.asked).toEqual(["answer ask-1 reject by me"]);
    expect(r.picture()).toMatchInlineSnapshot(`
      "
       › draft▮
       fake-agent · A fake · working 0:00             Esc cancel"
    `);
  });

  test("at the smallest sizes the prompt, or the keys of a question, are there", async () => {
    const r = talkRig({ columns: 10, rows: 3 });
    await r.key("abc defg");
    expect(r.picture()).toMatchInlineSnapshot(`
      "abc defg▮
       ready"
    `);
    r.session.stand({ phase: "working", approvals: [approval] });
    await r.settle(answerGuardMs + 50);
    expect(r.picture()).toMatchInlineSnapshot(`
      "y a n
       asking"
    `);
    await r.key("y");
    expect(r.session.asked).toEqual(["answer ask-1 allow by me"]);
    await r.resize(4, 2);
    expect(r.picture()).toMatchInlineSnapshot(`
      "defg
      fg▮"
    `);
    await r.resize(1, 1);
    await r.resize(60, 12);
    expect(r.picture()).toMatchInlineSnapshot(`
      "abc defg

       › abc defg▮
       fake-agent · A fake · working                  Esc cancel"
    `);
  });
});

describe("questions", () => {
  test("what is being typed when a question appears is not an answer; after a pause the keys answer", async () => {
    const r = talkRig();
    await r.settle();
    r.session.stand({ phase: "working", approvals: [approval] });
    await r.key("y", 100);
    await r.key("e", 100);
    expect(r.session.asked).toEqual([]);
    expect(r.picture()).toContain("› ye▮");
    await r.settle(answerGuardMs);
    await r.key("s");
    expect(r.picture()).toContain("Tab to go on writing");
    expect(r.session.asked).toEqual([]);
    await r.key("2");
    expect(r.session.asked).toEqual(["answer ask-1 always by me"]);
    expect(r.picture()).toContain("› ye▮");
  });

  test("the arrows choose and Enter answers; Enter alone answers nothing", async () => {
    const r = talkRig();
    r.session.stand({ phase: "working", approvals: [approval] });
    await r.settle(answerGuardMs + 50);
    await r.key("\r");
    expect(r.session.asked).toEqual([]);
    await r.key("\x1b[B\x1b[B\x1b[B\r");
    expect(r.session.asked).toEqual(["answer ask-1 reject by me"]);
  });

  test("Tab goes back to the prompt and to the question again", async () => {
    const r = talkRig();
    r.session.stand({ phase: "working", approvals: [approval] });
    await r.settle(answerGuardMs + 50);
    await r.key("\t");
    await r.key("yes\r", 700);
    expect(r.session.asked).toEqual(["prompt yes"]);
    await r.key("\t");
    await r.key("y");
    expect(r.session.asked).toEqual(["prompt yes", "answer ask-1 allow by me"]);
  });

  test("several wait: one is asked after the other, each with its own pause", async () => {
    const r = talkRig();
    r.session.stand({ phase: "working", approvals: [approval, { ...approval, id: "ask-2" }] });
    await r.settle(answerGuardMs + 50);
    expect(r.picture()).toContain("1 more behind");
    await r.key("y", 50);
    await r.key("y", 50);
    expect(r.session.asked).toEqual(["answer ask-1 allow by me"]);
    await r.settle(answerGuardMs + 50);
    await r.key("n");
    expect(r.session.asked.at(-1)).toBe("answer ask-2 reject by me");
  });

  test("an answer that comes too late says who was first; one that fails is asked again", async () => {
    const r = talkRig();
    r.session.stand({ phase: "working", approvals: [approval] });
    await r.settle(answerGuardMs + 50);
    r.session.refuseNext = "the pipe is closed";
    await r.key("y", 700);
    expect(words(r.emulator.screen())).toContain("The answer was not taken: the pipe is closed");
    r.session.answeredBy = "a phone";
    await r.key("y");
    expect(words(r.emulator.screen())).toContain("answered already by a phone");
    r.session.stand({ approvals: [] });
    await r.settle();
    expect(r.picture()).not.toContain("The agent asks");
  });

  test("Esc cancels the turn while a question waits", async () => {
    const r = talkRig();
    r.session.stand({ phase: "working", approvals: [approval] });
    await r.settle(answerGuardMs + 50);
    await r.key("\x1b");
    expect(r.session.asked).toEqual(["cancel"]);
  });

  test("long changes are folded, and whole in the history; the window's title tells that the agent asks", async () => {
    const r = talkRig({ rows: 20, hasStrings: true });
    const long = { ...approval, changes: [{ path: "src/a.ts", newText: lines(80) }] };
    r.session.stand({ phase: "working", approvals: [long] });
    await r.settle(answerGuardMs + 50);
    expect(r.picture()).toMatch(/… \d+ more \(Ctrl\+O\)/);
    expect(r.emulator.writes.join("")).toContain("\x1b]2;? A fake");
    await r.key("\x0f");
    expect(r.picture()).toContain("line 79");
    await r.key("q");
    expect(r.picture()).toContain("The agent asks");
    await r.key("y");
    expect(r.session.asked).toEqual(["answer ask-1 allow by me"]);
  });
});

describe("keys", () => {
  test("Esc cancels a running turn, and does nothing else", async () => {
    const r = talkRig();
    await r.key("\x1b");
    expect(r.session.asked).toEqual([]);
    r.session.stand({ phase: "working" });
    await r.key("draft\x1b");
    expect(r.session.asked).toEqual(["cancel"]);
    expect(r.picture()).toContain("› draft▮");
  });

  test("Ctrl+C clears, then cancels, then asks, then quits", async () => {
    const r = talkRig();
    r.session.stand({ phase: "working" });
    await r.key("draft\x03");
    expect(r.session.asked).toEqual([]);
    await r.key("\x03");
    expect(r.session.asked).toEqual(["cancel"]);
    r.session.stand({ phase: "ready" });
    await r.settle(leaveAgainMs);
    await r.key("\x03");
    expect(r.picture()).toContain("Ctrl+C again quits");
    await r.key("\x03");
    expect(await r.ended).toBe("quit");
  });

  test("a second Ctrl+C that comes late, or after another key, asks anew", async () => {
    const r = talkRig();
    await r.key("\x03");
    await r.settle(leaveAgainMs + 1);
    await r.key("\x03");
    await r.key("a\x7f\x03");
    expect(r.picture()).toContain("Ctrl+C again quits");
    await r.key("\x03");
    expect(await r.ended).toBe("quit");
  });

  test("Ctrl+D quits; while a turn runs it asks once", async () => {
    const idle = talkRig();
    await idle.key("\x04");
    expect(await idle.ended).toBe("quit");
    const busy = talkRig({ driver: { phase: "working" } });
    await busy.key("\x04");
    expect(words(busy.emulator.screen())).toContain("Ctrl+D again cancels its turn and quits");
    await busy.key("\x04");
    expect(await busy.ended).toBe("quit");
  });

  test("q and ? are text; Ctrl+O shows the history and keeps the draft", async () => {
    const r = talkRig({ log: [entryOf(0)] });
    await r.key("q?");
    await r.key("\x0f");
    expect(r.picture()).not.toContain("▮");
    await r.key("q");
    expect(r.picture()).toContain("› q?▮");
  });

  test("Shift+Tab goes on to the next mode", async () => {
    const modes = [
      { id: "a", name: "ask" },
      { id: "b", name: "auto" },
    ];
    const r = talkRig({ driver: { modes, modeId: "b" } });
    await r.key("\x1b[Z");
    expect(r.session.asked).toEqual(["mode a"]);
  });

  test("prompts of before come back with Up", async () => {
    const r = talkRig({ log: [entryOf(0, "first"), entryOf(1, "second")] });
    await r.settle();
    await r.key("\x1b[A\x1b[A");
    expect(r.picture()).toContain("› first▮");
  });

  test("a prompt that is not taken is told and comes back with Up", async () => {
    const r = talkRig();
    await r.settle();
    r.session.refuseNext = "no";
    await r.key("hello\r");
    expect(words(r.emulator.screen())).toContain("The prompt was not taken (Up brings it back): no");
    await r.key("\x1b[A");
    expect(r.picture()).toContain("› hello▮");
  });

  test("what is not saved is said as long as it is true, and leaving asks", async () => {
    const r = talkRig({ columns: 90 });
    await r.settle();
    const notSaved = "The session is not being saved: the disk is full (ENOSPC).";
    r.session.stand({ notSaved });
    r.emit({ type: "notice", tone: "error", text: notSaved });
    await r.settle();
    expect(words(r.emulator.screen()).match(/not being saved/g)).toHaveLength(1);
    r.emit({ type: "notice", tone: "warning", text: "Something less." });
    await r.settle();
    expect(words(r.emulator.screen())).toContain(notSaved);
    expect(words(r.emulator.screen())).toContain("Something less.");
    await r.settle(60_000);
    expect(words(r.emulator.screen())).toContain(notSaved);
    await r.key("\x04");
    expect(words(r.emulator.screen())).toContain("What is not saved would be lost: Ctrl+D again quits.");
    r.session.stand({ notSaved: undefined } as never);
    await r.settle(60_000);
    expect(words(r.emulator.screen())).not.toContain("saved");
    r.session.stand({ notSaved, phase: "ended" });
    await r.settle();
    await r.key("\x04");
    await r.key("\x04");
    expect(await r.ended).toBe("quit");
  });

  test("a paste that is longer than what is taken of one is said to be", async () => {
    const r = talkRig({ columns: 90 });
    await r.settle();
    await r.key(`\x1b[200~${"x\n".repeat(pasteUnitsMax / 2)}123\x1b[201~`);
    expect(words(r.emulator.screen())).toContain("3 at its end were left out");
  });

  test("an agent that has ended takes no prompt; Ctrl+D quits at once", async () => {
    const r = talkRig();
    await r.settle();
    r.session.stand({ phase: "ended", failure: "it was killed (SIGKILL)" });
    await r.settle();
    expect(words(r.emulator.screen())).toContain("it was killed (SIGKILL)");
    await r.key("hello\r");
    expect(r.session.asked).toEqual([]);
    await r.key("\x04");
    expect(await r.ended).toBe("quit");
  });

  test("an editor of the person's has the terminal, and what it leaves is the prompt", async () => {
    const given: string[] = [];
    const states: boolean[] = [];
    const r = talkRig({
      editText: async (text) => {
        given.push(text);
        states.push(r.emulator.isRaw);
        return "edited\nthere\n";
      },
    });
    await r.key("draft");
    await r.key("\x07");
    expect([given, states, r.emulator.isRaw]).toEqual([["draft"], [false], true]);
    await r.key("\r");
    expect(r.session.asked).toEqual(["prompt edited\nthere"]);
  });

  test("without an editor it is said what to set", async () => {
    const r = talkRig();
    await r.key("\x07");
    expect(words(r.emulator.screen())).toContain("Set VISUAL or EDITOR");
  });
});

describe("the terminal", () => {
  test("keys are told apart and pastes bracketed while it runs; all of it is undone at the end", async () => {
    const r = talkRig({ hasStrings: true });
    await r.settle();
    const entered = r.emulator.writes.join("");
    for (const mode of ["\x1b[?2004h", "\x1b[>1u", "\x1b[>4;1m", "\x1b[?25l"])
      expect(entered).toContain(mode);
    await r.key("\x04");
    await r.ended;
    const left = r.emulator.writes.join("").slice(entered.length);
    for (const mode of ["\x1b[?2004l", "\x1b[<u", "\x1b[>4m", "\x1b[?25h"]) expect(left).toContain(mode);
    expect(r.emulator.isRaw).toBe(false);
    expect(r.picture()).toContain("hansard resume fake");
  });

  test("a key costs less than 256 bytes, whatever the length of the prompt", async () => {
    const r = talkRig({
      columns: 100,
      rows: 30,
      log: Array.from({ length: 20 }, (_, index) => entryOf(index)),
    });
    await r.key("word ".repeat(300));
    const before = r.emulator.writes.length;
    for (const typed of ["a", "b", " ", "\x1b[D", "\x7f"]) await r.key(typed);
    const sizes = r.emulator.writes.slice(before).map((frame) => Buffer.byteLength(frame));
    expect(sizes.length).toBeGreaterThan(3);
    expect(Math.max(...sizes)).toBeLessThan(256);
  });

  test("a turn's line is printed again with its blocks, and waits for the history to close", async () => {
    const r = talkRig();
    await r.settle();
    r.emit({ type: "turnStarted" });
    r.session.stand({ phase: "working" });
    await r.key("\x0f");
    r.finish(said("Done.", "s"));
    r.emit({ type: "turnEnded" });
    r.session.stand({ phase: "ready", lastTurn: { ms: 1_000, stopReason: "cancelled" } });
    await r.key("q");
    const count = (): number =>
      r.emulator.lines().filter((line) => line.includes("cancelled · 1.0 s")).length;
    expect(count()).toBe(1);
    await r.key("\x0c");
    expect(count()).toBe(1);
    expect(words(r.emulator.lines())).toMatch(/Done\. ─ cancelled/);
  });
});
