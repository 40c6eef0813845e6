import type { Clock } from "svc-connectors";

/** Somebody else has written the object meanwhile. */
export class ChangedMeanwhile extends Error {
  override readonly name = "ChangedMeanwhile";
}

/** An object with what tells it from earlier ones of the same path. */
export interface Found {
  readonly bytes: Buffer;
  readonly tag: string;
}

/**
 * Where files are: a folder, or a bucket. Paths have `/` between their parts, and begin without one.
 * Every method rejects with a ConnectorError, `replace` with ChangedMeanwhile besides.
 */
export interface Store {
  /** Undefined: there is none. */
  read(path: string): Promise<Found | undefined>;
  /**
   * Writes the whole object, if it is still the one of that tag; undefined: if there is none. Gives
   * its tag. @throws ChangedMeanwhile
   */
  replace(path: string, bytes: Buffer, tag: string | undefined): Promise<string>;
  /** Moves a file of this machine there. It is there whole, and outlives a power cut. */
  put(file: string, path: string): Promise<void>;
  /** Brings an object to a path of this machine, which only reads it. */
  fetch(path: string, file: string): Promise<void>;
  /** Paths that begin so. */
  list(prefix: string): Promise<readonly string[]>;
  /** Those that are not there are no failure. */
  remove(paths: readonly string[]): Promise<void>;
}

export type PartitionBy = "none" | "day" | "month";

/** A store, and how rows are laid out in it. */
export interface Lake {
  readonly store: Store;
  /** A folder of this machine for rows on their way. It is made when it is missing. */
  readonly scratch: string;
  /** Of tables whose pipeline does not name one. */
  readonly schema: string;
  readonly partitionBy: PartitionBy;
  readonly clock: Clock;
  readonly signal: AbortSignal;
}
