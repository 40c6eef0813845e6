/**
 * Databases on a MariaDB. The name of a database is part of its tables' names: a copy has to have
 * the same one, so that there is one at a time, made anew when another one is asked for.
 */
import type { JsonObject } from "svc-connectors";
import type { Database, DatabaseCopy } from "../contract/database.ts";
import { UnusableError } from "../contract/unusable.ts";
import { onInterruption } from "./container-interruption.ts";
import type { DatabaseLogin, DatabaseServer } from "./database.ts";
import { findMariadb, type MariadbServer, startInstalledMariadb } from "./mariadb-server.ts";
import { accountOf, mysqlSql } from "./mysql-sql.ts";

const { identifier, literal } = mysqlSql;

const serverSettings = {
  // Between a connector and its server the kit reads along.
  "skip-ssl": "1",
  // A session that does not say which zone it wants gets another one.
  "default-time-zone": "+05:30",
  "character-set-server": "utf8mb4",
  "innodb-doublewrite": "0",
  "innodb-flush-method": "nosync",
  "max-allowed-packet": "64M",
  "max-connections": "50",
};

/** Settings of the kit's own sessions. */
const ownSession =
  "SET NAMES utf8mb4; SET time_zone = '+00:00'; SET sql_mode = 'NO_BACKSLASH_ESCAPES,STRICT_ALL_TABLES';";

export async function startMysqlDatabase(
  seed: string,
): Promise<DatabaseServer | { readonly missing: string }> {
  if (findMariadb() === undefined)
    return {
      missing: "a database is needed: install MariaDB (Debian: apt-get install mariadb-server)",
    };
  const server = await startInstalledMariadb({ settings: () => serverSettings });
  const stop = async () => void (await server[Symbol.asyncDispose]());
  const release = onInterruption(stop);
  const { host, port } = server;
  return {
    kind: "mysql",
    host,
    port,
    open: (login) => openDatabase(server, seed, login),
    async [Symbol.asyncDispose]() {
      release();
      await stop();
    },
  };
}

/** The statements that a copy has run since the seed. */
type Changes = string[];

async function openDatabase(
  server: MariadbServer,
  seed: string,
  login: DatabaseLogin,
): Promise<Database> {
  const { role, password, database } = login;
  const account = accountOf(role);
  const run = (sql: string) => server.query(`${ownSession}\n${sql}`);
  const within = (sql: string, flags: readonly string[] = ["--skip-column-names"]) =>
    server.query(`${ownSession}\n${sql}`, [...flags, database]);
  let current: Changes | undefined;

  const make = async (changes: Changes) => {
    if (current === changes) return;
    current = undefined;
    await run(`
      DROP DATABASE IF EXISTS ${identifier(database)};
      CREATE DATABASE ${identifier(database)} CHARACTER SET utf8mb4;
      DROP USER IF EXISTS ${account};
      CREATE USER ${account} IDENTIFIED BY ${literal(password)};`);
    await server.query(`SET NAMES utf8mb4;\n${seed}`, [database]).catch((error: Error) => {
      throw new UnusableError(`the database seed is not taken: ${error.message}`);
    });
    await within(`GRANT SELECT, SHOW VIEW ON * TO ${account};\n${changes.join("\n")}`);
    current = changes;
  };

  const copyWith = (changes: Changes): DatabaseCopy => ({
    name: database,
    use: () => make(changes),
    async execute(sql) {
      await make(changes);
      await within(sql);
      changes.push(sql);
    },
    async rows(select) {
      await make(changes);
      return toRows(await within(select, []));
    },
  });

  const own = copyWith([]);
  await own.use();
  return {
    ...own,
    seed,
    role,
    sql: mysqlSql,
    async copy(sql = "") {
      const copy = copyWith([sql]);
      await copy.use();
      return { ...copy, [Symbol.asyncDispose]: async () => {} };
    },
    async withPassword(other, work) {
      const set = (value: string) => run(`ALTER USER ${account} IDENTIFIED BY ${literal(value)}`);
      await set(other);
      try {
        return await work();
      } finally {
        await set(password);
      }
    },
  };
}

/** The client's lines: names first, tabs between, and what would be one of them escaped. */
function toRows(output: string): JsonObject[] {
  const [head = "", ...lines] = output.split("\n");
  const names = head.split("\t").map(unescaped);
  return lines
    .filter((line) => line !== "")
    .map((line) => {
      const fields = line.split("\t");
      return Object.fromEntries(
        names.map((name, at) => {
          const field = fields[at] ?? "";
          return [name, field === "NULL" ? null : unescaped(field)];
        }),
      );
    });
}

const escapes: Readonly<Record<string, string>> = { t: "\t", n: "\n", "0": "\0" };
const unescaped = (field: string) =>
  field.replace(/\\(.)/g, (_, sign: string) => escapes[sign] ?? sign);
