/** The file changes of a patch's text. */
import fc from "fast-check";
import { expect, test } from "vitest";
import { PATCH_FILES_MAX, patchChanges } from "../../src/sources/codex/patch.ts";

test.each<[string, string, unknown[]]>([
  ["no patch", "ls", []],
  ["a patch without files", "*** Begin Patch\n*** End Patch", []],
  ["a new file", "*** Begin Patch\n*** Add File: a\n+x\n+\n*** End Patch", [{ path: "a", newText: "x\n\n" }]],
  [
    "an update",
    "*** Begin Patch\n*** Update File: a\n@@ f\n-x\n+y\n*** End of File\n*** End Patch\nrest",
    [{ path: "a", patch: "@@ f\n-x\n+y\n" }],
  ],
  [
    "a move",
    "*** Begin Patch\n*** Update File: a\n*** Move to: b\n@@\n-x\n*** End Patch",
    [{ path: "a → b", patch: "@@\n-x\n" }],
  ],
  ["a deletion", "*** Begin Patch\n*** Delete File: a\n*** End Patch", [{ path: "a", newText: "" }]],
  [
    "lines of another system",
    "*** Begin Patch\r\n*** Add File: a\r\n+x\r\n*** End Patch\r\n",
    [{ path: "a", newText: "x\n" }],
  ],
  ["one that is cut", "*** Begin Patch\n*** Add File: a\n+x", [{ path: "a", newText: "x\n" }]],
  [
    "one within a command",
    "cat <<E\n*** Begin Patch\n*** Add File: a\n+x\n*** End Patch\nE",
    [{ path: "a", newText: "x\n" }],
  ],
])("%s", (_, text, changes) => {
  expect(patchChanges(text)).toEqual(changes);
});

test("files past the limit are not told apart", () => {
  const patch = (files: number): string =>
    `*** Begin Patch\n${"*** Delete File: a\n".repeat(files)}*** End Patch`;
  expect(patchChanges(patch(PATCH_FILES_MAX))).toHaveLength(PATCH_FILES_MAX);
  expect(patchChanges(patch(PATCH_FILES_MAX + 1))).toHaveLength(PATCH_FILES_MAX);
});

test("any text gives an answer", () => {
  const pieces = fc.array(
    fc.constantFrom(
      "*** Begin Patch",
      "*** Add File: x",
      "*** Update File: ",
      "*** Move to: y",
      "*** End Patch",
      "+a",
      "@@",
      "",
    ),
  );
  fc.assert(
    fc.property(pieces, (lines) => {
      for (const { path } of patchChanges(lines.join("\n"))) expect(path).not.toBe("");
    }),
  );
});
