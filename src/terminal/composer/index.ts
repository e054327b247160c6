/** The prompt that a person writes: editing, layout, drawing. Pure. @module */
export {
  type Composer,
  type ComposerAct,
  type ComposerSurroundings,
  createComposer,
  isEmpty,
  type Pressed,
  pressKey,
  replacePrompt,
  seedHistory,
} from "./composer.ts";
export {
  type ComposerDrawing,
  type ComposerDrawingOptions,
  drawComposer,
  promptWidth,
} from "./drawing.ts";
export { promptOf } from "./editor.ts";
export { composerRowsMax } from "./limits.ts";
export type { CommandOffer } from "./types.ts";
