// Lets Node run the project's TypeScript directly: `node --import ./scripts/ts-hook.js bench/main.ts`. Types are erased, not checked.
import { register } from "node:module";

register("./ts-loader.js", import.meta.url);
