/** The executable `svc`: the commands of the runtime, and those of the other parts, which are loaded when they are used. */
import { type Commands, main, runProcess } from "svc-connectors/host";

const conformance = () => import("svc-connectors/conformance");

const commands: Commands = {
  conformance: {
    usage: "<connector | path | program:PATH | image:NAME> [--profile NAMES] [--rules IDS] [--report FORM] [--out FILE]",
    summary: "prove that a connector leaks nothing and loses nothing",
    flags: async () => (await conformance()).conformanceFlags,
    start: async (args, terminal) => (await conformance()).conformanceCommand(args, terminal),
  },
};

await runProcess((argv, surroundings) => main(argv, surroundings, commands));
