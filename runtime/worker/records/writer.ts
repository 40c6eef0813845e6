/**
 * The one way out for rows: a function generated per stream checks and projects each row and puts
 * it into columns, in one pass. The generated code handles the usual scalars, closed objects and
 * lists; everything else goes through value.ts.
 */
import type { Batch, BatchField, RowNote } from "../../contract/batch.ts";
import { streamLabel } from "../../contract/catalog.ts";
import { ConnectorError } from "../../contract/errors.ts";
import type { Row } from "../../contract/output.ts";
import type { SelectedStream, SyncMode } from "../../contract/stream.ts";
import { maxRowBytes } from "../../wire/exact-json.ts";
import { metaField } from "../../wire/row-notes.ts";
import { createFiller } from "./columns.ts";
import { createRowFaults } from "./faults.ts";
import { generateRowFiller } from "./row-code.ts";
import { readShape } from "./schema.ts";
import { type Shape, typeBits } from "./shape.ts";
import { createTextHeap } from "./text-heap.ts";

/**
 * The part of a stream that decides how its rows are written. No row may lack the primary key, nor
 * the cursor except in a full refresh.
 */
export type RecordStream = Pick<
  SelectedStream,
  "name" | "namespace" | "schema" | "primaryKey" | "cursorField" | "selectedFields"
> & { readonly syncMode?: SyncMode };

/**
 * Rows of one batch at most. What is on its way when a run is cancelled still comes: more rows
 * would cost hardly less, and stop later.
 */
const maxRowsAtOnce = 2_048;

export interface RecordWriter {
  /**
   * Adds rows in order, from this one on, until the batch is full or there are no more. Only
   * declared and selected properties are taken. A value that does not fit its schema becomes null
   * and is noted, at most 20 notes a row. The rows before one that fails stand.
   * @returns the first one that was not added
   * @throws RECORD_INVALID when a row is not a plain object, lacks its primary key or cursor, or is
   * nested deeper than 200 · RECORD_TOO_LARGE when its JSON is over 16 MiB
   */
  add(rows: readonly Row[], from: number): number;
  /** Rows that were added and not taken. */
  readonly rowCount: number;
  /** The rows that were added. Their memory is valid until others are. */
  take(): Batch;
  /** Values that did not fit their schema and are null, so far. */
  readonly nulledCount: number;
  /**
   * Names of undeclared properties, also of nested objects, that were left out so far; at most 100.
   */
  readonly droppedFields: ReadonlySet<string>;
}

/** A batch is full with so many characters of texts: about what the wire takes at once. */
const batchChars = 128 * 1024;
/** Bytes of numbers and places in a batch, which take eight each at most. */
const batchBytes = 512 * 1024;
/** Characters of names in the notes of a batch. */
const noteChars = 256 * 1024;
/** Longer names of fields are cut in notes. */
const noteFieldChars = 1_000;
const firstRows = 64;

/**
 * Makes the writer of a stream; its first row compiles it, some 0.1 ms. The primary key and the
 * cursor are written even when they are not selected: without them no destination can tell rows
 * apart.
 * @param fields the columns that the host expects of the stream
 * @throws CONNECTOR_INVALID when the schema is not that of an object, uses a keyword that cannot be
 * honoured, or does not declare the primary key or cursor.
 */
export function compileRecordWriter(
  stream: RecordStream,
  fields: readonly BatchField[],
): RecordWriter {
  const faults = createRowFaults(streamLabel(stream));
  const { properties, required } = readRoot(readShape(stream.schema));
  const keys = readKeys(stream, properties);
  const size = { chars: 0 };
  const heap = createTextHeap();
  const fillers = fields.map((field) => createFiller(field, size));
  const compile = () =>
    generateRowFiller({
      columns: fillers.map((filler) => ({
        filler,
        shape: properties.get(filler.field.name) ?? [],
        isRequired: required.has(filler.field.name),
        keyRole: keys.get(filler.field.name),
      })),
      declaredNames: new Set(properties.keys()),
      faults,
      size,
    });
  /** Of a stream that gives rows; most of a large database give batches, or nothing. */
  let fill: ReturnType<typeof compile> | undefined;
  const isTooLarge = (row: number) =>
    fillers.reduce((sum, filler) => sum + filler.jsonBytes(row), "{}".length) > maxRowBytes;
  let notes: RowNote[] = [];
  let noted = 0;
  let rowCount = 0;
  let room = 0;
  let isTaken = false;

  const maxRows = Math.max(
    1,
    Math.min(maxRowsAtOnce, Math.floor(batchBytes / (fields.length * 8))),
  );
  const reserve = () => {
    room = Math.min(Math.max(room * 2, firstRows), maxRows);
    for (const filler of fillers) filler.reserve(room);
  };
  const clear = () => {
    for (const filler of fillers) filler.clear();
    heap.clear();
    isTaken = false;
  };
  const addRow = (row: Row) => {
    const before = size.chars;
    fill ??= compile();
    fill(row, rowCount);
    // A character takes six bytes of JSON at most.
    if ((size.chars - before) * 6 > maxRowBytes / 2 && isTooLarge(rowCount)) faults.tooLarge();
    if (faults.noted > 0) {
      const nulled = faults.takeFields().map((field) => field.slice(0, noteFieldChars));
      notes.push({ row: rowCount, fields: nulled });
      for (const field of nulled) noted += field.length;
    }
    rowCount++;
  };

  return {
    droppedFields: faults.droppedFields,
    get nulledCount() {
      return faults.nulledCount;
    },
    get rowCount() {
      return rowCount;
    },
    add(rows, from) {
      if (isTaken) clear();
      try {
        let index = from;
        while (index < rows.length) {
          if (rowCount === room) {
            if (room === maxRows) return index;
            reserve();
          }
          if (size.chars > batchChars || noted > noteChars) return index;
          addRow(rows[index++] as Row);
        }
        return index;
      } catch (error) {
        for (const filler of fillers) filler.cut(rowCount);
        faults.takeFields();
        throw error;
      }
    },
    take() {
      const batch = { rowCount, columns: fillers.map((one) => one.column(rowCount, heap)), notes };
      notes = [];
      size.chars = noted = rowCount = 0;
      isTaken = true;
      return batch;
    },
  };
}

function readRoot(shape: Shape) {
  const [root, ...others] = shape.filter((alternative) => alternative.types & typeBits.object);
  if (root === undefined || others.length > 0) throw invalidSchema("must be one object schema");
  if (root.values !== undefined || root.exactlyOne.length > 0 || root.none.length > 0) {
    throw invalidSchema("must not use enum, const, oneOf or not at the top");
  }
  if (root.object.properties.has(metaField)) throw invalidSchema(`must not declare ${metaField}`);
  return root.object;
}

/** The fields that every row must have, with what they are for. */
function readKeys(
  stream: RecordStream,
  properties: ReadonlyMap<string, Shape>,
): ReadonlyMap<string, string> {
  const keys = new Map<string, string>();
  if (stream.cursorField !== undefined && stream.syncMode !== "full_refresh")
    keys.set(stream.cursorField, "cursor");
  for (const name of stream.primaryKey ?? []) keys.set(name, "primary key");
  for (const [name, role] of keys) {
    if (!properties.has(name)) throw invalidSchema(`does not declare the ${role} "${name}"`);
  }
  return keys;
}

function invalidSchema(problem: string): ConnectorError {
  return new ConnectorError("CONNECTOR_INVALID", { path: "schema", problem });
}
