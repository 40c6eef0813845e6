/** Where a connector sends what it is given, and what a new version of it may not change. */
import type { Manifest } from "svc-connectors/host";
import { Type } from "typebox";
import { StrictObject } from "../contract/schemas.ts";
import { secretFieldsOf } from "../contract/secret-settings.ts";
import type { Db } from "../store/database.ts";
import type { AddedConnector } from "./added.ts";
import { refused } from "./refused.ts";

/** Streams of a declarative manifest that nobody can read here. */
export const MissingStreams = Type.Array(
  StrictObject(
    { stream: Type.String(), path: Type.String(), problem: Type.String() },
    { title: "MissingStream" },
  ),
  { description: "Streams that need what svc lacks: at which place of the document, and what." },
);

/** Where requests of a connector go, for people. */
export function reachesOf({ egress }: Manifest): string[] {
  if (egress.kind === "postgres") return ["a PostgreSQL server of its settings"];
  if (egress.kind === "mysql") return ["a MySQL server of its settings"];
  const base =
    typeof egress.baseUrl === "string"
      ? egress.baseUrl
      : `the URL that a user enters as ${egress.baseUrl.field}`;
  const tokenUrls = egress.auth.flatMap((auth) => (auth.type === "oauth2" ? [auth.tokenUrl] : []));
  return [...new Set([base, ...tokenUrls, ...(egress.placeholders?.urls ?? [])])];
}

/** Whether any workspace has a credential for it that was not deleted. */
export async function hasCredentials(db: Db, connectorId: string): Promise<boolean> {
  const row = await db
    .selectFrom("credentials")
    .select("id")
    .where("connector_id", "=", connectorId)
    .where("status", "!=", "revoked")
    .limit(1)
    .executeTakeFirst();
  return row !== undefined;
}

/**
 * Credentials were given for what the connector was: who replaces it over the API sends them
 * nowhere else, and makes none of them an open setting.
 * @throws connector_refused
 */
export async function requireSameReach(
  db: Db,
  kept: Pick<AddedConnector, "manifest">,
  after: Manifest,
): Promise<void> {
  const before = JSON.parse(kept.manifest) as Manifest;
  if (!(await hasCredentials(db, before.id))) return;
  const known = reachesOf(before);
  const host = reachesOf(after).find((one) => !known.includes(one));
  const remedy = "while there are credentials for it, only svc connectors add may do so";
  if (host !== undefined) throw refused(`it would send requests to ${host} too: ${remedy}`);
  const secrets = secretFieldsOf(after);
  const opened = secretFieldsOf(before).find((name) => !secrets.includes(name));
  if (opened !== undefined) throw refused(`its setting ${opened} would be no secret: ${remedy}`);
}
