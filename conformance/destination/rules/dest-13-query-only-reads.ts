import { existsSync } from "node:fs";
import { rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ConnectorError } from "svc-connectors/host";
import { type DestinationLab, defineDestinationRule, type Place } from "../contract.ts";
import { describeStream, integer, scriptOf } from "../streams.ts";

export default defineDestinationRule({
  id: "DEST-13",
  title:
    "A query is one SELECT that only reads the tables: what writes, reaches files or other servers, waits, or is two statements is refused, and changes nothing.",
  why: "Models of reverse ETL are SQL that people type. One that writes breaks the warehouse, one that reads files shows the machine to whoever may write a model.",
  fix: "Let the database parse it and take only a SELECT; run it in a read-only transaction that is rolled back, with files and settings locked, and with a time limit.",
  good: "BEGIN READ ONLY; DECLARE c CURSOR FOR <sql>; FETCH …; ROLLBACK;",
  bad: "if (/^select/i.test(sql)) return await client.query(sql);",
  async run(lab, report) {
    const place = await lab.place();
    const { owner, name } = lab.fresh();
    const stream = describeStream({ id: integer }, { name });
    const rows = Array.from({ length: 2_500 }, (_, id) => ({ id }));
    const [table = ""] = await place.run(
      scriptOf({ owner, fence: 1 }, [{ stream, batches: [rows] }]),
    );
    // People query while something is written.
    const writer = await place.open(
      scriptOf({ owner, fence: 2 }, [{ stream, batches: [] }]).command,
    );
    const before = await place.tables();
    const count = async () =>
      (await place.query(`SELECT count(*) AS n FROM ${table}`)).rows[0]?.[0];
    const file = join(tmpdir(), `svc-query-${process.pid}-${lab.seed}.txt`);
    try {
      for (const [what, sql] of [
        ...everywhere(table, file),
        ...(lab.egress === "postgres" ? inPostgres(table, file) : inFiles(table, file)),
      ]) {
        report.checked(what);
        const code = await codeOf(place, sql);
        if (code === undefined) report.fail(`A query with ${what} is answered: ${sql}`);
        else if (code !== "QUERY_REFUSED" && code !== "QUERY_FAILED")
          report.fail(
            `A query with ${what} fails with ${code}; QUERY_REFUSED or QUERY_FAILED is expected: ${sql}`,
          );
        if (existsSync(file)) report.fail(`A query with ${what} wrote a file: ${sql}`);
        if (String(await count()) !== "2500")
          report.fail(`A query with ${what} changed the table: ${sql}`);
      }
    } finally {
      await rm(file, { recursive: true, force: true });
    }
    const after = await place.tables();
    if (after.join() !== before.join())
      report.fail(
        `The queries changed which tables there are: ${after.filter((one) => !before.includes(one)).join(", ") || "some are gone"}.`,
      );
    await tryLimits(lab, report, place, table);
    await writer.close();
  },
});

type Statement = readonly [string, string];

const everywhere = (table: string, file: string): readonly Statement[] => [
  ["nothing in it", "  "],
  ["two statements", "SELECT 1; SELECT 2"],
  ["two statements, one behind a comment", `SELECT 1 /* ; */; DELETE FROM ${table}; --`],
  ["INSERT", `INSERT INTO ${table} (id) VALUES (-1)`],
  ["UPDATE", `UPDATE ${table} SET id = 0`],
  ["DELETE", `DELETE FROM ${table}`],
  ["DELETE behind WITH", `WITH d AS (DELETE FROM ${table} RETURNING *) SELECT * FROM d`],
  ["TRUNCATE", `TRUNCATE ${table}`],
  ["DROP", `DROP TABLE ${table}`],
  ["ALTER", `ALTER TABLE ${table} ADD COLUMN more integer`],
  ["CREATE", "CREATE TABLE made_by_a_query (a integer)"],
  ["CREATE … AS", `CREATE TABLE made_by_a_query AS SELECT * FROM ${table}`],
  ["a schema that it makes", "CREATE SCHEMA made_by_a_query"],
  ["COPY to a file", `COPY (SELECT 1) TO '${file}'`],
  ["COPY from a file", `COPY ${table} FROM '/etc/hostname'`],
  ["SET", "SET search_path = elsewhere"],
  ["BEGIN", "BEGIN"],
  ["COMMIT", "COMMIT"],
  ["EXPLAIN ANALYZE", `EXPLAIN ANALYZE SELECT * FROM ${table}`],
  ["a table that is not there", "SELECT * FROM nowhere_at_all"],
];

