/**
 * Rows per second into PostgreSQL by the destination, and where the time goes, against `psql`'s
 * \copy of the same rows already encoded (COPY of a prepared text, by pg-copy-streams). Run: node
 * --conditions=svc-source bench/postgres-copy.ts [rows]
 */
import { once } from "node:events";
import { Client } from "pg";
import { from } from "pg-copy-streams";
import { batchOfLines } from "../conformance/destination/batches.ts";
import { createBatchEncoder } from "../connectors/destinations/postgres/batch-encoder.ts";
import { copyHeader, copyTrailer } from "../connectors/destinations/postgres/binary-rows.ts";
import { createRowIds } from "../connectors/destinations/postgres/row-ids.ts";
import type { Batch } from "../runtime/contract/batch.ts";
import type { DestinationSyncMode } from "../runtime/contract/destination.ts";
import { tuneCollector } from "../runtime/host/collector.ts";
import { startPostgres } from "../simulators/postgres-server.ts";
import { describeStream } from "../tests/destination-behaviour.ts";
import { openPostgresPlace } from "../tests/postgres-place.ts";

tuneCollector();
const rowCount = Number(process.argv[2] ?? 1_000_000);
const frameRows = 1_000;

const text = { type: "string" };
const properties = {
  id: { type: "integer" },
  email: text,
  name: text,
  active: { type: "boolean" },
  score: { type: "number" },
  amount: { type: "number", airbyte_type: "big_number" },
  created_at: { type: "string", format: "date-time" },
  city: text,
  note: text,
  visits: { type: "integer" },
};

const { configured } = describeStream(properties, { key: ["id"], cursor: "created_at" });

function frame(start: number): Batch {
  const lines: string[] = [];
  for (let id = start; id < start + frameRows; id++) {
    const createdAt = new Date(1_700_000_000_000 + id * 1_000).toISOString();
    lines.push(
      `{"id":${id},"email":"person${id}@example.org","name":"Person Number ${id}","active":${id % 3 === 0},"score":${id / 8},"amount":${id / 100},"created_at":"${createdAt}","city":"Berlin","note":"a note of some length about ${id}","visits":${id % 1000}}`,
    );
  }
  return batchOfLines(configured, lines);
}
const frames = Array.from({ length: 200 }, (_, index) => frame(index * frameRows));
/**
 * Frames whose ids differ, cheaply: the digits of one frame are enough to measure, except for keys.
 */
const frameAt = (index: number, isKeyed: boolean) =>
  isKeyed ? frame(index * frameRows) : (frames[index % frames.length] as Batch);
const frameCount = Math.ceil(rowCount / frameRows);

function report(what: string, ms: number): void {
  console.log(
    `${what.padEnd(34)} ${(ms / 1_000).toFixed(2).padStart(7)} s ${Math.round(rowCount / ms)
      .toLocaleString("en")
      .padStart(6)} rows/ms`,
  );
}

const columns = [
  ["id", "bigint"],
  ["email", "text"],
  ["name", "text"],
  ["active", "boolean"],
  ["score", "double precision"],
  ["amount", "numeric"],
  ["created_at", "timestamp with time zone"],
  ["city", "text"],
  ["note", "text"],
  ["visits", "bigint"],
].map(([name, type]) => ({ property: name, name, type })) as never;
const encoder = createBatchEncoder({
  columns,
  jobId: "job_1",
  ids: createRowIds(Date.now()),
  server: { hasNumericInfinity: true },
});
const nowMs = Date.now();
const encoded = frames.map((batch) => Buffer.from(encoder.encode(batch, nowMs).bytes));
let started = performance.now();
for (let index = 0; index < frameCount; index++) encoder.encode(frameAt(index, false), nowMs);
report("encoding alone", performance.now() - started);

await using server = await startPostgres();
const place = await openPostgresPlace(server);

const client = new Client({ connectionString: place.database.url, ssl: false });
await client.connect();
await client.query(`CREATE TABLE plain (id int8, email text, name text, active bool, score float8, amount numeric, created_at timestamptz, city text, note text,
  visits int8, _id uuid, _at timestamptz, _job text, _meta jsonb)`);
started = performance.now();
const copy = client.query(from("COPY plain FROM STDIN (FORMAT binary)"));
copy.write(copyHeader);
for (let index = 0; index < frameCount; index++)
  if (!copy.write(encoded[index % encoded.length])) await once(copy, "drain");
copy.end(copyTrailer);
await once(copy, "finish");
report("COPY of encoded rows", performance.now() - started);
await client.query("DROP TABLE plain");
await client.end();

async function run(
  what: string,
  mode: "full_refresh" | "incremental",
  into: DestinationSyncMode,
  fence: number,
  name: string,
): Promise<void> {
  const isKeyed = into === "append_dedup";
  const stream = describeStream(properties, {
    name,
    mode,
    into,
    key: ["id"],
    cursor: "created_at",
  });
  const descriptor = { name };
  const sink = await place.write({ owner: "bench", jobId: "job_1", fence, streams: [stream] });
  await sink.status(descriptor, "started");
  let making = 0;
  const begun = performance.now();
  for (let index = 0; index < frameCount; index++) {
    const made = performance.now();
    const batch = frameAt(index, isKeyed);
    making += performance.now() - made;
    await sink.writeBatch?.(descriptor, batch);
    if (index % 10 === 9) await sink.checkpoint(descriptor, { index }, 10 * frameRows);
  }
  await sink.status(descriptor, "complete");
  await sink.close();
  report(what, performance.now() - begun - making);
}

await run("append", "incremental", "append", 1, "a");
await run("overwrite", "full_refresh", "overwrite", 2, "b");
await run("append_dedup, first load", "incremental", "append_dedup", 3, "c");
await run("append_dedup, all rows again", "incremental", "append_dedup", 4, "c");
await place.close();
