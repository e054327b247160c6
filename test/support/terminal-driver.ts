/**
 * Run in a real terminal by tests. `port`: tells what comes through the port of the process's terminal. `screen`: obeys typed keys, one act
 * a key, and shows in the live region how many it has carried out.
 */
import { writeFileSync } from "node:fs";
import { createInputDecoder, createQueries, type Key } from "../../src/terminal/input/index.ts";
import { createNodeTerminal, monotonicClock } from "../../src/terminal/node-terminal.ts";
import type { TerminalPort } from "../../src/terminal/port.ts";
import { type CursorPlace, createScreen, roomOf } from "../../src/terminal/screen/index.ts";
import { themeOf } from "../../src/terminal/text/index.ts";
import { contentOf, linesOf, wayOf } from "./terminal/printed.ts";

const askMs = 1_000;
const askAgainMs = 20;

function runPort(port: TerminalPort, tellGone: () => void): void {
  port.setRaw(true);
  const undo = [
    port.onResize(() => port.write(`size ${port.size().columns}x${port.size().rows};`)),
    port.onGone(() => {
      port.write("to nobody");
      port.writeNow("to nobody");
      port.setRaw(false);
      for (const stop of undo) stop();
      // An ordinary exit without a terminal aborts in some versions of Node.
      setImmediate(() => {
        tellGone();
        process.kill(process.pid, "SIGKILL");
      });
    }),
    port.onInput((text) => {
      if (text === "q") for (const stop of undo) stop();
      else if (text === "n") port.writeNow(`now ${"x".repeat(200_000)} over;`);
      else if (text === "d") {
        port.write("y".repeat(200_000));
        void port.drained().then(() => port.write(" drained;"));
      } else port.write(`in ${JSON.stringify(text)};`);
    }),
  ];
  port.write(`size ${port.size().columns}x${port.size().rows};`);
}

function runScreen(port: TerminalPort): void {
  const clock = monotonicClock();
  port.setRaw(true);
  let keys = (_: Key): void => undefined;
  const decoder = createInputDecoder({
    clock,
    onKey: (key) => keys(key),
    onReport: (report) => queries.take(report),
  });
  const queries = createQueries(port, clock);
  const unlisten = port.onInput((text) => decoder.push(text));
  /** Where the cursor is, once the system tells the size that the terminal has. */
  const askCursor = async (): Promise<CursorPlace | undefined> => {
    for (;;) {
      const answer = await queries.askCursor(askMs);
      const { columns, rows } = port.size();
      if (answer === undefined || (answer.size.columns === columns && answer.size.rows === rows))
        return answer;
      await new Promise<void>((resolve) => clock.after(askAgainMs, resolve));
    }
  };
  const screen = createScreen(port, clock, { theme: themeOf({}, false), isSynchronized: true, askCursor });
  let acts = 0;
  let printed = 0;
  let liveRows = 1;
  let acting = Promise.resolve();
  const show = async (): Promise<void> => {
    const texts = Array.from({ length: liveRows }, (_, row) => `live ${row} 漢字 ✅ ${"=".repeat(12)}`);
    screen.setLive([...texts, `act ${acts}`].map((text) => ({ spans: [{ text }], wrap: "fit" })));
    await screen.flush();
  };
  const act = async (key: Key): Promise<void> => {
    if (key.name === "e") {
      screen.end([{ spans: [{ text: "bye" }], wrap: "fit" }]);
      await port.drained();
      unlisten();
      return;
    }
    if (key.name === "p") {
      const content = contentOf(printed);
      const way = wayOf(printed);
      printed += 1;
      const relayout = (width: number): ReturnType<typeof linesOf> => linesOf(content, way, width);
      screen.commit({ lines: relayout(roomOf(port.size().columns)), relayout });
    } else if (key.name === "r") {
      await askCursor();
      await screen.resized("adopt");
    } else if (/^[0-9]$/.test(key.name)) {
      liveRows = Number(key.name);
    }
    acts += 1;
    await show();
  };
  keys = (key) => {
    acting = acting.then(() => act(key));
  };
  void show();
}

const [mode, path] = process.argv.slice(2);
const port = createNodeTerminal(process.stdin, process.stdout);
if (mode === "screen") runScreen(port);
else {
  // By default the signal of a hang-up ends the process before the streams tell of it.
  process.on("SIGHUP", () => undefined);
  runPort(port, () => writeFileSync(path ?? "", "gone"));
}
