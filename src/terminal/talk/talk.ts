/** Talking to an agent: the prompt, questions, the queue, and what each key does to them. */
import type { Approval, DrivenSession, DriverState, TailPage } from "../../session/index.ts";
import type { Entry } from "../../transcript/index.ts";
import {
  type Composer,
  type ComposerAct,
  createComposer,
  pressKey,
  promptOf,
  promptWidth,
  replacePrompt,
  seedHistory,
} from "../composer/index.ts";
import { type Key, keyName, pasteUnitsMax } from "../input/index.ts";
import type { Clock, Unsubscribe } from "../port.ts";
import type { Notice, RenderOptions, Status } from "../render/index.ts";
import { approvalEntry, optionOf } from "./approval-box.ts";
import { drawFoot, type Foot } from "./foot.ts";
import { answerGuardMs, leaveAgainMs, optionsMax, queuedPromptsMax, seedPromptsMax } from "./limits.ts";

export interface TalkOptions {
  readonly session: DrivenSession;
  readonly clock: Clock;
  readonly now: () => number;
  /** Who answers, for others that follow the session. */
  readonly by: string;
  readonly layout: Pick<RenderOptions, "highlighter" | "time" | "moreKey">;
  /** The blocks that are not finished. */
  readonly liveEntries: () => readonly Entry[];
  /** Cells of a row. */
  readonly width: () => number;
  readonly say: (notice: Notice) => void;
  readonly changed: () => void;
  readonly quit: () => void;
  /** Lets the person edit the text elsewhere; absent: there is no such place. */
  readonly openEditor?: (text: string) => Promise<string | undefined>;
  readonly fail: (error: unknown) => void;
}

const phaseOf: Readonly<Record<DriverState["phase"], NonNullable<Status["state"]>>> = {
  starting: "starting",
  ready: "ready",
  working: "working",
  cancelling: "cancelling",
  ended: "ended",
};

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

export class Talk {
  readonly #options: TalkOptions;
  #driver: DriverState;
  #composer: Composer = createComposer();
  /** Texts of prompts that wait, the next one first. */
  #queued: string[] = [];
  /** The question whose keys count or will count, and since when the keyboard has been quiet. */
  #asked: string | undefined;
  #quietSince = 0;
  #chosen: number | undefined;
  /** The person went back to the prompt while a question waits. */
  #isPutOff = false;
  /** Questions that were answered here and are still told. */
  readonly #answered = new Set<string>();
  #leaving: { readonly key: "leave" | "interrupt"; readonly at: number } | undefined;
  #isEditing = false;
  #cancelArm: Unsubscribe | undefined;

  constructor(options: TalkOptions) {
    this.#options = options;
    this.#driver = options.session.driver;
    this.#meetApproval();
  }

  get driver(): DriverState {
    return this.#driver;
  }

  get isAtWork(): boolean {
    return this.#driver.phase === "working" || this.#driver.phase === "cancelling";
  }

  get isAsking(): boolean {
    return this.#approval() !== undefined;
  }

  /** Prompts of a session that goes on are there to be brought back. */
  begin(page: TailPage): void {
    const prompts = page.entries.filter((entry) => entry.kind === "delivered" && entry.sender === "user");
    const texts = prompts.map((entry) => (entry.kind === "delivered" ? entry.body : ""));
    this.#composer = seedHistory(this.#composer, texts.slice(-seedPromptsMax));
  }

