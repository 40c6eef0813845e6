import { Message, type RecordBatch, RecordBatchFileWriter, Schema } from "apache-arrow";
import type { ArrowColumn } from "./columns.ts";

type FilePart = Parameters<RecordBatchFileWriter["_write"]>[0];

/**
 * Arrow's own writer keeps what it has written until somebody reads it, however much that is; this
 * one gives it away.
 */
class FileWriter extends RecordBatchFileWriter {
  #parts: Uint8Array[] = [];

  protected override _write(part: FilePart): this {
    if (!this._started || !ArrayBuffer.isView(part)) return this;
    this._position += part.byteLength;
    this.#parts.push(new Uint8Array(part.buffer, part.byteOffset, part.byteLength));
    return this;
  }

  /** The format has the schema at the beginning too, for readers that go from front to back. */
  protected override _writeSchema(schema: Schema): this {
    super._writeSchema(schema);
    return this._writeMessage(Message.from(schema));
  }

  take(): Buffer {
    const parts = this.#parts;
    this.#parts = [];
    return Buffer.concat(parts);
  }
}

/** Gives the bytes of an Arrow IPC file, part by part. */
export function createFileWriter(columns: readonly ArrowColumn[]) {
  const writer = new FileWriter();
  const after = (step: () => void): Buffer => {
    step();
    return writer.take();
  };
  return {
    begin: () =>
      after(() => writer.reset(undefined, new Schema(columns.map(({ field }) => field)))),
    write: (batch: RecordBatch) => after(() => writer.write(batch)),
    end: () => after(() => writer.finish()),
  };
}
