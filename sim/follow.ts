/**
 * Chaos for the server's lanes: a log that is written without pause, a server that is started anew at random, clients that are cut at any
 * byte, slow, behind a proxy that holds bytes back, with positions that are bad, foreign or of a log that is gone. Every client must end
 * with every entry once and in order, and be told to begin anew only where that is true.
 */
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setImmediate as turn } from "node:timers/promises";
import { type KeyStore, openKeyStore, type RunningServer, startServer } from "../src/server/index.ts";
import { type BufferingProxy, startProxy } from "./buffering-proxy.ts";
import { ask, Client, type ClientWorld, connectOnce, type Place, poll, readEvents } from "./follow-client.ts";
import { catalogueOf, namesOf, Writer } from "./follow-log.ts";
import { randomFrom, whole } from "./random.ts";
import { TurnClock } from "./turn-clock.ts";

export interface FollowOptions {
  readonly seed: number;
  readonly reconnects: number;
}

export interface FollowReport {
  readonly reconnects: number;
  readonly restarts: number;
  readonly entries: number;
  readonly clients: number;
  /** Entries that a client never got, got twice, or got out of order. */
  readonly lost: number;
  readonly doubled: number;
  readonly disordered: number;
  /** Told to begin anew while the log was whole. */
  readonly falseResets: number;
  /** Bad, foreign and void positions that were not told as such. */
  readonly missedResets: number;
  readonly probes: number;
  /** Errors that the server told of. */
  readonly failures: readonly string[];
}

const CLIENTS = 8;
/** Entries past which the writer waits until the run is over. */
const ENTRIES_MAX = 3_000;
/** Polls after which a client that still misses something has lost it. */
const DRAIN_POLLS_MAX = 200;
/** How long the writer waits for clients to connect anew before it writes on, at most. */
const WRITE_WAIT_MS = 40;
/** Connections of all clients between two restarts of the server, at most. */
const RESTART_AFTER_MAX = 40;
/** How often a client is thrown away, and another one begins at the start. */
const ANEW_CHANCE = 0.005;

/** A run under way: its server is another one after each restart. */
class Run {
  readonly random: () => number;
  readonly clock = new TurnClock();
  readonly writer: Writer;
  readonly reconnectsMax: number;
  readonly failures: string[] = [];
  /** What clients held that were thrown away: each began at the start. */
  readonly dropped: Client[] = [];
  readonly #folder: string;
  readonly #keys: KeyStore;
  readonly #secret: string;
  #proxy: BufferingProxy | undefined;
  #server: RunningServer | undefined;
  reconnects = 0;
  restarts = 0;

  private constructor(options: FollowOptions, folder: string, keys: KeyStore, secret: string) {
    this.random = randomFrom(options.seed);
    this.writer = new Writer(join(folder, "s.jsonl"), this.random);
    this.reconnectsMax = options.reconnects;
    this.#folder = folder;
    this.#keys = keys;
    this.#secret = secret;
  }

