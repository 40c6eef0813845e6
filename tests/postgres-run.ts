/**
 * The postgres connector in this process, on a real broker: for tests of its reading, without a
 * worker between.
 */
import type { Duplex } from "node:stream";
import {
  type Batch,
  type Output,
  parseExact,
  type Row,
  records,
  type SelectedStream,
  type Stream,
  streamFields,
} from "svc-connectors";
import source from "../connectors/sources/postgres/index.ts";
import { createBatchInspector } from "../runtime/batches/inspect.ts";
import { createLineRenderer } from "../runtime/batches/render-lines.ts";
import type { Clock } from "../runtime/contract/clock.ts";
import type { ConnectOptions } from "../runtime/contract/context.ts";
import { createPostgresBroker } from "../runtime/egress/postgres-broker.ts";
import { createSecretRegistry } from "../runtime/filter/secrets.ts";
import { systemClock } from "../runtime/host/clock.ts";
import { batchRanges, packBatch, packedBytes, packNotes } from "../runtime/wire/columns/pack.ts";
import type { PostgresDatabase, PostgresServer } from "../simulators/postgres-server.ts";

export interface PostgresSettings {
  readonly schemas?: readonly string[];
  readonly include_tables?: readonly string[];
  readonly exclude_tables?: readonly string[];
  readonly page_size?: number;
  readonly replication?: {
    readonly publication: string;
    readonly slot: string;
    readonly max_lag_mb?: number;
  };
  readonly queries?: readonly {
    readonly name: string;
    readonly sql: string;
    readonly primary_key: readonly string[];
    readonly cursor_field?: string;
  }[];
}

export interface Login {
  readonly username: string;
  readonly password: string;
}

export type PostgresState = Parameters<typeof source.read>[2];

export type PostgresSelection = Parameters<typeof source.read>[3];

interface Logged {
  readonly message: string;
  readonly fields: Record<string, unknown>;
}

/** One run: every call of a verb has the same context, as in a worker. */
export function createPostgresRun(
  server: PostgresServer,
  database: PostgresDatabase,
  login: Login,
  settings: PostgresSettings,
  clock: Clock = systemClock,
) {
  const config = {
    host: server.host,
    port: server.port,
    database: database.name,
    schemas: ["public"],
    ...login,
    ssl_mode: "disable",
    include_tables: [],
    exclude_tables: [],
    queries: [],
    page_size: 10_000,
    ...settings,
  };
  const secrets = createSecretRegistry();
  const broker = createPostgresBroker({
    declaration: source.egress,
    config: config as never,
    secrets,
    clock: systemClock,
    settings: { approvedHosts: [], allowNetworks: ["127.0.0.1/32"] },
  });
  const cancelling = new AbortController();
  const logged: Logged[] = [];
  const received: Buffer[] = [];
  const log = (message: string, fields = {}) => void logged.push({ message, fields });
  const ctx = {
    config: config as never,
    log: { debug: log, info: log, warn: log },
    clock,
    signal: cancelling.signal,
    connect: async (options?: ConnectOptions): Promise<Duplex> => {
      const session = await broker.connect(cancelling.signal, options);
      const push = session.push.bind(session);
      session.push = (chunk: Buffer | null) => {
        if (chunk) received.push(Buffer.from(chunk));
        return push(chunk);
      };
      return session;
    },
  };
  const discover = () => (source.discover?.(ctx) ?? []) as AsyncIterable<Stream>;
  let discovered: Stream[] | undefined;
  /** With the schema and the key that discovery gives, unless the test has its own. */
  const describe = async (stream: SelectedStream): Promise<SelectedStream> => {
    if (stream.schema.properties !== undefined) return stream;
    discovered ??= await collect(discover());
    const found = discovered.find(
      ({ name, namespace }) => name === stream.name && namespace === stream.namespace,
    );
    return { ...found, ...stream, schema: found?.schema ?? {} };
  };
  return {
    ctx,
    logged,
    /** Holds the password. */
    secrets,
    /** Every byte that the connector's side got. */
    received: () => Buffer.concat(received),
    cancel: () => cancelling.abort(),
    check: () => source.check(ctx),
    discover,
    /** The batches that the host gets, one by one; their memory is its own. */
    async *readBatches(
      stream: SelectedStream,
      state?: PostgresState,
      selection?: PostgresSelection,
    ) {
      const described = await describe(stream);
      const outputs = source.read(ctx, described, state, selection) as AsyncIterable<
        Output<PostgresState>
      >;
      for await (const output of outputs) {
        if (output.type !== "batch") yield output;
        else yield { type: "batch", batches: travel(output.batch, described) } as const;
      }
    },
    /** The rows as JSON has them. */
    async *read(
      stream: SelectedStream,
      state?: PostgresState,
      selection?: PostgresSelection,
    ): AsyncGenerator<Output<PostgresState>> {
      for await (const output of this.readBatches(stream, state, selection)) {
        if (output.type === "batch") yield records(output.batches.flatMap(toRows));
        else yield output;
      }
    },
    [Symbol.asyncDispose]: () => broker.close(),
  };
}

async function collect<T>(items: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = [];
  for await (const item of items) all.push(item);
  return all;
}

/** The batch on its way over the wire and through the host's look. */
function travel(batch: Batch, stream: SelectedStream): Batch[] {
  return [...batchRanges(batch)].map((range) => {
    const notes = packNotes(batch.notes, range);
    const payload = Buffer.alloc(packedBytes(batch, range, notes.length));
    packBatch(batch, range, notes, payload);
    return createBatchInspector(streamFields(stream))(payload);
  });
}

const toRows = (batch: Batch): Row[] => toLines(batch).map((line) => parseExact(line) as Row);

/** The rows as JSON, to the digit. */
export function toLines(batch: Batch): string[] {
  const { lines } = createLineRenderer({ name: "s" }, "rows")(batch, 0);
  return lines.toString("utf8").split("\n").slice(0, -1);
}
