/**
 * Destination for Parquet files in a folder. Read on: spec.ts (settings) → store.ts (where files
 * are) → manifest.ts (which of them count: every change of it is one conditional write) →
 * opening.ts (whose tables) → writer.ts (what is written when) → load.ts (how staged rows become
 * files: files.ts, known-rows.ts) → completion.ts → query.ts. Types and merging are DuckDB's, as
 * its own destination has them.
 */
import { defineDestination, localFile } from "svc-connectors/destination";
import { check } from "./check.ts";
import { createFolderStore } from "./folder-store.ts";
import { minRoundMs } from "./leftovers.ts";
import { runQuery } from "./query.ts";
import { type FilesContext, spec } from "./spec.ts";
import type { Lake } from "./store.ts";
import { openWriter } from "./writer.ts";

const lakeOf = ({ path, config, clock, signal }: FilesContext): Lake => ({
  store: createFolderStore(path),
  scratch: path,
  schema: config.schema,
  partitionBy: config.partition_by,
  clock,
  signal,
});

export default defineDestination({
  id: "conn_files",
  version: "1.0.0",
  title: "Parquet files",
  spec,
  egress: localFile({ name: "folder", ending: ".files", isFolder: true }),
  minRoundMs,
  syncModes: ["append", "overwrite", "append_dedup"],
  check: (ctx) => check(lakeOf(ctx)),
  write: (ctx, command) => openWriter(lakeOf(ctx), command),
  query: (ctx, command) => runQuery(lakeOf(ctx), command),
});
