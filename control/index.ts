/**
 * "svc-connectors/control": the Control API as a library, and the commands that run it. Start at
 * createControl; the flow of a request is door/execute.ts.
 */

export { auditCommand, auditFlags } from "./commands/audit.ts";
export { connectorsCommand, connectorsFlags } from "./commands/connectors.ts";
export { jobsCommand, jobsFlags } from "./commands/jobs.ts";
export { keysCommand, keysFlags } from "./commands/keys.ts";
export { mcpCommand, mcpFlags } from "./commands/mcp.ts";
export { serveCommand, serveFlags } from "./commands/serve.ts";
export { tokenCommand, tokenFlags } from "./commands/token.ts";
export { workerCommand, workerFlags } from "./commands/worker.ts";
export { workspacesCommand, workspacesFlags } from "./commands/workspaces.ts";
export type { Caller, Operation } from "./contract/operation.ts";
export { type Control, type ControlOptions, createControl } from "./create-control.ts";
export { basePath } from "./door/base-path.ts";
export { createServer, type ServerOptions } from "./http/server.ts";
export { createLog, type Log, silentLog } from "./log.ts";
export { operations } from "./operations/index.ts";
export { createSession } from "./sessions.ts";
export type { ControlSettings, OAuthApp } from "./settings.ts";
export { type Role, roles } from "./store/tables.ts";
export { createMemoryKeyring, type Keyring, openKeyring } from "./vault/keyring.ts";
export { addMember, createUser, createWorkspace } from "./workspaces.ts";
