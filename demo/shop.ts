import type { PostgresServer } from "../fixtures/providers/postgres-server.ts";

/** Makes a small shop in a new database. @returns the source's configuration */
export async function fillShop(server: PostgresServer) {
  const database = await server.createDatabase();
  await database.query(`
    CREATE TABLE customers (id bigint PRIMARY KEY, name text NOT NULL, country text NOT NULL, tags text[], signed_up timestamptz NOT NULL);
    CREATE TABLE orders (id bigint PRIMARY KEY, customer_id bigint NOT NULL, total numeric(12, 2) NOT NULL, items jsonb, ordered_at timestamptz NOT NULL);
    INSERT INTO customers SELECT n, 'Customer ' || n, (ARRAY['de', 'fr', 'nl', 'pl', 'se'])[n % 5 + 1], ARRAY['a', 'b'], now() - n * interval '1 hour'
      FROM generate_series(1, 2000) n;
    INSERT INTO orders SELECT n, n % 2000 + 1, (n * 7919 % 100000) / 100.0, jsonb_build_object('sku', n % 50), now() - n * interval '1 second'
      FROM generate_series(1, 100000) n;
  `);
  const { host, port, password } = server;
  return { host, port, database: database.name, username: "postgres", password, ssl_mode: "require" };
}
