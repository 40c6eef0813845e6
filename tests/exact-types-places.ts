/** The values of `exact-types.ts` where they arrive, each as its place shows it. */
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { DuckDBInstance } from "@duckdb/node-api";
import { type Data, type DataType, type Table, Type, tableFromIPC } from "apache-arrow";
import {
  createDestinationHost,
  findConnector,
  findDestination,
  type Host,
  type OutputSink,
  type Sink,
  selectStreams,
  systemClock,
} from "svc-connectors/host";
import { openJsonlOutput } from "../runtime/sinks/jsonl.ts";
import { openTableFiles } from "../runtime/sinks/table-files.ts";
import type { PostgresDatabase, PostgresServer } from "../simulators/postgres-server.ts";
import type { TypeCase, TypeFamily } from "./exact-types.ts";

/** A column where it arrived: its type there, and the text of each value. */
export interface Arrived {
  readonly type: string;
  readonly values: readonly (string | null)[];
}
/** By table and column. */
export type ArrivedColumns = ReadonlyMap<string, Arrived>;

export const placeNames = ["DuckDB", "PostgreSQL", "Parquet", "Arrow", "JSON lines"] as const;
export type PlaceName = (typeof placeNames)[number];

export const tableOf = (family: number) => `f${family}`;
export const columnOf = (index: number) => `c${index}`;
export const keyOf = (family: number, index: number) => `${tableOf(family)}.${columnOf(index)}`;

/** The column that names values that were lost, in every place. */
export const metaColumn = "_svc_meta";
export const metaKey = (family: number) => `${tableOf(family)}.${metaColumn}`;
const arrivingColumns = (cases: readonly TypeCase[]) => [
  ...cases.map((_, index) => columnOf(index)),
  metaColumn,
];

/** A table for each family, a column for each case, a row for each value. */
export async function fillTables(
  database: PostgresDatabase,
  families: readonly TypeFamily[],
): Promise<void> {
  for (const [number, { cases }] of families.entries()) {
    const columns = cases.map(({ type }, index) => `${columnOf(index)} ${type}`);
    await database.query(`CREATE TABLE ${tableOf(number)} (id int PRIMARY KEY, ${columns.join()})`);
    const rowCount = Math.max(...cases.map(({ values }) => values.length));
    for (let row = 0; row < rowCount; row++) {
      const values = cases.map(({ values: all, type }) => `${all[row] ?? "NULL"}::${type}`);
      await database.query(`INSERT INTO ${tableOf(number)} VALUES (${row}, ${values.join()})`);
    }
  }
}

/** The values as PostgreSQL itself shows them. */
export async function readPostgres(
  database: PostgresDatabase,
  families: readonly TypeFamily[],
  tableName: (family: number) => string,
  expression = ownText,
): Promise<ArrivedColumns> {
  const found = new Map<string, Arrived>();
  for (const [number, { cases }] of families.entries()) {
    const table = tableName(number);
    const types = await database.query(`
      SELECT attname, format_type(atttypid, atttypmod) AS type FROM pg_attribute
      WHERE attrelid = '${table}'::regclass AND attnum > 0`);
    const byName = new Map(types.map(({ attname, type }) => [attname, String(type)]));
    const list = cases.map(
      (one, index) => `${expression(columnOf(index), one)} AS ${columnOf(index)}`,
    );
    const rows = await database.query(
      `SET timezone = 'UTC'; SELECT ${list.join()} FROM ${table} ORDER BY id`,
    );
    cases.forEach((_, index) => {
      const column = columnOf(index);
      const values = rows.map((row) => row[column] as string | null);
      found.set(keyOf(number, index), { type: byName.get(column) ?? "", values });
    });
  }
  return found;
}

/** As the type itself writes it: a cast takes the blanks of char(n), and adds the mask of inet. */
const ownText = (column: string, { type }: TypeCase) =>
  type === "bool"
    ? `${column}::text`
    : `CASE WHEN ${column} IS NOT DISTINCT FROM NULL THEN NULL ELSE format('%s', ${column}) END`;

interface Reading {
  readonly host: Host;
  readonly server: PostgresServer;
  readonly source: PostgresDatabase;
  readonly families: readonly TypeFamily[];
  readonly folder: string;
}

