/**
 * The entry of the executable: what it takes to read a command line. Commands are loaded when they
 * are used, so little else is imported here.
 */
export { loadConnectorList, main } from "./cli/main.ts";
export type { Commands } from "./cli/program.ts";
export { runProcess } from "./cli/run-process.ts";
