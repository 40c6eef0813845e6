/** Extractors, filters and transformations of an author's own. */
import type { Scope } from "../expressions/evaluate.ts";
import { isMapping, type PlainValue } from "../expressions/values.ts";
import type { PlainRecord } from "../records/selector.ts";
import { itemsOf, toPlain, toRecord } from "./plain.ts";
import type { OwnPart } from "./scope.ts";

export const extractWith =
  ({ part, scopeOf }: OwnPart) =>
  (bodies: readonly PlainValue[], scope: Scope): PlainRecord[] =>
    [...itemsOf(part, part.call("extract", bodies, scopeOf(scope)))].map((row) =>
      toRecord(part, row),
    );

export const filterWith =
  ({ part, scopeOf }: OwnPart) =>
  (rows: readonly PlainRecord[], scope: Scope): PlainRecord[] =>
    [...itemsOf(part, part.call("filter", [...rows], scopeOf(scope)))].map((row) =>
      toRecord(part, row),
    );

export const transformWith =
  ({ part, scopeOf }: OwnPart) =>
  (record: PlainRecord, scope: Scope): void => {
    const made = part.call("transform", record, scopeOf(scope));
    if (made !== undefined && made !== record)
      throw part.wrong("gives something: it must change the record in its place, and give nothing");
    for (const [name, value] of Object.entries(record)) {
      if (value === undefined) delete record[name];
      else if (typeof value === "object" || typeof value === "function")
        record[name] = toPlain(part, value);
      else if (Number.isNaN(value)) record[name] = toPlain(part, value);
    }
    if (!isMapping(record)) throw part.wrong("makes something else of a record");
  };
