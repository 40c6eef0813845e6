import { type CatalogStream, type ConfiguredStream, streamLabel } from "../contract/catalog.ts";
import { ConnectorError } from "../contract/errors.ts";
import { printable, suggestion, UsageError } from "./usage.ts";

/**
 * The mode that the person asked for; undefined = incremental where the source has a cursor of its own, else
 * full refresh.
 */
export type ChosenMode = "incremental" | "full_refresh" | undefined;

/**
 * The selection of `svc read`. `names` are stream names or `namespace.name`, separated by commas;
 * undefined = all.
 * @throws UsageError for an unknown or ambiguous name, SYNC_MODE_UNSUPPORTED for a named stream
 * that cannot be read incrementally
 */
export function selectStreams(
  catalog: readonly CatalogStream[],
  names: string | undefined,
  mode: ChosenMode,
): ConfiguredStream[] {
  const streams = names === undefined ? catalog : namedStreams(catalog, names);
  if (streams.length === 0) throw new UsageError("there are no streams to read");
  return streams.map((stream) => {
    const canResume =
      stream.supported_sync_modes.includes("incremental") && stream.default_cursor_field.length > 0;
    if (mode === "incremental" && names !== undefined && !canResume) {
      throw new ConnectorError("SYNC_MODE_UNSUPPORTED", {
        stream: streamLabel(stream),
        syncMode: "incremental",
      });
    }
    const isIncremental =
      canResume && (mode === "incremental" || (mode === undefined && stream.source_defined_cursor));
    return {
      stream,
      sync_mode: isIncremental ? "incremental" : "full_refresh",
      ...(isIncremental ? { cursor_field: stream.default_cursor_field } : {}),
    };
  });
}

function namedStreams(catalog: readonly CatalogStream[], names: string): CatalogStream[] {
  // A stream may have a comma in its name: then it is named alone.
  const isOne = catalog.some((stream) => streamLabel(stream) === names);
  const wanted = isOne
    ? [names]
    : names
        .split(",")
        .map((name) => name.trim())
        .filter((name) => name !== "");
  return [...new Set(wanted)].map((name) => findStream(catalog, name));
}

function findStream(catalog: readonly CatalogStream[], name: string): CatalogStream {
  const exact = catalog.find((stream) => streamLabel(stream) === name);
  if (exact) return exact;
  const [found, ...others] = catalog.filter((stream) => stream.name === name);
  if (found && others.length === 0) return found;
  if (found) {
    const labels = [found, ...others].slice(0, 3).map((stream) => printable(streamLabel(stream)));
    throw new UsageError(
      `several streams are named "${printable(name)}": use ${labels.join(" or ")}`,
    );
  }
  const known = catalog.flatMap((stream) =>
    stream.namespace ? [streamLabel(stream), stream.name] : [stream.name],
  );
  throw new UsageError(
    `there is no stream "${printable(name)}"${suggestion(name, known) || "; discover lists them"}`,
  );
}
