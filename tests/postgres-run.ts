/**
 * The postgres connector in this process, on a real broker: for tests of its reading, without a
 * worker between.
 */
import type { Duplex } from "node:stream";
import type { Output, SelectedStream } from "svc-connectors";
import source from "../connectors/sources/postgres/index.ts";
import { createPostgresBroker } from "../runtime/egress/postgres-broker.ts";
import { createSecretRegistry } from "../runtime/filter/secrets.ts";
import { systemClock } from "../runtime/host/clock.ts";
import type { PostgresDatabase, PostgresServer } from "../simulators/postgres-server.ts";

export interface PostgresSettings {
  readonly schemas?: readonly string[];
  readonly include_tables?: readonly string[];
  readonly exclude_tables?: readonly string[];
  readonly page_size?: number;
}

export interface Login {
  readonly username: string;
  readonly password: string;
}

export type PostgresState = Parameters<typeof source.read>[2];

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
    clock: systemClock,
    signal: cancelling.signal,
    connect: async (): Promise<Duplex> => {
      const session = await broker.connect(cancelling.signal);
      const push = session.push.bind(session);
      session.push = (chunk: Buffer | null) => {
        if (chunk) received.push(Buffer.from(chunk));
        return push(chunk);
      };
      return session;
    },
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
    discover: () => source.discover?.(ctx) ?? [],
    read: (stream: SelectedStream, state?: PostgresState) =>
      source.read(ctx, stream, state) as AsyncIterable<Output<PostgresState>>,
    [Symbol.asyncDispose]: () => broker.close(),
  };
}
