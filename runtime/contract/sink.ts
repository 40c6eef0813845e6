import type { Batch } from "./batch.ts";
import type { ConfiguredStream, StreamDescriptor } from "./catalog.ts";
import type { JsonValue } from "./json.ts";

/**
 * How rows are written into lines: Airbyte RECORD messages, or the bare row with `_svc_meta` when a
 * value was nulled.
 */
export type LineFormat = "airbyte" | "rows";

/**
 * Where a read delivers. Calls come one at a time, in order; the read waits for each, so a slow
 * sink slows the requests down. Between the start of a stream and its end there may be calls for
 * others that are read at the same time. All that arrives has passed the output filter.
 */
export interface Sink {
  readonly lineFormat: LineFormat;
  /** The selected streams, before anything else. */
  open(streams: readonly ConfiguredStream[]): Promise<void>;
  /**
   * Rows as columns; their memory is valid until the promise resolves. A sink has this, or
   * `write`; one that has both gets batches.
   */
  writeBatch?(stream: StreamDescriptor, batch: Batch): Promise<void>;
  /**
   * Rows as lines: `lines` holds `rowCount` NDJSON lines, each ended by \n; its memory is valid
   * until the promise resolves.
   */
  write?(stream: StreamDescriptor, lines: Buffer, rowCount: number): Promise<void>;
  /**
   * All rows of the stream written so far are covered by `state`: make them durable together.
   * `rowCount` = rows since the last checkpoint.
   */
  checkpoint(stream: StreamDescriptor, state: JsonValue, rowCount: number): Promise<void>;
  /** "started", then "complete" or "incomplete". */
  status(stream: StreamDescriptor, status: StreamStatus): Promise<void>;
  /** After the last call, also when the read failed. */
  close(): Promise<void>;
  /**
   * How many values of the stream came and are null where they went, because nothing there holds
   * them: NaN in a decimal. Of all rows that were committed, also of those that others replaced.
   * Asked after `close`, so that people are told. A sink without it holds whatever comes.
   */
  nulledCount?(stream: StreamDescriptor): number;
}

export type StreamStatus = "started" | "complete" | "incomplete";
