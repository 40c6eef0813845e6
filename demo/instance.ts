/** The service itself for the demo: in memory, with two workspaces and a token of every kind. */
import {
  addMember, type ControlSettings, createControl, createMemoryKeyring, createServer, createSession, createUser, createWorkspace, type Log,
  type Role, roles,
} from "svc-connectors/control"; // biome-ignore format: a list of names
import type { NetworkSeams } from "svc-connectors/host";

export interface DemoWorkspace {
  readonly workspace_id: string;
  readonly name: string;
  /** One person for each role; `agent`: the editor's token that was minted for MCP, whose changes are proposals. */
  readonly tokens: Readonly<Record<Role | "agent", string>>;
}

/** Who tries things out is not slowed down. */
const limits = { read: 6_000, write: 6_000, provider: 6_000, stranger: 6_000 };

export interface DemoOptions {
  readonly seams: NetworkSeams;
  readonly settings: Partial<ControlSettings>;
  readonly log: Log;
  /** Default: a free one. */
  readonly port?: number;
}

export type DemoInstance = Awaited<ReturnType<typeof startInstance>>;

export async function startInstance({ seams, settings, log, port = 0 }: DemoOptions) {
  const control = await createControl({
    database: {},
    keyring: createMemoryKeyring(),
    seams,
    log,
    settings: { limits, ...settings },
  });
  const server = createServer(control);
  const url = await server.listen({ host: "127.0.0.1", port });
  const { db } = control.services.database;
  const now = new Date(control.services.clock.now());

  const addWorkspace = async (name: string, slug: string): Promise<DemoWorkspace> => {
    const workspaceId = await createWorkspace(db, { name, slug }, now);
    const tokens: Partial<Record<Role | "agent", string>> = {};
    for (const role of roles) {
      const email = `${role}@${slug}.example.com`;
      const userId = await createUser(db, { email, name: `${role} of ${name}` }, now);
      await addMember(db, { workspaceId, userId, role }, now);
      tokens[role] = (await createSession(db, { userId, client: "api" }, now)).token;
      if (role === "editor") tokens.agent = (await createSession(db, { userId, client: "mcp" }, now)).token;
    }
    return { workspace_id: workspaceId, name, tokens: tokens as DemoWorkspace["tokens"] };
  };
  const workspaces = [await addWorkspace("Acme", "acme"), await addWorkspace("Globex", "globex")] as const;
  return {
    url,
    workspaces,
    async [Symbol.asyncDispose]() {
      await server.close();
      await control[Symbol.asyncDispose]();
    },
  };
}
