import type { PGlite } from "@electric-sql/pglite";
import {
  CompiledQuery,
  type DatabaseConnection,
  type Dialect,
  type Driver,
  PostgresAdapter,
  PostgresIntrospector,
  PostgresQueryCompiler,
  type QueryResult,
} from "kysely";

/**
 * PGlite for Kysely. It has one connection: who has it keeps all others waiting until it is given
 * back. (Kysely's own dialect hands that one connection to everyone, so that two transactions, or a
 * query beside one, run into each other.)
 */
export function createPgliteDialect(pglite: PGlite): Dialect {
  return {
    createAdapter: () => new PostgresAdapter(),
    createDriver: () => createDriver(pglite),
    createIntrospector: (db) => new PostgresIntrospector(db),
    createQueryCompiler: () => new PostgresQueryCompiler(),
  };
}

function createDriver(pglite: PGlite): Driver {
  let line: Promise<void> = Promise.resolve();
  let giveBack: () => void = () => undefined;
  const connection: DatabaseConnection = {
    async executeQuery<R>({ sql, parameters }: CompiledQuery): Promise<QueryResult<R>> {
      const { rows, affectedRows } = await pglite.query<R>(sql, [...parameters]);
      return affectedRows === undefined
        ? { rows }
        : { rows, numAffectedRows: BigInt(affectedRows) };
    },
    // biome-ignore lint/correctness/useYield: an embedded database gives its rows at once
    async *streamQuery() {
      throw new Error("PGlite does not stream");
    },
  };
  const run = (statement: string) => async () => {
    await connection.executeQuery(CompiledQuery.raw(statement));
  };
  return {
    init: () => pglite.waitReady,
    async acquireConnection() {
      const before = line;
      const { promise, resolve } = Promise.withResolvers<void>();
      line = promise;
      await before;
      giveBack = resolve;
      return connection;
    },
    async releaseConnection() {
      giveBack();
    },
    async beginTransaction(_connection, { isolationLevel, accessMode }) {
      const modes = [isolationLevel && `ISOLATION LEVEL ${isolationLevel}`, accessMode].filter(
        (mode) => mode,
      );
      await run(`BEGIN ${modes.join(" ")}`)();
    },
    commitTransaction: run("COMMIT"),
    rollbackTransaction: run("ROLLBACK"),
    async destroy() {
      if (!pglite.closed) await pglite.close();
    },
  };
}