const inPostgres = (table: string, file: string): readonly Statement[] => [
  ["SELECT … INTO", `SELECT * INTO made_by_a_query FROM ${table}`],
  ["rows that it locks", `SELECT * FROM ${table} FOR UPDATE`],
  ["pg_sleep", "SELECT pg_sleep(20)"],
  ["pg_sleep in quotes", 'SELECT "pg_sleep"(20)'],
  ["pg_read_file", "SELECT pg_read_file('/etc/passwd')"],
  ["pg_ls_dir", "SELECT pg_ls_dir('/')"],
  ["lo_export", `SELECT lo_export(1, '${file}')`],
  ["COPY to a program", "COPY (SELECT 1) TO PROGRAM 'cat'"],
  ["an advisory lock", "SELECT pg_advisory_lock(1)"],
  ["a session that it ends", "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"],
  ["DO", "DO $$ BEGIN PERFORM 1; END $$"],
  ["SQL in a text", `SELECT query_to_xml('SELECT 1', true, true, '')`],
  ["a setting that it changes", "SELECT set_config('transaction_read_only', 'off', true)"],
];

const inFiles = (table: string, file: string): readonly Statement[] => [
  ["a file as a table", "SELECT * FROM '/etc/hostname'"],
  ["a reader of files", "SELECT * FROM read_text('/etc/hostname')"],
  ["a reader of CSV", "SELECT * FROM read_csv('/etc/passwd')"],
  ["a list of files", "SELECT * FROM glob('/etc/*')"],
  ["ATTACH", `ATTACH '${file}'`],
  ["an extension", "INSTALL httpfs"],
  ["an extension that is loaded", "LOAD httpfs"],
  ["an address", "SELECT * FROM 'https://example.com/x.parquet'"],
  ["the environment", "SELECT getenv('PATH')"],
  ["PRAGMA", "PRAGMA database_list"],
  ["CALL", "CALL pragma_version()"],
  ["EXPORT", `EXPORT DATABASE '${file}'`],
  ["settings", "SELECT * FROM duckdb_settings()"],
  ["SQL in a text", `SELECT * FROM query('SELECT * FROM ${table.replaceAll("'", "''")}')`],
];

async function codeOf(place: Place, sql: string): Promise<string | undefined> {
  try {
    await place.query(sql, { timeoutMs: 2_000 });
    return undefined;
  } catch (error) {
    return error instanceof ConnectorError ? error.code : "an error without a code";
  }
}

/** A query that would take for ever is ended; no more rows come than were asked for. */
async function tryLimits(
  lab: DestinationLab,
  report: Parameters<Run>[1],
  place: Place,
  table: string,
): Promise<void> {
  for (const maxRows of [1, 1_001]) {
    report.checked(`maxRows ${maxRows}`);
    // More rows than that may be cut off or be a failure.
    const rowCount = await place.query(`SELECT id FROM ${table}`, { maxRows }).then(
      ({ rows }) => rows.length,
      (error: unknown) =>
        error instanceof ConnectorError && error.code === "QUERY_FAILED" ? maxRows : -1,
    );
    if (rowCount !== maxRows)
      report.fail(
        `A query of 2500 rows with maxRows ${maxRows} ${rowCount === -1 ? "fails without QUERY_FAILED" : `gives ${rowCount} rows`}.`,
      );
  }
  report.checked("timeoutMs");
  const endless = Array.from({ length: 4 }, (_, index) => `${table} AS t${index}`).join(", ");
  const ending = codeOfEndless(
    place,
    `SELECT count(*) FROM ${endless} WHERE t0.id + t1.id + t2.id + t3.id < 0`,
  );
  let timer: NodeJS.Timeout | undefined;
  const givenUp = new Promise<string>((resolve) => {
    timer = setTimeout(() => resolve("never ended"), 30_000);
  });
  const code = await Promise.race([ending, givenUp]);
  clearTimeout(timer);
  if (code !== "QUERY_FAILED" && code !== "QUERY_REFUSED")
    report.fail(
      `A query that would take for ever, with timeoutMs 300, ${code === "never ended" ? "was not ended in 30 seconds" : `ended with ${code}`}; QUERY_FAILED is expected.`,
    );
  report.checked(`${lab.egress}: the place is usable afterwards`);
  await place.query("SELECT 1");
}

const codeOfEndless = (place: Place, sql: string) =>
  place.query(sql, { timeoutMs: 300 }).then(
    () => "an answer",
    (error: unknown) => (error instanceof ConnectorError ? error.code : "an error without a code"),
  );

type Run = ReturnType<typeof defineDestinationRule>["run"];
