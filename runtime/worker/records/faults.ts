import { ConnectorError } from "../../contract/errors.ts";
import { maxDepth, maxRowBytes } from "../../wire/exact-json.ts";
import { maxNotesPerRow } from "../../wire/row-notes.ts";
import type { RowFaults } from "./value.ts";

const maxDroppedFields = 100;
const maxDroppedNameLength = 100;

export interface StreamFaults extends RowFaults {
  readonly droppedFields: ReadonlySet<string>;
  readonly nulledCount: number;
  /** The noted fields of the row, at most 20; the next row starts without any. */
  takeFields(): readonly string[];
  invalid(problem: string): never;
}

/** Collects what the rows of one stream had to lose. */
export function createRowFaults(stream: string): StreamFaults {
  const droppedFields = new Set<string>();
  let fields: string[] = [];
  let nulledCount = 0;
  const invalid = (problem: string): never => {
    throw new ConnectorError("RECORD_INVALID", { stream, problem });
  };
  return {
    droppedFields,
    invalid,
    get noted() {
      return fields.length;
    },
    get nulledCount() {
      return nulledCount;
    },
    takeFields() {
      const taken = fields;
      fields = [];
      return taken;
    },
    nulled(field) {
      nulledCount++;
      if (fields.length < maxNotesPerRow) fields.push(String(field));
      return "null";
    },
    nested(from, field) {
      for (let index = from; index < fields.length; index++)
        fields[index] = `${field}.${fields[index]}`;
    },
    dropped(name) {
      if (droppedFields.size < maxDroppedFields)
        droppedFields.add(name.slice(0, maxDroppedNameLength));
    },
    tooDeep: () => invalid(`it is nested deeper than ${maxDepth} levels or refers to itself`),
    tooLarge: () => {
      throw new ConnectorError("RECORD_TOO_LARGE", { stream, limit: maxRowBytes });
    },
  };
}
