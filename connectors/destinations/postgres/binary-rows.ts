/**
 * Rows in the binary form of COPY, filled column by column: every row begins with the count of its
 * fields, and every value with its length.
 * @see https://www.postgresql.org/docs/current/sql-copy.html (binary format)
 */
export interface BinaryRows {
  readonly rowCount: number;
  readonly bytes: Buffer;
  readonly view: DataView;
  /** Where the next value of each row goes. */
  readonly next: Uint32Array;
}

const headBytes = 2;

/**
 * Memory for rows, with their heads.
 * @param sizes of the rows beyond `ofEach`; becomes the list of the places of their next values
 */
export function createBinaryRows(
  sizes: Uint32Array,
  ofEach: number,
  fieldCount: number,
): BinaryRows {
  const rowCount = sizes.length;
  let at = 0;
  for (let row = 0; row < rowCount; row++) {
    const size = headBytes + ofEach + (sizes[row] as number);
    sizes[row] = at + headBytes;
    at += size;
  }
  const bytes = Buffer.allocUnsafeSlow(at);
  const view = new DataView(bytes.buffer);
  for (let row = 0; row < rowCount; row++)
    view.setInt16((sizes[row] as number) - headBytes, fieldCount);
  return { rowCount, bytes, view, next: sizes };
}

/** Bytes that are read by eight at once. */
export interface CopySource {
  readonly bytes: Uint8Array;
  readonly view: DataView;
}

export const copySource = (bytes: Uint8Array): CopySource => ({
  bytes,
  view: new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength),
});

/** Longer parts are copied by the machine's own loop, which costs 50 ns to begin. */
const longBytes = 256;

/** Copies a part to a place, and writes nothing behind it. */
export function copyPart(
  { bytes: target, view: into }: Pick<BinaryRows, "bytes" | "view">,
  at: number,
  { bytes, view }: CopySource,
  start: number,
  end: number,
): void {
  const length = end - start;
  if (length > longBytes) {
    target.set(bytes.subarray(start, end), at);
    return;
  }
  if (length < 8) {
    for (let index = 0; index < length; index++)
      target[at + index] = bytes[start + index] as number;
    return;
  }
  // The last eight may overlap those before.
  const last = length - 8;
  for (let index = 0; index < last; index += 8)
    into.setBigInt64(at + index, view.getBigInt64(start + index));
  into.setBigInt64(at + last, view.getBigInt64(start + last));
}

/** Before the rows of a COPY, and behind them. */
export const copyHeader = Buffer.from("PGCOPY\n\xff\r\n\0\0\0\0\0\0\0\0\0", "latin1");
export const copyTrailer = Buffer.from([0xff, 0xff]);
