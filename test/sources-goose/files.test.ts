/** The files that Goose kept before it had a database: one line a message. */
import { gooseFileClassifier } from "../../src/sources/goose/source.ts";
import { lines } from "../support/home.ts";
import { expectLineLaws } from "../support/line-agents.ts";

let ids = 0;
const message = (role: string, ...content: object[]): object => {
  ids += 1;
  return { id: `m${ids}`, role, created: 1_700_000_000, content };
};
const text = (words: string): object => ({ type: "text", text: words });
const turn = [
  message("user", text("do it")),
  message("assistant", text("I look"), {
    type: "toolRequest",
    id: "c",
    toolCall: { status: "success", value: { name: "shell", arguments: { command: "ls" } } },
  }),
  message("user", { type: "toolResponse", id: "c", toolResult: { status: "success", value: [text("a")] } }),
  message("assistant", text("Done.")),
];

expectLineLaws({
  classifier: gooseFileClassifier,
  sessions: {
    "a session": lines(
      { working_dir: "/w", description: "It", message_count: 4 },
      ...turn,
      ...turn.slice(0, 2),
    ),
    "one whose first line is a message": lines(...turn),
  },
  kinds: { shown: ["assistant", "user"], silent: ["session"], unknown: [] },
  promptOf: (words) => message("user", text(words)),
  runs: 6,
});
