import { defineConfig } from "vitest/config";
import { viteValidators } from "./src/dev/validators.mjs";

export default defineConfig({
  plugins: [viteValidators()],
  test: {
    include: ["test/**/*.test.ts"],
    testTimeout: 60_000,
    hookTimeout: 60_000,
    reporters: ["default"],
  },
});
