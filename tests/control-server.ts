/**
 * A server of its own process for tests that kill it: `node tests/control-server.ts '<options as
 * JSON>'` prints one JSON line when it listens. A key file makes restarts open what they have
 * sealed.
 */
import type { AddressInfo } from "node:net";
import { createControl } from "../control/create-control.ts";
import { createServer } from "../control/http/server.ts";
import { createSession } from "../control/members/sessions.ts";
import { addMember, createUser, createWorkspace } from "../control/members/workspaces.ts";
import { silentLog } from "../control/services/log.ts";
import type { DatabaseOptions } from "../control/store/database.ts";
import { openKeyring } from "../control/vault/keyring.ts";

const options = JSON.parse(process.argv[2] ?? "{}") as {
  readonly database: DatabaseOptions;
  readonly keyFile: string;
  /** Makes a workspace with an administrator. */
  readonly fill?: boolean;
};

const control = await createControl({
  database: options.database,
  keyring: await openKeyring(options.keyFile, { create: true }),
  sandbox: "inline",
  log: silentLog,
  settings: { limits: { read: 1e6, write: 1e6, provider: 1e6, anonymous: 1e6 } },
});
const server = createServer(control);
await server.listen({ port: 0, host: "127.0.0.1" });
const { port } = server.server.address() as AddressInfo;
const { db } = control.services.database;
const now = new Date();
let token: string | undefined;
if (options.fill) {
  const workspaceId = await createWorkspace(db, { name: "Test", slug: "test" }, now);
  const userId = await createUser(db, { email: "admin@example.com", name: "Admin" }, now);
  await addMember(db, { workspaceId, userId, role: "admin" }, now);
  ({ token } = await createSession(db, { userId, client: "api" }, now));
}
console.log(JSON.stringify({ port, token }));
