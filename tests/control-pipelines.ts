/**
 * Pipelines for tests of what runs them: rows of the first workspace, as the API would have made
 * them.
 */
import { type CatalogStream, createSecretRegistry, type JsonValue } from "svc-connectors/host";
import { createId } from "../control/contract/ids.ts";
import { openDestination, targetOf } from "../control/destinations/open.ts";
import { suggest } from "../control/pipelines/modes.ts";
import { identityOf } from "../control/pipelines/selection.ts";
import { saveSelection } from "../control/pipelines/streams.ts";
import type { Tables } from "../control/store/tables.ts";
import type { TestControl } from "./control.ts";
import type { TestCredential } from "./control-rows.ts";

/** Where rows go: a DuckDB file, or what else is named. Gives its id. */
export async function addDestination(
  { control, db, first }: TestControl,
  {
    connectorId = "conn_duckdb",
    configuration = { file: "warehouse" } as object,
    credential = undefined as TestCredential | undefined,
  } = {},
): Promise<string> {
  const now = new Date(control.services.clock.now());
  const id = createId("destination");
  await db
    .insertInto("destinations")
    .values({
      id,
      workspace_id: first.id,
      name: "Warehouse",
      connector_id: connectorId,
      credential_id: credential?.id ?? null,
      configuration: JSON.stringify(configuration),
      status: "active",
      created_at: now,
      updated_at: now,
      last_check: JSON.stringify({ status: "succeeded", checked_at: now.toISOString() }),
    })
    .execute();
  return id;
}

export interface TestPipeline {
  readonly id: string;
  readonly connectionId: string;
  readonly destinationId: string;
}

/** @param catalog what the source was found to have; `selected` of it is synced as suggested */
export async function addPipeline(
  { control, db, first }: TestControl,
  { sourceId, destinationId }: { readonly sourceId: string; readonly destinationId: string },
  catalog: readonly CatalogStream[],
  selected: readonly string[],
  changes: {
    readonly schema_change_policy?: Tables["pipelines"]["schema_change_policy"];
    readonly parallel_streams?: number;
  } = {},
): Promise<TestPipeline> {
  const now = new Date(control.services.clock.now());
  const [id, connectionId] = [createId("pipeline"), createId("connection")];
  const ends = { workspace_id: first.id, source_id: sourceId, destination_id: destinationId };
  await db
    .insertInto("connections")
    .values({ id: connectionId, pipeline_id: id, created_at: now, ...ends })
    .execute();
  await db
    .insertInto("pipelines")
    .values({
      id,
      connection_id: connectionId,
      name: "p",
      status: "active",
      next_run_at: null,
      prefix: "",
      namespace_definition: "destination",
      namespace_format: null,
      schema_change_policy: "ignore",
      stream_count: 1,
      pause_reason: null,
      ...ends,
      schedule: JSON.stringify({ type: "manual" }),
      created_at: now,
      updated_at: now,
      ...changes,
    })
    .execute();
  const agreed = catalog
    .filter(({ name }) => selected.includes(name))
    .map((stream) => suggest(stream, ["append", "overwrite", "append_dedup"]));
  await saveSelection(db, id, { agreed, known: new Set(catalog.map(identityOf)) });
  return { id, connectionId, destinationId };
}

/** The rows that a SELECT gives at the destination. */
export async function queryDestination(
  { control, db }: TestControl,
  destinationId: string,
  sql: string,
): Promise<readonly (readonly JsonValue[])[]> {
  const { services } = control;
  const row = await db
    .selectFrom("destinations")
    .selectAll()
    .where("id", "=", destinationId)
    .executeTakeFirstOrThrow();
  const now = new Date(services.clock.now());
  const ctx = {
    services,
    db,
    now,
    secrets: createSecretRegistry(),
    signal: new AbortController().signal,
  };
  const target = await targetOf(ctx, { ...row, handle: null });
  const { config, options } = await openDestination(ctx, target, "query");
  const order = { sql, maxRows: 1_000_000, timeoutMs: 30_000 };
  await using open = await services.destinations.query(
    target.definition.reference,
    config,
    order,
    options,
  );
  const rows: (readonly JsonValue[])[] = [];
  for await (const page of open.result.pages) rows.push(...page);
  return rows;
}