const settings = { allowNetworks: ["127.0.0.0/8"] };
const connector = findConnector("postgres", ".");

const configOf = ({ server }: Reading, database: PostgresDatabase) => ({
  host: server.host,
  port: server.port,
  database: database.name,
  username: "postgres",
  password: server.password,
  ssl_mode: "disable",
});

/** Reads all tables into a sink, as `svc read` does. */
async function readInto(
  reading: Reading,
  open: (streams: ReturnType<typeof selectStreams>) => Promise<Sink>,
): Promise<void> {
  const config = { ...configOf(reading, reading.source), schemas: ["public"] };
  const found = await reading.host.discover(connector, config);
  const streams = selectStreams(found, undefined, "full_refresh");
  const sink = await open(streams);
  try {
    const summary = await reading.host.read(connector, { config, catalog: { streams } }, sink);
    if (summary.status !== "succeeded") throw new Error(JSON.stringify(summary));
  } finally {
    await sink.close();
  }
}

/** A job of a pipeline. */
async function writeDestination(
  reading: Reading,
  name: string,
  config: object,
  folder?: string,
): Promise<void> {
  const destinations = createDestinationHost({ settings });
  const opened: AsyncDisposable[] = [];
  try {
    await readInto(reading, async (streams) => {
      const write = await destinations.write(
        findDestination(name),
        config as never,
        {
          owner: "cn_types",
          jobId: "job_types",
          fence: 1,
          streams: streams.map((configured) => ({ configured, table: configured.stream.name })),
        },
        folder === undefined ? {} : { folder },
      );
      opened.push(write);
      return write.sink;
    });
  } finally {
    for (const write of opened) await write[Symbol.asyncDispose]();
  }
}

export async function arriveInPostgres(reading: Reading): Promise<ArrivedColumns> {
  const database = await reading.server.createDatabase();
  const config = { ...configOf(reading, database), schema: "public" };
  await writeDestination(reading, "postgres-destination", config);
  const found = new Map(await readPostgres(database, reading.families, tableOf));
  for (const family of reading.families.keys()) {
    const rows = await database.query(
      `SELECT ${metaColumn}::text AS meta FROM ${tableOf(family)} ORDER BY id`,
    );
    found.set(metaKey(family), { type: "jsonb", values: rows.map(({ meta }) => meta as string) });
  }
  return found;
}

/** BLOB has no text that others read; its digits are those that PostgreSQL shows. */
const shown = (column: string, type: string) =>
  type === "BLOB" ? `'\\x' || lower(hex(${column}))` : `CAST(${column} AS VARCHAR)`;

async function readDuckdb(
  { families }: Reading,
  path: string,
  tableName: (family: number) => string,
  typesSql: (table: string) => string,
): Promise<ArrivedColumns> {
  const instance = await DuckDBInstance.create(path);
  const connection = await instance.connect();
  const query = async (sql: string) => (await connection.runAndReadAll(sql)).getRowsJson();
  try {
    await query("SET TimeZone = 'UTC'");
    const found = new Map<string, Arrived>();
    for (const [number, { cases }] of families.entries()) {
      const table = tableName(number);
      const own = new Map(
        (await query(`DESCRIBE SELECT * FROM ${table}`)).map(([name, type]) => [
          name,
          String(type),
        ]),
      );
      const types = new Map(
        (await query(typesSql(table))).map(([name, type]) => [name, String(type)]),
      );
      for (const column of arrivingColumns(cases)) {
        const list = shown(column, own.get(column) ?? "");
        const rows = await query(`SELECT ${list} FROM ${table} ORDER BY id`);
        found.set(`${tableOf(number)}.${column}`, {
          type: types.get(column) ?? "",
          values: rows.map(([value]) => value as string | null),
        });
      }
    }
    return found;
  } finally {
    connection.closeSync();
    instance.closeSync();
  }
}

export async function arriveInDuckdb(reading: Reading): Promise<ArrivedColumns> {
  const config = { file: "types", schema: "main" };
  await writeDestination(reading, "duckdb", config, reading.folder);
  return readDuckdb(
    reading,
    join(reading.folder, "types.duckdb"),
    (family) => `main.${tableOf(family)}`,
    (table) => `SELECT column_name, column_type FROM (DESCRIBE ${table})`,
  );
}

