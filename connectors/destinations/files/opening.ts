/** Whose tables are whose, and where the rows of each stream go. */
import { ConnectorError } from "svc-connectors";
import {
  descriptorOf,
  type ObjectStore,
  streamKey,
  type WriteCommand,
} from "svc-connectors/destination";
import { chooseTable, tableKey } from "../duckdb/tables.ts";
import type { SavedTable } from "./manifest.ts";
import { ownerPath, tableFolder } from "./paths.ts";
import type { Lake } from "./store.ts";

/** Tables that are looked at side by side: a store answers in a tenth of a second. */
const atOnce = 16;

/**
 * Finds or chooses the table of each stream, and claims it for the owner.
 * @param saved what the owner's manifest has
 * @throws TABLE_CONFLICT when a table is there that is not the owner's
 */
export async function openTables(
  { store, schema }: Lake,
  { owner, streams }: Pick<WriteCommand, "owner" | "streams">,
  saved: readonly SavedTable[],
): Promise<Map<string, SavedTable>> {
  const own = new Set(saved.map((table) => tableKey(table)));
  const byRequest = new Map(saved.map((one) => [requestKey(one.stream, one.requested), one]));
  const chosen = streams.map(({ configured, schema: given = schema, table: name }): SavedTable => {
    const stream = descriptorOf(configured);
    const requested = { schema: given, name };
    const known = byRequest.get(requestKey(stream, requested));
    if (known) return known;
    const table = chooseTable("", requested, own);
    own.add(tableKey(table));
    return { stream, requested, schema: table.schema, name: table.name, columnNames: {} };
  });
  const tables = new Map<string, SavedTable>();
  for (let from = 0; from < chosen.length; from += atOnce)
    for (const table of await Promise.all(
      chosen.slice(from, from + atOnce).map((one) => claim(store, owner, one)),
    ))
      tables.set(streamKey(table.stream), table);
  return tables;
}

const requestKey = (stream: SavedTable["stream"], { schema, name }: SavedTable["requested"]) =>
  JSON.stringify([streamKey(stream), schema, name]);

/** Gives the table as it is: one whose folder somebody removed begins anew. */
async function claim(store: ObjectStore, owner: string, table: SavedTable): Promise<SavedTable> {
  const path = ownerPath(table);
  const claimed = await store.read(path);
  if (claimed) {
    if (ownerOf(claimed.bytes) !== owner) throw conflict(table);
    return table;
  }
  const { stream, requested, schema, name, columnNames } = table;
  if ((await store.list(tableFolder(table))).length > 0) throw conflict(table);
  const claim = Buffer.from(JSON.stringify({ owner }));
  if ((await store.replace(path, claim, undefined)) === undefined) throw conflict(table);
  return { stream, requested, schema, name, columnNames };
}

function ownerOf(bytes: Buffer): string | undefined {
  try {
    return String((JSON.parse(bytes.toString()) as { owner?: unknown }).owner);
  } catch {
    return undefined;
  }
}

const conflict = ({ schema, name }: SavedTable) =>
  new ConnectorError("TABLE_CONFLICT", { name: `${schema}.${name}` });
