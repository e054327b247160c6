import { defineConfig } from "vitest/config";

// The pure tests of continuity, as `npm run mutate:continuity` runs them against each mutant of fold, evidence and projection.
export default defineConfig({
  test: {
    include: ["test/continuity/{fold-chain,fold-carry,fold-select,evidence,projection}.test.ts"],
    testTimeout: 10_000,
  },
});
