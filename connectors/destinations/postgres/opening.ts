/**
 * The steps before anything is written: fence, schemas, saved streams, which table each stream gets
 * and how it is written.
 */
import { ConnectorError } from "svc-connectors";
import {
  type DestinationStream,
  descriptorOf,
  destinationModeOf,
  type NameRules,
  planWrite,
  requireKeys,
  shortHash,
  streamKey,
  toSqlName,
  type WriteCommand,
  type WritePlan,
} from "svc-connectors/destination";
import type { Session } from "./session.ts";
import {
  createSchemas,
  createStateTables,
  endPredecessors,
  findTaken,
  noteFence,
  readStreams,
  type SavedStream,
} from "./state.ts";
import type { Table } from "./tables.ts";

/** A stream of the command, ready to be written. */
export interface PlannedStream {
  readonly ordered: DestinationStream;
  readonly plan: WritePlan;
  /** The stream as it was at the last commit. */
  saved: SavedStream;
  /** Id of the row that named another table for this stream; that table is left to people. */
  readonly renamedId?: string | undefined;
}

/** Names of sessions, so that a later attempt finds those of earlier ones. */
export const sessionOf = (owner: string) => `svc:${shortHash(owner)}${shortHash(`${owner}\0`)}`;

/** @throws OUTPUT_FENCED, TABLE_CONFLICT, CONFIG_INVALID, and what the server says */
export async function openStreams(
  { client }: Session,
  { owner, fence, streams }: Pick<WriteCommand, "owner" | "fence" | "streams">,
  defaultSchema: string,
): Promise<Map<string, PlannedStream>> {
  for (const { configured } of streams)
    if (destinationModeOf(configured) === "append_dedup") requireKeys(configured);
  await client.query("BEGIN");
  await createStateTables(client);
  await client.query("COMMIT");
  await noteFence(client, owner, fence);
  await endPredecessors(client, sessionOf(owner), fence);
  const known = await readStreams(client, owner);
  const keyed = streams.map((ordered) => ({
    ordered,
    key: streamKey(descriptorOf(ordered.configured)),
  }));
  // Names of streams that are not written now are theirs all the same.
  const taken = new Set([...known.values()].map(({ table }) => tableKey(table)));
  const planned = new Map<string, PlannedStream>();
  for (const { ordered, key } of keyed) {
    const saved = known.get(key);
    const schema = schemaName(ordered.schema ?? defaultSchema);
    // Not all that a name may hold can be stored as text.
    const requested = JSON.stringify(ordered.table);
    if (saved && saved.table.schema === schema && saved.requested === requested) {
      planned.set(key, {
        ordered,
        saved,
        plan: planWrite(ordered.configured, saved.generations, ordered.isRestart),
      });
      continue;
    }
    const isTaken = { has: (name: string) => taken.has(tableKey({ schema, name })) };
    const table = { schema, name: toSqlName(ordered.table, isTaken, tableNameRules) };
    taken.add(tableKey(table));
    const fresh: SavedStream = {
      id: undefined,
      requested,
      table,
      columnNames: {},
      generations: {},
      updatedAtMs: 0,
    };
    const plan = planWrite(ordered.configured, {}, ordered.isRestart);
    planned.set(key, {
      ordered,
      saved: fresh,
      plan,
      renamedId: saved?.id,
    });
  }

  const fresh = [...planned.values()]
    .filter(({ saved }) => !saved.generations.current)
    .map(({ saved }) => saved.table);
  const [conflict] = await findTaken(client, owner, fresh);
  if (conflict) throw new ConnectorError("TABLE_CONFLICT", { name: conflict.name });
  await client.query("BEGIN");
  await createSchemas(client, [
    ...new Set([...planned.values()].map(({ saved }) => saved.table.schema)),
  ]);
  await client.query("COMMIT");
  return planned;
}

const tableKey = ({ schema, name }: Table) => `${schema}.${name.toLowerCase()}`;

/** NAMEDATALEN - 1. */
const tableNameRules: NameRules = { maxBytes: 63, reservedPrefix: "svc:" };
const schemaNameRules: NameRules = {
  maxBytes: 63,
  reservedPrefix: "pg_",
  reserved: new Set(["information_schema", "_svc"]),
};

export function schemaName(schema: string): string {
  return toSqlName(schema, new Set(), schemaNameRules);
}
