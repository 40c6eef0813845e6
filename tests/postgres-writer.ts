/**
 * A process that writes one stream into PostgreSQL and kills itself with -9 at a chosen moment. Its
 * order comes by standard input; it says "complete" when it came through.
 */
import { text } from "node:stream/consumers";
import { Client } from "pg";
import type { PostgresServer } from "../simulators/postgres-server.ts";
import { type Described, describeStream } from "./destination-behaviour.ts";
import { openPostgresPlace } from "./postgres-place.ts";

export interface WriterCommand {
  readonly server: Pick<PostgresServer, "host" | "port" | "password">;
  readonly database: { readonly name: string; readonly url: string };
  readonly described: Described;
  readonly fence: number;
  readonly rowCount: number;
  readonly pageRows: number;
  /** Kills itself at this statement or write, counted from the first; 0 = never. */
  readonly killAt: number;
  /** After what it has sent has left, instead of before. */
  readonly isLate: boolean;
}

export const properties = {
  id: { type: "integer" },
  key: { type: "integer" },
  at: { type: "integer" },
  text: { type: "string" },
  _svc_deleted_at: { type: ["string", "null"] },
};

/**
 * The n-th row of the source. A tenth of the rows delete their key; some are older than the ones
 * before.
 */
export const sourceRow = (id: number) => ({
  id,
  key: id % 97,
  at: id - (id % 7) * 30,
  text: `row ${id} "quoted" \n`,
  _svc_deleted_at: id % 10 === 3 ? "2024-01-01" : null,
});

async function main(): Promise<void> {
  const order = JSON.parse(await text(process.stdin)) as WriterCommand;
  const { killAt, isLate, rowCount, pageRows, fence } = order;
  let count = 0;
  const moment = () => {
    if (++count !== killAt) return;
    const kill = () => process.kill(process.pid, "SIGKILL");
    if (isLate) setTimeout(kill, 1);
    else kill();
  };
  const place = await openPostgresPlace(order.server as PostgresServer, {
    database: order.database as never,
    // Runs fast, so that nearly every checkpoint is committed.
    clock: { now: createClock(), sleep: async () => {} },
  });
  const query = Client.prototype.query as (...args: unknown[]) => unknown;
  Client.prototype.query = function (this: Client, ...args: unknown[]) {
    moment();
    return query.apply(this, args);
  } as never;
  const stream = describeStream(properties, order.described);
  const descriptor = { name: stream.configured.stream.name };
  const sink = await place.write({
    owner: descriptor.name,
    jobId: "job_1",
    fence,
    streams: [stream],
  });
  const saved = sink.savedState()[0]?.state as { readonly from: number } | undefined;
  await sink.open([stream.configured]);
  await sink.status(descriptor, "started");
  for (let from = saved?.from ?? 0; from < rowCount; from += pageRows) {
    const ids = Array.from(
      { length: Math.min(pageRows, rowCount - from) },
      (_, index) => from + index,
    );
    moment();
    const lines = ids.map((id) => `${JSON.stringify(sourceRow(id))}\n`).join("");
    await sink.write(descriptor, Buffer.from(lines), ids.length);
    await sink.checkpoint(descriptor, { from: from + ids.length }, ids.length);
  }
  await sink.status(descriptor, "complete");
  moment();
  await sink.close();
  await place.close();
  console.log(JSON.stringify({ momentCount: count }));
}

function createClock(): () => number {
  let nowMs = 1_700_000_000_000;
  return () => (nowMs += 2_000);
}

if (process.argv[1] === import.meta.filename) await main();
