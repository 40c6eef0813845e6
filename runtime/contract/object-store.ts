/** An object with what tells it from earlier ones of the same path. */
export interface StoredObject {
  readonly bytes: Buffer;
  readonly tag: string;
}

/**
 * Where a destination keeps files: a bucket, or what behaves like one. Paths have `/` between their
 * parts, and begin without one. Every method rejects with a ConnectorError.
 */
export interface ObjectStore {
  /** Undefined: there is none. */
  read(path: string): Promise<StoredObject | undefined>;
  /**
   * Writes the whole object, if it is still the one of that tag; undefined: if there is none. Gives
   * its tag; undefined: somebody else has written it meanwhile.
   */
  replace(path: string, bytes: Buffer, tag: string | undefined): Promise<string | undefined>;
  /** Moves a file of this machine there. It is there whole, and outlives a power cut. */
  put(file: string, path: string): Promise<void>;
  /** Brings an object to a path of this machine, where it is only read. */
  fetch(path: string, file: string): Promise<void>;
  /** Paths that begin so. */
  list(prefix: string): Promise<readonly string[]>;
  /** Those that are not there are no failure. */
  remove(paths: readonly string[]): Promise<void>;
}
