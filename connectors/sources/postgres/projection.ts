/** The select list of a table, and how it becomes the columns of a stream. */
import { escapeIdentifier } from "pg";
import { type Batch, type BatchField, ConnectorError } from "svc-connectors";
import type { Column, Table } from "./catalog.ts";
import { emptyValues } from "./columns/empty.ts";
import type { Values } from "./columns/values.ts";
import { capacityFor, type DecodedField } from "./row-decoder.ts";
import { asJson, ownText, type ValueType } from "./types.ts";

export interface Projection {
  /** The list of a SELECT. */
  readonly list: string;
  readonly decoded: readonly DecodedField[];
  readonly columns: readonly { readonly field: BatchField; readonly values: Values }[];
  /** The origin of each field, in the order of `decoded`. */
  readonly sources: readonly FieldSource[];
  /** The places of the fields that the state needs. */
  readonly kept: readonly number[];
  /** The place of the field that has the column as its type writes it. */
  placeOf(column: Column): number;
}

export interface FieldSource {
  readonly column: Column;
  /** own: as its type has it · text: as the server's text · json: as the server's JSON. */
  readonly form: "own" | "text" | "json";
}

/**
 * The stream's fields, and the columns that its state needs. A field's kind was told when the table
 * was discovered; the column may have another type by now.
 */
export function planProjection(
  table: Table,
  fields: readonly BatchField[],
  tracked: readonly Column[],
  spare: SpareValues = createSpareValues(),
): Projection {
  const byName = new Map(table.columns.map((column) => [column.name, column]));
  const read = fields.map((field) => {
    const column = byName.get(field.name);
    const form = column && formOf(field, column);
    if (field.isKey && !form)
      throw new ConnectorError("RECORD_INVALID", {
        problem: `the column ${field.name}, which is a key, has changed since the table was discovered: discover it again`,
      });
    return { field, column, form };
  });
  const capacity = capacityFor(
    read.reduce((sum, { field, form }) => sum + rowBytesOf(field, form), 0),
  );
  const selects: string[] = [];
  const decoded: DecodedField[] = [];
  const sources: FieldSource[] = [];
  const places = new Map<Column, number>();
  const columns = read.map(({ field, column, form }) => {
    const values = form
      ? spare.take(form, capacity, field.isKey)
      : emptyValues(capacity, field.kind);
    if (column) {
      const type = form ?? column.type;
      if (type === column.type) places.set(column, decoded.length);
      selects.push(type.select(escapeIdentifier(column.name)));
      decoded.push({ values });
      sources.push({
        column,
        form: type === column.type ? "own" : form === asJson ? "json" : "text",
      });
    }
    return { field, values };
  });
  for (const column of tracked) {
    if (places.has(column)) continue;
    places.set(column, decoded.length);
    selects.push(column.type.select(escapeIdentifier(column.name)));
    decoded.push({});
    sources.push({ column, form: "own" });
  }
  const placeOf = (column: Column) => places.get(column) ?? -1;
  return {
    list: selects.join(", "),
    decoded,
    columns,
    sources,
    kept: tracked.map(placeOf),
    placeOf,
  };
}

type Form = Pick<ValueType, "select" | "createValues">;

/** Memory of columns that are read no more, for those of the next table. */
export interface SpareValues {
  /** Values of a column for so many rows at least. */
  take(form: Form, capacity: number, isKey: boolean): Values;
  /** Gives back what was taken, when nobody uses the batches any more. */
  giveBack(): void;
}

/** For one projection at a time: the memory for some rows takes longer to make than to fill. */
export function createSpareValues(): SpareValues {
  interface Kept {
    readonly form: Form;
    readonly capacity: number;
    readonly isKey: boolean;
    readonly values: Values;
  }
  const kept = new Map<Form, Kept[]>();
  let taken: Kept[] = [];
  return {
    take(form, capacity, isKey) {
      const own = kept.get(form) ?? [];
      const at = own.findLastIndex((one) => one.capacity >= capacity && one.isKey === isKey);
      const [found] = at < 0 ? [] : own.splice(at, 1);
      const one = found ?? { form, capacity, isKey, values: form.createValues(capacity, isKey) };
      taken.push(one);
      return one.values;
    },
    giveBack() {
      for (const one of taken) {
        one.values.clear();
        const own = kept.get(one.form);
        if (own) own.push(one);
        else kept.set(one.form, [one]);
      }
      taken = [];
    },
  };
}

const rowBytes = new WeakMap<Form, number>();

function rowBytesOf({ kind, isKey }: BatchField, form: Form | undefined): number {
  if (!form) return emptyValues(8, kind).rowBytes;
  const known = rowBytes.get(form) ?? form.createValues(8, isKey).rowBytes;
  rowBytes.set(form, known);
  return known;
}

/** How a column fills a field; undefined when it cannot. */
function formOf({ kind }: BatchField, { type }: Column): Form | undefined {
  if (type.kind === kind || (kind === "number" && type.kind === "integer")) return type;
  if (kind === "text") return ownText;
  return kind === "json" ? asJson : undefined;
}

/** Bytes of the values. */
export const batchBytes = ({ columns, rowCount }: Batch): number =>
  columns.reduce(
    (sum, column) =>
      sum + ("offsets" in column ? (column.offsets[rowCount] as number) : column.values.byteLength),
    0,
  );
