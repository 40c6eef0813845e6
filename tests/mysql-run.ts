/**
 * The mysql connector in this process, on a real broker: for tests that read often, without a
 * worker between.
 */
import type { RowCondition, Stream, TextValues } from "svc-connectors";
import source from "../connectors/sources/mysql/index.ts";
import { createMysqlBroker } from "../runtime/egress/mysql-broker.ts";
import { createSecretRegistry } from "../runtime/filter/secrets.ts";
import { systemClock } from "../runtime/host/clock.ts";

export interface MysqlReadOptions {
  readonly cursor?: string | undefined;
  readonly state?: unknown;
  readonly filter?: readonly object[] | undefined;
}

/**
 * Reads a stream. Gives the numbers of its column `id`, the states, and the error if there is one.
 */
export async function readMysql(
  settings: { readonly [name: string]: string | number | object },
  name: string,
  { cursor, state, filter }: MysqlReadOptions = {},
) {
  const config = {
    tunnel_port: 22,
    include_tables: [],
    exclude_tables: [],
    queries: [],
    page_size: 10_000,
    ...settings,
  };
  const broker = createMysqlBroker({
    declaration: source.egress,
    config: config as never,
    secrets: createSecretRegistry(),
    clock: systemClock,
    settings: { approvedHosts: [], allowNetworks: ["127.0.0.1/32"] },
  });
  const { signal } = new AbortController();
  const log = () => {};
  const ctx = {
    config: config as never,
    signal,
    clock: systemClock,
    log: { debug: log, info: log, warn: log },
    connect: () => broker.connect(signal),
  };
  const ids: number[] = [];
  const states: unknown[] = [];
  try {
    let stream: Stream | undefined;
    for await (const one of (source.discover?.(ctx) ?? []) as AsyncIterable<Stream>)
      if (one.name === name) stream = one;
    if (!stream) throw new Error(`there is no stream ${name}`);
    const selected = {
      ...stream,
      syncMode: cursor === undefined ? ("full_refresh" as const) : ("incremental" as const),
      ...(cursor === undefined ? {} : { cursorField: cursor }),
      ...(filter === undefined ? {} : { rowFilter: filter as readonly RowCondition[] }),
    };
    for await (const output of source.read(ctx, selected, state as never)) {
      if (output.type === "checkpoint") states.push(output.state);
      if (output.type !== "batch") continue;
      const column = output.batch.columns.find((one) => one.name === "id") as TextValues;
      const text = Buffer.from(column.bytes).toString();
      for (let row = 0; row < output.batch.rowCount; row++)
        ids.push(Number(text.slice(column.offsets[row], column.offsets[row + 1])));
    }
    return { ids, states, error: undefined };
  } catch (error) {
    return { ids, states, error: error as { code: string } };
  } finally {
    await broker.close();
  }
}
