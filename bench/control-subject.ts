/**
 * The subjects of the measurement, each in a process of its own: `ours` is the Control API on a
 * database with fifty sources, `bare` a Fastify server with routes that run the same SQL, or send
 * the same requests to the mailer, and do nothing else.
 */
import { createHash, randomUUID } from "node:crypto";
import { Agent as HttpsAgent, request as httpsRequest } from "node:https";
import type { AddressInfo } from "node:net";
import Fastify from "fastify";
import { Pool } from "pg";
import {
  addMember,
  createControl,
  createMemoryKeyring,
  createServer,
  createSession,
  createUser,
  createWorkspace,
  silentLog,
} from "svc-connectors/control";

interface Given {
  readonly kind: "ours" | "bare";
  readonly url: string;
  /** The mailer's simulator: its port and the authority of its certificate. */
  readonly mailer: {
    readonly hostname: string;
    readonly port: number;
    readonly ca: string;
    readonly token: string;
  };
  /** Of `ours`, for `bare`. */
  readonly workspaceId?: string;
}

const given = JSON.parse(process.argv[2] ?? "{}") as Given;
const plenty = 1e9;

async function startOurs() {
  const { hostname, port, ca, token: apiToken } = given.mailer;
  const { connect } = await import("node:net");
  const control = await createControl({
    database: { url: given.url },
    keyring: createMemoryKeyring(),
    log: silentLog,
    settings: {
      network: { approvedHosts: [hostname], allowNetworks: [] },
      limits: { read: plenty, write: plenty, provider: plenty, anonymous: plenty },
    },
    seams: {
      ca,
      resolve: async () => [{ address: "93.184.215.14", family: 4 }],
      dial: () => connect({ port, host: "127.0.0.1", noDelay: true }),
    },
  });
  const { db } = control.services.database;
  const now = new Date();
  const workspaceId = await createWorkspace(db, { name: "Bench", slug: "bench" }, now);
  const userId = await createUser(db, { email: "bench@example.com", name: "Bench" }, now);
  await addMember(db, { workspaceId, userId, role: "admin" }, now);
  const { token } = await createSession(db, { userId, client: "api" }, now);
  const server = createServer(control);
  await server.listen({ port: 0, host: "127.0.0.1" });
  const base = `http://127.0.0.1:${(server.server.address() as AddressInfo).port}/control/v1`;
  const post = async (path: string, body: object) => {
    const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" };
    const answer = await fetch(base + path, {
      method: "POST",
      headers,
      body: JSON.stringify(body),
    });
    const { data } = (await answer.json()) as { data: Record<string, string> };
    if (answer.status !== 201) throw new Error(`${path} gave ${answer.status}`);
    return data;
  };
  const baseUrl = `https://${hostname}/api`;
  const stored = await post("/credentials/mailer/api-token", {
    base_url: baseUrl,
    api_token: apiToken,
  });
  const { connector_id, credential_handle } = stored;
  const first = await post("/sources", {
    name: "Source",
    connector_id,
    credential_handle,
    base_url: baseUrl,
  });
  // The other ones are copies: a connection test for each would take long.
  const copies = Array.from({ length: 49 }, (_, index) => `src_${String(index).padStart(22, "0")}`);
  const row = await db.selectFrom("sources").selectAll().executeTakeFirstOrThrow();
  for (const id of copies) {
    const { configuration, last_check } = row;
    const texts = {
      configuration: JSON.stringify(configuration),
      last_check: JSON.stringify(last_check),
    };
    await db
      .insertInto("sources")
      .values({ ...row, ...texts, id })
      .execute();
  }
  return {
    base,
    token,
    workspaceId,
    sourceId: first.source_id,
    credentialHandle: credential_handle,
    baseUrl,
  };
}

const sessionSql = `SELECT s.id, s.client, s.scopes, s.role, s.workspace_id, s.expires_at, s.revoked_at, s.last_seen_at,
  u.id AS user_id, u.email, u.name, m.workspace_id AS member_of, m.role AS member_role, m.last_active_at
  FROM sessions s JOIN users u ON u.id = s.user_id LEFT JOIN memberships m ON m.user_id = s.user_id AND m.status = 'active'
  AND (s.workspace_id IS NULL OR s.workspace_id = m.workspace_id) WHERE s.token_hash = $1 ORDER BY m.joined_at, m.id`;
