/** The executable `svc`: the commands of the runtime, and those of the other parts, which are loaded when they are used. */
import { type Commands, main, runProcess } from "svc-connectors/host";

const conformance = () => import("svc-connectors/conformance");

const commands: Commands = {
  conformance: {
    usage:
      "<connector | path | program:PATH | image:NAME> [--profile NAMES] [--rules IDS] [--report FORM] [--out FILE]",
    summary: "prove that a connector leaks nothing and loses nothing",
    flags: async () => (await conformance()).conformanceFlags,
    start: async (args, terminal) => (await conformance()).conformanceCommand(args, terminal),
  },
  record: {
    usage: "<connector> --config FILE [--fixtures DIR]",
    summary: "record a connector against its live provider, for the conformance kit",
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

await runProcess((argv, surroundings) => main(argv, surroundings, commands));
