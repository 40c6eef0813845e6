/**
 * "svc-connectors/host": what the CLI, control, conformance and bench may import. Start at createHost.
 */
export type { Broker, NetworkSeams, NetworkSettings } from "./egress/broker.ts";
export type { CatalogStream, ConfiguredCatalog, ConfiguredStream, Manifest, StreamDescriptor, StreamState } from "./contract/catalog.ts";
export { streamLabel } from "./contract/catalog.ts";
export type { LineFormat, Sink, StreamStatus } from "./contract/sink.ts";
export { createScaledClock, systemClock } from "./clock.ts";
export { ConnectorError, type ErrorCode, type ErrorRecord, errorTable } from "./errors.ts";
export { createHost, type Host, type HostOptions, type ReadRequest, type ReadSummary } from "./sync.ts";
