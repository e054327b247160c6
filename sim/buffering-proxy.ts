/** A proxy that holds back what it passes on, gives it in blocks of any size, and cuts lines. */
import { createConnection, createServer, type Server, type Socket } from "node:net";
import type { Clock } from "../src/server/index.ts";
import { whole } from "./random.ts";

export interface BufferingProxy {
  readonly port: number;
  /** The port of the server behind it. */
  target: number;
  close(): Promise<void>;
}

/** Bytes that it holds back at most; then all of them go at once. */
const HELD_MAX = 8 * 1024;
const FLUSH_MS = 5;
const CUT_CHANCE = 0.02;

export async function startProxy(random: () => number, clock: Clock): Promise<BufferingProxy> {
  const lines = new Set<Socket>();
  const proxy = { port: 0, target: 0, close };
  const server: Server = createServer((near) => {
    const far = createConnection({ port: proxy.target, host: "127.0.0.1" });
    let held = Buffer.alloc(0);
    let cancel: (() => void) | undefined;
    const flush = (count: number): void => {
      near.write(held.subarray(0, count));
      held = held.subarray(count);
      cancel?.();
      cancel = held.length > 0 ? clock.after(FLUSH_MS, release) : undefined;
    };
    const release = (): void => flush(whole(random, 1, held.length));
    const cut = (): void => {
      cancel?.();
      near.destroy();
      far.destroy();
      lines.delete(near);
      lines.delete(far);
    };
    for (const line of [near, far]) {
      lines.add(line);
      line.on("error", cut);
    }
    near.on("data", (bytes) => far.write(bytes));
    near.on("close", cut);
    far.on("data", (bytes) => {
      held = Buffer.concat([held, bytes]);
      if (random() < CUT_CHANCE) return cut();
      if (held.length > HELD_MAX) flush(held.length);
      cancel ??= clock.after(FLUSH_MS, release);
    });
    far.on("end", () => {
      flush(held.length);
      near.end();
    });
  });
  await new Promise<void>((resolve) => {
    server.listen(0, "127.0.0.1", resolve);
  });
  const address = server.address();
  proxy.port = typeof address === "object" && address !== null ? address.port : 0;
  return proxy;

  async function close(): Promise<void> {
    for (const line of lines) line.destroy();
    await new Promise<void>((resolve) => {
      server.close(() => resolve());
    });
  }
}
