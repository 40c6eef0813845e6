/**
 * Destination for Parquet files in a bucket. All of it is that of `files`, but for where files are:
 * the host gives a store, and keeps the key.
 */
import { defineDestination, s3Bucket } from "svc-connectors/destination";
import { check } from "../files/check.ts";
import { minRoundMs } from "../files/leftovers.ts";
import { runQuery } from "../files/query.ts";
import type { Lake } from "../files/store.ts";
import { openWriter } from "../files/writer.ts";
import { type S3Context, spec } from "./spec.ts";

const lakeOf = ({ store, scratch, config, clock, signal }: S3Context): Lake => ({
  store,
  scratch,
  schema: config.schema,
  partitionBy: config.partition_by,
  clock,
  signal,
});

export default defineDestination({
  id: "conn_s3",
  version: "1.0.0",
  title: "Parquet in S3",
  spec,
  egress: s3Bucket({
    bucket: "bucket",
    prefix: "prefix",
    region: "region",
    endpoint: "endpoint",
    accessKeyId: "access_key_id",
    secretAccessKey: "secret_access_key",
    sessionToken: "session_token",
    encryption: "encryption",
    kmsKeyId: "kms_key_id",
  }),
  minRoundMs,
  syncModes: ["append", "overwrite", "append_dedup"],
  check: (ctx) => check(lakeOf(ctx)),
  write: (ctx, command) => openWriter(lakeOf(ctx), command),
  query: (ctx, command) => runQuery(lakeOf(ctx), command),
});