const outputOptions = (streams: ReturnType<typeof selectStreams>) => ({
  connectorId: "conn_postgres",
  clock: systemClock,
  streams,
});

async function readFiles(
  reading: Reading,
  folder: string,
  open: (folder: string, options: ReturnType<typeof outputOptions>) => Promise<OutputSink>,
): Promise<void> {
  await readInto(reading, (streams) => open(folder, outputOptions(streams)));
}

/** The names of the format's own description, shortened. */
const parquetType = `CASE
  WHEN logical_type LIKE 'TimestampType(isAdjustedToUTC=1%MICROS=M%' THEN 'TIMESTAMP(MICROS, UTC)'
  WHEN logical_type LIKE 'TimestampType(isAdjustedToUTC=0%MICROS=M%' THEN 'TIMESTAMP(MICROS)'
  WHEN logical_type LIKE 'TimeType(%MICROS=M%' THEN 'TIME(MICROS)'
  WHEN logical_type LIKE 'DecimalType%' THEN 'DECIMAL(' || precision || ', ' || scale || ')'
  WHEN logical_type IS NOT NULL THEN upper(regexp_replace(logical_type, 'Type.*', ''))
  ELSE coalesce(converted_type, type) END`;

export async function arriveInParquet(reading: Reading): Promise<ArrivedColumns> {
  const folder = join(reading.folder, "types.parquet");
  await readFiles(reading, folder, (path, options) => openTableFiles(path, "parquet", options));
  return readDuckdb(
    reading,
    ":memory:",
    (family) => `'${join(folder, `public.${tableOf(family)}.parquet`)}'`,
    (table) => `SELECT name, ${parquetType} FROM parquet_schema(${table})`,
  );
}

export async function arriveInJsonLines(reading: Reading): Promise<ArrivedColumns> {
  const folder = join(reading.folder, "types");
  await readFiles(reading, folder, openJsonlOutput);
  const found = new Map<string, Arrived>();
  for (const [number, { cases }] of reading.families.entries()) {
    const text = await readFile(join(folder, `public.${tableOf(number)}.jsonl`), "utf8");
    const rows = text
      .split("\n")
      .slice(0, -1)
      .map((line) => JSON.parse(line, exactNumbers as never) as Record<string, unknown>)
      .sort((one, other) => idOf(one) - idOf(other));
    for (const column of arrivingColumns(cases)) {
      const values = rows.map((row) => row[column] ?? null);
      found.set(`${tableOf(number)}.${column}`, {
        type: [...new Set(values.filter((value) => value !== null).map(jsonType))].join(", "),
        values: values.map((value) => (value === null ? null : JSON.stringify(value))),
      });
    }
  }
  return found;
}

const idOf = ({ id }: Record<string, unknown>) => Number(JSON.stringify(id));

const { rawJSON, isRawJSON } = JSON as unknown as {
  rawJSON(text: string): unknown;
  isRawJSON(value: unknown): boolean;
};

/** Numbers as they are written. */
export const exactNumbers = (_: string, value: unknown, { source }: { source: string }) =>
  typeof value === "number" ? rawJSON(source) : value;

const jsonType = (value: unknown) =>
  isRawJSON(value) ? "number" : Array.isArray(value) ? "array" : typeof value;

export async function arriveInArrow(reading: Reading): Promise<ArrivedColumns> {
  const folder = join(reading.folder, "types.arrow");
  await readFiles(reading, folder, (path, options) => openTableFiles(path, "arrow", options));
  const found = new Map<string, Arrived>();
  for (const [number, { cases }] of reading.families.entries()) {
    const file = join(folder, `public.${tableOf(number)}.arrow`);
    const table = tableFromIPC(await readFile(file));
    const ids = [...(table.getChild("id") ?? [])].map(Number);
    for (const column of arrivingColumns(cases)) {
      const { type, values } = await readArrowColumn(table, column);
      const ordered = ids
        .map((id, row) => [id, values[row] ?? null] as const)
        .sort(([one], [other]) => one - other);
      found.set(`${tableOf(number)}.${column}`, {
        type,
        values: ordered.map(([, value]) => value),
      });
    }
  }
  return found;
}