const sourceSql = `SELECT sources.*, credentials.handle FROM sources INNER JOIN credentials ON credentials.id = sources.credential_id
  WHERE sources.workspace_id = $1`;

async function startBare() {
  const pool = new Pool({ connectionString: given.url, max: 10 });
  const { workspaceId } = given;
  const server = Fastify({ logger: false });
  const authenticate = async (authorization = "") => {
    const hash = createHash("sha256").update(authorization.slice(7)).digest();
    const { rows } = await pool.query<{ user_id: string }>(sessionSql, [hash]);
    const [session] = rows;
    if (!session) throw new Error("no session");
    return session;
  };
  server.get("/sources", async ({ headers }) => {
    await authenticate(headers.authorization);
    const sql = `${sourceSql} ORDER BY sources.created_at DESC, sources.id DESC LIMIT $2`;
    const { rows } = await pool.query(sql, [workspaceId, 51]);
    return { request_id: randomUUID(), data: { items: rows, next_cursor: null, has_more: false } };
  });
  server.patch<{ Params: { id: string }; Body: { name: string } }>(
    "/sources/:id",
    async ({ headers, params, body }) => {
      const session = await authenticate(headers.authorization);
      const client = await pool.connect();
      const one = async () =>
        (await client.query(`${sourceSql} AND sources.id = $2`, [workspaceId, params.id])).rows[0];
      await one();
      await client.query("BEGIN");
      await client.query("SELECT id FROM sources WHERE workspace_id = $1 AND id = $2 FOR UPDATE", [
        workspaceId,
        params.id,
      ]);
      const { version } = await one();
      await client.query(
        "UPDATE sources SET version = $1, updated_at = $2, name = $3 WHERE workspace_id = $4 AND id = $5",
        [version + 1, new Date(), body.name, workspaceId, params.id],
      );
      const row = await one();
      await audit(client.query.bind(client), session.user_id, params.id);
      await client.query("COMMIT");
      client.release();
      return { request_id: randomUUID(), data: row };
    },
  );
  const audit = async (query: Pool["query"], userId: string, id: string) => {
    await query(
      "INSERT INTO audit_heads (workspace_id, index, hash) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING",
      [workspaceId, 0, "0"],
    );
    const { rows } = await query(
      "SELECT index, hash FROM audit_heads WHERE workspace_id = $1 FOR UPDATE",
      [workspaceId],
    );
    const index = rows[0].index + 1;
    await query(
      `INSERT INTO audit_logs (workspace_id, occurred_at, actor_type, actor_id, actor_display, client, ip, user_agent, action, resource_type,
        request_id, approval_id, outcome, resource_id, summary, id, index, hash) VALUES ($1, $2, 'user', $3, 'b', 'api', NULL, NULL, 'source.update',
        'source', $4, NULL, 'success', $5, 'Update', $4, $6, 'h')`,
      [workspaceId, new Date(), userId, randomUUID(), id, index],
    );
    await query("UPDATE audit_heads SET index = $1, hash = $2 WHERE workspace_id = $3", [
      index,
      "h",
      workspaceId,
    ]);
  };
  const { hostname, port, ca, token } = given.mailer;
  const agent = new HttpsAgent({ keepAlive: true });
  server.post("/check", async ({ headers }) => {
    await authenticate(headers.authorization);
    const status = await new Promise<number | undefined>((resolve, reject) => {
      const options = {
        host: "127.0.0.1",
        port,
        servername: hostname,
        ca,
        agent,
        path: "/api/user",
      };
      httpsRequest(
        { ...options, headers: { host: hostname, authorization: `Bearer ${token}` } },
        (answer) => {
          answer.resume().once("end", () => resolve(answer.statusCode));
        },
      )
        .once("error", reject)
        .end();
    });
    return { request_id: randomUUID(), data: { status } };
  });
  await server.listen({ port: 0, host: "127.0.0.1" });
  return { base: `http://127.0.0.1:${(server.server.address() as AddressInfo).port}` };
}

console.log(JSON.stringify(given.kind === "ours" ? await startOurs() : await startBare()));
process.stdin.resume().once("end", () => process.exit());
