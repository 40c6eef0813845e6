import { availableParallelism } from "node:os";
import { fileURLToPath } from "node:url";
import { defineConfig } from "vitest/config";
import { choose, isWhole } from "./tests/effort.ts";
import { LongestFirst } from "./tests/longest-first.ts";
import { soon } from "./tests/soon.ts";

const entry = (path: string) => fileURLToPath(new URL(path, import.meta.url));

// Node keeps what it has compiled: processes that tests start come up in half the time.
process.env.NODE_COMPILE_CACHE ??= entry("./node_modules/.cache/svc/compiled");

/** The tests wait for each other, not for a person: every core is theirs. */
const cores = availableParallelism();

const units = "{runtime,conformance,control,connectors,fixtures,simulators,tests}";
const modules = "**/node_modules/**";
const slow = "**/*.{slow,long}.test.ts";
/** Files that replace a module or register something for their whole process. */
const apart = [
  "runtime/egress/{guard-peer,http-broker-replay}.test.ts",
  "{control/telemetry/telemetry,tests/telemetry}.test.ts",
];

/** It compares what its process keeps, and has one for itself. */
const weighed = "tests/soak.long.test.ts";

const shared = {
  resolve: {
    alias: [
      { find: /^svc-connectors$/, replacement: entry("./runtime/author.ts") },
      { find: /^svc-connectors\/database$/, replacement: entry("./runtime/database-author.ts") },
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

/** Files of one project share processes, and what they have loaded. */
const inProcess = {
  setupFiles: ["./tests/setup.ts"],
  expect: { poll: soon },
  isolate: false,
  // One more than cores: rules that wait for a deadline leave theirs to another.
  maxWorkers: cores + 1,
  // Ends what hangs. Tests wait for events: how long they take is no failure on a busy machine.
  testTimeout: 300_000,
  hookTimeout: 300_000,
};

/**
 * They wait for others more than they work, the long ones most; what several files need is loaded
 * once a process. Beside others on two cores a test takes ten times as long as alone.
 */
const onServers = {
  setupFiles: ["./tests/setup.ts"],
  expect: { poll: soon },
  isolate: false,
  maxWorkers: cores + choose({ quick: 3, whole: 6 }),
  sequence: { groupOrder: 1 },
  testTimeout: 1_800_000,
  hookTimeout: 1_800_000,
};

const long = {
  // Kills again and again, requests by the thousand, container images, 80 MB of others' files.
  ...shared,
  test: {
    ...onServers,
    name: "long",
    include: [`${units}/**/*.long.test.ts`],
    exclude: [modules, "tests/seeded/**", weighed],
  },
};

const alone = {
  ...shared,
  test: { ...onServers, isolate: true, name: "alone", include: [weighed] },
};

export default defineConfig({
  test: {
    globalSetup: ["./tests/announce.ts"],
    sequence: { sequencer: LongestFirst },
    projects: [
      {
        ...shared,
        test: {
          ...inProcess,
          name: "unit",
          include: ["{runtime,conformance,fixtures,simulators}/**/*.test.ts"],
          exclude: [slow, "conformance/{rules,new}/**", modules, ...apart],
        },
      },
      {
        ...shared,
        test: { ...inProcess, name: "apart", isolate: true, include: apart },
      },
      {
        // The Control API on its embedded database, and what goes through all of svc in this
        // process.
        ...shared,
        test: {
          ...inProcess,
          name: "control",
          include: ["{control,tests}/**/*.test.ts"],
          exclude: [slow, "tests/seeded/**", modules, ...apart],
        },
      },
      {
        // Every rule of the kit on the reference connector and on its seeded defects, in this
        // process.
        ...shared,
        test: {
          ...inProcess,
          name: "conformance",
          include: ["{conformance/rules,tests/seeded}/**/*.test.ts"],
          exclude: isWhole ? [modules] : [slow, modules],
        },
      },
      {
        // Whole connectors against their providers' simulators, in this process.
        ...shared,
        test: {
          ...inProcess,
          name: "connectors",
          include: ["connectors/**/*.test.ts"],
          exclude: [slow, modules],
        },
      },
      {
        // Real servers, sandboxed workers, kill -9.
        ...shared,
        test: {
          ...onServers,
          name: "slow",
          include: [`${units}/**/*.slow.test.ts`],
          exclude: [modules],
        },
      },
      ...(isWhole ? [long, alone] : []),
    ],
  },
});
