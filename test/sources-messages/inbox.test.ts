/** The inbox: what is deposited for an agent and not delivered yet. */
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import {
  DEPOSIT_BYTES_MAX,
  INBOX_MESSAGES_MAX,
  readDeposit,
  readInbox,
} from "../../src/sources/messages/deposit.ts";
import { type Home, makeHome } from "../support/home.ts";
import { deposit } from "./support.ts";

const say = (text: string): ReturnType<typeof readDeposit> => readDeposit(Buffer.from(text));

describe("a deposit", () => {
  test("is parsed into its fields and its body", () => {
    expect(
      say(
        "---\nfrom: kid\nfrom_name: Koi\ndeposited_at: 2026-07-17T12:00:00Z\nepitaph: died\nterminal_ref: abc\n---\nbye\n",
      ),
    ).toEqual({
      from: "kid",
      senderName: "Koi",
      depositedAt: "2026-07-17T12:00:00Z",
      epitaph: "died",
      terminalRef: "abc",
      body: "bye\n",
    });
  });

  test.each(["final-response", "stopped", "budget-exhausted", "died", "went home: early"])(
    "every epitaph is carried in its own word: %s",
    (epitaph) => {
      expect(say(deposit("", { epitaph })).epitaph).toBe(epitaph);
    },
  );

  test("a result may have no body", () => {
    expect(say("---\nepitaph: stopped\n---\n")).toEqual({ epitaph: "stopped", body: "" });
  });

  test("one that is malformed is all body", () => {
    expect(say("from: kid\n\nhello")).toEqual({ body: "from: kid\n\nhello" });
    expect(say("---\r\nfrom: kid\r\n---\r\nhello").from).toBeUndefined();
  });

  test("an opener without a closer is all body", () => {
    expect(say("---\nfrom: kid\nhello")).toEqual({ body: "---\nfrom: kid\nhello" });
    expect(say("---\nfrom: kid\n---")).toEqual({ body: "---\nfrom: kid\n---" });
    expect(say("---\n---\n")).toEqual({ body: "---\n---\n" });
  });

  test("a line without a separator is passed over", () => {
    expect(say("---\nfrom:\nfrom\nfrom: kid:  x \n---\nhello")).toEqual({ from: "kid:  x ", body: "hello" });
  });

  test("of a field told twice the first counts; a carriage return ends a line too", () => {
    expect(say("---\nfrom: a\r\nfrom: b\n---\n").from).toBe("a");
  });
});

describe("the inbox", () => {
  let home: Home;
  beforeEach(() => {
    home = makeHome();
  });
  afterEach(() => home.remove());

  test("is listed in name order, without temporary files, other files and folders", async () => {
    const folder = join(home.path, "inbox");
    for (const name of ["user-002.md", "kid-001.md", ".user-003.md.tmp", "notes.txt", "Kid-001.md"])
      home.write(`inbox/${name}`, deposit(name, { from: "x" }));
    mkdirSync(join(folder, "sub.md"));
    expect((await readInbox(folder)).map((m) => m.name)).toEqual(["Kid-001.md", "kid-001.md", "user-002.md"]);
  });

  test("that is missing is empty", async () => {
    expect(await readInbox(join(home.path, "none"))).toEqual([]);
  });

  test("keeps the name and the verbatim bytes of each", async () => {
    const bytes = Buffer.concat([Buffer.from("---\nfrom: kid\n---\n"), Buffer.from([0xff, 0x0a])]);
    home.write("inbox/kid-001.md", bytes);
    const [message] = await readInbox(join(home.path, "inbox"));
    expect(message?.name).toBe("kid-001.md");
    expect(Buffer.from(message?.bytes ?? [])).toEqual(bytes);
    expect(message?.deposit).toEqual({ from: "kid", body: "\ufffd\n" });
  });

  test("is read up to its bounds", async () => {
    for (let n = 0; n <= INBOX_MESSAGES_MAX; n++)
      home.write(`inbox/user-${String(n).padStart(6, "0")}.md`, "x");
    home.write("inbox/a-000.md", "y".repeat(DEPOSIT_BYTES_MAX + 1));
    const waiting = await readInbox(join(home.path, "inbox"));
    expect(waiting).toHaveLength(INBOX_MESSAGES_MAX);
    expect(waiting[0]?.bytes).toHaveLength(DEPOSIT_BYTES_MAX);
  });
});
