/** What is typed while the agent starts. */
import { EventEmitter } from "node:events";
import { expect, test } from "vitest";
import { keepTyped, type TypedInput, typeAheadBytesMax } from "../../src/cli/type-ahead.ts";

function keyboard() {
  const did: string[] = [];
  const events = new EventEmitter();
  const given: Buffer[] = [];
  const input: TypedInput = {
    setRawMode: (raw) => did.push(raw ? "raw" : "cooked"),
    on: (event, listener) => events.on(event, listener),
    off: (event, listener) => events.off(event, listener),
    resume: () => did.push("resume"),
    pause: () => did.push("pause"),
    unshift: (bytes) => void given.push(bytes),
  };
  let interrupts = 0;
  const release = keepTyped(
    input,
    (text) => did.push(JSON.stringify(text)),
    () => {
      interrupts += 1;
    },
  );
  const type = (text: string): void => void events.emit("data", Buffer.from(text));
  const typed = (): string => Buffer.concat(given).toString();
  return {
    did,
    release,
    type,
    typed,
    interrupts: () => interrupts,
    listeners: () => events.listenerCount("data"),
  };
}

test("is given back to whoever reads next; Enter is Enter, also from before the keyboard was taken", () => {
  const k = keyboard();
  k.type("fix it\n");
  k.type("and\rthis");
  k.release(false);
  expect(k.typed()).toBe("fix it\rand\rthis");
  expect(k.did).toEqual(["raw", '"\\u001b[?2004h"', "resume", "pause"]);
  expect(k.listeners()).toBe(0);
});

test("Ctrl+C calls the start off; then the terminal has its own mode again, and nothing is given back", () => {
  const k = keyboard();
  k.type("x\x03");
  expect(k.interrupts()).toBe(1);
  k.release(true);
  expect(k.typed()).toBe("");
  expect(k.did.slice(-2)).toEqual(['"\\u001b[?2004l"', "cooked"]);
});

test("typeAheadBytesMax: so much is kept, and a key more is not", () => {
  const k = keyboard();
  k.type("a".repeat(typeAheadBytesMax));
  k.type("b");
  k.release(false);
  expect(k.typed()).toBe("a".repeat(typeAheadBytesMax));
});
