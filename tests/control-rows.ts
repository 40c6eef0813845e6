/** Rows for tests of the control layer that need something to act on and no provider behind it. */
import type { CatalogStream } from "svc-connectors/host";
import { createHandle, createId } from "../control/contract/ids.ts";
import { secretOwner } from "../control/credentials/stored-secret.ts";
import type { TestControl } from "./control.ts";

export interface TestCredential {
  readonly id: string;
  readonly handle: string;
}

/** An active credential of the first workspace. Its secret is in the vault. */
export async function addCredential(
  { control, db, first }: TestControl,
  fields: Readonly<Record<string, string>> = { api_token: "a-token-that-nobody-checks" },
  {
    connectorId = "conn_mailer_product_edm",
    metadata = {},
  }: { connectorId?: string; metadata?: object } = {},
): Promise<TestCredential> {
  const { vault, clock } = control.services;
  const now = new Date(clock.now());
  const id = createId("credential");
  const handle = createHandle();
  await db
    .insertInto("credentials")
    .values({
      id,
      handle,
      workspace_id: first.id,
      connector_id: connectorId,
      name: "token",
      auth_type: "api_key",
      status: "active",
      metadata: JSON.stringify(metadata),
      base_url: null,
      secret_fields: JSON.stringify(Object.keys(fields)),
      fingerprint: "x",
      granted_scopes: "[]",
      expires_at: null,
      last_verified_at: null,
      last_error: null,
      created_at: now,
      updated_at: now,
    })
    .execute();
  await vault.put(db, secretOwner({ id, workspace_id: first.id }), 0, { fields });
  return { id, handle };
}

/** A source of the first workspace that was never checked. Gives its id. */
export async function addSource(
  { control, db, first }: TestControl,
  credential: TestCredential,
  configuration: object = { base_url: "https://mail.example.com/api" },
  { connectorId = "conn_mailer_product_edm" }: { readonly connectorId?: string } = {},
): Promise<string> {
  const now = new Date(control.services.clock.now());
  const id = createId("source");
  await db
    .insertInto("sources")
    .values({
      id,
      workspace_id: first.id,
      name: "Our mailer",
      connector_id: connectorId,
      credential_id: credential.id,
      configuration: JSON.stringify(configuration),
      status: "active",
      created_at: now,
      updated_at: now,
      last_check: JSON.stringify({ status: "succeeded", checked_at: now.toISOString() }),
    })
    .execute();
  return id;
}

/**
 * A DuckDB destination of the first workspace, a file of its own, that was never checked. Gives its
 * id.
 */
export async function addDestination({ control, db, first }: TestControl): Promise<string> {
  const now = new Date(control.services.clock.now());
  const id = createId("destination");
  await db
    .insertInto("destinations")
    .values({
      id,
      workspace_id: first.id,
      name: "Warehouse",
      connector_id: "conn_duckdb",
      credential_id: null,
      created_at: now,
      configuration: JSON.stringify({ file: id.toLowerCase() }),
      status: "active",
      updated_at: now,
      last_check: JSON.stringify({ status: "succeeded", checked_at: now.toISOString() }),
    })
    .execute();
  return id;
}

/**
 * A stream as a database source lists it: `id` is its key, and nothing is its cursor unless the
 * user names one.
 */
export const tableStream = (name: string, namespace?: string): CatalogStream => ({
  name,
  ...(namespace === undefined ? {} : { namespace }),
  json_schema: {
    type: "object",
    properties: {
      id: { type: "integer" },
      updated_at: { type: "string", format: "date-time" },
      note: { type: "string" },
    },
  },
  supported_sync_modes: ["full_refresh", "incremental"],
  source_defined_cursor: false,
  default_cursor_field: [],
  source_defined_primary_key: [["id"]],
  is_resumable: true,
  supports_row_filter: true,
});

/** Saves the catalog that a source was found to have a moment ago. Gives the id of the prepare. */
export async function addCatalog(
  { control, db, first }: TestControl,
  sourceId: string,
  streams: readonly CatalogStream[],
): Promise<string> {
  const now = new Date(control.services.clock.now());
  const id = createId("prepare");
  await db
    .insertInto("catalogs")
    .values({
      id,
      workspace_id: first.id,
      source_id: sourceId,
      source_version: 1,
      table_count: streams.length,
      created_at: now,
      expires_at: new Date(now.getTime() + 30 * 60_000),
    })
    .execute();
  for (let start = 0; start < streams.length; start += 500) {
    const rows = streams.slice(start, start + 500).map((stream, index) => ({
      catalog_id: id,
      position: start + index,
      namespace: stream.namespace ?? null,
      name: stream.name,
      stream: JSON.stringify(stream),
    }));
    await db.insertInto("catalog_streams").values(rows).execute();
  }
  return id;
}
