/** `node main.js`: the MCP server with the one tool `handoff`, spawned by an agent, which hands its notes to the session's driver. */
import { fromJsonSchema, McpServer } from "@modelcontextprotocol/server";
import { StdioServerTransport } from "@modelcontextprotocol/server/stdio";
import { HANDOFF_NOTE_MAX_BYTES } from "../../continuity/index.ts";
import { addressVariable, keyVariable, sendNote } from "../handoff-channel.ts";

const { [addressVariable]: address, [keyVariable]: key } = process.env;
if (address === undefined || key === undefined) {
  process.stderr.write(
    "This program is started by an agent that `hansard run` drives, and does nothing by itself.\n",
  );
  process.exit(2);
}

const server = new McpServer({ name: "hansard", version: "1.0.0" });
server.registerTool(
  "handoff",
  {
    title: "Handoff",
    description:
      "Reduces your context once this turn is over, and gives you this note back, word for word, to carry on from. " +
      "Write all that you need: what is decided, what holds, what is open, the next step. " +
      `At most ${HANDOFF_NOTE_MAX_BYTES} bytes. End your turn after it.`,
    inputSchema: fromJsonSchema<{ note: string }>({
      type: "object",
      properties: { note: { type: "string", description: "The note to yourself." } },
      required: ["note"],
      additionalProperties: false,
    }),
  },
  async ({ note }) => {
    try {
      const { isAccepted, text } = await sendNote(address, key, note);
      return { content: [{ type: "text", text }], isError: !isAccepted };
    } catch (error) {
      const words = error instanceof Error ? error.message : String(error);
      return { content: [{ type: "text", text: `The note was not kept: ${words}.` }], isError: true };
    }
  },
);
await server.connect(new StdioServerTransport());
