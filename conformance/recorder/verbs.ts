/**
 * One verb of a connector, run through a host: against the live provider, and once more against
 * recorded answers.
 */
import type { JsonObject } from "svc-connectors";
import {
  type CatalogStream,
  ConnectorError,
  type ConnectorReference,
  type Host,
  type Sink,
  type StreamState,
  streamLabel,
  type VerbOptions,
} from "svc-connectors/host";
import type { RecordedRun } from "../contract/recording.ts";
import { dataText } from "../fixtures/records.ts";

export interface VerbRequest {
  readonly verb: RecordedRun["verb"];
  /** The whole configuration, secrets included. */
  readonly config: JsonObject;
  /** For read. */
  readonly stream?: CatalogStream | undefined;
  readonly isIncremental?: boolean | undefined;
  readonly state?: readonly StreamState[] | undefined;
}

export interface VerbResult {
  /** `code`: of the error table; of an image its failure_type, where it gives one. */
  readonly error?: { readonly code?: string | undefined; readonly message: string } | undefined;
  /** For read: data of the records as JSON text. */
  readonly lines: readonly string[];
  /** The last state; none when there was no checkpoint. */
  readonly state: readonly StreamState[];
  /** For discover. */
  readonly streams: readonly CatalogStream[];
}

/**
 * A failure of the verb is a result.
 * @throws ConnectorError when the connector cannot be run at all, CANCELLED
 */
export async function runVerb(
  host: Host,
  connector: ConnectorReference,
  request: VerbRequest,
  options: VerbOptions = {},
): Promise<VerbResult> {
  const { verb, config, stream } = request;
  const nothing = { lines: [], state: [], streams: [] };
  if (verb === "check") {
    const result = await host.check(connector, config, options);
    return result.status === "failed" ? { ...nothing, error: result.error } : nothing;
  }
  if (verb === "discover")
    return { ...nothing, streams: await host.discover(connector, config, options) };
  if (!stream) throw new TypeError("a read needs a stream");
  const output = createMemorySink();
  const catalog = { streams: [selectionOf(stream, request)] };
  const selection = { config, catalog, state: request.state };
  const { status, error } = await host.read(connector, selection, output.sink, options);
  if (status === "cancelled") throw new ConnectorError("CANCELLED");
  return { ...output.result(), streams: [], error };
}

function selectionOf(stream: CatalogStream, { isIncremental = false }: VerbRequest) {
  if (!isIncremental) return { stream, sync_mode: "full_refresh" } as const;
  return { stream, sync_mode: "incremental", cursor_field: stream.default_cursor_field } as const;
}

/** The run of a recording: verb, settings, stream and state. */
export function toRecordedRun(
  request: VerbRequest,
  config: JsonObject,
  state: readonly StreamState[] | undefined,
): RecordedRun {
  const { verb, stream, isIncremental = false } = request;
  if (!stream) return { verb, config };
  const { name, namespace, source_defined_cursor, default_cursor_field } = stream;
  const cursor = isIncremental && !source_defined_cursor ? default_cursor_field.join(".") : "";
  return {
    verb,
    config,
    streams: [
      {
        name,
        ...(namespace === undefined ? {} : { namespace }),
        sync_mode: isIncremental ? "incremental" : "full_refresh",
        ...(cursor === "" ? {} : { cursor_field: cursor }),
      },
    ],
    ...(state ? { state } : {}),
  };
}

function createMemorySink() {
  const lines: string[] = [];
  const states = new Map<string, StreamState>();
  const sink: Sink = {
    lineFormat: "airbyte",
    async open() {},
    async status() {},
    async close() {},
    async write(_, bytes) {
      for (const line of bytes.toString("utf8").split("\n"))
        if (line !== "") lines.push(dataText(line));
    },
    async checkpoint({ name, namespace }, state) {
      const stream = { name, ...(namespace === undefined ? {} : { namespace }) };
      states.set(streamLabel(stream), { stream, state });
    },
  };
  return { sink, result: () => ({ lines, state: [...states.values()] }) };
}