  /** The agent stands otherwise than before. */
  apply(driver: DriverState): void {
    this.#driver = driver;
    while (this.#queued.length > driver.queued) this.#queued.shift();
    const told = new Set(driver.approvals.map(({ id }) => id));
    for (const id of this.#answered) if (!told.has(id)) this.#answered.delete(id);
    this.#meetApproval();
  }

  /** The question with its changes, for the history, where no live block shows them. */
  entries(): readonly Entry[] {
    const approval = this.#approval();
    if (approval?.changes === undefined || approval.changes.length === 0) return [];
    return this.#isShown(approval) ? [] : [approvalEntry(approval)];
  }

  #isShown(approval: Approval): boolean {
    return this.#options
      .liveEntries()
      .some(
        (entry) =>
          entry.kind === "model" &&
          entry.blocks.some(
            (block) =>
              block.kind === "tool-use" && block.id === approval.call.id && (block.changes?.length ?? 0) > 0,
          ),
      );
  }

  foot(notice: Notice | undefined, status: Status, width: number, rowsMax: number): Foot {
    const approval = this.#approval();
    return drawFoot(
      {
        driver: this.#driver,
        composer: this.#composer,
        approval,
        isShown: approval !== undefined && this.#isShown(approval),
        chosen: this.#chosen,
        isArmed: this.#isArmed(),
        queued: this.#queued,
        notice,
        status: { ...status, ...this.#statusFacts() },
        layout: this.#options.layout,
      },
      width,
      rowsMax,
    );
  }

  /** Takes a key of the main screen; false where it is none of the talk's. */
  key(key: Key): boolean {
    if (this.#isEditing) return true;
    if (this.#keyOfQuestion(key)) {
      this.#leaving = undefined;
      this.#options.changed();
      return true;
    }
    this.#quietSince = this.#options.clock.now();
    this.#armLater();
    const pressed = pressKey(this.#composer, key, {
      width: promptWidth(this.#options.width()),
      commands: this.#driver.commands,
    });
    this.#composer = pressed.composer;
    const { refused } = pressed.composer.editor;
    if (key.leftOut !== undefined)
      this.#options.say({
        tone: "warning",
        text: `A paste is taken up to ${pasteUnitsMax} characters: ${key.leftOut} at its end were left out. Put it into a file and name the file.`,
      });
    else if (refused !== undefined) this.#options.say({ tone: "warning", text: refused });
    const { act } = pressed;
    if (act?.type !== "leave" && act?.type !== "interrupt") this.#leaving = undefined;
    this.#options.changed();
    return act === undefined || this.#perform(act);
  }

  stop(): void {
    this.#cancelArm?.();
  }

  #statusFacts(): Partial<Status> {
    const { phase, agent, modes, modeId, turnStartedAt } = this.#driver;
    const mode = modes.find(({ id }) => id === modeId)?.name;
    const isAsking = this.#approval() !== undefined;
    const elapsedMs =
      this.isAtWork && turnStartedAt !== undefined
        ? Math.max(0, this.#options.now() - turnStartedAt)
        : undefined;
    return {
      agent: agent.name,
      ...(mode === undefined ? {} : { mode }),
      state: isAsking ? "asking" : phaseOf[phase],
      ...(elapsedMs === undefined ? {} : { elapsedMs }),
      keys: this.isAtWork ? ["Esc cancel", "Ctrl+O history"] : ["Ctrl+O history", "Ctrl+D quit"],
    };
  }

  // Questions

  #approval(): Approval | undefined {
    return this.#driver.approvals.find(({ id }) => !this.#answered.has(id));
  }

  /** A question that is new takes keys only after a while: what is being typed is not for it. */
  #meetApproval(): void {
    const id = this.#approval()?.id;
    if (id === this.#asked) return;
    this.#asked = id;
    this.#chosen = undefined;
    this.#isPutOff = false;
    this.#quietSince = Math.max(this.#quietSince, this.#options.clock.now());
    this.#armLater();
  }

  #armLater(): void {
    this.#cancelArm?.();
    this.#cancelArm = undefined;
    if (this.#asked === undefined) return;
    this.#cancelArm = this.#options.clock.after(answerGuardMs, () => this.#options.changed());
  }

