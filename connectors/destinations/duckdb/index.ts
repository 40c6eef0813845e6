/**
 * Destination for DuckDB: a database file beside the service. Read on: spec.ts (settings) →
 * database.ts (the open file) → writer.ts (what is written when: opening.ts, tables.ts, state.ts,
 * stage.ts) → numbers.ts and fit.ts (which type holds which value) → load.ts, append.ts and
 * merge.ts (how rows get in) → compare-keys.ts (which rows are gone) → query.ts.
 */
import { defineDestination, localFile } from "svc-connectors/destination";
import { check } from "./check.ts";
import { openComparison } from "./compare-keys.ts";
import { runQuery } from "./query.ts";
import { spec } from "./spec.ts";
import { openWriter } from "./writer.ts";

export { exportParquet } from "./export.ts";
export { exportArrow } from "./export-arrow.ts";

export default defineDestination({
  id: "conn_duckdb",
  version: "1.0.0",
  title: "DuckDB",
  spec,
  egress: localFile({ name: "file", ending: ".duckdb" }),
  syncModes: ["append", "overwrite", "append_dedup"],
  isExclusive: true,
  check,
  write: openWriter,
  compareKeys: openComparison,
  query: runQuery,
});
