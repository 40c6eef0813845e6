/**
 * The executable `svc`: the commands of the runtime, and those of the other parts, which are loaded
 * when they are used.
 */
import { type Commands, listConnectors, main, runProcess } from "svc-connectors/host";

const conformance = () => import("svc-connectors/conformance");
const control = () => import("svc-connectors/control");

const demo = () => import("./demo/demo.ts");

const commands: Commands = {
  serve: {
    usage: "[--data FOLDER] [--host ADDRESS] [--port N]",
    summary: "serve the Control API",
    flags: async () => (await control()).serveFlags,
    start: async (args, terminal) => (await control()).serveCommand(args, terminal),
  },
  worker: {
    usage: "[--concurrency N]",
    summary: "run jobs beside the servers of one PostgreSQL, on any host",
    flags: async () => (await control()).workerFlags,
    start: async (args, terminal) => (await control()).workerCommand(args, terminal),
  },
  jobs: {
    usage: "list | watch <job> | cancel <job>",
    summary: "show what runs, has run or waits, and stop it",
    flags: async () => (await control()).jobsFlags,
    start: async (args, terminal) => (await control()).jobsCommand(args, terminal),
  },
  demo: {
    usage: "[--serve] [--port N]",
    summary: "show what svc does, against simulated providers on this machine",
    flags: async () => (await demo()).demoFlags,
    start: async (args, terminal) => (await demo()).demoCommand(args, terminal),
  },
  token: {
    usage: "create | list | revoke <session>",
    summary: "make and end access tokens of the Control API",
    flags: async () => (await control()).tokenFlags,
    start: async (args, terminal) => (await control()).tokenCommand(args, terminal),
  },
  workspaces: {
    usage: "create <name>",
    summary: "make a workspace of the Control API",
    flags: async () => (await control()).workspacesFlags,
    start: async (args, terminal) => (await control()).workspacesCommand(args, terminal),
  },
  connectors: {
    usage: "[enable | disable <id>]",
    summary: "list the connectors that come with svc, or open and close one for new sources",
    flags: async () => (await control()).connectorsFlags,
    start: async (args, terminal) =>
      args.length === 0
        ? listConnectors(args, terminal)
        : (await control()).connectorsCommand(args, terminal),
  },
  audit: {
    usage: "verify [--workspace ID]",
    summary: "prove that the audit log of the Control API is as it was written",
    flags: async () => (await control()).auditFlags,
    start: async (args, terminal) => (await control()).auditCommand(args, terminal),
  },
  mcp: {
    usage: "",
    summary: "give agents the tools of a Control API, on standard input and output",
    flags: async () => (await control()).mcpFlags,
    start: async (args, terminal) => (await control()).mcpCommand(args, terminal),
  },
  keys: {
    usage: "rotate | list | prune",
    summary: "change the keys that secrets are sealed with",
    flags: async () => (await control()).keysFlags,
    start: async (args, terminal) => (await control()).keysCommand(args, terminal),
  },
  conformance: {
    usage:
      "<connector | path | destination:PATH | program:PATH | image:NAME> [--profile NAMES] [--rules IDS] [--report FORM] [--out FILE]",
    summary: "prove that a connector leaks nothing and loses nothing",
    flags: async () => (await conformance()).conformanceFlags,
    start: async (args, terminal) => (await conformance()).conformanceCommand(args, terminal),
  },
  record: {
    usage: "<connector | image:NAME> --config FILE [--fixtures DIR]",
    summary: "record a connector or image against its live provider, for the conformance kit",
    flags: async () => (await conformance()).recordFlags,
    start: async (args, terminal) => (await conformance()).recordCommand(args, terminal),
  },
  new: {
    usage: "<name>",
    summary: "make a folder with a connector that passes every rule, to start from",
    flags: async () => (await conformance()).newFlags,
    start: async (args, terminal) => (await conformance()).newCommand(args, terminal),
  },
};

await runProcess((argv, environment) => main(argv, environment, commands));
