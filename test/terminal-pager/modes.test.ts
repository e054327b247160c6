import fc from "fast-check";
import { expect, test } from "vitest";
import { createModes, type ModeName } from "../../src/terminal/modes.ts";

const names: readonly ModeName[] = [
  "alternateScreen",
  "hiddenCursor",
  "bracketedPaste",
  "wheelArrows",
  "title",
];

test("cop#3876, mandible#68: modes are undone in reverse order, once", () => {
  const modes = createModes();
  expect(modes.enter("hiddenCursor")).toBe("\u001b[?25l");
  expect(modes.enter("bracketedPaste")).toBe("\u001b[?2004h");
  expect(modes.enter("alternateScreen")).toBe("\u001b[?1049h");
  expect(modes.undoAll()).toBe("\u001b[?1049l\u001b[?2004l\u001b[?25h");
  expect(modes.undoAll()).toBe("");
});

test("what is entered is left once, whatever is done twice", () => {
  fc.assert(
    fc.property(fc.array(fc.tuple(fc.boolean(), fc.constantFrom(...names)), { maxLength: 30 }), (acts) => {
      const modes = createModes();
      const on: ModeName[] = [];
      for (const [isEnter, name] of acts) {
        const bytes = isEnter ? modes.enter(name) : modes.leave(name);
        const at = on.indexOf(name);
        expect(bytes === "").toBe(isEnter === at >= 0);
        if (isEnter && at < 0) on.push(name);
        else if (!isEnter && at >= 0) on.splice(at, 1);
      }
      const single = on.toReversed().map((name) => {
        const one = createModes();
        one.enter(name);
        return one.undoAll();
      });
      expect(modes.undoAll()).toBe(single.join(""));
    }),
  );
});
