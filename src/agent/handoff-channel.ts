/**
 * The way of a note from the tool that an agent spawns to the driver that leads the session: a socket in a folder that only this user can
 * open, and a key that only the agent was given. One request a connection: a line of JSON in, a line of JSON out. No network port.
 */
import { randomUUID, timingSafeEqual } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { createConnection, createServer, type Server, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fieldsOf } from "./input.ts";
import { handoffCallsMax, handoffRequestBytesMax } from "./limits.ts";
import type { AgentCommand } from "./process.ts";

export const addressVariable = "HANSARD_HANDOFF_ADDRESS";
export const keyVariable = "HANSARD_HANDOFF_KEY";

/** What the tool tells its agent. */
export interface HandoffReceipt {
  readonly isAccepted: boolean;
  readonly text: string;
}

export interface HandoffChannel {
  readonly address: string;
  readonly key: string;
  close(): Promise<void>;
}

/** Listens for notes; `onNote` is called once for each, and its answer is told to the tool. Rejects where no socket can be made. */
export async function openHandoffChannel(
  onNote: (note: unknown) => Promise<HandoffReceipt>,
): Promise<HandoffChannel> {
  // Of mode 0700: nobody else can open what is in it.
  const folder = await mkdtemp(join(tmpdir(), "hansard-"));
  const address =
    process.platform === "win32" ? `\\\\.\\pipe\\hansard-${randomUUID()}` : join(folder, "handoff");
  const key = randomUUID();
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on("close", () => sockets.delete(socket));
    if (sockets.size > handoffCallsMax) socket.destroy();
    else serveCall(socket, key, onNote);
  });
  try {
    await listen(server, address);
  } catch (error) {
    await rm(folder, { recursive: true, force: true });
    throw error;
  }
  return {
    address,
    key,
    async close() {
      for (const socket of sockets) socket.destroy();
      await new Promise<void>((resolve) => server.close(() => resolve()));
      await rm(folder, { recursive: true, force: true });
    },
  };
}

async function listen(server: Server, address: string): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(address, () => {
      server.off("error", reject);
      resolve();
    });
  });
}

function serveCall(socket: Socket, key: string, onNote: (note: unknown) => Promise<HandoffReceipt>): void {
  // A tool that has gone hears no answer.
  socket.on("error", () => socket.destroy());
  void readLine(socket).then(async (line) => {
    const request = line === undefined ? undefined : parse(line);
    if (request === undefined || !isKey(request["key"], key)) {
      socket.destroy();
      return;
    }
    socket.end(`${JSON.stringify(await onNote(request["note"]))}\n`);
  });
}

function isKey(given: unknown, key: string): boolean {
  if (typeof given !== "string") return false;
  const [a, b] = [Buffer.from(given), Buffer.from(key)];
  return a.length === b.length && timingSafeEqual(a, b);
}

function parse(line: string): { readonly [key: string]: unknown } | undefined {
  try {
    return fieldsOf(JSON.parse(line));
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

/** The first line; undefined where there is none, or it is longer than may be. */
async function readLine(socket: Socket): Promise<string | undefined> {
  return await new Promise((resolve) => {
    const parts: Buffer[] = [];
    let bytes = 0;
    socket.on("data", (part: Buffer) => {
      bytes += part.length;
      parts.push(part);
      if (bytes > handoffRequestBytesMax) resolve(undefined);
      else if (part.includes(0x0a)) resolve(Buffer.concat(parts).toString("utf8").split("\n", 1)[0]);
    });
    socket.on("close", () => resolve(undefined));
    socket.on("end", () => resolve(undefined));
  });
}

/** Hands a note to the driver that listens. Rejects where none does any more. */
export async function sendNote(address: string, key: string, note: unknown): Promise<HandoffReceipt> {
  const socket = createConnection(address);
  await new Promise<void>((resolve, reject) => {
    socket.once("error", reject);
    socket.once("connect", () => resolve());
  });
  socket.on("error", () => socket.destroy());
  socket.write(`${JSON.stringify({ key, note })}\n`);
  const line = await readLine(socket);
  socket.destroy();
  const answer = line === undefined ? undefined : parse(line);
  const { isAccepted, text } = answer ?? {};
  if (typeof isAccepted !== "boolean" || typeof text !== "string")
    throw new Error("the session ended before the note was kept");
  return { isAccepted, text };
}

/** An MCP server as the Agent Client Protocol names it. */
export interface McpServerSpec {
  readonly name: string;
  readonly command: string;
  readonly args: readonly string[];
  readonly env: readonly { readonly name: string; readonly value: string }[];
}

/** How an agent starts the tool. */
export function handoffServer({ program, args }: AgentCommand, channel: HandoffChannel): McpServerSpec {
  const env = [
    { name: addressVariable, value: channel.address },
    { name: keyVariable, value: channel.key },
  ];
  return { name: "hansard", command: program, args, env };
}
