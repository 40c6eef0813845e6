import {
  type CatalogStream,
  type ConfiguredCatalog,
  type Manifest,
  type StreamDescriptor,
  streamKey,
} from "../contract/catalog.ts";
import type { Clock } from "../contract/clock.ts";
import { type ErrorKind, type ErrorRecord, errorTable } from "../contract/errors.ts";
import type { CheckResult, HostEvent, ReadSummary } from "../contract/host.ts";
import type { JsonValue } from "../contract/json.ts";
import type { Sink } from "../contract/sink.ts";
import { toProtocolStream } from "./airbyte-catalog.ts";

/** The version of the Airbyte Protocol whose messages these are. */
const protocolVersion = "0.18.0";

/**
 * A message of the Airbyte Protocol, or the lines of several that are serialised already. Resolves
 * when there is room for more.
 */
export type WriteOut = (chunk: string | Buffer) => Promise<void>;

/**
 * The protocol's messages besides those of a read. Each is one line.
 * @see AirbyteMessage of the Airbyte Protocol
 */
export function createMessageWriter(write: WriteOut, clock: Clock) {
  const send = (message: object) => write(`${JSON.stringify(message)}\n`);
  const trace = (body: object) =>
    send({ type: "TRACE", trace: { ...body, emitted_at: clock.now() } });
  return {
    spec: ({ spec, documentationUrl, streams }: Manifest) =>
      send({
        type: "SPEC",
        spec: {
          protocol_version: protocolVersion,
          ...(documentationUrl === undefined ? {} : { documentationUrl }),
          connectionSpecification: spec,
          supportsIncremental:
            streams?.some((stream) => stream.supported_sync_modes.includes("incremental")) ?? true,
          supported_destination_sync_modes: [],
        },
      }),
    connectionStatus: (result: CheckResult) =>
      send({
        type: "CONNECTION_STATUS",
        connectionStatus:
          result.status === "succeeded"
            ? { status: "SUCCEEDED" }
            : { status: "FAILED", message: result.error.message },
      }),
    catalog: (streams: readonly CatalogStream[]) =>
      send({ type: "CATALOG", catalog: { streams: streams.map(toProtocolStream) } }),
    state: (stream: StreamDescriptor, state: JsonValue, recordCount: number) =>
      send({
        type: "STATE",
        state: {
          type: "STREAM",
          stream: { stream_descriptor: toDescriptor(stream), stream_state: state },
          sourceStats: { recordCount },
        },
      }),
    streamStatus: (
      stream: StreamDescriptor,
      status: "STARTED" | "RUNNING" | "COMPLETE" | "INCOMPLETE",
    ) =>
      trace({
        type: "STREAM_STATUS",
        stream_status: { stream_descriptor: toDescriptor(stream), status },
      }),
    error: ({ code, message }: ErrorRecord, stream?: StreamDescriptor) =>
      trace({
        type: "ERROR",
        error: {
          message,
          internal_message: code,
          failure_type: failureTypes[errorTable[code].kind],
          ...(stream ? { stream_descriptor: toDescriptor(stream) } : {}),
        },
      }),
    /** A fault in the command line or its files. */
    usageError: (message: string) =>
      trace({
        type: "ERROR",
        error: { message, internal_message: "USAGE", failure_type: "config_error" },
      }),
    log: (level: "DEBUG" | "INFO" | "WARN", message: string) =>
      send({ type: "LOG", log: { level, message } }),
  };
}
export type MessageWriter = ReturnType<typeof createMessageWriter>;

/** One TRACE ERROR for each failed stream, and one for a failure that belongs to none. */
export async function writeErrors(
  messages: MessageWriter,
  { streams, error }: ReadSummary,
  catalog: ConfiguredCatalog,
): Promise<void> {
  for (const [index, stream] of streams.entries()) {
    if (stream.error) await messages.error(stream.error, catalog.streams[index]?.stream);
  }
  if (error && !streams.some((stream) => stream.error?.code === error.code))
    await messages.error(error);
}

/**
 * The protocol knows three types of failure: the user must act, nobody must, or somebody else must.
 */
const failureTypes: Readonly<
  Record<ErrorKind, "config_error" | "transient_error" | "system_error">
> = {
  config: "config_error",
  transient: "transient_error",
  cancelled: "transient_error",
  source: "system_error",
  connector: "system_error",
  system: "system_error",
};

/** One line of text for an event. */
export function eventText(event: HostEvent): string {
  if (event.type === "waiting") {
    const reason = event.reason === "rate_limit" ? "the rate limit" : "another try";
    return event.untilMs === 0
      ? "Going on."
      : `Waiting for ${reason} until ${new Date(event.untilMs).toISOString()}.`;
  }
  if (event.type === "redacted") {
    const place = event.stream === undefined ? event.where : `${event.where} of ${event.stream}`;
    return `The connector put a secret into its ${place}; it was taken out.`;
  }
  if (event.type === "denied") return `The sandbox refused ${event.resource}.`;
  if (event.type === "dropped")
    return `Fields of ${event.stream} that its schema does not declare were left out: ${event.fields.join(", ")}.`;
  const fields = Object.entries(event.fields).map(
    ([name, value]) => ` ${name}=${JSON.stringify(value)}`,
  );
  return `${event.message}${fields.join("")}`;
}

/** The level at which an event is logged. */
export function eventLevel(event: HostEvent): "DEBUG" | "INFO" | "WARN" {
  if (event.type === "log")
    return event.level === "debug" ? "DEBUG" : event.level === "warn" ? "WARN" : "INFO";
  return event.type === "waiting" ? "INFO" : "WARN";
}

/**
 * Writes a read as messages: RECORD lines pass through as they are, states and statuses become
 * messages of their own. Every stream that started ends with one COMPLETE or INCOMPLETE.
 */
export function createAirbyteSink(write: WriteOut, messages: MessageWriter): Sink {
  const started = new Map<string, { readonly stream: StreamDescriptor; isRunning: boolean }>();
  return {
    lineFormat: "airbyte",
    async open() {},
    async write(stream, lines) {
      const open = started.get(streamKey(stream));
      if (open && !open.isRunning) {
        open.isRunning = true;
        await messages.streamStatus(stream, "RUNNING");
      }
      await write(lines);
    },
    checkpoint: (stream, state, rowCount) => messages.state(stream, state, rowCount),
    async status(stream, status) {
      if (status === "started") {
        started.set(streamKey(stream), { stream, isRunning: false });
        return messages.streamStatus(stream, "STARTED");
      }
      started.delete(streamKey(stream));
      await messages.streamStatus(stream, status === "complete" ? "COMPLETE" : "INCOMPLETE");
    },
    async close() {
      for (const [label, { stream }] of started) {
        started.delete(label);
        await messages.streamStatus(stream, "INCOMPLETE");
      }
    },
  };
}

const toDescriptor = ({ name, namespace }: StreamDescriptor) =>
  namespace === undefined ? { name } : { name, namespace };