  static async begin(options: FollowOptions, folder: string): Promise<Run> {
    const keys = await openKeyStore(join(folder, "keys"), Date.now);
    const { secret } = await keys.add({ label: "sim", sessions: "all", may: "read" });
    const run = new Run(options, folder, keys, secret);
    await writeFile(run.writer.path, run.writer.turn().join(""));
    const other = new Writer(run.#otherPath, run.random);
    await writeFile(other.path, other.turn().join(""));
    run.#proxy = await startProxy(run.random, run.clock);
    await run.serve();
    return run;
  }

  get #otherPath(): string {
    return join(this.#folder, "other.jsonl");
  }

  get place(): Place {
    const serverPort = this.#server?.port ?? 0;
    return { serverPort, proxyPort: this.#proxy?.port ?? 0, secret: this.#secret };
  }

  readonly goesOn = (): boolean => this.reconnects < this.reconnectsMax;

  /** Starts a server, and ends the one before it. */
  async serve(): Promise<void> {
    const before = this.#server;
    this.#server = await startServer({
      catalogue: catalogueOf({ s1: this.writer.path, s2: this.#otherPath }),
      keys: this.#keys,
      clock: this.clock,
      port: 0,
      onFailure: (error) =>
        this.failures.push(error instanceof Error ? (error.stack ?? error.message) : String(error)),
    });
    if (this.#proxy !== undefined) this.#proxy.target = this.#server.port;
    await before?.close();
  }

  async end(): Promise<void> {
    await this.#server?.close();
    await this.#proxy?.close();
    this.clock.stop();
  }
}

/** Runs clients until they have connected so many times, and judges what they hold. */
export async function runFollow(options: FollowOptions): Promise<FollowReport> {
  const folder = await mkdtemp(join(tmpdir(), "hansard-sim-follow-"));
  const run = await Run.begin(options, folder);
  const time = run.clock.run();
  try {
    const clients = await runClients(run);
    return await judge(run, clients);
  } finally {
    await run.end();
    await time;
    await rm(folder, { recursive: true, force: true });
  }
}

/** The clients of a run, once they have connected as often as they were to. */
async function runClients(run: Run): Promise<readonly Client[]> {
  const { random, clock, writer, goesOn } = run;
  let areDone = false;

  async function runClient(): Promise<Client> {
    let client = new Client();
    while (goesOn()) {
      run.reconnects += 1;
      if (random() < ANEW_CHANCE) {
        run.dropped.push(client);
        client = new Client();
      }
      const world: ClientWorld = { random, clock, place: run.place, goesOn };
      await connectOnce(world, client);
      await turn();
    }
    return client;
  }

  async function write(): Promise<void> {
    while (goesOn()) {
      if (writer.entries < ENTRIES_MAX) await writer.write();
      // Not so fast that clients only ever catch up: most of them are to come back to a lane that still has their frame.
      const connected = run.reconnects + CLIENTS;
      await clock.wait(WRITE_WAIT_MS, () => !goesOn() || run.reconnects >= connected);
    }
    // Wakes the clients that wait for a line, also those that only now begin to.
    while (!areDone) {
      await writer.write();
      await clock.wait(WRITE_WAIT_MS, () => areDone);
    }
  }

  async function restart(): Promise<void> {
    while (goesOn()) {
      const next = run.reconnects + whole(random, 1, RESTART_AFTER_MAX);
      await clock.wait(Number.POSITIVE_INFINITY, () => !goesOn() || run.reconnects >= next);
      await run.serve();
      run.restarts += 1;
    }
  }

  const clients = Promise.all(Array.from({ length: CLIENTS }, runClient)).finally(() => {
    areDone = true;
  });
  await Promise.all([write(), restart(), clients]);
  return clients;
}

/** Lets all clients read to the end, asks for what leads nowhere, and says what was wrong. */
async function judge(run: Run, clients: readonly Client[]): Promise<FollowReport> {
  const { writer } = run;
  const expected = await namesOf(writer.path);
  for (const client of clients) {
    // The hub may have to read the last lines yet: then it is waited for.
    for (let polls = 0; polls < DRAIN_POLLS_MAX && client.names.length < expected.length; polls += 1) {
      const isUpToDate = await poll(run.place, client);
      if (isUpToDate && client.names.length < expected.length)
        await poll(run.place, client, { isLong: true });
    }
  }
  const all = [...clients, ...run.dropped];
  const falseResets = all.reduce((sum, client) => sum + client.falseResets, 0);
  const foreign = await ask(run.place, { query: "offset=now", session: "s2" });
  foreign?.resume();
  const bad = ["rubbish", "a.1.-.MQ", `${clients[0]?.position}x`, "-.0.AAAAAAAA.MTIz", "-.0.-.OTk5OTk5OTk5"];
  const probes = [...bad, String(foreign?.headers["stream-next-offset"])];
  let missedResets = await probe(run.place, probes);
  // The log is another one from now on: each position is of a log that is gone.
  const other = new Writer(writer.path, run.random);
  await writeFile(writer.path, Array.from({ length: 3 }, () => other.turn().join("")).join(""));
  await run.serve();
  const gone = [...new Set(clients.map(({ position }) => position))];
  missedResets += await probe(run.place, gone);

  const wanted = new Set(expected);
  return {
    reconnects: run.reconnects,
    restarts: run.restarts,
    entries: expected.length,
    clients: all.length,
    lost: clients.reduce((sum, { names }) => sum + wanted.size - new Set(names).size, 0),
    doubled: all.reduce((sum, client) => sum + client.doubled, 0),
    disordered: all.filter(({ names }) => names.some((name, at) => name !== expected[at])).length,
    falseResets,
    missedResets,
    probes: 2 * (probes.length + gone.length),
    failures: run.failures,
  };
}

/** Positions that lead nowhere; the count of those that were not told so, by a poll and on a lane. */
async function probe(place: Place, positions: readonly string[]): Promise<number> {
  let missed = 0;
  for (const position of positions) {
    const polled = await ask(place, { query: `offset=${position}` });
    polled?.resume();
    if (polled?.statusCode !== 400 && polled?.statusCode !== 410) missed += 1;
    const client = new Client();
    const answer = await ask(place, { query: `live=events&offset=${position}` });
    if (answer !== undefined)
      await readEvents(answer, client, { bytesMax: 1e6, goesOn: () => client.falseResets === 0 });
    if (client.falseResets !== 1 || client.names.length > 0) missed += 1;
  }
  return missed;
}

export function isClean(report: FollowReport): boolean {
  const { lost, doubled, disordered, falseResets, missedResets, failures } = report;
  return lost + doubled + disordered + falseResets + missedResets + failures.length === 0;
}

export function followWords(seed: number, report: FollowReport): string {
  return [
    `follow --seed ${seed}: ${report.reconnects} connections of ${report.clients} clients to ${report.restarts + 1} servers, ${report.entries} entries`,
    `lost ${report.lost} · doubled ${report.doubled} · clients out of order ${report.disordered}`,
    `told to begin anew without need ${report.falseResets} · void positions not told ${report.missedResets} of ${report.probes}`,
    ...report.failures.slice(0, 5).map((failure) => `the server told: ${failure}`),
    "",
  ].join("\n");
}
