/**
 * The parts of streams that a person chooses: `--columns`, `--hash` and `--where`, and `columns:`,
 * `hash:` and `where:` in the configuration.
 */
import { type CatalogStream, type ConfiguredStream, streamLabel } from "../contract/catalog.ts";
import { isJsonObject, type JsonObject, type JsonValue } from "../contract/json.ts";
import type { RowCondition } from "../contract/stream.ts";
import { hashProblem } from "../spec/hashed-fields.ts";
import { filterProblem } from "../spec/row-filter.ts";
import { parseCondition, toCondition } from "./conditions.ts";
import { requireStreams, takeCursors } from "./cursors.ts";
import { printable, suggestion, UsageError } from "./usage.ts";

/** Columns by the stream as the person names it. */
export type ChosenColumns = ReadonlyMap<string, readonly string[]>;
export type ChosenConditions = ReadonlyMap<string, readonly RowCondition[]>;

export interface ChosenParts {
  /** Columns that are read; of other streams all. */
  readonly columns: ChosenColumns;
  /** Columns that are hashed; `*` stands for every stream that has one of them. */
  readonly hash: ChosenColumns;
  /** Conditions that all rows meet that are read. */
  readonly where: ChosenConditions;
}

export const allOfThem: ChosenParts = { columns: new Map(), hash: new Map(), where: new Map() };

/** Makes a parser that takes one more `--columns` or `--hash`. @throws UsageError */
export const addColumns =
  (flag: "columns" | "hash") =>
  (text: string, before: ChosenColumns): ChosenColumns => {
    const at = text.lastIndexOf("=");
    const stream = text.slice(0, Math.max(at, 0)).trim();
    const columns = text
      .slice(at + 1)
      .split(",")
      .map((column) => column.trim());
    if (stream === "" || columns.includes("") || (stream === "*" && flag === "columns"))
      throw new UsageError(
        `--${flag} has the form STREAM=COLUMN,COLUMN, for instance --${flag} public.orders=${flag === "hash" ? "email" : "id,total"}`,
      );
    return new Map([...before, [stream, [...(before.get(stream) ?? []), ...columns]]]);
  };

/** Takes one more `--where`. @throws UsageError */
export function addCondition(text: string, before: ChosenConditions): ChosenConditions {
  const at = text.indexOf("=");
  const stream = text.slice(0, Math.max(at, 0)).trim();
  const condition = parseCondition(text.slice(at + 1));
  if (stream === "" || stream === "*" || !condition)
    throw new UsageError(
      "--where has the form STREAM=COLUMN OPERATOR VALUE, for instance --where 'public.orders=status = paid'; operators are =, !=, <, <=, >, >=, in, not in, is null, is not null",
    );
  return new Map([...before, [stream, [...(before.get(stream) ?? []), condition]]]);
}

/** A configuration without what it says of the streams. @throws UsageError */
export function takeChoices(document: JsonObject) {
  const { config: rest, cursors } = takeCursors(document);
  return { ...takeParts(rest), cursors };
}

/**
 * Takes `columns:`, `hash:` and `where:` out of a configuration: they are no settings of the
 * connector, but say what svc reads.
 * @throws UsageError
 */
export function takeParts(config: JsonObject): {
  readonly config: JsonObject;
  readonly parts: ChosenParts;
} {
  const { columns, hash, where, ...rest } = config;
  const listed = (name: string, value: JsonValue | undefined) =>
    entriesOf(
      name,
      "lists of columns for streams, as in { public.orders: [id, email] }",
      value,
      (item) => (typeof item === "string" && item !== "" ? item : undefined),
    );
  return {
    config: rest,
    parts: {
      columns: listed("columns", columns),
      hash: listed("hash", hash),
      where: entriesOf(
        "where",
        "conditions for streams, as in { public.orders: [status = paid] }",
        where,
        (item) => (typeof item === "string" ? parseCondition(item) : toCondition(item)),
      ),
    },
  };
}

function entriesOf<T>(
  name: string,
  form: string,
  value: JsonValue | undefined,
  toItem: (item: JsonValue) => T | undefined,
): ReadonlyMap<string, readonly T[]> {
  if (value === undefined) return new Map();
  const refuse = () => new UsageError(`config file: ${name} must hold ${form}`);
  if (!isJsonObject(value)) throw refuse();
  const entries = Object.entries(value as JsonObject).map(([stream, given]) => {
    const items = (Array.isArray(given) ? given : [given]).map((item) => {
      const found = toItem(item);
      if (found === undefined) throw refuse();
      return found;
    });
    if (items.length === 0) throw refuse();
    return [stream, items] as const;
  });
  return new Map(entries);
}

/** Joins the parts of the configuration and those of the command line, which count more. */
export const joinParts = (one: ChosenParts, other: ChosenParts): ChosenParts => ({
  columns: new Map([...one.columns, ...other.columns]),
  hash: new Map([...one.hash, ...other.hash]),
  where: new Map([...one.where, ...other.where]),
});

/** @throws UsageError for what was chosen for a stream that does not exist */
export function requireChosen(
  catalog: readonly CatalogStream[],
  { columns, hash, where }: ChosenParts,
): void {
  requireStreams(catalog, columns.keys(), "the columns of");
  requireStreams(catalog, hash.keys(), "what is hashed of");
  requireStreams(catalog, where.keys(), "the condition of");
  const known = new Set(
    catalog.flatMap(({ json_schema }) => Object.keys(json_schema.properties ?? {})),
  );
  for (const column of hash.get("*") ?? [])
    if (!known.has(column))
      throw new UsageError(
        `what is hashed of *: no stream has a column "${printable(column)}"${suggestion(column, [...known])}`,
      );
}

/** The stream with what was chosen for it. @throws UsageError for what it has not or cannot */
export function withParts(
  configured: ConfiguredStream,
  { columns, hash, where }: ChosenParts,
): ConfiguredStream {
  const { stream } = configured;
  const label = streamLabel(stream);
  const known = Object.keys(stream.json_schema.properties ?? {});
  const chosenOf = <T>(chosen: ReadonlyMap<string, T>) =>
    chosen.get(label) ?? chosen.get(stream.name);
  const selected = chosenOf(columns);
  const common = (hash.get("*") ?? []).filter((column) => known.includes(column));
  // Under both of its names: nothing that was to be hashed leaves in plain.
  const own = [label, stream.name].flatMap((name) => hash.get(name) ?? []);
  const hashed = [...new Set([...common, ...own])];
  const conditions = chosenOf(where);
  const lacks = (column: string) =>
    new UsageError(
      `${printable(label)} has no column "${printable(column)}"${suggestion(column, known)}`,
    );
  for (const column of [...(selected ?? []), ...(conditions ?? []).map((one) => one.column)])
    if (!known.includes(column)) throw lacks(column);
  for (const column of hashed) {
    if (!known.includes(column) && !column.includes(".")) throw lacks(column);
    const problem = hashProblem(configured, column);
    if (problem) throw new UsageError(`${printable(label)}: ${printable(column)} ${problem}`);
  }
  for (const condition of conditions ?? []) {
    const problem = filterProblem(stream, condition);
    if (problem) throw new UsageError(`the condition of ${printable(label)} ${problem}`);
  }
  return {
    ...configured,
    ...(selected ? { selected_fields: selected } : {}),
    ...(hashed.length > 0 ? { hashed_fields: hashed } : {}),
    ...(conditions ? { row_filter: conditions } : {}),
  };
}
