import { createHash } from "node:crypto";
import { sql } from "kysely";
import { isAccessToken, isConsoleToken } from "../contract/ids.ts";
import type { Caller } from "../contract/operation.ts";
import { ControlError } from "../contract/reasons.ts";
import type { Services } from "../services/services.ts";
import { type Client, clients, type Role, type Scope } from "../store/tables.ts";
import { findMemberships, membershipsAtOnce, toMembership } from "./memberships.ts";

/** The claims of a request about itself. */
export interface RequestFacts {
  readonly authorization: string | undefined;
  /** The cookie of a console's session, when a page of this server sent it. */
  readonly consoleToken?: string | undefined;
  /** X-Svc-Client. */
  readonly client: string | undefined;
  readonly ip: string | null;
  readonly userAgent: string | null;
}

export const unauthenticated = () =>
  new ControlError("unauthenticated", {}, { "www-authenticate": 'Bearer realm="svc"' });

/** How the token is stored. */
export const hashToken = (token: string): Buffer => createHash("sha256").update(token).digest();

/** A use is noted at most once in this time. */
export const seenEveryMs = 60_000;

/**
 * Who asks. It looks into the database each time: a session that was revoked anywhere ends at once
 * everywhere.
 * @throws unauthenticated, always with the same words · invalid_header
 */
export async function authenticate(
  { database, clock }: Services,
  facts: RequestFacts,
): Promise<Caller> {
  const token = tokenOf(facts);
  if (token === undefined) throw unauthenticated();
  const { db } = database;
  const now = new Date(clock.now());
  const { rows } = await sessionOf(hashToken(token)).execute(db);
  const [session] = rows;
  if (!session || session.revoked_at !== null || session.expires_at <= now) throw unauthenticated();

  if (now.getTime() - session.last_seen_at.getTime() >= seenEveryMs) {
    const { ip, userAgent } = facts;
    const seen = { last_seen_at: now, ip, user_agent: userAgent };
    await db.updateTable("sessions").set(seen).where("id", "=", session.id).execute();
  }
  const caller: Caller = {
    kind: "user",
    user: { id: session.user_id, email: session.email, name: session.name },
    session: {
      id: session.id,
      client: session.client,
      scopes: session.scopes,
      expiresAt: session.expires_at,
      workspaceId: session.workspace_id,
      role: session.role,
    },
    memberships: rows
      .slice(0, membershipsAtOnce)
      .flatMap(({ member_of, member_role, last_active_at }) =>
        member_of === null || member_role === null
          ? []
          : [toMembership(session, { workspace_id: member_of, role: member_role, last_active_at })],
      ),
    client: tighten(session.client, facts.client),
    ip: facts.ip,
    userAgent: facts.userAgent,
  };
  return rows.length > membershipsAtOnce
    ? { ...caller, findMemberships: (ids) => findMemberships(db, caller, ids) }
    : caller;
}

/**
 * An Authorization header says who asks, whatever the cookie says: neither stands for the other.
 */
function tokenOf({ authorization, consoleToken }: RequestFacts): string | undefined {
  if (authorization === undefined)
    return consoleToken !== undefined && isConsoleToken(consoleToken) ? consoleToken : undefined;
  const token = /^Bearer ([\x21-\x7e]{1,200})$/i.exec(authorization)?.[1];
  return token !== undefined && isAccessToken(token) ? token : undefined;
}

/**
 * Who asks without a token, where that is allowed: nobody, with the rights of nobody. Their budget
 * is their address's.
 */
export function anonymousCaller({ client, ip, userAgent }: RequestFacts): Caller {
  return {
    kind: "anonymous",
    user: { id: "anonymous", email: "", name: "" },
    session: {
      id: ip ?? "",
      client: "api",
      scopes: [],
      expiresAt: new Date(0),
      workspaceId: null,
      role: null,
    },
    memberships: [],
    client: tighten("api", client),
    ip,
    userAgent,
  };
}

interface SessionMembershipRow {
  readonly id: string;
  readonly client: Client;
  readonly scopes: readonly Scope[];
  readonly role: Role | null;
  readonly workspace_id: string | null;
  readonly expires_at: Date;
  readonly revoked_at: Date | null;
  readonly last_seen_at: Date;
  readonly user_id: string;
  readonly email: string;
  readonly name: string;
  readonly member_of: string | null;
  readonly member_role: Role | null;
  readonly last_active_at: Date | null;
}

/**
 * The session of a token, once for each membership that it may use, up to one more than are given
 * at once. By hand and in one: every request asks it.
 */
const sessionOf = (hash: Buffer) => sql<SessionMembershipRow>`
  SELECT s.id, s.client, s.scopes, s.role, s.workspace_id, s.expires_at, s.revoked_at, s.last_seen_at,
    u.id AS user_id, u.email, u.name, m.workspace_id AS member_of, m.role AS member_role, m.last_active_at
  FROM sessions s
  JOIN users u ON u.id = s.user_id
  LEFT JOIN LATERAL (
    (SELECT workspace_id, role, last_active_at, joined_at, id FROM memberships
      WHERE s.workspace_id IS NULL AND user_id = s.user_id AND status = 'active'
      ORDER BY joined_at, id LIMIT ${sql.lit(membershipsAtOnce + 1)})
    UNION ALL
    SELECT workspace_id, role, last_active_at, joined_at, id FROM memberships
      WHERE workspace_id = s.workspace_id AND user_id = s.user_id AND status = 'active'
  ) m ON true
  WHERE s.token_hash = ${hash}
  ORDER BY m.joined_at, m.id`;

/**
 * A header makes a caller less trusted, never more: an agent does not become a person by leaving it
 * out.
 */
function tighten(own: Client, header: string | undefined): Client {
  if (header === undefined) return own;
  const named = clients.find((client) => client === header.trim().toLowerCase());
  if (!named)
    throw new ControlError("invalid_header", { header: "X-Svc-Client", allowed: clients });
  return clients.indexOf(named) > clients.indexOf(own) ? named : own;
}
