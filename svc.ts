/**
 * The executable `svc`: the commands of the runtime, and those of the other parts, which are loaded
 * when they are used.
 */
import { type Commands, loadConnectorList, main, runProcess } from "./runtime/cli.ts";

const conformance = () => import("svc-connectors/conformance");
const demo = () => import("./demo/demo.ts");

const commands: Commands = {
  serve: {
    summary: "serve the Control API",
    load: async () => (await import("./control/commands/serve.ts")).buildServe,
  },
  worker: {
    summary: "run jobs beside the servers of one PostgreSQL, on any host",
    load: async () => (await import("./control/commands/worker.ts")).buildWorker,
  },
  jobs: {
    summary: "show what runs, has run or waits, and stop it",
    load: async () => (await import("./control/commands/jobs.ts")).buildJobs,
  },
  demo: {
    summary: "show what svc does, against simulated providers on this machine",
    load: async () => (await demo()).buildDemo,
  },
  token: {
    summary: "make and end access tokens of the Control API",
    load: async () => (await import("./control/commands/token.ts")).buildToken,
  },
  workspaces: {
    summary: "make a workspace of the Control API",
    load: async () => (await import("./control/commands/workspaces.ts")).buildWorkspaces,
  },
  connectors: {
    summary:
      "list the connectors that come with svc, add your own, open and close one for new sources",
    load: async () => (await import("./control/commands/connectors.ts")).buildConnectors,
    loadAlone: loadConnectorList,
  },
  audit: {
    summary: "prove that the audit log of the Control API is as it was written",
    load: async () => (await import("./control/commands/audit.ts")).buildAudit,
  },
  apply: {
    summary: "make a workspace of a Control API what a file says",
    load: async () => (await import("./control/commands/apply.ts")).buildApply,
  },
  export: {
    summary: "write a workspace of a Control API as a file for svc apply",
    load: async () => (await import("./control/commands/export.ts")).buildExport,
  },
  mcp: {
    summary: "give agents the tools of a Control API, on standard input and output",
    load: async () => (await import("./control/commands/mcp.ts")).buildMcp,
  },
  keys: {
    summary: "change the keys that secrets are sealed with",
    load: async () => (await import("./control/commands/keys.ts")).buildKeys,
  },
  conformance: {
    summary: "prove that a connector leaks nothing and loses nothing",
    load: async () => (await conformance()).buildConformance,
  },
  record: {
    summary: "record a connector or image against its live provider, for the conformance kit",
    load: async () => (await conformance()).buildRecord,
  },
  new: {
    summary: "make a folder with a connector that passes every rule, to start from",
    load: async () => (await conformance()).buildNew,
  },
};

await runProcess((argv, environment) => main(argv, environment, commands));
