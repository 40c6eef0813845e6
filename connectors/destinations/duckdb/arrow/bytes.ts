/** Bytes that grow. */
export class Bytes {
  bytes = new Uint8Array(4096);
  length = 0;

  /** Makes room for so many more. @returns where they begin; what lies there is of before */
  extend(count: number): number {
    const start = this.length;
    this.length += count;
    if (this.length > this.bytes.length) {
      const larger = new Uint8Array(Math.max(this.bytes.length * 2, this.length));
      larger.set(this.bytes.subarray(0, start));
      this.bytes = larger;
    }
    return start;
  }

  get(): Uint8Array {
    return this.bytes.subarray(0, this.length);
  }
}
