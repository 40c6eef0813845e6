import type { Egress } from "./egress.ts";
import type { JsonObject, JsonSchema, JsonValue } from "./json.ts";
import type { CursorProposal, RowCondition, SyncMode } from "./stream.ts";

/**
 * A stream as discover lists it: plain data, in Airbyte's words.
 * @see AirbyteStream of the Airbyte Protocol 0.18
 */
export interface CatalogStream {
  readonly name: string;
  readonly namespace?: string;
  readonly json_schema: JsonSchema;
  readonly supported_sync_modes: readonly SyncMode[];
  readonly source_defined_cursor: boolean;
  /** The stream's own cursor as a path, or empty. */
  readonly default_cursor_field: readonly string[];
  /** Proposals for the cursor, the best one first. An addition of ours to the protocol's words. */
  readonly proposed_cursors?: readonly CursorProposal[];
  /** About how many rows there are. An addition of ours to the protocol's words. */
  readonly estimated_rows?: number;
  /** Each inner array is a path. */
  readonly source_defined_primary_key: readonly (readonly string[])[];
  readonly is_resumable: boolean;
  /** Whether it takes a `row_filter`. An addition of ours to the protocol's words. */
  readonly supports_row_filter?: boolean;
}

/**
 * Properties by which sources say that a row is gone, where they are not null: Airbyte's, for logs
 * of databases, and our own.
 */
export const deletedProperties: readonly string[] = ["_ab_cdc_deleted_at", "_svc_deleted_at"];

/** A stream with the user's choices. @see ConfiguredAirbyteStream */
export interface ConfiguredStream {
  readonly stream: CatalogStream;
  readonly sync_mode: SyncMode;
  readonly destination_sync_mode?: string;
  readonly cursor_field?: readonly string[];
  readonly primary_key?: readonly (readonly string[])[];
  /** Properties to read; undefined = all. An addition of ours to the protocol's words. */
  readonly selected_fields?: readonly string[];
  /**
   * Properties of which only a keyed hash leaves the host. An addition of ours to the protocol's
   * words.
   * @see docs/decisions/0039
   */
  readonly hashed_fields?: readonly string[];
  /**
   * Conditions that all rows meet that are read; for streams with `supports_row_filter`. An
   * addition of ours to the protocol's words.
   */
  readonly row_filter?: readonly RowCondition[];
}

export interface ConfiguredCatalog {
  readonly streams: readonly ConfiguredStream[];
}

/** Identifies a stream. */
export interface StreamDescriptor {
  readonly name: string;
  readonly namespace?: string;
}

/** A stream's saved state. `{}` = from the beginning. */
export interface StreamState {
  readonly stream: StreamDescriptor;
  readonly state: JsonValue;
}

/**
 * The description that a loaded connector gives of itself: everything that the host needs, as plain
 * data.
 */
export interface Manifest {
  readonly id: string;
  readonly version: string;
  readonly title: string;
  readonly documentationUrl?: string;
  readonly spec: JsonObject;
  readonly egress: Egress;
  /** JSON Schema of a checkpoint; a saved state must match it. */
  readonly state?: JsonObject;
  /** The streams, where they are the same for every account. */
  readonly streams?: readonly CatalogStream[];
  /** Streams that its document has and nobody can read here, of a declarative manifest. */
  readonly missingStreams?: readonly MissingStream[];
  /** True when it can list what a user may choose settings from. */
  readonly hasEntities?: boolean;
}

/** A stream that needs what the runtime lacks. */
export interface MissingStream {
  readonly stream: string;
  /** Where in the document that stands. */
  readonly path: string;
  readonly problem: string;
}

/** "namespace.name", or the name alone: how people and file names refer to a stream. */
export function streamLabel(stream: StreamDescriptor): string {
  return stream.namespace ? `${stream.namespace}.${stream.name}` : stream.name;
}

/** The stream that a selection is about, without what the user chose. */
export function descriptorOf({ stream }: ConfiguredStream): StreamDescriptor {
  return stream.namespace === undefined
    ? { name: stream.name }
    : { name: stream.name, namespace: stream.namespace };
}

/** Equal for the same stream only. */
export const streamKey = ({ namespace, name }: StreamDescriptor) =>
  JSON.stringify([namespace ?? "", name]);
