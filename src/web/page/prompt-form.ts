/** What the person says to the agent, and the button that stops it. */
import { ApiError, ask, byId, wordsOf } from "./api.ts";

export interface PromptOptions {
  /** The session's route. */
  readonly path: string;
  readonly say: (words: string) => void;
  /** A prompt was taken. */
  readonly onSent: () => void;
}

export function startPrompt({ path, say, onSent }: PromptOptions): void {
  const form = byId<HTMLFormElement>("prompt");
  const text = byId<HTMLTextAreaElement>("text");
  const button = form.querySelector<HTMLButtonElement>("button[type=submit]");
  const send = async (): Promise<void> => {
    const words = text.value;
    if (words.trim() === "" || button?.disabled === true) return;
    if (button !== null) button.disabled = true;
    try {
      await ask(`${path}/prompts`, { text: words });
      text.value = "";
      onSent();
    } catch (error) {
      // What was typed stays.
      const said = wordsOf(error);
      say(
        error instanceof ApiError
          ? said
          : `${said} Look whether the prompt came in before you send it again.`,
      );
    } finally {
      if (button !== null) button.disabled = false;
    }
  };
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    void send();
  });
  text.addEventListener("keydown", (event) => {
    if (event.key !== "Enter" || !(event.ctrlKey || event.metaKey) || event.isComposing) return;
    event.preventDefault();
    void send();
  });
  byId("cancel").addEventListener("click", () => {
    ask(`${path}/cancel`, {}).then(
      () => say("The agent is asked to stop."),
      (error: unknown) => say(wordsOf(error)),
    );
  });
}
