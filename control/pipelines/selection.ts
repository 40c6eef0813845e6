/**
 * The streams that a pipeline has agreed to sync, and the two sides of a job that come of it. What
 * happens when the source has changed since: schema-changes.ts. The rows: streams.ts.
 */
import {
  type CatalogStream,
  type ConfiguredCatalog,
  type DestinationStream,
  type DestinationSyncMode,
  deleteModes,
  type RowCondition,
  type StreamDescriptor,
} from "svc-connectors/host";
import { hasColumn } from "./columns.ts";
import { type TableNaming, tableOf } from "./table-names.ts";

/** Treatments of rows that the source has no more. `none`: they stay. */
export const detectDeletes = ["none", ...deleteModes] as const;
export type DetectDeletes = (typeof detectDeletes)[number];

/** A stream as it was agreed with the user. */
export interface AgreedStream {
  /** As the source had it then. */
  readonly stream: CatalogStream;
  readonly syncMode: "full_refresh" | "incremental";
  readonly destinationSyncMode: DestinationSyncMode;
  /** Empty: none. */
  readonly cursorField: readonly string[];
  /** Empty: none. */
  readonly primaryKey: readonly (readonly string[])[];
  /** Null: all of them. */
  readonly selectedFields: readonly string[] | null;
  /** Columns of which only hashes leave the source. Null: none. */
  readonly hashedFields: readonly string[] | null;
  /** Conditions that all rows meet. Null: none. */
  readonly rowFilter: readonly RowCondition[] | null;
  readonly detectDeletes: DetectDeletes;
  /** The saved state counts no more. */
  readonly isRestart: boolean;
}

/** Namespace (or "") and name of a stream as one text. */
export const identityOf = ({ name, namespace }: StreamDescriptor): string =>
  JSON.stringify([namespace ?? "", name]);

export const descriptorOf = ({ name, namespace }: StreamDescriptor): StreamDescriptor =>
  namespace === undefined ? { name } : { name, namespace };

/** The request of a job. */
export interface JobChoice {
  /** Only these; undefined: all. */
  readonly streams?: readonly StreamDescriptor[] | undefined;
  /** Reads all of them from the beginning. */
  readonly isFullRefresh?: boolean | undefined;
}

/** The two sides of a sync. Both list the same streams in the same order. */
export interface JobStreams {
  readonly catalog: ConfiguredCatalog;
  readonly streams: readonly DestinationStream[];
}

export function jobStreams(
  naming: TableNaming,
  agreed: readonly AgreedStream[],
  { streams, isFullRefresh = false }: JobChoice = {},
): JobStreams {
  const wanted = streams && new Set(streams.map(identityOf));
  const chosen = agreed
    .filter(({ stream }) => wanted?.has(identityOf(stream)) ?? true)
    .map(
      (one): DestinationStream => ({
        configured: {
          stream: one.stream,
          sync_mode: one.syncMode,
          destination_sync_mode: one.destinationSyncMode,
          ...(one.cursorField.length === 0 ? {} : { cursor_field: one.cursorField }),
          ...(one.primaryKey.length === 0 ? {} : { primary_key: one.primaryKey }),
          ...(one.selectedFields === null
            ? {}
            : { selected_fields: withKeys(one.selectedFields, one) }),
          ...choicesOf(one),
        },
        ...tableOf(naming, one.stream),
        ...(isFullRefresh || one.isRestart ? { isRestart: true } : {}),
        ...(one.detectDeletes === "none" ? {} : { detectDeletes: one.detectDeletes }),
      }),
    );
  return { catalog: { streams: chosen.map(({ configured }) => configured) }, streams: chosen };
}

/** A hashed column that has gone stays agreed, so that it does not come back in plain. */
export function choicesOf({
  stream,
  hashedFields,
  rowFilter,
}: Pick<AgreedStream, "stream" | "hashedFields" | "rowFilter">) {
  const hashed = hashedFields?.filter((field) => hasColumn(stream.json_schema, field)) ?? [];
  return {
    ...(hashed.length > 0 ? { hashed_fields: hashed } : {}),
    ...(rowFilter === null ? {} : { row_filter: rowFilter }),
  };
}

/** Rows are told apart by the key and ordered by the cursor: both are always read. */
const withKeys = (
  fields: readonly string[],
  { primaryKey, cursorField }: AgreedStream,
): string[] => [
  ...new Set([...fields, ...[...primaryKey, cursorField].flatMap((path) => path.slice(0, 1))]),
];
