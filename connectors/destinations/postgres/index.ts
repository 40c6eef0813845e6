/**
 * Destination for PostgreSQL 13 and later. Read on: spec.ts (settings) → writer.ts (the sink) →
 * opening.ts (fence, tables, plans) → transaction.ts (one commit) → row-encoder.ts (rows as COPY
 * wants them) → merge.ts, swap.ts (how rows get to their place) → compare-keys.ts (which rows are
 * gone).
 */
import { postgresServer } from "svc-connectors";
import { defineDestination } from "svc-connectors/destination";
import { checkPlace } from "./check.ts";
import { openComparison } from "./compare-keys.ts";
import { runQuery } from "./query.ts";
import { spec } from "./spec.ts";
import { openWriter } from "./writer.ts";

export default defineDestination({
  id: "conn_postgres_destination",
  version: "1.0.0",
  title: "PostgreSQL",
  spec,
  egress: postgresServer(),
  syncModes: ["append", "overwrite", "append_dedup"],
  check: checkPlace,
  write: openWriter,
  compareKeys: openComparison,
  query: runQuery,
});
