/**
 * The service of the demo: `svc serve` on the simulators' network, with two workspaces and a token
 * of every kind. It is a process of its own, so that it can be killed; service.ts starts it and
 * sends it its settings.
 */
import { join } from "node:path";
import {
  addMember,
  type Control,
  type ControlSettings,
  createControl,
  createLink,
  createLog,
  createServer,
  createSession,
  createUser,
  createWorkspace,
  openKeyring,
  type Role,
  roles,
  silentLog,
} from "svc-connectors/control";
import { createSeams, type Network, type NetworkEvent } from "./network.ts";

export interface DemoWorkspace {
  readonly workspace_id: string;
  readonly name: string;
  /**
   * One person for each role; `agent`: the editor's token that was minted for MCP, whose changes
   * are proposals.
   */
  readonly tokens: Readonly<Record<Role | "agent", string>>;
  /** Opens the console, once, as its administrator. */
  readonly link_code: string;
}

/** The first message of the parent. */
export interface ServiceOptions {
  /** Where it lives: database, keys and warehouses. */
  readonly folder: string;
  /** False: the workspaces are there already. */
  readonly isNew: boolean;
  readonly network: Network;
  readonly settings: Partial<ControlSettings>;
  readonly port: number;
  /** JSON lines on standard error. */
  readonly isLogging: boolean;
}

export type ServiceMessage =
  | {
      readonly type: "ready";
      readonly url: string;
      readonly workspaces: readonly [DemoWorkspace, DemoWorkspace] | undefined;
    }
  | { readonly type: "failed"; readonly isPortTaken: boolean }
  | NetworkEvent;

/** People who try things out are not slowed down. */
const limits = { read: 6_000, write: 6_000, provider: 6_000, anonymous: 6_000 };

/** Whoever tries things out may come back to them. */
const dayMs = 86_400_000;

const emit = (message: ServiceMessage) => void process.send?.(message);

async function addTo(control: Control, name: string, slug: string): Promise<DemoWorkspace> {
  const { db } = control.services.database;
  const now = new Date(control.services.clock.now());
  const workspaceId = await createWorkspace(db, { name, slug }, now);
  const tokens: Partial<Record<Role | "agent", string>> = {};
  let linkCode = "";
  for (const role of roles) {
    const email = `${role}@${slug}.example.com`;
    const userId = await createUser(db, { email, name: `${role} of ${name}` }, now);
    await addMember(db, { workspaceId, userId, role }, now);
    tokens[role] = (await createSession(db, { userId, client: "api" }, now)).token;
    if (role === "admin")
      linkCode = (await createLink(db, { userId, lifetimeMs: dayMs }, now)).code;
    if (role === "editor")
      tokens.agent = (await createSession(db, { userId, client: "mcp" }, now)).token;
  }
  return {
    workspace_id: workspaceId,
    name,
    tokens: tokens as DemoWorkspace["tokens"],
    link_code: linkCode,
  };
}

async function serve({
  folder,
  isNew,
  network,
  settings,
  port,
  isLogging,
}: ServiceOptions): Promise<void> {
  const control = await createControl({
    database: { folder },
    keyring: await openKeyring(join(folder, "keys.json"), { create: true }),
    seams: createSeams(network, emit),
    settings: { limits, warehouses: join(folder, "warehouses"), ...settings },
    log: isLogging ? createLog(process.stderr) : silentLog,
    jobs: "run",
  });
  const server = createServer(control);
  const url = await server.listen({ host: "127.0.0.1", port });
  const workspaces = isNew
    ? ([await addTo(control, "Acme", "acme"), await addTo(control, "Globex", "globex")] as const)
    : undefined;
  emit({ type: "ready", url, workspaces });
  // The parent has ended, or wants it to.
  process.once("disconnect", async () => {
    await server.close();
    await control[Symbol.asyncDispose]();
    process.exit();
  });
}

process.once("message", (options: ServiceOptions) => {
  serve(options).catch((error: unknown) => {
    const isPortTaken = error instanceof Error && "code" in error && error.code === "EADDRINUSE";
    process.send?.({ type: "failed", isPortTaken } satisfies ServiceMessage, () => process.exit(1));
  });
});
// A signal from the keyboard reaches parent and child; the parent decides.
process.on("SIGINT", () => undefined);
