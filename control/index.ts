/**
 * "svc-connectors/control": the Control API as a library. Start at createControl; the flow of a
 * request is door/execute.ts. The commands that run it are in commands/, which svc.ts loads one by
 * one.
 */

export type { ConnectorDeclaration } from "./connectors/places.ts";
export type { Caller, Operation } from "./contract/operation.ts";
export { type ControlOptions, createControl } from "./create-control.ts";
export { basePath } from "./door/base-path.ts";
export type { Control } from "./door/control.ts";
export { createServer, type ServerOptions } from "./http/server.ts";
export { createSession } from "./members/sessions.ts";
export { addMember, createUser, createWorkspace } from "./members/workspaces.ts";
export { operations } from "./operations/index.ts";
export { createLog, type Log, silentLog } from "./services/log.ts";
export type { ControlSettings, OAuthApp } from "./services/settings.ts";
export { type Role, roles } from "./store/tables.ts";
export { createMemoryKeyring, type Keyring, openKeyring } from "./vault/keyring.ts";
export { WorkspaceFile } from "./workspace-file/schema.ts";
