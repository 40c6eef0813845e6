import { type ConfiguredStream, deletedProperties } from "../contract/catalog.ts";
import { ConnectorError } from "../contract/errors.ts";

/** The properties that tell rows of one key apart. */
export interface MergeKeys {
  /** Together they identify a row. Empty when the stream has no key, or one inside of an object. */
  readonly keys: readonly string[];
  /**
   * Orders the rows of one key: the newest wins. Of equal ones, and without a cursor, the later
   * arrival does. Null is the oldest.
   */
  readonly cursor?: string | undefined;
  /**
   * Where it is not null, the row says that its key is deleted. Such a row is never kept itself.
   */
  readonly deletedAt?: string | undefined;
}

/** The user's primary key and cursor, else the stream's own. */
export function mergeKeys({ stream, primary_key, cursor_field }: ConfiguredStream): MergeKeys {
  const properties = (stream.json_schema.properties ?? {}) as { readonly [name: string]: unknown };
  const topLevel = (path: readonly string[] | undefined) =>
    path?.length === 1 && path[0] !== undefined && Object.hasOwn(properties, path[0])
      ? path[0]
      : undefined;
  const paths = primary_key?.length ? primary_key : stream.source_defined_primary_key;
  const names = paths.map(topLevel);
  const cursor = topLevel(cursor_field?.length ? cursor_field : stream.default_cursor_field);
  const deletedAt = deletedProperties.find((name) => Object.hasOwn(properties, name));
  return {
    keys: names.every((name) => name !== undefined) ? names : [],
    cursor,
    deletedAt,
  };
}

/**
 * As {@link mergeKeys}, for rows that are deduplicated.
 * @throws CONFIG_INVALID when there is no key
 */
export function requireKeys(configured: ConfiguredStream): MergeKeys {
  const merge = mergeKeys(configured);
  if (merge.keys.length > 0) return merge;
  const problem = "must name properties of the rows: append_dedup keeps one row per key";
  throw new ConnectorError("CONFIG_INVALID", { path: "primary_key", problem });
}
