import { Type } from "typebox";
import {
  type CatalogStream,
  type ConfiguredCatalog,
  type ConfiguredStream,
  deletedProperties,
  type Manifest,
  type StreamState,
  streamLabel,
} from "../contract/catalog.ts";
import { ConnectorError } from "../contract/errors.ts";
import type { JsonObject, JsonValue } from "../contract/json.ts";
import { isJsonObject } from "../contract/json.ts";
import type { StreamRequest } from "../wire/verb-request.ts";
import { hashProblem } from "./hashed-fields.ts";
import { filterProblem, RowFilter } from "./row-filter.ts";
import { nameFault, Path, refuseTooMany, Stream, SyncModes } from "./streams.ts";
import { compileLater, compileSchema, type Fault, validateAll } from "./validation.ts";

const catalogFaults = compileLater(
  Type.Object({
    streams: Type.Array(
      Type.Object({
        stream: Stream,
        sync_mode: SyncModes,
        cursor_field: Type.Optional(Path),
        primary_key: Type.Optional(Type.Array(Path)),
        selected_fields: Type.Optional(Type.Array(Type.String())),
        hashed_fields: Type.Optional(Type.Array(Type.String())),
        row_filter: Type.Optional(RowFilter),
      }),
    ),
  }),
);

/**
 * The orders for a worker: each selected stream with its mode, cursor and saved state.
 * @param onFallback with it, a stream that cannot be read incrementally is read whole, without the
 * state of another mode, and named to it
 * @throws TOO_MANY_TABLES, CATALOG_INVALID, STREAM_UNKNOWN, SYNC_MODE_UNSUPPORTED, STATE_INVALID,
 * all before anything is read
 */
export function parseSelection(
  manifest: Manifest,
  catalog: ConfiguredCatalog,
  states: readonly StreamState[],
  onFallback?: FallbackListener,
): readonly StreamRequest[] {
  const streams = (catalog as Partial<ConfiguredCatalog> | null)?.streams;
  if (Array.isArray(streams)) refuseTooMany(streams.length);
  const document = structuredClone(catalog);
  const fault = catalogFaults(document as unknown as JsonValue).at(0);
  if (fault)
    throw new ConnectorError("CATALOG_INVALID", {
      path: fault.path || "the document",
      problem: fault.problem,
    });
  if (document.streams.length === 0)
    throw new ConnectorError("CATALOG_INVALID", {
      path: "streams",
      problem: "must name at least one stream",
    });
  const seen = new Set<string>();
  for (const { stream } of document.streams) {
    const duplicate = nameFault(stream, seen);
    if (duplicate) throw new ConnectorError("CATALOG_INVALID", duplicate);
  }
  const stateFaults = manifest.state
    ? compileSchema(closedState(manifest.state) as JsonObject)
    : undefined;
  const own = manifest.streams && byIdentity(manifest.streams);
  const saved = byIdentity(
    validateAll(states, ({ stream, state }) => ({
      ...stream,
      state,
      fault: faultOf(state, stateFaults),
    })),
  );
  return document.streams.map((configured) => {
    const stream = own ? own.get(identity(configured.stream)) : configured.stream;
    if (!stream)
      throw new ConnectorError("STREAM_UNKNOWN", { stream: streamLabel(configured.stream) });
    const problem = onFallback && whyNotIncremental(stream, configured);
    if (problem === undefined)
      return toStreamRequest(stream, configured, saved.get(identity(stream)));
    onFallback?.(streamLabel(stream), problem);
    return toStreamRequest(stream, inWhole(configured), undefined);
  });
}

/** Hears of a stream that is read whole although incremental was asked for. */
export type FallbackListener = (stream: string, reason: string) => void;

/** The reason for which a stream without a fault in its selection has no incremental read. */
function whyNotIncremental(
  stream: CatalogStream,
  { sync_mode, cursor_field = [] }: ConfiguredStream,
): string | undefined {
  const { supported_sync_modes: modes, default_cursor_field: own } = stream;
  if (sync_mode !== "incremental" || !modes.includes("full_refresh")) return undefined;
  if (!modes.includes("incremental")) return "it only has full refresh";
  return own.length + cursor_field.length === 0 ? "it needs a cursor field" : undefined;
}

const inWhole = ({ cursor_field: _, ...configured }: ConfiguredStream): ConfiguredStream => ({
  ...configured,
  sync_mode: "full_refresh",
});

/**
 * Objects of the state have no properties but those that are declared: what an older or another
 * connector wrote is no beginning.
 */
