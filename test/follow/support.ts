/** A step directory on disk, written as a driver writes it, and a reader that is polled by hand. */
import { appendFileSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { onTestFinished } from "vitest";
import {
  callFolderName,
  type Frame,
  type LaneState,
  type Outcome,
  poll,
  readOnce,
  type StepLook,
  startLane,
  type Want,
  type World,
} from "../../src/follow/index.ts";
import { openStepWorld, type StepWorld, type WatcherPorts } from "../../src/follow/node/index.ts";

/** Watches nothing: looks are made by hand. */
export const blindPorts: WatcherPorts = {
  watch: () => ({ close: () => undefined }),
  after: () => () => undefined,
  now: () => 0,
};

export function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "hansard-follow-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

export const textDelta = (text: string, index = 1): string =>
  `${JSON.stringify({ type: "content_delta", index, delta: { text_delta: text } })}\n`;
export const thinkingDelta = (text: string): string =>
  `${JSON.stringify({ type: "content_delta", index: 0, delta: { thinking_delta: text } })}\n`;
export const jsonDelta = (text: string): string =>
  `${JSON.stringify({ type: "content_delta", index: 2, delta: { json_delta: text } })}\n`;
export const messageStart = `${JSON.stringify({ type: "message_start", v: 1, role: "assistant" })}\n`;

/** How the driver stands: a call streams, tools run between calls, or nobody is at work. */
export type Standing = "in-flight" | "live" | "quiescent";

/** A session's folder with steps, and who drives it. */
export class Steps {
  readonly folder = temporaryFolder();
  readonly steps: string = join(this.folder, "steps");
  #standing: Standing = "in-flight";

  path(step: string, ...names: string[]): string {
    return join(this.steps, step, ...names);
  }

  put(step: string, name: string, content: string | object): void {
    const path = this.path(step, name);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, typeof content === "string" ? content : JSON.stringify(content));
  }

  append(text: string, step = "001"): void {
    mkdirSync(this.path(step), { recursive: true });
    appendFileSync(this.path(step, "response.json"), text);
  }

  call(
    id: string,
    file: "input" | "output" | "parked" | "answer",
    content: string | object,
    step = "001",
  ): void {
    this.put(step, `tools/${callFolderName(id)}/${file}.json`, content);
  }

  stands(standing: Standing, step = "001"): void {
    this.#standing = standing;
    if (standing === "in-flight") rmSync(this.path(step, "meta.json"), { force: true });
    else this.put(step, "meta.json", { ended_at: "t1" });
  }

  /** A park without a driver: the world of a step directory leaves it out, another world may not. */
  world(ports: WatcherPorts = blindPorts): StepWorld {
    const world = openStepWorld({
      steps: this.steps,
      isDriven: () => Promise.resolve(this.#standing !== "quiescent"),
      ports,
    });
    onTestFinished(() => world.close());
    return world;
  }

  reader(): Reader {
    return new Reader(this.world());
  }

  once(): Promise<Frame> {
    return readOnce(this.world());
  }
}

/** One read, one look at a time. */
export class Reader {
  readonly #world: Pick<World, "look">;
  state: LaneState = startLane();

  constructor(world: Pick<World, "look">) {
    this.#world = world;
  }

  async poll(): Promise<Outcome> {
    const { state, outcome } = poll(this.state, await this.#world.look(this.state));
    this.state = state;
    return outcome;
  }

  /** The frame of a look that has one. */
  async frame(): Promise<Frame> {
    const outcome = await this.poll();
    if (outcome.type !== "ready") throw new Error(`expected a frame, got ${outcome.type}`);
    return outcome.frame;
  }

  /** Every frame until a look has none. */
  async frames(): Promise<readonly Frame[]> {
    const frames: Frame[] = [];
    for (;;) {
      const outcome = await this.poll();
      if (outcome.type === "ready") frames.push(outcome.frame);
      else if (outcome.type === "over" || !outcome.isBehind) return frames;
    }
  }
}

export const waiting: Outcome = { type: "waiting", isBehind: false };
export const over: Outcome = { type: "over" };
export const prose = (text: string): Frame => ({ stream: { text, lastDelta: "text" }, tools: [] });

/** A world whose looks are given one after another; the last one stays. Time passes at once. */
export function scriptedWorld(looks: readonly (StepLook | "gone" | "idle")[]): World & { waits: number } {
  let at = 0;
  return {
    tickMs: 1,
    waits: 0,
    look(_want: Want) {
      const look = looks[Math.min(at++, looks.length - 1)];
      if (look === undefined || look === "gone") return Promise.resolve({ isDriven: true, isCalling: false });
      if (look === "idle")
        return Promise.resolve({ isDriven: false, isCalling: false, step: { id: "s", calls: [] } });
      return Promise.resolve({ isDriven: true, isCalling: true, step: look });
    },
    wait() {
      this.waits += 1;
      return Promise.resolve(false);
    },
  };
}
