import type { PostgresServer } from "../simulators/postgres-server.ts";

/** By table. */
export const shopRows: Readonly<Record<string, number>> = { customers: 2_000, orders: 100_000 };

/**
 * Makes a small shop in a new database: its orders are of the last four weeks.
 * @returns the name of the database
 */
export async function fillShop(server: PostgresServer): Promise<string> {
  const database = await server.createDatabase();
  await database.query(`
    CREATE TABLE customers (id bigint PRIMARY KEY, name text NOT NULL, country text NOT NULL, tags text[], signed_up timestamptz NOT NULL);
    CREATE TABLE orders (id bigint PRIMARY KEY, customer_id bigint NOT NULL, total numeric(12, 2) NOT NULL, items jsonb, ordered_at timestamptz NOT NULL);
    INSERT INTO customers SELECT n, 'Customer ' || n, (ARRAY['de', 'fr', 'nl', 'pl', 'se'])[n % 5 + 1], ARRAY['a', 'b'], now() - n * interval '1 hour'
      FROM generate_series(1, ${shopRows.customers}) n;
    INSERT INTO orders SELECT n, n % 2000 + 1, (n * 7919 % 10000) / 100.0 * (1 + abs(sin(n / 9000.0)))::numeric, jsonb_build_object('sku', n % 50), now() - n * interval '24 seconds'
      FROM generate_series(1, ${shopRows.orders}) n;
  `);
  return database.name;
}
