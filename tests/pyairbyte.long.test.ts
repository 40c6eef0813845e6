/**
 * PyAirbyte as its users run it: a client of the Airbyte Protocol that asks incremental of every
 * stream, and gives a state file back that it wrote itself.
 */
import { chmod, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, expect, test } from "vitest";
import { findPostgres, startPostgres } from "../simulators/postgres-server.ts";
import { run } from "./made-clients.ts";
import { installPythonPackages } from "./python-packages.ts";

const timeoutMs = 900_000;
const svc = fileURLToPath(new URL("../svc.ts", import.meta.url));
const program = fileURLToPath(new URL("pyairbyte.py", import.meta.url));

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "svc-pyairbyte-"));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

interface Reading {
  readonly mode: "first" | "second" | "full";
  readonly read: number;
  readonly tables: { readonly [name: string]: readonly Record<string, unknown>[] };
  readonly columns: readonly { readonly name: string; readonly type: string }[];
}

test.skipIf(findPostgres() === undefined)(
  "reads a database, reads it again, and has its rows",
  async ({ skip }) => {
    const python = await installPythonPackages();
    if ("lack" in python) return skip(python.lack);
    await using server = await startPostgres();
    const database = await server.createDatabase();
    await database.query(`
      CREATE TABLE orders (id int PRIMARY KEY, amount numeric, price numeric(12,2), updated_at timestamptz NOT NULL);
      INSERT INTO orders SELECT n, n + 0.123456789, n + 0.25, '2026-01-01'::timestamptz + n * interval '1 hour' FROM generate_series(1, 50) n;
      CREATE TABLE customers (id int PRIMARY KEY, name text); INSERT INTO customers VALUES (1, 'Ada'), (2, 'Bo')`);

    // The package's executables start the built command; here it is the checkout's own.
    const executable = join(folder, "source-postgres");
    const log = join(folder, "messages.log");
    await writeFile(
      executable,
      `#!/bin/sh\n'${process.execPath}' '${svc}' run postgres "$@" | tee -a '${log}'\n`,
    );
    await chmod(executable, 0o755);
    const config = join(folder, "config.json");
    await writeFile(
      config,
      JSON.stringify({
        host: server.host,
        port: server.port,
        database: database.name,
        username: "postgres",
        password: server.password,
        ssl_mode: "disable",
      }),
    );

    const readings: Reading[] = [];
    const readTwice = async (...modes: readonly string[]) => {
      const { stdout } = await run(
        join(python.bin, "python"),
        [program, executable, config, folder, ...modes],
        {
          cwd: folder,
          timeout: 1_200_000,
          maxBuffer: 64 * 1024 ** 2,
          env: { ...process.env, DO_NOT_TRACK: "1", AIRBYTE_OFFLINE_MODE: "1" },
        },
      );
      const lines = stdout.split("\n").filter((line) => line.startsWith("RESULT "));
      readings.push(...lines.map((line) => JSON.parse(line.slice(7)) as Reading));
    };
    await readTwice("first");
    await database.query(
      "UPDATE orders SET price = 999.5, updated_at = '2026-06-01' WHERE id = 7; INSERT INTO customers VALUES (3, 'Cy')",
    );
    await readTwice("second", "full");

    const [first, second, full] = readings;
    expect(first).toMatchObject({ mode: "first", read: 52 });
    expect(first?.tables.orders).toHaveLength(50);
    expect(Number(first?.tables.orders?.[0]?.amount)).toBe(1.123456789);
    // The changed rows, the row with the greatest cursor, and the table without one as a whole.
    expect(second).toMatchObject({ mode: "second", read: 5 });
    expect(full).toMatchObject({ mode: "full", read: 53 });
    for (const { tables, columns } of [second, full] as Reading[]) {
      expect(tables.orders).toHaveLength(50);
      expect(Number(tables.orders?.[6]?.price)).toBe(999.5);
      expect(tables.customers?.map(({ name }) => name)).toEqual(["Ada", "Bo", "Cy"]);
      expect(columns).toEqual([
        { name: "amount", type: "DECIMAL(38,9)" },
        { name: "id", type: "BIGINT" },
        { name: "price", type: "DECIMAL(38,9)" },
        { name: "updated_at", type: "TIMESTAMP" }, // PyAirbyte has no other
      ]);
    }
  },
  timeoutMs,
);
