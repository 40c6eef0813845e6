/**
 * "svc-connectors/destination": all that a destination may import besides "svc-connectors". Start
 * at defineDestination.
 */

export { createLineRenderer } from "./batches/render-lines.ts";
export { int128At, numberAt, textWriter, withPoint } from "./batches/value-texts.ts";
export {
  type Activation,
  type ActivationCommand,
  type ActivationConnectionContext,
  type ActivationContext,
  type ActivationHttpContext,
  type ActivationObject,
  activationHttp,
  type BatchResult,
  defineActivation,
  type FailedRow,
  publicUrl,
  type RowBatch,
  type RowChange,
  type RowField,
  type RowOperation,
  type RowReason,
  type WritingHttpClient,
} from "./contract/activation.ts";
export {
  type Batch,
  type Column as BatchColumn,
  endlessDay,
  endlessInstant,
  isValid,
  type RowNote,
} from "./contract/batch.ts";
export type {
  CatalogStream,
  ConfiguredStream,
  StreamDescriptor,
  StreamState,
} from "./contract/catalog.ts";
export { descriptorOf, streamKey, streamLabel } from "./contract/catalog.ts";
export {
  type ColumnTypeChange,
  type Commit,
  type CompareCommand,
  type ComparedKeys,
  type DeleteMode,
  type Destination,
  type DestinationContext,
  type DestinationSink,
  type DestinationStream,
  type DestinationSyncMode,
  defineDestination,
  type FileContext,
  localFile,
  type QueryColumn,
  type QueryCommand,
  type QueryResult,
  type StoreContext,
  s3Bucket,
  type WriteCommand,
} from "./contract/destination.ts";
export type { ObjectStore, StoredObject } from "./contract/object-store.ts";
export type { Sink, StreamStatus } from "./contract/sink.ts";
export {
  type ColumnNames,
  type ColumnType,
  changedTypes,
  columnNames,
  columnType,
  ownColumns,
  type StreamColumn,
  streamColumns,
  type TypesByName,
} from "./destination/columns.ts";
export {
  deletedAtColumn,
  deletesRefusal,
  deletionMemoryMs,
  unreadableKeys,
} from "./destination/deletes.ts";
export { outputFailed } from "./destination/failures.ts";
export { type MergeKeys, mergeKeys, requireKeys } from "./destination/merge.ts";
export {
  type NameRules,
  quoteName,
  quoteText,
  shortHash,
  type Taken,
  toSqlName,
} from "./destination/names.ts";
export { createNulledCounts, type NulledCounts } from "./destination/nulled-counts.ts";
export { createCommitPace } from "./destination/pace.ts";
export {
  destinationModeOf,
  type Generation,
  type Generations,
  planWrite,
  type WritePlan,
} from "./destination/plan.ts";
export { renameWhole } from "./destination/whole-files.ts";
export { maxNotesPerRow, noteOf } from "./wire/row-notes.ts";
export { isZero, withoutEnd } from "./wire/without-end.ts";
