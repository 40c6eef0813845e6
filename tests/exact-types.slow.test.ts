/**
 * Every type of PostgreSQL through the sandboxed worker, the filter and each place: docs/types.md
 * is what arrived. `UPDATE_DOCS=1 npx vitest run tests/exact-types.slow.test.ts` writes the page
 * anew.
 */
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createHost } from "svc-connectors/host";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { renderTypesPage } from "../docs/types-page.ts";
import { findPostgres, type PostgresServer, startPostgres } from "../simulators/postgres-server.ts";
import { typeFamilies, typesSql } from "./exact-types.ts";
import {
  type ArrivedColumns,
  arriveInArrow,
  arriveInDuckdb,
  arriveInJsonLines,
  arriveInParquet,
  arriveInPostgres,
  fillTables,
  type PlaceName,
  placeNames,
  readPostgres,
  tableOf,
} from "./exact-types-places.ts";
import { explainTypes, type TypesReport } from "./exact-types-report.ts";

const page = new URL("../docs/types.md", import.meta.url);

const arrive = {
  DuckDB: arriveInDuckdb,
  PostgreSQL: arriveInPostgres,
  Parquet: arriveInParquet,
  Arrow: arriveInArrow,
  "JSON lines": arriveInJsonLines,
};

describe.skipIf(findPostgres() === undefined)("types of PostgreSQL", () => {
  let server: PostgresServer;
  let folder: string;
  let report: TypesReport;

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "svc-types-"));
    server = await startPostgres();
    const source = await server.createDatabase();
    await source.query(typesSql);
    await fillTables(source, typeFamilies);
    const own = await readPostgres(source, typeFamilies, tableOf);
    const asJson = await readPostgres(
      source,
      typeFamilies,
      tableOf,
      (column) => `to_json(${column})::text`,
    );
    await using host = createHost({ settings: { allowNetworks: ["127.0.0.0/8"] } });
    const reading = { host, server, source, families: typeFamilies, folder };
    const arrived = new Map<PlaceName, ArrivedColumns>();
    for (const place of placeNames) arrived.set(place, await arrive[place](reading));
    report = explainTypes(typeFamilies, { own, asJson, arrived });
  });
  afterAll(async () => {
    await server?.stop();
    await rm(folder, { recursive: true, force: true });
  });

  test("every value arrives as it is in a type of its own, or a reason is given", () => {
    expect(report.unexplained).toEqual([]);
  });

  test("no reason is given for what does not happen", () => {
    expect(report.unusedReasons).toEqual([]);
  });

  test("docs/types.md shows what arrives", async () => {
    const text = renderTypesPage(report);
    if (process.env.UPDATE_DOCS === "1") await writeFile(page, text);
    expect(await readFile(page, "utf8")).toBe(text);
  });
});
