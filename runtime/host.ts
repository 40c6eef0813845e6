/**
 * "svc-connectors/host": what the CLI, control, conformance and bench may import. Start at createHost.
 */

export { selectStreams } from "./cli/selection.ts";
export { createScaledClock, systemClock } from "./clock.ts";
export { tuneCollector } from "./collector.ts";
export type {
  CatalogStream,
  ConfiguredCatalog,
  ConfiguredStream,
  Manifest,
  StreamDescriptor,
  StreamState,
} from "./contract/catalog.ts";
export { streamLabel } from "./contract/catalog.ts";
export type {
  CheckResult, ConnectorReference, Host, HostEvent, HostOptions, ReadRequest, ReadSummary, StreamSummary, VerbOptions, WorkerLimits,
} from "./contract/host.ts"; // biome-ignore format: a list of names
export type { LineFormat, Sink, StreamStatus } from "./contract/sink.ts";
export type { Broker, NetworkSeams, NetworkSettings } from "./egress/broker.ts";
export { ConnectorError, type ErrorCode, type ErrorDetails, type ErrorRecord, errorTable } from "./errors.ts";
export { createAirbyteSink, createMessageWriter } from "./sinks/airbyte.ts";
export { openDuckdbOutput } from "./sinks/duckdb.ts";
export { openJsonlOutput } from "./sinks/jsonl.ts";
export type { OutputSink } from "./sinks/output.ts";
export { createHost } from "./sync.ts";
export type { SandboxLevel } from "./worker/pool.ts";
