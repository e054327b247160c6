// `hansard follow`: what is told of a step, here and by address.
import { appendFileSync, mkdirSync, writeFileSync } from "node:fs";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { dirname, join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { exitCodes } from "../../src/cli/exit.ts";
import { CALL_NAMES_MAX, createFollowPrinter } from "../../src/cli/follow-printer.ts";
import {
  followUrl,
  laneUrl,
  RETRIES_MAX,
  RETRY_MS_MAX,
  SILENCE_MS,
  type UrlOptions,
} from "../../src/cli/follow-url.ts";
import {
  decodeFrame,
  encodeFrame,
  FRAME_BYTES_MAX,
  type Frame,
  type LaneEvent,
  type ToolEvent,
} from "../../src/follow/index.ts";
import { type Catalogue, servedSession } from "../../src/server/index.ts";
import { createSession } from "../../src/session/index.ts";
import { openLog } from "../../src/sources/index.ts";
import { themeOf } from "../../src/terminal/text/index.ts";
import { makeServer } from "../server/support.ts";
import { emptyHomeEnv } from "../support/agents-home.ts";
import { makeCertificate } from "../support/certificate.ts";
import { run, tempFolder } from "./support.ts";

const frame = (stream: Frame["stream"], ...tools: ToolEvent[]): LaneEvent => ({
  type: "frame",
  frame: { stream, tools },
});
const say = (text: string): LaneEvent => frame({ text, lastDelta: "text" });
const over: LaneEvent = { type: "over" };

describe("frames as text", () => {
  const bash = { toolUse: "t1", tool: "Bash", input: '{"command":"ls"}' };
  const options = [{ id: "yes", label: "Allow", kind: "allow-once" }] as const;
  const golden: readonly [string, readonly LaneEvent[], string][] = [
    ["text goes on where it was", [say("Hel"), say("lo.\nNext"), over], "Hello.\nNext\n"],
    [
      "thinking stands apart",
      [frame({ thinking: "hm", text: "so", lastDelta: "text" }), over],
      "thinking\nhm\n\nso\n",
    ],
    [
      "what moved last comes last",
      [frame({ thinking: "hm", text: "so", lastDelta: "thinking" }), over],
      "so\n\nthinking\nhm\n",
    ],
    [
      "calls are a line each",
      [say("I look"), frame({}, bash), frame({}, { toolUse: "t1", exitCode: 0 }), say("seen"), over],
      'I look\n\n⚙ Bash {"command":"ls"}\n✔ Bash — ok\n\nseen\n',
    ],
    [
      "a call that failed",
      [frame({}, bash, { toolUse: "t1", exitCode: 2 })],
      '⚙ Bash {"command":"ls"}\n✖ Bash — exit 2\n',
    ],
    ["a call of no name has its id", [frame({}, { toolUse: "t9" })], "⚙ t9\n"],
    [
      "a call that waits tells what can be said",
      [
        frame({}, { ...bash, held: "why", options }),
        frame({}, { toolUse: "t1", answered: { by: "the page", option: "yes" } }),
      ],
      '⏸ Bash {"command":"ls"} — waits for you (why)\n    yes: Allow\n▸ Bash — yes, said the page\n',
    ],
    [
      "a cancelled one",
      [frame({}, { toolUse: "t1", held: "" }), frame({}, { toolUse: "t1", answered: { by: "x" } })],
      "⏸ t1 — waits for you\n▸ t1 — cancelled, said x\n",
    ],
    [
      "an answer that begins anew",
      [
        say("old"),
        { type: "frame", frame: { stream: { text: "new", lastDelta: "text" }, tools: [], again: true } },
      ],
      "old\n\nthe answer begins anew\n\nnew",
    ],
    ["steps stand apart", [say("one"), over, say("two"), over], "one\n\ntwo\n"],
    ["nothing", [over, frame({})], ""],
  ];
  test.each(golden)("%s", (_, events, expected) => {
    const printer = createFollowPrinter(themeOf({}, false));
    expect(events.map((event) => printer.print(event)).join("")).toBe(expected);
  });

  test("so many names of calls are remembered", () => {
    const printer = createFollowPrinter(themeOf({}, false));
    const calls = Array.from({ length: CALL_NAMES_MAX + 1 }, (_, n) => ({ toolUse: `t${n}`, tool: "Bash" }));
    printer.print(frame({}, ...calls));
    const ends = frame({}, { toolUse: "t0", exitCode: 0 }, { toolUse: "t1", exitCode: 0 });
    expect(printer.print(ends)).toBe("✔ t0 — ok\n✔ Bash — ok\n");
  });

  test("no byte of it reaches the terminal as a command, not put together from pieces either", () => {
    const printer = createFollowPrinter(themeOf({ TERM: "xterm-256color" }, false));
    const bad = "\x1b]0;x\x07\x1b[2J\u202e";
    const out = [
      say("\x1b"),
      say("[2J\r"),
      frame({ thinking: bad }),
      frame({}, { toolUse: bad, tool: bad, input: bad, held: `${bad}\n` }),
    ]
      .map((event) => printer.print(event))
      .join("");
    expect(out).not.toMatch(/[\x00-\x09\x0b-\x1f\x7f-\x9f\u202e]/);
  });
});

const records: readonly object[] = [
  { type: "user", message: { role: "user", content: "go" } },
  {
    type: "assistant",
    message: {
      id: "m1",
      role: "assistant",
      model: "a",
      stop_reason: "tool_use",
      usage: {},
      content: [{ type: "text", text: "I look." }],
    },
  },
  {
    type: "assistant",
    message: {
      id: "m1",
      role: "assistant",
      model: "a",
      stop_reason: "tool_use",
      usage: {},
      content: [{ type: "tool_use", id: "t1", name: "Bash", input: { command: "ls" } }],
    },
  },
  {
    type: "user",
    message: {
      role: "user",
      content: [{ type: "tool_result", tool_use_id: "t1", content: "a", is_error: false }],
    },
  },
  {
    type: "assistant",
    message: {
      id: "m2",
      role: "assistant",
      model: "a",
      stop_reason: "end_turn",
      usage: {},
      content: [{ type: "text", text: "One file." }],
    },
  },
];

function recordLines(start: number, end: number): string {
  return records
    .slice(start, end)
    .map((fields, n) => {
      const at = start + n;
      const timestamp = new Date(Date.UTC(2026, 0, 1) + at * 1000).toISOString();
      const parentUuid = at === 0 ? null : `u${at - 1}`;
      return `${JSON.stringify({ uuid: `u${at}`, parentUuid, isSidechain: false, sessionId: "s", timestamp, ...fields })}\n`;
    })
    .join("");
}

async function home(env: Readonly<Record<string, string>> = {}) {
  const path = await tempFolder();
  return { path, around: { env: { ...emptyHomeEnv(path), ...env }, home: path, platform: "linux" } };
}

/** A workspace with one agent whose call is under way. */
function workspaceIn(folder: string): { readonly messages: string; append(text: string): void } {
  const messages = join(folder, "ws", "agents", "20260101T000000Z-aaaa", "messages");
  const response = join(folder, "ws", "steps", "20260101T000000Z-aaaa", "001", "response.json");
  mkdirSync(messages, { recursive: true });
  mkdirSync(dirname(response), { recursive: true });
  writeFileSync(join(messages, "001-user.md"), "go");
  return {
    messages,
    append: (text) =>
      appendFileSync(
        response,
        `${JSON.stringify({ type: "content_delta", index: 0, delta: { text_delta: text } })}\n`,
      ),
  };
}

describe("sessions of this computer", () => {
  test("a log that grows is told as it is written, until nobody reads", async () => {
    const place = await home();
    const path = join(place.path, "s.jsonl");
    writeFileSync(path, recordLines(0, 3));
    const { code, out } = await run(place, ["follow", path], {
      writesMax: 3,
      onWrite: (writes) => {
        if (writes === 2) appendFileSync(path, recordLines(3, 5));
      },
    });
    expect(code).toBe(exitCodes.ok);
    expect(out).toBe('I look.\n\n⚙ Bash {"command":"ls"}\n✔ Bash — ok\n');
  });

  test("--once tells the step under way and ends", async () => {
    const place = await home();
    const path = join(place.path, "s.jsonl");
    writeFileSync(path, recordLines(0, 3));
    expect(await run(place, ["follow", path, "--once"])).toMatchObject({
      code: 0,
      out: 'I look.\n\n⚙ Bash {"command":"ls"}\n',
      err: "",
    });
    const { out } = await run(place, ["follow", path, "--once", "--json"]);
    expect(decodeFrame(out.trimEnd())).toEqual({
      ok: true,
      value: {
        stream: { text: "I look.", lastDelta: "text" },
        tools: [{ toolUse: "t1", tool: "Bash", input: '{"command":"ls"}' }],
      },
    });
  });

  test("--once of a session at rest is an empty frame, for people nothing", async () => {
    const place = await home();
    const path = join(place.path, "s.jsonl");
    writeFileSync(path, recordLines(0, 5));
    expect((await run(place, ["follow", path, "--once", "--json"])).out).toBe(
      `${encodeFrame({ stream: {}, tools: [] })}\n`,
    );
    expect((await run(place, ["follow", path, "--once"])).out).toBe("");
  });

  test("a session that publishes its steps is followed by them, one frame a line", async () => {
    const place = await home();
    const { messages, append } = workspaceIn(place.path);
    append("one ");
    const { out } = await run(place, ["follow", messages, "--json"], {
      writesMax: 2,
      onWrite: (writes) => {
        if (writes < 3) append(`more ${writes}`);
      },
    });
    const texts = out
      .trimEnd()
      .split("\n")
      .map((line) => decodeFrame(line))
      .map((decoded) => (decoded.ok ? decoded.value.stream.text : "none"));
    expect(texts).toEqual(["one ", "more 1"]);
  });

  test("a session that is not there", async () => {
    const place = await home();
    const { code, err } = await run(place, ["follow", "nobody"]);
    expect(code).toBe(exitCodes.notFound);
    expect(err).toContain('No session is named "nobody"');
  });
});

type Serve = (request: IncomingMessage, response: ServerResponse, asked: number) => void;

async function scripted(
  serve: Serve,
): Promise<{ readonly address: string; readonly asked: readonly IncomingMessage[] }> {
  const asked: IncomingMessage[] = [];
  const server = createServer((request, response) => {
    asked.push(request);
    serve(request, response, asked.length);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(
    () =>
      new Promise<void>((resolve) => {
        server.closeAllConnections();
        server.close(() => resolve());
      }),
  );
  return { address: `http://127.0.0.1:${(server.address() as AddressInfo).port}/sessions/abc`, asked };
}

const sse = (event: string, data: string, id?: string): string =>
  `event: ${event}\n${id === undefined ? "" : `id: ${id}\n`}data: ${data}\n\n`;
const sseFrame = (text: string, id: string): string =>
  sse("frame", encodeFrame({ stream: { text, lastDelta: "text" }, tools: [] }), id);

function events(response: ServerResponse, ...words: readonly string[]): void {
  response.writeHead(200, { "content-type": "text/event-stream" });
  response.write(words.join(""));
}

const noCatalogue: Catalogue = {
  list: async () => [],
  find: async () => undefined,
  describe: async ({ info }) => info,
  open: () => Promise.reject(new Error("there is nothing to open")),
};

/** Waits of silence never end, waits before a further try are over at once; they are written down. */
function handWait(): { readonly waits: number[]; readonly wait: UrlOptions["wait"] } {
  const waits: number[] = [];
  return {
    waits,
    wait: (ms, signal) => {
      if (ms === SILENCE_MS)
        return new Promise((resolve) => signal.addEventListener("abort", () => resolve(), { once: true }));
      waits.push(ms);
      return Promise.resolve();
    },
  };
}

describe("sessions of another computer", () => {
  test.each([
    ["https://host:7737/sessions/abc", "https://host:7737/api/sessions/abc/lane"],
    ["https://host/s/abc?x=1", "https://host/api/sessions/abc/lane"],
    ["http://host/api/sessions/abc/lane", "http://host/api/sessions/abc/lane"],
    ["https://host/#/sessions/abc", "https://host/api/sessions/abc/lane"],
  ])("%s is followed at %s", (address, lane) => {
    expect(laneUrl(address).href).toBe(lane);
  });

  test.each(["https://host/", "https://host/sessions/", "https://host/other/abc", "https://"])(
    "%s names no session",
    (address) => {
      expect(() => laneUrl(address)).toThrow("no address of a session");
    },
  );

  test("a lost connection is taken up where it was, with nothing lost and nothing twice", async () => {
    const { address, asked } = await scripted((_, response, nth) => {
      if (nth === 1) {
        events(response, "retry: 1000\n\n", sseFrame("one", "p1"), ": alive\n\n", sse("other", "{}"));
        response.end(sseFrame("cut off", "p9").slice(0, -1));
      } else if (nth === 2) {
        response.writeHead(503).end();
      } else {
        events(response, sseFrame("two", "p2"), sse("over", "{}", "p3"), sseFrame("three", "p4"));
      }
    });
    const stop = new AbortController();
    const links: string[] = [];
    const { waits, wait } = handWait();
    const told: LaneEvent[] = [];
    const options = { signal: stop.signal, wait, key: "k", onLink: (state: string) => links.push(state) };
    for await (const event of followUrl(address, options)) if (told.push(event) === 4) stop.abort();
    expect(told).toEqual([say("one"), say("two"), over, say("three")]);
    expect(asked.map((each) => each.headers["last-event-id"])).toEqual([undefined, "p1", "p1"]);
    expect(asked.map((each) => each.headers.authorization)).toEqual(["Bearer k", "Bearer k", "Bearer k"]);
    expect(asked[0]?.url).toBe("/api/sessions/abc/lane");
    expect(links).toEqual(["lost", "back"]);
    expect(waits).toEqual([500, 1000]);
  });

  test("a reset begins a new read", async () => {
    const { address } = await scripted((_, response) =>
      events(response, sseFrame("one", "1"), sse("reset", '{"reason":"gone"}', "2"), sseFrame("anew", "3")),
    );
    const told: LaneEvent[] = [];
    for await (const event of followUrl(address, {
      signal: new AbortController().signal,
      wait: handWait().wait,
    }))
      if (told.push(event) === 3) break;
    expect(told).toEqual([say("one"), over, say("anew")]);
  });

  test("a silent server is asked again", async () => {
    const { address, asked } = await scripted((_, response, nth) =>
      events(response, nth === 1 ? ": \n\n" : sseFrame("here", "1")),
    );
    const wait = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
    const lane = followUrl(address, {
      signal: new AbortController().signal,
      wait: (ms, signal) => (asked.length === 1 || ms !== SILENCE_MS ? wait() : handWait().wait(ms, signal)),
    });
    expect((await lane.next()).value).toEqual(say("here"));
    expect(asked.length).toBeGreaterThan(1);
    await lane.return();
  });

  test("a server that is gone is asked so often and no more, ever more slowly", async () => {
    const { address } = await scripted((_, response, nth) => {
      if (nth === 1) events(response, sseFrame("one", "1"));
      response.socket?.end();
    });
    const { waits, wait } = handWait();
    const lane = followUrl(address, { signal: new AbortController().signal, wait });
    await lane.next();
    await expect(lane.next()).rejects.toThrow(`gone after ${RETRIES_MAX} tries`);
    expect(waits).toHaveLength(RETRIES_MAX);
    expect(Math.max(...waits)).toBe(RETRY_MS_MAX);
  });

  test.each<[string, Serve, number, string]>([
    ["no key", (_, r) => void r.writeHead(401).end(), exitCodes.unreadable, "asks for a key"],
    ["a key that may not", (_, r) => void r.writeHead(403).end(), exitCodes.unreadable, "may not follow"],
    ["no such session", (_, r) => void r.writeHead(404).end(), exitCodes.notFound, "no such session"],
    [
      "another place",
      (_, r) => void r.writeHead(302, { location: "/" }).end(),
      exitCodes.unreadable,
      "cannot be reached",
    ],
    ["a broken server", (_, r) => void r.writeHead(500).end(), exitCodes.unreadable, "answers 500"],
    [
      "a frame that is none",
      (_, r) => events(r, sse("frame", '{"kind":"follow","ok":true,"stream":{}}', "1")),
      exitCodes.unreadable,
      '"tools"',
    ],
    [
      "a lane that is closed",
      (_, r) => events(r, sse("closed", '{"reason":"the key was revoked"}')),
      exitCodes.unreadable,
      "the key was revoked",
    ],
  ])("%s is told", async (_, serve, exit, words) => {
    const { address } = await scripted(serve);
    const { code, err } = await run(await home(), ["follow", address]);
    expect(err).toContain(words);
    expect(code).toBe(exit);
  });

  test("--once is one question, and its answer may be that no step is under way", async () => {
    const nothing = encodeFrame({ stream: {}, tools: [] });
    const { address, asked } = await scripted((_, response) => response.end(nothing));
    const place = await home({ HANSARD_KEY: "k" });
    expect(await run(place, ["follow", address, "--once", "--json"])).toMatchObject({
      code: 0,
      out: `${nothing}\n`,
      err: "",
    });
    expect(await run(place, ["follow", address, "--once"])).toMatchObject({ code: 0, out: "", err: "" });
    expect(asked.map(({ url, headers }) => [url, headers.authorization, headers.accept])).toEqual(
      new Array(2).fill(["/api/sessions/abc/step", "Bearer k", "application/json"]),
    );
  });

  test.each<[string, Serve, number, string]>([
    ["no key", (_, r) => void r.writeHead(401).end(), exitCodes.unreadable, "asks for a key"],
    ["no such session", (_, r) => void r.writeHead(404).end(), exitCodes.notFound, "no such session"],
    ["a busy server", (_, r) => void r.writeHead(503).end(), exitCodes.unreadable, "answers 503"],
    ["a server that goes", (_, r) => void r.socket?.destroy(), exitCodes.unreadable, "cannot be reached"],
    ["a frame that is none", (_, r) => void r.end("{}"), exitCodes.unreadable, "a frame that is none"],
    [
      "an answer without an end",
      (_, r) => void r.end(Buffer.alloc(FRAME_BYTES_MAX + 1, 0x20)),
      exitCodes.unreadable,
      `more than ${FRAME_BYTES_MAX} bytes`,
    ],
  ])("--once and %s", async (_, serve, exit, words) => {
    const { address } = await scripted(serve);
    const { code, err } = await run(await home(), ["follow", address, "--once"]);
    expect(err).toContain(words);
    expect(code).toBe(exit);
  });

  test("a server that cannot be reached: what to do depends on why", async () => {
    const folder = await tempFolder();
    const tls = makeCertificate(folder);
    const { server } = await makeServer({ catalogue: noCatalogue, tls });
    const told = async (address: string): Promise<string> => {
      const { code, err } = await run(await home(), ["follow", address, "--once"]);
      expect(code).toBe(exitCodes.unreadable);
      return err;
    };
    const place = `127.0.0.1:${server.port}/sessions/abc`;
    expect(await told(`https://${place}`)).toContain("NODE_EXTRA_CA_CERTS");
    expect(await told(`http://${place}`)).toContain("begins with https");
    await server.close();
    expect(await told(`https://${place}`)).toContain("Nothing listens there");
  });

  test("a server of ours, followed by the command with a key from the environment", async () => {
    const folder = await tempFolder();
    const { messages, append } = workspaceIn(folder);
    append("one ");
    const item = { id: "abc", info: { agent: "messages", id: "x", path: messages } } as const;
    const { server, addKey } = await makeServer({
      catalogue: {
        list: async () => [item],
        find: async (id) => (id === item.id ? item : undefined),
        describe: async () => item.info,
        async open() {
          const log = await openLog(messages);
          const session = createSession(log, await log.info());
          return servedSession(session);
        },
      },
    });
    const { secret } = await addKey();
    const address = `http://127.0.0.1:${server.port}/sessions/abc`;
    const place = await home({ HANSARD_KEY: secret });
    const told = await run(place, ["follow", address, "--json"], {
      writesMax: 1,
      onWrite: (writes) => {
        if (writes === 1) append("two");
      },
    });
    expect(told).toMatchObject({ code: 0, err: "" });
    expect(decodeFrame(told.out.trimEnd())).toMatchObject({ ok: true, value: { stream: { text: "one " } } });
    const once = await run(place, ["follow", address, "--once"]);
    expect(once).toMatchObject({ code: 0, out: "one two\n" });
    const frame = await run(place, ["follow", address, "--once", "--json"]);
    expect(decodeFrame(frame.out.trimEnd())).toMatchObject({
      ok: true,
      value: { stream: { text: "one two" } },
    });
    expect((await run(await home(), ["follow", address])).err).toContain("asks for a key");
    expect((await run(place, ["follow", address.replace("abc", "other")])).code).toBe(exitCodes.notFound);
  });
});
