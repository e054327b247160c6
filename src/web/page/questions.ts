/** Calls that wait for the person: shown with what they would do, answered once. */
import { callWords, changesHtml, escapeHtml, outputHtml } from "../../html/index.ts";
import type { Approval } from "../../session/types.ts";
import type { ContentBlock } from "../../transcript/index.ts";
import { ApiError, ask, wordsOf } from "./api.ts";

type Call = ContentBlock & { readonly kind: "tool-use" };

export interface QuestionsOptions {
  readonly place: HTMLElement;
  /** The session's route. */
  readonly path: string;
  readonly mayAnswer: boolean;
  /** The call as the transcript has it: what it would change stands there. */
  readonly callOf: (callId: string) => Call | undefined;
  readonly say: (words: string) => void;
}

export class Questions {
  readonly #options: QuestionsOptions;
  #approvals: readonly Approval[] = [];
  #shown = "";
  /** Approvals that an answer of this page is on its way to, or was given to. */
  readonly #answering = new Set<string>();

  constructor(options: QuestionsOptions) {
    this.#options = options;
    options.place.addEventListener("click", (event) => {
      const button = (event.target as Element).closest<HTMLButtonElement>("button[data-option]");
      if (button !== null) void this.#answer(button);
    });
  }

  show(approvals: readonly Approval[]): void {
    this.#approvals = approvals;
    this.refresh();
  }

  /** Tells the questions again, where the transcript may know more of their calls. */
  refresh(): void {
    const { place } = this.#options;
    const html = this.#approvals.map((approval) => this.#questionHtml(approval)).join("");
    if (html === this.#shown) return;
    this.#shown = html;
    const focused = place.contains(document.activeElement)
      ? (document.activeElement as HTMLElement).dataset
      : undefined;
    place.innerHTML = html;
    place.hidden = this.#approvals.length === 0;
    for (const button of place.querySelectorAll<HTMLButtonElement>("button[data-option]")) {
      const { approval = "", option } = button.dataset;
      button.disabled = this.#answering.has(approval);
      // Only the same answer to the same question keeps the focus: a key that is pressed answers nothing else.
      if (focused?.["approval"] === approval && focused["option"] === option) button.focus();
    }
  }

  #questionHtml({ id, call, changes, options }: Approval): string {
    const known = this.#options.callOf(call.id);
    const { name, subject } = callWords(known ?? call);
    const would = changesHtml(changes ?? known?.changes);
    const input = known?.inputSummary ?? call.inputSummary;
    const what = would !== "" ? would : input === name || input === subject ? "" : outputHtml(input);
    const buttons = options.map(
      (option) =>
        `<button type="button" class="${option.kind}" data-approval="${escapeHtml(id)}" data-option="${escapeHtml(option.id)}">${escapeHtml(option.label)}</button>`,
    );
    const answers = this.#options.mayAnswer
      ? `<div class="answers">${buttons.join("")}</div>`
      : '<p class="note">This key may read, not answer.</p>';
    return `<div class="question"><h3><span class="note">The agent asks</span> <b>${escapeHtml(name)}</b> ${escapeHtml(subject)}</h3><div class="what">${what}</div>${answers}</div>`;
  }

  async #answer(button: HTMLButtonElement): Promise<void> {
    const { path, say } = this.#options;
    const { approval = "", option = "" } = button.dataset;
    this.#able(approval, false);
    try {
      await ask(`${path}/answers`, { approval, option });
      say("Answered.");
    } catch (error) {
      const by = error instanceof ApiError && error.status === 409 ? error.body["by"] : undefined;
      if (typeof by === "string") say(`This was answered already by ${by}.`);
      else {
        say(wordsOf(error));
        this.#able(approval, true);
      }
    }
  }

  #able(approval: string, isAble: boolean): void {
    if (isAble) this.#answering.delete(approval);
    else this.#answering.add(approval);
    for (const each of this.#options.place.querySelectorAll<HTMLButtonElement>("button[data-approval]"))
      if (each.dataset["approval"] === approval) each.disabled = !isAble;
  }
}
