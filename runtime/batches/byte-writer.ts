/** Bytes that are written one after another into memory that grows, and is used again. */
export class ByteWriter {
  bytes: Uint8Array = new Uint8Array(64 * 1024);
  length = 0;

  /** Makes room for so many more. */
  reserve(count: number): void {
    if (this.bytes.length - this.length >= count) return;
    const larger = new Uint8Array(Math.max(this.bytes.length * 2, this.length + count));
    larger.set(this.bytes.subarray(0, this.length));
    this.bytes = larger;
  }

  /** Copies bytes from elsewhere. A loop is faster than a call for few. */
  copy(from: Uint8Array, start = 0, end = from.length): void {
    this.reserve(end - start);
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

  /** A text of ASCII. */
  ascii(text: string): void {
    this.reserve(text.length);
    const { bytes } = this;
    let at = this.length;
    for (let index = 0; index < text.length; index++) bytes[at++] = text.charCodeAt(index);
    this.length = at;
  }

  /** Digits of an integer from 0 to 2^53, at least so many. */
  digits(value: number, atLeast = 1): void {
    if (value >= 2 ** 31) {
      this.ascii(String(value).padStart(atLeast, "0"));
      return;
    }
    let count = 1;
    for (let limit = 10; value >= limit; limit *= 10) count++;
    if (count < atLeast) count = atLeast;
    this.reserve(count);
    const { bytes } = this;
    let rest = value | 0;
    for (let at = this.length + count - 1; at >= this.length; at--) {
      const tens = (rest / 10) | 0;
      bytes[at] = 48 + rest - tens * 10;
      rest = tens;
    }
    this.length += count;
  }

  byte(code: number): void {
    this.reserve(1);
    this.bytes[this.length++] = code;
  }

  /** What was written. Valid until it is cleared. */
  written(): Buffer {
    return Buffer.from(this.bytes.buffer, this.bytes.byteOffset, this.length);
  }
}
