/**
 * `svc read postgres --out x.duckdb` by the log, killed with -9 again and again while others write:
 * what is in DuckDB after a run that came to its end is the source's truth.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { DuckDBInstance } from "@duckdb/node-api";
import { expect, test } from "vitest";
import { findPostgres, startPostgres } from "../../../../simulators/postgres-server.ts";

const killCount = Number(process.env.KILLS ?? 8);
const command = fileURLToPath(new URL("../../../../svc.ts", import.meta.url));
const columns = "concat_ws('/', id, v, length(body), md5(body))";

test.skipIf(findPostgres() === undefined)(
  "a read by the log that is killed anywhere loses no change and doubles none",
  async () => {
    await using server = await startPostgres({ settings: { wal_level: "logical" } });
    const database = await server.createDatabase();
    await database.query(`
      CREATE TABLE t (id int PRIMARY KEY, v int, body text); ALTER TABLE t ALTER body SET STORAGE EXTERNAL;
      INSERT INTO t SELECT i, 0, repeat(md5(i::text), 200) FROM generate_series(1, 3000) i;
      CREATE PUBLICATION svc FOR TABLE t`);
    const folder = await mkdtemp(join(tmpdir(), "svc-cdc-"));
    try {
      await writeFile(join(folder, "password.txt"), server.password, { mode: 0o600 });
      await writeFile(join(folder, "svc.config.yaml"), "allow_networks: [127.0.0.1/32]\n");
      await writeFile(
        join(folder, "source.yaml"),
        `host: ${server.host}\nport: ${server.port}\ndatabase: ${database.name}\nusername: postgres\npassword: { $file: ./password.txt }\nssl_mode: disable\npage_size: 200\nreplication: { publication: svc, slot: svc_kills }\n`,
      );
      /** Gives the exit code; null when it was killed. */
      const read = async (killAfterMs?: number): Promise<number | null> => {
        const child = spawn(
          process.execPath,
          [
            "--conditions=svc-source",
            command,
            "read",
            "postgres",
            "--config",
            "source.yaml",
            "--out",
            "x.duckdb",
          ],
          { cwd: folder, stdio: "ignore" },
        );
        const timer =
          killAfterMs === undefined
            ? undefined
            : setTimeout(() => child.kill("SIGKILL"), killAfterMs);
        const [code] = (await once(child, "exit")) as [number | null];
        clearTimeout(timer);
        return code;
      };
      expect(await read(1)).toBeNull();
      let lengthMs = 4_000;
      for (let kill = 0; kill < killCount; kill++) {
        await database.query(`
          UPDATE t SET v = v + 1 WHERE id % 7 = ${kill % 7};
          UPDATE t SET id = id + 100000 WHERE id % 97 = ${kill} AND id < 100000;
          DELETE FROM t WHERE id % 101 = ${kill};
          INSERT INTO t SELECT 10000 + ${kill} * 100 + i, i, repeat('x', i * 40) FROM generate_series(0, 99) i ON CONFLICT DO NOTHING`);
        // Moments all over a run, however fast this machine is today.
        const begun = performance.now();
        const code = await read((lengthMs * (kill + 1)) / (killCount + 1));
        if (code !== null) lengthMs = performance.now() - begun;
        else lengthMs *= 1.1;
      }
      expect(await read()).toBe(0);
      const instance = await DuckDBInstance.create(join(folder, "x.duckdb"));
      const connection = await instance.connect();
      const found = await connection.runAndReadAll(`SELECT ${columns} FROM public.t ORDER BY id`);
      connection.closeSync();
      instance.closeSync();
      const truth = await database.query(`SELECT ${columns} AS row FROM t ORDER BY id`);
      expect(found.getRows().map(([row]) => row)).toEqual(truth.map(({ row }) => row));
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  },
);
