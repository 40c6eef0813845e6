/**
 * The common part of the sinks that keep data for people: what they are opened with, and how a
 * failure to write is reported.
 */
import type { ConfiguredStream, StreamDescriptor, StreamState } from "../contract/catalog.ts";
import type { Clock } from "../contract/clock.ts";
import type { ColumnTypeChange, ComparedKeys, DeleteMode } from "../contract/destination.ts";
import { ConnectorError } from "../contract/errors.ts";
import type { Sink } from "../contract/sink.ts";

/**
 * A sink that remembers how far each stream has come. It is locked for other runs until `close`.
 */
export interface OutputSink extends Sink {
  /**
   * The states from which the run goes on; give them to the read. Streams without one start from
   * the beginning.
   */
  savedState(): readonly StreamState[];
  /**
   * Where people find the rows of a stream: a file name in the folder, or the quoted name of a
   * table. Empty while there are none to see.
   */
  location(stream: StreamDescriptor): string;
}

export interface OutputOptions {
  /** Output of one connector is never mixed with another's. */
  readonly connectorId: string;
  readonly clock: Clock;
  /** The selection that will be read. */
  readonly streams: readonly ConfiguredStream[];
  /** Those of them that are read anew: their rows take the place of those that are there. */
  readonly restarting?: readonly StreamDescriptor[] | undefined;
  /** Goes into `_svc_job_id`, where there are tables. Default "read". */
  readonly runId?: string | undefined;
  /** A column of a table has another type than before, so that every value fits. */
  readonly onColumnChanged?: ((change: ColumnTypeChange) => void) | undefined;
}

/** How the keys of a source are compared with the rows of an output. */
export interface CompareOptions extends OutputOptions {
  readonly detectDeletes: DeleteMode;
  /** However many rows the source has no more. */
  readonly isConfirmed: boolean;
  onCompared(compared: ComparedKeys): void;
}

/** The reason that is given when another run holds the output. */
export const lockedReason = "another run is writing to it";

/** Refuses to mix the rows of two connectors. @throws OUTPUT_FAILED */
export function requireSameConnector(saved: string | undefined, connectorId: string): void {
  if (saved === undefined || saved === connectorId) return;
  throw new ConnectorError("OUTPUT_FAILED", {
    reason: `it holds the output of ${saved}; choose another place`,
  });
}
