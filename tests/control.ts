/**
 * A whole control layer for tests: in memory or on a real PostgreSQL, with two workspaces and a
 * token of every role.
 */
import { randomUUID } from "node:crypto";
import { rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createScaledClock } from "svc-connectors/host";
import { type ControlOptions, createControl } from "../control/create-control.ts";
import { createServer } from "../control/http/server.ts";
import { createSession } from "../control/members/sessions.ts";
import { addMember, createUser, createWorkspace } from "../control/members/workspaces.ts";
import { silentLog } from "../control/services/log.ts";
import { type Role, roles } from "../control/store/tables.ts";
import { createMemoryKeyring } from "../control/vault/keyring.ts";
import { databaseImage } from "./database-image.ts";

export interface TestWorkspace {
  readonly id: string;
  /** Tokens of one user per role, and of an agent: an editor's session that was minted for MCP. */
  readonly tokens: Readonly<Record<Role | "agent", string>>;
  readonly users: Readonly<Record<Role, string>>;
}

export interface TestCall {
  readonly token?: string;
  readonly body?: unknown;
  readonly headers?: Record<string, string>;
}

export interface TestAnswer {
  readonly status: number;
  readonly headers: Record<string, unknown>;
  // biome-ignore lint/suspicious/noExplicitAny: tests read what they expect
  readonly body: any;
  readonly text: string;
}

/** The limits of tests: none of them is about limits, unless it sets its own. */
export const plentyOfRequests = {
  read: 100_000,
  write: 100_000,
  provider: 100_000,
  anonymous: 100_000,
};

/** @param options seams and settings as createControl takes them */
export async function startTestControl({
  database,
  settings,
  ...options
}: Partial<ControlOptions> = {}) {
  // Made when the first destination is written to.
  const warehouses = join(tmpdir(), `svc-warehouses-${randomUUID()}`);
  const control = await createControl({
    database: database ?? { image: await databaseImage() },
    keyring: createMemoryKeyring(),
    clock: createScaledClock(1),
    log: silentLog,
    ...options,
    settings: {
      warehouses,
      limits: plentyOfRequests,
      ...settings,
    },
  });
  // Who injects a request waits for the whole answer: streams end soon.
  const server = createServer(control, { streams: { lookEveryMs: 10, lifetimeMs: 50 } });
  await server.ready();
  const { db } = control.services.database;
  const now = new Date(control.services.clock.now());

  const addWorkspace = async (name: string): Promise<TestWorkspace> => {
    const slug = `${name}-${Math.random().toString(36).slice(2)}`;
    const id = await createWorkspace(db, { name, slug }, now);
    const tokens: Partial<Record<Role | "agent", string>> = {};
    const users: Partial<Record<Role, string>> = {};
    for (const role of roles) {
      const userId = await createUser(
        db,
        { email: `${role}@${slug}.example.com`, name: `${role} of ${name}` },
        now,
      );
      await addMember(db, { workspaceId: id, userId, role }, now);
      users[role] = userId;
      tokens[role] = (await createSession(db, { userId, client: "api" }, now)).token;
      if (role === "editor")
        tokens.agent = (
          await createSession(db, { userId, client: "mcp", role: "editor" }, now)
        ).token;
    }
    return {
      id,
      tokens: tokens as TestWorkspace["tokens"],
      users: users as TestWorkspace["users"],
    };
  };
  const first = await addWorkspace("first");
  const second = await addWorkspace("second");

  /** @param path below the base path. Default token: the first workspace's administrator. */
  const call = async (
    method: "GET" | "POST" | "PATCH" | "DELETE",
    path: string,
    options: TestCall = {},
  ): Promise<TestAnswer> => {
    const { token = first.tokens.admin, body, headers = {} } = options;
    const answer = await server.inject({
      method,
      url: `/control/v1${path}`,
      headers: {
        authorization: `Bearer ${token}`,
        ...(body === undefined ? {} : { "content-type": "application/json" }),
        ...headers,
      },
      ...(body === undefined
        ? {}
        : { payload: typeof body === "string" ? body : JSON.stringify(body) }),
    });
    return {
      status: answer.statusCode,
      headers: answer.headers,
      body: answer.payload === "" ? undefined : JSON.parse(answer.payload),
      text: answer.payload,
    };
  };

  return {
    control,
    server,
    db,
    first,
    second,
    addWorkspace,
    call,
    async [Symbol.asyncDispose]() {
      await server.close();
      await control[Symbol.asyncDispose]();
      await rm(warehouses, { recursive: true, force: true });
    },
  };
}

export type TestControl = Awaited<ReturnType<typeof startTestControl>>;
