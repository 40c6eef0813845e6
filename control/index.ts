/**
 * "svc-connectors/control": the Control API as a library, and the commands that run it, which
 * svc.ts loads one by one. Start at createControl; the flow of a request is door/execute.ts.
 */

export { buildApply } from "./commands/apply.ts";
export { buildAudit } from "./commands/audit.ts";
export { buildConnectors } from "./commands/connectors.ts";
export { buildExport } from "./commands/export.ts";
export { buildJobs } from "./commands/jobs.ts";
export { buildKeys } from "./commands/keys.ts";
export { buildMcp } from "./commands/mcp.ts";
export { buildServe } from "./commands/serve.ts";
export { buildToken } from "./commands/token.ts";
export { buildWorker } from "./commands/worker.ts";
export { buildWorkspaces } from "./commands/workspaces.ts";
export type { ConnectorDeclaration } from "./connectors/places.ts";
export type { Caller, Operation } from "./contract/operation.ts";
export { type ControlOptions, createControl } from "./create-control.ts";
export { basePath } from "./door/base-path.ts";
export type { Control } from "./door/control.ts";
export { createServer, type ServerOptions } from "./http/server.ts";
export { createSession } from "./members/sessions.ts";
export { createLink, signInUrl } from "./members/sign-in-link.ts";
export { addMember, createUser, createWorkspace } from "./members/workspaces.ts";
export { operations } from "./operations/index.ts";
export { createLog, type Log, silentLog } from "./services/log.ts";
export type { ControlSettings, OAuthApp } from "./services/settings.ts";
export { type Role, roles } from "./store/tables.ts";
export { createMemoryKeyring, type Keyring, openKeyring } from "./vault/keyring.ts";
export { WorkspaceFile } from "./workspace-file/schema.ts";
