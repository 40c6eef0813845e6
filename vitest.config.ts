import { fileURLToPath } from "node:url";
import { defineConfig } from "vitest/config";

const entry = (path: string) => fileURLToPath(new URL(path, import.meta.url));

const shared = {
  resolve: {
    alias: [
      { find: /^svc-connectors$/, replacement: entry("./runtime/author.ts") },
      {
        find: /^svc-connectors\/destination$/,
        replacement: entry("./runtime/destination-author.ts"),
      },
      { find: /^svc-connectors\/host$/, replacement: entry("./runtime/host.ts") },
      { find: /^svc-connectors\/control$/, replacement: entry("./control/index.ts") },
      { find: /^svc-connectors\/conformance$/, replacement: entry("./conformance/index.ts") },
      {
        find: /^svc-connectors\/conformance\/vitest$/,
        replacement: entry("./conformance/vitest.ts"),
      },
    ],
  },
};

export default defineConfig({
  test: {
    // The tests wait for each other, not for a person: every core is theirs.
    maxWorkers: "100%",
    projects: [
      {
        ...shared,
        test: {
          name: "unit",
          setupFiles: ["./tests/setup.ts"],
          include: ["{runtime,conformance,fixtures,simulators}/**/*.test.ts"],
          exclude: ["**/*.slow.test.ts", "conformance/{rules,new}/**", "**/node_modules/**"],
          testTimeout: 20_000,
        },
      },
      {
        // The Control API on its embedded database, and what goes through all of svc in this
        // process.
        ...shared,
        test: {
          name: "control",
          setupFiles: ["./tests/setup.ts"],
          include: ["{control,tests}/**/*.test.ts"],
          exclude: ["**/*.slow.test.ts", "tests/seeded/**", "**/node_modules/**"],
          testTimeout: 20_000,
          // An embedded database starts in seconds when the machine is busy.
          hookTimeout: 60_000,
        },
      },
      {
        // Every rule of the kit on the reference connector and on its seeded defects, in this
        // process.
        ...shared,
        test: {
          name: "conformance",
          setupFiles: ["./tests/setup.ts"],
          include: ["{conformance/rules,tests/seeded}/**/*.test.ts"],
          exclude: ["**/*.slow.test.ts", "**/node_modules/**"],
          testTimeout: 120_000,
        },
      },
      {
        // Whole connectors against their providers' simulators, in this process.
        ...shared,
        test: {
          name: "connectors",
          setupFiles: ["./tests/setup.ts"],
          include: ["connectors/**/*.test.ts"],
          exclude: ["**/*.slow.test.ts", "**/node_modules/**"],
          testTimeout: 60_000,
        },
      },
      {
        // Real servers, sandboxed workers, kill -9.
        ...shared,
        test: {
          name: "slow",
          setupFiles: ["./tests/setup.ts"],
          include: [
            "{runtime,conformance,control,connectors,fixtures,simulators,tests}/**/*.slow.test.ts",
          ],
          testTimeout: 300_000,
          hookTimeout: 120_000,
        },
      },
    ],
  },
});
