import { defineConfig } from "vitest/config";

// The window's tests alone, as `npm run mutate` runs them against each mutant.
export default defineConfig({
  test: {
    include: ["test/window/**/*.test.ts"],
    exclude: ["test/window/purity.test.ts"],
    testTimeout: 10_000,
  },
});
