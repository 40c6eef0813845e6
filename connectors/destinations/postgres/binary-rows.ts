/**
 * Memory that rows are written into in the binary form of COPY. Whoever writes has made room
 * before.
 * @see https://www.postgresql.org/docs/current/sql-copy.html (binary format)
 */
export class BinaryRows {
  bytes: Buffer = Buffer.alloc(0);
  #view: DataView = new DataView(new ArrayBuffer(0));
  length = 0;

  /** Begins with memory for so many bytes. */
  begin(bytes: number): void {
    this.bytes = Buffer.allocUnsafeSlow(bytes);
    this.#view = new DataView(this.bytes.buffer, this.bytes.byteOffset, bytes);
    this.length = 0;
  }

  /** Makes room for so many bytes more than it was begun with. */
  reserve(bytes: number): void {
    const { bytes: before, length } = this;
    this.begin(before.length + bytes);
    before.copy(this.bytes, 0, 0, length);
    this.length = length;
  }

  int16(value: number): void {
    this.#view.setInt16(this.length, value);
    this.length += 2;
  }

  int32(value: number): void {
    this.#view.setInt32(this.length, value);
    this.length += 4;
  }

  float64(value: number): void {
    this.#view.setFloat64(this.length, value);
    this.length += 8;
  }

  byte(value: number): void {
    this.bytes[this.length++] = value;
  }

  /** A loop is faster than a call for few. */
  copy(from: Uint8Array, start: number, end: number): void {
    const { bytes } = this;
    if (end - start > 48) {
      bytes.set(from.subarray(start, end), this.length);
      this.length += end - start;
      return;
    }
    let at = this.length;
    for (let byte = start; byte < end; byte++) bytes[at++] = from[byte] as number;
    this.length = at;
  }

  written(): Buffer {
    return this.bytes.subarray(0, this.length);
  }
}

/** Before the rows of a COPY, and behind them. */
export const copyHeader = Buffer.from("PGCOPY\n\xff\r\n\0\0\0\0\0\0\0\0\0", "latin1");
export const copyTrailer = Buffer.from([0xff, 0xff]);
