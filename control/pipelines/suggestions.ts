/**
 * Suggestions and warnings of prepare about a catalog as a whole, whichever page of it is looked
 * at.
 */
import { sql } from "kysely";
import { type StreamDescriptor, streamLabel } from "svc-connectors/host";
import type { Db } from "../store/database.ts";
import { descriptorOf, identityOf } from "./selection.ts";
import { collisionsOf, type TableNaming } from "./table-names.ts";

const inDestination: TableNaming = {
  prefix: "",
  namespaceDefinition: "destination",
  namespaceFormat: null,
};
const asSource: TableNaming = { ...inDestination, namespaceDefinition: "source" };

const namesOf = async (db: Db, catalogId: string): Promise<readonly StreamDescriptor[]> => {
  const rows = await db
    .selectFrom("catalog_streams")
    .select(["name", "namespace"])
    .where("catalog_id", "=", catalogId)
    .orderBy("position")
    .execute();
  return rows.map(({ name, namespace }) =>
    descriptorOf(namespace === null ? { name } : { name, namespace }),
  );
};

/**
 * One schema for all tables, as long as no two streams are called the same; else a schema for each
 * namespace.
 */
export async function suggestNaming(
  db: Db,
  catalogId: string,
): Promise<{ readonly naming: TableNaming; isLeftOut(stream: StreamDescriptor): boolean }> {
  const names = await namesOf(db, catalogId);
  const naming = collisionsOf(inDestination, names).length === 0 ? inDestination : asSource;
  const left = new Set(
    collisionsOf(naming, names)
      .flatMap(([, second]) => names[second] ?? [])
      .map(identityOf),
  );
  return { naming, isLeftOut: (stream) => left.has(identityOf(stream)) };
}

/** Streams that pipelines between the two have already. */
export async function selectedIn(
  db: Db,
  sourceId: string,
  destinationId: string,
): Promise<ReadonlySet<string>> {
  const rows = await db
    .selectFrom("pipeline_streams")
    .innerJoin("connections", "connections.pipeline_id", "pipeline_streams.pipeline_id")
    .select(["pipeline_streams.name", "pipeline_streams.namespace"])
    .where("connections.source_id", "=", sourceId)
    .where("connections.destination_id", "=", destinationId)
    .execute();
  return new Set(
    rows.map(({ name, namespace }) =>
      identityOf({ name, ...(namespace === null ? {} : { namespace }) }),
    ),
  );
}

export interface Warning {
  readonly reason: string;
  readonly message: string;
  readonly stream_count: number;
  /** Names of some of them. */
  readonly sample: string[];
}

/** Names that a warning gives. */
const sampleSize = 10;

/** Warnings for a person who is about to select. */
export async function findWarnings(db: Db, catalogId: string): Promise<Warning[]> {
  const { rows } = await sql<{ name: string; namespace: string | null }>`
    SELECT name, namespace FROM catalog_streams
    WHERE catalog_id = ${catalogId} AND stream -> 'source_defined_primary_key' = '[]'::jsonb
    ORDER BY position`.execute(db);
  if (rows.length === 0) return [];
  return [
    {
      reason: "streams_without_key",
      message: "Their rows cannot be told apart: append_dedup needs a primary_key that you name.",
      stream_count: rows.length,
      sample: rows
        .slice(0, sampleSize)
        .map(({ name, namespace }) =>
          streamLabel({ name, ...(namespace === null ? {} : { namespace }) }),
        ),
    },
  ];
}
