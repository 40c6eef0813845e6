/**
 * Tables of a source that a seed changes between syncs, one for each way to sync, and what a
 * warehouse must hold after each of them.
 */
import { expect } from "vitest";
import type { PostgresDatabase } from "../simulators/postgres-server.ts";

/** As `POST /pipelines` takes them. */
export const truthStreams = [
  { name: "people", sync_mode: "full_refresh", destination_sync_mode: "overwrite" },
  { name: "notes", sync_mode: "full_refresh", destination_sync_mode: "overwrite" },
  { name: "piles", sync_mode: "full_refresh", destination_sync_mode: "append" },
  { name: "heaps", sync_mode: "full_refresh", destination_sync_mode: "append" },
  {
    name: "events",
    sync_mode: "incremental",
    destination_sync_mode: "append",
    cursor_field: ["seq"],
  },
  {
    name: "orders",
    sync_mode: "incremental",
    destination_sync_mode: "append_dedup",
    cursor_field: ["version"],
  },
  { name: "stock", sync_mode: "full_refresh", destination_sync_mode: "append_dedup" },
].map((stream) => ({ ...stream, namespace: "public" }));

/**
 * Tables with a key can be read on from where a kill has stopped it; `notes`, `heaps` and `events`
 * have none.
 */
const tables = `
  CREATE TABLE people (id int PRIMARY KEY, note text);
  CREATE TABLE notes (id int, note text);
  CREATE TABLE piles (id int PRIMARY KEY, note text);
  CREATE TABLE heaps (id int, note text);
  CREATE TABLE events (seq bigint NOT NULL, note text);
  CREATE TABLE orders (id int PRIMARY KEY, version bigint NOT NULL, note text, _svc_deleted_at timestamptz);
  CREATE TABLE stock (id int PRIMARY KEY, note text);
  CREATE SEQUENCE versions;
`;

const all = ["people", "notes", "piles", "heaps", "events", "orders", "stock"] as const;
type Name = (typeof all)[number];

/** A text for each row, of the source or of the warehouse, where what is deleted must be gone. */
const select = (name: Name, table: string = name) => {
  const row = name === "events" ? "seq || ':' || note" : "id || ':' || note";
  const isThere = table === "orders" ? " WHERE _svc_deleted_at IS NULL" : "";
  return `SELECT '${name}' AS stream, ${row} AS line FROM ${table}${isThere}`;
};

/** The rows that a warehouse is asked for: stream and text of each row. */
export const warehouseQuery = all.map((name) => select(name, `_svc_${name}`)).join(" UNION ALL ");

export interface Truth {
  /** Rows come, change and go. */
  change(): Promise<void>;
  /** A sync of all that there is has ended. */
  synced(): Promise<void>;
  /** All tables were emptied. */
  cleared(): void;
  /**
   * @param attempts of all syncs so far: each may bring the event once more at which it went on, as
   * the connector's page says
   */
  compare(warehouse: readonly (readonly [stream: string, line: string])[], attempts: number): void;
}

/** @param rowCount of each table at the beginning */
export async function createTruth(
  source: PostgresDatabase,
  rowCount: number,
  random: () => number,
): Promise<Truth> {
  const whole = (least: number, most: number) => least + Math.floor(random() * (most - least + 1));
  let nextId = 1;
  const add = (name: Name, count: number) => {
    const columns =
      name === "events" ? "seq, note" : name === "orders" ? "id, version, note" : "id, note";
    const values = name === "orders" ? "n, nextval('versions')" : "n";
    return `INSERT INTO ${name} (${columns}) SELECT ${values}, md5(n::text) FROM generate_series(${nextId}, ${nextId + count - 1}) n`;
  };
  const some = () => `id % ${whole(3, 9)} = ${whole(0, 2)}`;
  const note = () => `note || '${whole(0, 9)}'`;
  const expected: Record<Name, string[]> = {
    people: [],
    notes: [],
    piles: [],
    heaps: [],
    events: [],
    orders: [],
    stock: [],
  };
  await source.query(`${tables} ${all.map((name) => add(name, rowCount)).join("; ")}`);
  nextId += rowCount;

  return {
    async change() {
      const count = whole(1, Math.ceil(rowCount / 3));
      const removable = ["people", "notes", "piles", "heaps"] as const;
      await source.query(
        [
          ...removable.map(
            (name) => `DELETE FROM ${name} WHERE ${some()} AND id < ${whole(1, nextId)}`,
          ),
          ...[...removable, "stock"].map(
            (name) => `UPDATE ${name} SET note = ${note()} WHERE ${some()}`,
          ),
          `UPDATE orders SET version = nextval('versions'), note = ${note()}, _svc_deleted_at = NULL WHERE ${some()}`,
          `UPDATE orders SET version = nextval('versions'), _svc_deleted_at = now() WHERE ${some()}`,
          ...all.map((name) => add(name, count)),
        ].join("; "),
      );
      nextId += count;
    },
    async synced() {
      const rows = await source.query(all.map((name) => select(name)).join(" UNION ALL "));
      for (const name of all) if (name !== "piles" && name !== "heaps") expected[name] = [];
      for (const { stream, line } of rows) expected[stream as Name].push(String(line));
    },
    cleared() {
      for (const name of all) expected[name] = [];
    },
    compare(warehouse, attempts) {
      for (const name of all) {
        const found = warehouse.flatMap(([stream, line]) => (stream === name ? [line] : []));
        const { missing, repeated, strange } = difference(expected[name], found);
        const allowed = name === "events" ? attempts : 0;
        const differences = {
          stream: name,
          missing: missing.slice(0, 5),
          strange: strange.slice(0, 5),
        };
        expect({
          ...differences,
          repeated: repeated.length > allowed ? repeated.slice(0, 5) : [],
        }).toEqual({
          stream: name,
          missing: [],
          strange: [],
          repeated: [],
        });
      }
    },
  };
}

/** Rows that the warehouse lacks, that it has too often, and that it should not have at all. */
function difference(expected: readonly string[], found: readonly string[]) {
  const counts = new Map<string, number>();
  for (const line of expected) counts.set(line, (counts.get(line) ?? 0) + 1);
  const repeated: string[] = [];
  const strange: string[] = [];
  for (const line of found) {
    const count = counts.get(line);
    if (count === undefined) strange.push(line);
    else if (count <= 0) repeated.push(line);
    counts.set(line, (count ?? 0) - 1);
  }
  return {
    missing: [...counts].flatMap(([line, count]) => (count > 0 ? [line] : [])),
    repeated,
    strange,
  };
}
