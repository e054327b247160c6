/** Calls that wait for the person: shown with what they would do, answered once. */
import { details, entryHtml, escapeHtml } from "../../html/index.ts";
import type { Approval } from "../../session/types.ts";
import { ApiError, ask, wordsOf } from "./api.ts";

export interface QuestionsOptions {
  readonly place: HTMLElement;
  /** The session's route. */
  readonly path: string;
  readonly mayAnswer: boolean;
  readonly say: (words: string) => void;
}

export class Questions {
  readonly #options: QuestionsOptions;
  #shown = "";

  constructor(options: QuestionsOptions) {
    this.#options = options;
    options.place.addEventListener("click", (event) => {
      const button = (event.target as Element).closest<HTMLButtonElement>("button[data-option]");
      if (button !== null) void this.#answer(button);
    });
  }

  show(approvals: readonly Approval[]): void {
    const { place } = this.#options;
    const html = approvals.map((approval) => this.#questionHtml(approval)).join("");
    if (html === this.#shown) return;
    this.#shown = html;
    place.innerHTML = html;
    place.hidden = approvals.length === 0;
  }

  #questionHtml({ id, call, changes, options }: Approval): string {
    const does = entryHtml({
      kind: "model",
      name: id,
      usage: {},
      blocks: [
        {
          kind: "tool-use",
          id: call.id,
          name: call.name,
          inputSummary: call.inputSummary,
          ...(call.subject === undefined ? {} : { subject: call.subject }),
          ...(changes === undefined ? {} : { changes }),
        },
      ],
    });
    const buttons = options.map(
      (option) =>
        `<button type="button" class="${option.kind.startsWith("allow") ? "allow" : "reject"}" data-approval="${escapeHtml(id)}" data-option="${escapeHtml(option.id)}">${escapeHtml(option.label)}</button>`,
    );
    const answers = this.#options.mayAnswer
      ? `<div class="answers">${buttons.join("")}</div>`
      : '<p class="note">This key may read, not answer.</p>';
    return `<div class="question"><h3>The agent asks: ${escapeHtml(call.name)} ${escapeHtml(call.subject ?? "")}</h3>${details("What it would do", does)}${answers}</div>`;
  }

  async #answer(button: HTMLButtonElement): Promise<void> {
    const { path, place, say } = this.#options;
    const { approval = "", option = "" } = button.dataset;
    const all = [...place.querySelectorAll<HTMLButtonElement>("button[data-approval]")].filter(
      (each) => each.dataset["approval"] === approval,
    );
    for (const each of all) each.disabled = true;
    try {
      await ask(`${path}/answers`, { approval, option });
      say("Answered.");
    } catch (error) {
      const by = error instanceof ApiError && error.status === 409 ? error.body["by"] : undefined;
      if (typeof by === "string") say(`This was answered already by ${by}.`);
      else {
        say(wordsOf(error));
        for (const each of all) each.disabled = false;
      }
    }
  }
}