  #isArmed(): boolean {
    return (
      this.#asked !== undefined &&
      !this.#isPutOff &&
      this.#options.clock.now() - this.#quietSince >= answerGuardMs
    );
  }

  /** What a key does to the question; false where it is not for it. */
  #keyOfQuestion(key: Key): boolean {
    const approval = this.#approval();
    if (approval === undefined) return false;
    const name = keyName(key);
    if (name === "tab" && (this.#isPutOff || this.#isArmed())) {
      this.#isPutOff = !this.#isPutOff;
      if (!this.#isPutOff) this.#quietSince = Number.NEGATIVE_INFINITY;
      return true;
    }
    if (!this.#isArmed()) return false;
    const count = Math.min(optionsMax, approval.options.length);
    switch (name) {
      case "up":
        this.#chosen = ((this.#chosen ?? 0) + count - 1) % Math.max(1, count);
        return true;
      case "down":
        this.#chosen = this.#chosen === undefined ? 0 : (this.#chosen + 1) % Math.max(1, count);
        return true;
      case "enter": {
        const option = this.#chosen === undefined ? undefined : approval.options[this.#chosen];
        if (option !== undefined) this.#answer(approval, option.id);
        return true;
      }
    }
    if (key.text === undefined || key.name === "paste" || key.alt === true) return false;
    const option = optionOf(approval, key.text);
    if (option === undefined)
      this.#options.say({
        tone: "information",
        text: "The agent waits for an answer: press a key that is shown, or Tab to go on writing.",
      });
    else this.#answer(approval, option.id);
    return true;
  }

  #answer(approval: Approval, optionId: string): void {
    this.#answered.add(approval.id);
    this.#meetApproval();
    void this.#options.session.answer(approval.id, optionId, this.#options.by).then(
      (answered) => {
        if (!answered.taken)
          this.#options.say({ tone: "information", text: `This was answered already by ${answered.by}.` });
      },
      (error: unknown) => {
        this.#answered.delete(approval.id);
        this.#meetApproval();
        this.#options.say({ tone: "error", text: `The answer was not taken: ${messageOf(error)}` });
      },
    );
  }

  // What the composer asks for

  #perform(act: ComposerAct): boolean {
    switch (act.type) {
      case "send":
        this.#send(act.text);
        return true;
      case "cancel":
        this.#cancel();
        return true;
      case "interrupt":
        this.#interrupt();
        return true;
      case "leave":
        this.#leave("leave");
        return true;
      case "openEditor":
        void this.#edit().catch(this.#options.fail);
        return true;
      case "nextMode":
        this.#nextMode();
        return true;
      case "pass":
        return false;
    }
  }

  #send(text: string): void {
    if (this.#driver.phase === "ended") {
      this.#options.say({
        tone: "warning",
        text: "The agent has ended; the prompt was not sent (Up brings it back).",
      });
      return;
    }
    if (this.#driver.phase !== "ready" || this.#driver.queued > 0)
      this.#queued = [...this.#queued, text].slice(0, queuedPromptsMax);
    this.#options.session.prompt(text).catch((error: unknown) => {
      const at = this.#queued.indexOf(text);
      if (at >= 0) this.#queued.splice(at, 1);
      this.#options.say({
        tone: "error",
        text: `The prompt was not taken (Up brings it back): ${messageOf(error)}`,
      });
    });
  }

  #cancel(): void {
    if (!this.isAtWork) return;
    this.#options.session.cancel().catch((error: unknown) => {
      this.#options.say({ tone: "error", text: `The turn cannot be cancelled: ${messageOf(error)}` });
    });
  }

  /** Ctrl+C on an empty prompt: the turn is cancelled first, then the program is left. */
  #interrupt(): void {
    if (this.#driver.phase === "working" && this.#leaving?.key !== "interrupt") {
      this.#cancel();
      this.#leaving = { key: "interrupt", at: this.#options.clock.now() };
      return;
    }
    this.#leave("interrupt");
  }

  /** Leaves; asks once where a turn runs, or where the key is one that is pressed for other reasons too. */
  #leave(key: "leave" | "interrupt"): void {
    const now = this.#options.clock.now();
    const isAgain = this.#leaving?.key === key && now - this.#leaving.at <= leaveAgainMs;
    const isBusy = this.isAtWork || this.#driver.queued > 0;
    const isUnsaved = this.#driver.notSaved !== undefined;
    const isOver = this.#driver.phase === "ended" || (key === "leave" && !isBusy);
    if (isAgain || (isOver && !isUnsaved)) {
      this.#options.quit();
      return;
    }
    this.#leaving = { key, at: now };
    const name = key === "leave" ? "Ctrl+D" : "Ctrl+C";
    const then = isBusy ? "cancels the turn and quits" : "quits";
    if (isUnsaved)
      this.#options.say({ tone: "warning", text: `What is not saved would be lost: ${name} again ${then}.` });
    else if (isBusy)
      this.#options.say({
        tone: "warning",
        text: `The agent is at work. ${name} again cancels its turn and quits.`,
      });
    else this.#options.say({ tone: "information", text: `${name} again quits.` });
  }

  #nextMode(): void {
    const { modes, modeId } = this.#driver;
    if (modes.length < 2) return;
    const next = modes[(modes.findIndex(({ id }) => id === modeId) + 1) % modes.length];
    if (next === undefined) return;
    this.#options.session.setMode(next.id).catch((error: unknown) => {
      this.#options.say({ tone: "error", text: `The mode cannot be set: ${messageOf(error)}` });
    });
  }

  async #edit(): Promise<void> {
    const { openEditor } = this.#options;
    if (openEditor === undefined) {
      this.#options.say({ tone: "information", text: "Set VISUAL or EDITOR to write the prompt there." });
      return;
    }
    this.#isEditing = true;
    try {
      const text = await openEditor(promptOf(this.#composer.editor));
      if (text !== undefined) this.#composer = replacePrompt(this.#composer, text.replace(/\n$/, ""));
    } finally {
      this.#isEditing = false;
      this.#options.changed();
    }
  }
}
