/**
 * "svc-connectors/destination": all that a destination may import besides "svc-connectors". Start at defineDestination.
 */

export type { CatalogStream, ConfiguredStream, StreamDescriptor, StreamState } from "./contract/catalog.ts";
export { streamLabel } from "./contract/catalog.ts";
export {
  type Commit, type Destination, type DestinationContext, type DestinationSink, type DestinationStream, type DestinationSyncMode, defineDestination,
  localFile, type QueryColumn, type QueryOrder, type QueryResult, type WriteOrder,
} from "./contract/destination.ts"; // biome-ignore format: a list of names
export type { Sink, StreamStatus } from "./contract/sink.ts";
