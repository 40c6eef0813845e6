/**
 * The runs that stand in for recordings where a connector speaks to a database: each verb, and each
 * table in each mode that it has.
 */
import type { JsonObject } from "svc-connectors";
import { type CatalogStream, streamLabel } from "svc-connectors/host";
import type { RecordedRun, Recording } from "../contract/recording.ts";

/**
 * Their output is compared with the database itself, so that they hold neither requests nor hashes.
 */
export function databaseRuns(
  catalog: readonly CatalogStream[],
  provider: string,
  startMs: number,
): Recording[] {
  const metadata: Recording["metadata"] = {
    kit: 1,
    matcher: 1,
    provider,
    provider_api_version: "3.0",
    recorded_at: new Date(startMs).toISOString(),
    clock_origin: new Date(startMs).toISOString(),
    seed: 1,
    redactions: [],
  };
  const make = (name: string, run: RecordedRun): Recording => ({
    name,
    metadata,
    run,
    interactions: [],
    outcome: { status: "succeeded" },
  });
  const reads = catalog.flatMap((stream) => {
    const { name, namespace, supported_sync_modes: modes = [] } = stream;
    const named = namespace === undefined ? { name } : { name, namespace };
    const cursor = cursorOf(stream);
    return [
      make(streamLabel(stream), {
        verb: "read",
        streams: [{ ...named, sync_mode: "full_refresh" }],
      }),
      ...(modes.includes("incremental") && cursor !== undefined
        ? [
            make(`${streamLabel(stream)}.incremental`, {
              verb: "read",
              streams: [{ ...named, sync_mode: "incremental", cursor_field: cursor }],
            }),
          ]
        : []),
    ];
  });
  return [make("check", { verb: "check" }), make("discover", { verb: "discover" }), ...reads];
}

/** The stream's own cursor; else what people choose: a time, or a number that counts up. */
function cursorOf({
  default_cursor_field,
  json_schema,
  source_defined_primary_key = [],
}: CatalogStream) {
  if (default_cursor_field?.[0] !== undefined) return default_cursor_field[0];
  const properties = Object.entries(
    (json_schema.properties ?? {}) as Readonly<Record<string, JsonObject>>,
  );
  const isInteger = ({ type }: JsonObject) =>
    type === "integer" || (Array.isArray(type) && type.includes("integer"));
  const keys = new Set(source_defined_primary_key.map(([field]) => field));
  const [found] =
    properties.find(([, { format }]) => format === "date-time") ??
    properties.find(([name, schema]) => keys.has(name) && isInteger(schema)) ??
    properties.find(([, schema]) => isInteger(schema)) ??
    [];
  return found;
}
