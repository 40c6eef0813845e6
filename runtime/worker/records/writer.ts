/**
 * The one way out for rows: a function generated per stream checks, projects and serialises each
 * row in one pass. The generated code handles the usual scalars, closed objects and lists;
 * everything else goes through record-value.ts.
 */
import { streamLabel } from "../../contract/catalog.ts";
import { ConnectorError } from "../../contract/errors.ts";
import type { Row } from "../../contract/output.ts";
import type { SelectedStream, SyncMode } from "../../contract/stream.ts";
import { maxRowBytes } from "../../wire/exact-json.ts";
import { metaField, notesMark } from "../../wire/record-line.ts";
import { noteOf } from "../../wire/row-notes.ts";
import { generateRowWriter } from "./code.ts";
import { createRowFaults } from "./faults.ts";
import { readShape } from "./schema.ts";
import { type Shape, typeBits } from "./shape.ts";

/**
 * The part of a stream that decides how its rows are written. No row may lack the primary key, nor
 * the cursor except in a full refresh.
 */
export type RecordStream = Pick<
  SelectedStream,
  "name" | "namespace" | "schema" | "primaryKey" | "cursorField" | "selectedFields"
> & { readonly syncMode?: SyncMode };

export interface RecordWriter {
  /**
   * The NDJSON lines of these rows, in order, each ended by \n. Only declared and selected
   * properties are written. A value that does not fit its schema becomes null and is noted in the
   * line, at most 20 notes a row.
   * @throws RECORD_INVALID when a row is not a plain object, lacks its primary key or cursor, or is
   * nested deeper than 200 ·
   *   RECORD_TOO_LARGE when a line is over 16 MiB
   */
  write(rows: readonly Row[]): string;
  /** Values that did not fit their schema and were written as null, so far. */
  readonly nulledCount: number;
  /**
   * Names of undeclared properties, also of nested objects, that were left out so far; at most 100.
   */
  readonly droppedFields: ReadonlySet<string>;
}

/**
 * Compiles the writer of a stream, some 0.1 ms. The primary key and the cursor are written even
 * when they are not selected: without them no destination can tell rows apart.
 * @throws CONNECTOR_INVALID when the schema is not that of an object, uses a keyword that cannot be
 * honoured, or does not
 *   declare the primary key or cursor.
 */
export function compileRecordWriter(stream: RecordStream): RecordWriter {
  const label = streamLabel(stream);
  const faults = createRowFaults(label);
  const { properties, required } = readRoot(readShape(stream.schema));
  const keys = readKeys(stream, properties);
  const selected = stream.selectedFields && new Set([...stream.selectedFields, ...keys.keys()]);
  const writeRow = generateRowWriter({
    opening: "{",
    fields: [...properties]
      .filter(([name]) => selected === undefined || selected.has(name))
      .map(([name, shape]) => ({
        name,
        shape,
        isRequired: required.has(name),
        keyRole: keys.get(name),
      })),
    declaredNames: new Set(properties.keys()),
    faults,
  });

  return {
    droppedFields: faults.droppedFields,
    get nulledCount() {
      return faults.nulledCount;
    },
    write(rows) {
      // A row that failed in an earlier call may have left notes.
      faults.takeFields();
      let text = "";
      for (let index = 0; index < rows.length; index++) {
        const opened = writeRow(rows[index]);
        const line =
          opened + (faults.noted === 0 ? "}\n" : `}${notesMark}${notes(faults.takeFields())}\n`);
        if (line.length * 3 > maxRowBytes && Buffer.byteLength(line) > maxRowBytes)
          faults.tooLarge();
        text += line;
      }
      return text;
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

function notes(nulledFields: readonly string[]): string {
  return JSON.stringify({ changes: nulledFields.map(noteOf) });
}
