/** Memory for values whose length is known only once they are written. */
export class GrowingBytes {
  bytes: Buffer;
  view: DataView;
  length = 0;

  constructor(bytes: number) {
    this.bytes = Buffer.allocUnsafeSlow(bytes);
    this.view = new DataView(this.bytes.buffer);
  }

  /**
   * Makes room for so many bytes more: twice what there was, so that bytes are moved once at most.
   */
  reserve(bytes: number): void {
    const needed = this.length + bytes;
    if (needed <= this.bytes.length) return;
    const { bytes: before, length } = this;
    this.bytes = Buffer.allocUnsafeSlow(Math.max(needed, before.length * 2));
    this.view = new DataView(this.bytes.buffer);
    before.copy(this.bytes, 0, 0, length);
  }

  int16(value: number): void {
    this.view.setInt16(this.length, value);
    this.length += 2;
  }

  append(value: Uint8Array): void {
    this.reserve(value.length);
    this.bytes.set(value, this.length);
    this.length += value.length;
  }
}