async function readArrowColumn(table: Table, name: string): Promise<Arrived> {
  const field = table.schema.fields.find((one) => one.name === name);
  const column = table.getChild(name);
  if (!field || !column) throw new Error(`${name} is not there`);
  const extension = field.metadata.get("ARROW:extension:name");
  const type = `${arrowType(field.type)}${extension === undefined ? "" : ` (${extension})`}`;
  const values = column.data.flatMap((data) =>
    Array.from({ length: data.length }, (_, row) =>
      data.getValid(row) ? valueText(data, row) : null,
    ),
  );
  return { type, values: await Promise.all(values) };
}

const arrowType = (type: DataType) =>
  String(type).replace(
    /^Decimal\[(\d+)e\+?(\d+)\]$/,
    (_, precision, scale) =>
      `Decimal${(type as { bitWidth?: number }).bitWidth}(${precision}, ${scale})`,
  );

/** The value as PostgreSQL would write it. */
async function valueText(data: Data, row: number): Promise<string> {
  const { type, values, valueOffsets } = data;
  const bytes = () => Buffer.from(values.buffer, values.byteOffset, values.byteLength);
  const text = () => bytes().subarray(valueOffsets[row], valueOffsets[row + 1]);
  switch (type.typeId) {
    case Type.Utf8:
      return text().toString();
    case Type.Binary:
      return `\\x${text().toString("hex")}`;
    case Type.FixedSizeBinary:
      return bytes()
        .toString("hex", row * 16, row * 16 + 16)
        .replace(/^(.{8})(.{4})(.{4})(.{4})/, "$1-$2-$3-$4-");
    case Type.Bool:
      return String(((values[row >> 3] as number) & (1 << (row & 7))) !== 0);
    case Type.Interval: {
      const words = values as unknown as Int32Array;
      const view = new DataView(words.buffer, words.byteOffset + row * 16, 16);
      return `${view.getInt32(0, true)} months ${view.getInt32(4, true)} days ${view.getBigInt64(8, true)} nanoseconds`;
    }
    case Type.Decimal:
      return decimalText(bytes(), row, type as unknown as { bitWidth: number; scale: number });
    case Type.Date:
      return duckdbText(
        `DATE '1970-01-01' + ${values[row]}`,
        Math.abs(Number(values[row])) === 2 ** 31 - 1 && values[row],
      );
    case Type.Timestamp: {
      const micros = values[row] as bigint;
      const isEndless = micros === 2n ** 63n - 1n || micros === -(2n ** 63n - 1n);
      const zone = (type as unknown as { timezone: string | null }).timezone ? "tz" : "";
      return duckdbText(`make_timestamp${zone}(${micros})`, isEndless && micros);
    }
    case Type.Time:
      return duckdbText(
        `make_time(0, 0, 0) + to_microseconds(${values[row]})`,
        values[row] === 86_400_000_000n && "24:00:00",
      );
    default:
      return String(values[row]);
  }
}

function decimalText(
  bytes: Buffer,
  row: number,
  { bitWidth, scale }: { bitWidth: number; scale: number },
): string {
  const width = bitWidth / 8;
  const hex = Buffer.from(bytes.subarray(row * width, (row + 1) * width))
    .reverse()
    .toString("hex");
  const value = BigInt.asIntN(bitWidth, BigInt(`0x${hex}`));
  const digits = String(value < 0n ? -value : value).padStart(scale + 1, "0");
  const point = scale === 0 ? "" : `.${digits.slice(-scale)}`;
  return `${value < 0n ? "-" : ""}${digits.slice(0, digits.length - scale)}${point}`;
}

/** @param instead the number itself, where the type has no such value */
async function duckdbText(expression: string, instead: unknown): Promise<string> {
  if (instead !== false) return String(instead);
  const instance = await DuckDBInstance.create();
  const connection = await instance.connect();
  await connection.run("SET TimeZone = 'UTC'");
  const isDate = expression.startsWith("DATE");
  const sql = isDate ? `CAST(${expression} AS DATE)` : expression;
  const rows = (await connection.runAndReadAll(`SELECT CAST(${sql} AS VARCHAR)`)).getRowsJson();
  connection.closeSync();
  instance.closeSync();
  return String(rows[0]?.[0]);
}
