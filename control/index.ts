/**
 * "svc-connectors/control": the Control API as a library, and the commands that run it. Start at createControl; the flow of a
 * request is door/execute.ts.
 */

export type { Caller, Operation } from "./contract/operation.ts";
export { type Control, type ControlOptions, createControl } from "./create-control.ts";
export { basePath } from "./door/base-path.ts";
export { createServer, type ServerOptions } from "./http/server.ts";
export { createLog, type Log, silentLog } from "./log.ts";
export { operations } from "./operations/index.ts";
export type { ControlSettings, OAuthApp } from "./settings.ts";
export { createMemoryKeyring, type Keyring, openKeyring } from "./vault/keyring.ts";
