/** The scenario of `hansard demo --live`: a small change to a small project, at a pace that a person can follow. */
import type { Act, Scenario } from "./scenario.ts";

const oldText = `export function greet(name) {
  return "Hello " + name;
}
`;
const newText = `export function greet(name = "world") {
  return \`Hello \${name}!\`;
}
`;

const work: readonly Act[] = [
  {
    type: "thinking",
    text: "The greeting has no default and no exclamation mark. I look at it first.",
    chunk: 6,
  },
  {
    type: "plan",
    steps: [
      { text: "Read the greeting", state: "in_progress" },
      { text: "Change it", state: "pending" },
      { text: "Run the tests", state: "pending" },
    ],
  },
  { type: "wait", ms: 200 },
  { type: "text", text: "I read the greeting, change it and run the tests.", chunk: 8 },
  {
    type: "call",
    id: "read-1",
    title: "Read src/greet.js",
    kind: "read",
    status: "in_progress",
    input: { path: "src/greet.js" },
  },
  { type: "wait", ms: 300 },
  { type: "update", id: "read-1", status: "completed", output: oldText },
  {
    type: "plan",
    steps: [
      { text: "Read the greeting", state: "completed" },
      { text: "Change it", state: "in_progress" },
      { text: "Run the tests", state: "pending" },
    ],
  },
  {
    type: "ask",
    id: "edit-1",
    title: "Edit src/greet.js",
    kind: "edit",
    input: { path: "src/greet.js" },
    diff: { path: "src/greet.js", oldText, newText },
    answers: {
      allow: [
        {
          type: "update",
          id: "edit-1",
          status: "completed",
          diff: { path: "src/greet.js", oldText, newText },
        },
      ],
      always: [
        {
          type: "update",
          id: "edit-1",
          status: "completed",
          diff: { path: "src/greet.js", oldText, newText },
        },
      ],
      reject: [
        { type: "update", id: "edit-1", status: "failed", output: "The person did not allow it." },
        { type: "text", text: "Then I leave the greeting as it is.", chunk: 8 },
        { type: "stop", reason: "end_turn" },
      ],
      cancelled: [],
    },
  },
  {
    type: "call",
    id: "test-1",
    title: "npm test",
    kind: "execute",
    status: "in_progress",
    input: { command: "npm test" },
  },
  { type: "wait", ms: 800 },
  {
    type: "update",
    id: "test-1",
    status: "completed",
    output: "✓ greets by name\n✓ greets the world\n\n2 passed\n",
    rawOutput: { exitCode: 0 },
  },
  {
    type: "plan",
    steps: [
      { text: "Read the greeting", state: "completed" },
      { text: "Change it", state: "completed" },
      { text: "Run the tests", state: "completed" },
    ],
  },
  {
    type: "text",
    text: 'The greeting now says **Hello world!** where no name is given, and the tests pass:\n\n```js\ngreet();        // Hello world!\ngreet("Ada");   // Hello Ada!\n```\n',
    chunk: 10,
  },
  { type: "stop", reason: "end_turn", usage: { inputTokens: 1840, outputTokens: 212, totalTokens: 2052 } },
];

export const demoScenario: Scenario = {
  name: "demo",
  version: "1.0.0",
  load: true,
  modes: {
    currentModeId: "ask",
    availableModes: [
      { id: "ask", name: "Ask" },
      { id: "auto", name: "Auto" },
    ],
  },
  opened: [
    {
      type: "commands",
      commands: [
        { name: "review", description: "Look over the changes" },
        { name: "test", description: "Run the tests" },
      ],
    },
  ],
  prompts: [
    [{ type: "title", title: "A friendlier greeting" }, ...work],
    [
      { type: "text", text: "You said: ", chunk: 4 },
      { type: "echo" },
      { type: "stop", reason: "end_turn", usage: { totalTokens: 320 } },
    ],
  ],
};