export function closedState(schema: JsonValue): JsonValue {
  if (Array.isArray(schema)) return schema.map(closedState);
  if (!isJsonObject(schema)) return schema;
  const parts = Object.entries(schema as JsonObject).map(
    ([name, part]) => [name, closedState(part)] as const,
  );
  const isOpen =
    Object.hasOwn(schema as object, "additionalProperties") ||
    !isJsonObject((schema as JsonObject).properties ?? null);
  return { ...Object.fromEntries(parts), ...(isOpen ? {} : { additionalProperties: false }) };
}

/** The fault of a saved state, whatever stream it is of. */
function faultOf(
  state: JsonValue | undefined,
  stateFaults: ReturnType<typeof compileSchema> | undefined,
): Fault | undefined {
  if (state === undefined || state === null || isEmptyObject(state)) return undefined;
  if (!isJsonObject(state)) return { path: "", problem: "must be an object" };
  return stateFaults?.(structuredClone(state)).at(0);
}

function toStreamRequest(
  stream: CatalogStream,
  configured: ConfiguredStream,
  saved: { readonly state: JsonValue; readonly fault: Fault | undefined } | undefined,
): StreamRequest {
  const label = streamLabel(stream);
  const {
    sync_mode: syncMode,
    selected_fields: selectedFields,
    hashed_fields: hashedFields,
    row_filter: rowFilter,
  } = configured;
  const unsupported = (problem?: string) =>
    new ConnectorError("SYNC_MODE_UNSUPPORTED", {
      stream: label,
      syncMode,
      ...(problem ? { problem } : {}),
    });
  if (!stream.supported_sync_modes.includes(syncMode)) throw unsupported();

  // Clients write a cursor that nobody chose as an empty path.
  const given = configured.cursor_field?.length ? configured.cursor_field : undefined;
  const chosen = stream.source_defined_cursor
    ? stream.default_cursor_field
    : (given ?? stream.default_cursor_field);
  const cursorField = chosen[0];
  const properties = (stream.json_schema.properties ?? {}) as object;
  if (syncMode === "incremental") {
    if (cursorField === undefined) throw unsupported("it needs a cursor field");
    if (chosen.length > 1 || !Object.hasOwn(properties, cursorField))
      throw unsupported("the cursor field is not one of its properties");
  }
  const refuse = (setting: string, problem: string) =>
    new ConnectorError("CATALOG_INVALID", { path: `${setting} of ${label}`, problem });
  for (const field of selectedFields ?? []) {
    if (!Object.hasOwn(properties, field))
      throw refuse("selected_fields", "names a field that the stream lacks");
  }
  for (const field of hashedFields ?? []) {
    const problem = hashProblem({ ...configured, stream }, field);
    if (problem !== undefined) throw refuse("hashed_fields", `names ${field}, which ${problem}`);
  }
  for (const condition of rowFilter ?? []) {
    const problem = filterProblem(stream, condition);
    if (problem !== undefined) throw refuse("row_filter", problem);
  }
  if (saved?.fault)
    throw new ConnectorError("STATE_INVALID", {
      stream: label,
      path: saved.fault.path || "the state",
      problem: saved.fault.problem,
    });
  return {
    stream,
    syncMode,
    cursorField: syncMode === "incremental" ? cursorField : undefined,
    selectedFields: selectedFields && withKeys(selectedFields, stream, cursorField),
    ...(hashedFields?.length ? { hashedFields } : {}),
    ...(rowFilter?.length ? { rowFilter } : {}),
    state: saved?.state,
  };
}

/**
 * The key and the cursor are always read: without them rows could not be told apart. So is what
 * says that a row is gone: without it there would be a row.
 */
function withKeys(
  fields: readonly string[],
  stream: CatalogStream,
  cursorField: string | undefined,
): string[] {
  const keys = stream.source_defined_primary_key.map((path) => path[0] ?? "");
  const deleted = deletedProperties.filter((name) =>
    Object.hasOwn(stream.json_schema.properties ?? {}, name),
  );
  const cursor = cursorField === undefined ? [] : [cursorField];
  return [...new Set([...fields, ...keys, ...cursor, ...deleted])];
}

interface Identified {
  readonly name: string;
  readonly namespace?: string;
}
const identity = ({ name, namespace }: Identified) => JSON.stringify([namespace ?? "", name]);
const byIdentity = <T extends Identified>(list: readonly T[]) =>
  new Map(list.map((one) => [identity(one), one]));

const isEmptyObject = (value: JsonValue) =>
  isJsonObject(value) && Object.keys(value as object).length === 0;
