import {
  ConnectorError,
  type JsonObject,
  type JsonValue,
  type QueryColumn,
} from "svc-connectors/host";
import type { Mac } from "../vault/mac.ts";
import type { ModelRow } from "./diff.ts";
import type { Mapping } from "./mappings.ts";

/**
 * The recipe of rows: the model's key, the mappings, and whether rows are found by an
 * identifier.
 */
export interface Shape {
  readonly primaryKey: string;
  readonly mappings: readonly Mapping[];
  /** Rows need the primary identifier. */
  readonly isIdentifying: boolean;
}

/** Longest key: what an index of PostgreSQL takes, with room to spare. */
const maxKeyBytes = 1_000;

/**
 * Gives the function that makes a row of the model ready to be compared and sent. The hash is made
 * with a key of the service: who reads the database learns nothing of the values.
 * @throws CONFIG_INVALID when the query no longer has a column
 */
export function createRowMapper(columns: readonly QueryColumn[], shape: Shape, mac: Mac) {
  const indexOf = (name: string) => {
    const found = columns.findIndex((column) => column.name === name);
    if (found === -1)
      throw new ConnectorError("CONFIG_INVALID", {
        path: "mappings",
        problem: `need the column ${name}, which the model does not give`,
      });
    return found;
  };
  const keyIndex = indexOf(shape.primaryKey);
  const entries = [...shape.mappings]
    .sort((one, other) => (one.to < other.to ? -1 : 1))
    .map(({ from, to }) => [to, indexOf(from)] as const);
  const identifierField = shape.mappings.find(({ isPrimaryIdentifier }) => isPrimaryIdentifier)?.to;

  /** @param position of the row in the model, from 1: it names a row without a key */
  return (values: readonly JsonValue[], position: number): ModelRow => {
    const fields: JsonObject = Object.fromEntries(
      entries.map(([to, index]) => [to, values[index] ?? null]),
    );
    const text = JSON.stringify(fields);
    const key = textOf(values[keyIndex]);
    const identifier =
      identifierField === undefined ? undefined : (fields[identifierField] ?? undefined);
    const row = {
      key: key ?? `row ${position}`,
      hash: mac.of("reverse_etl_row", text).slice(0, 32),
      identifier:
        shape.isIdentifying && identifier !== undefined ? JSON.stringify(identifier) : null,
      fields: text,
    };
    if (key === undefined) return { ...row, reason: "key_missing" };
    if (Buffer.byteLength(key) > maxKeyBytes || key.includes("\u0000") || !key.isWellFormed())
      return { ...row, key: `row ${position}`, reason: "key_invalid" };
    const isMissing = shape.isIdentifying && (identifier === undefined || identifier === "");
    return isMissing ? { ...row, reason: "identifier_missing" } : row;
  };
}

/** A key as text; undefined: there is none. */
function textOf(value: JsonValue | undefined): string | undefined {
  if (value === null || value === undefined || value === "") return undefined;
  return typeof value === "string" ? value : JSON.stringify(value);
}
