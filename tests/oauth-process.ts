/**
 * One of several processes that share a credential: a broker over a PostgreSQL token store, told by
 * its parent when to send requests. Forked by oauth-processes.long.test.ts.
 */
import { connect } from "node:net";
import { Client } from "pg";
import { http, oauth2 } from "../runtime/contract/egress.ts";
import { ConnectorError } from "../runtime/contract/errors.ts";
import type { TokenStore, Tokens } from "../runtime/contract/token-store.ts";
import { createHttpBroker } from "../runtime/egress/http-broker.ts";
import { createSecretRegistry } from "../runtime/filter/secrets.ts";
import {
  authorizationServerName,
  client,
  resourceServerName,
} from "../simulators/authorization/server.ts";
import { createInstantClock } from "../simulators/loopback.ts";

/** The argument that the process is started with, as JSON. */
export interface ProcessSettings {
  readonly databaseUrl: string;
  readonly port: number;
  readonly ca: string;
  /** It says "minted" and stands still instead of saving what it minted. */
  readonly stopsBeforeSave: boolean;
}

/** `callerCount` requests at a time, at this time of the clock. */
export interface ProcessCommand {
  readonly nowMs: number;
  readonly callerCount: number;
}

/**
 * The result of a command: how often each status or error code. Or the word that the process has
 * reached its stop.
 */
export type Report =
  | { readonly counts: Readonly<Record<string, number>> }
  | { readonly minted: true };

export const createTable =
  "CREATE TABLE credential (version integer NOT NULL, tokens jsonb NOT NULL)";
/** Any number: the name of the lock that all processes agree on. */
const lockKey = 42;

async function createStore(
  databaseUrl: string,
  beforeSave: () => Promise<void>,
): Promise<TokenStore> {
  const rows = new Client(databaseUrl);
  const lock = new Client(databaseUrl);
  await Promise.all([rows.connect(), lock.connect()]);
  return {
    async load() {
      const { rows: found } = await rows.query<{ version: number; tokens: Tokens }>(
        "SELECT version, tokens FROM credential",
      );
      const [row] = found;
      if (!row) throw new Error("There is no credential.");
      return row;
    },
    async save(expectedVersion, tokens) {
      await beforeSave();
      const saving = "UPDATE credential SET version = version + 1, tokens = $2 WHERE version = $1";
      return (await rows.query(saving, [expectedVersion, tokens])).rowCount === 1;
    },
    // Of the connection, so that the server frees it when the process dies.
    async exclusively(work) {
      await lock.query("SELECT pg_advisory_lock($1)", [lockKey]);
      try {
        return await work();
      } finally {
        await lock.query("SELECT pg_advisory_unlock($1)", [lockKey]);
      }
    },
  };
}

async function run({ databaseUrl, port, ca, stopsBeforeSave }: ProcessSettings): Promise<void> {
  const clock = createInstantClock(0);
  const report = (message: Report) => void process.send?.(message);
  const tokens = await createStore(databaseUrl, async () => {
    if (!stopsBeforeSave) return;
    report({ minted: true });
    await new Promise(() => undefined);
  });
  const broker = createHttpBroker({
    declaration: http({
      baseUrl: `https://${resourceServerName}/v1`,
      auth: oauth2({
        tokenUrl: `https://${authorizationServerName}/token`,
        clientId: "client_id",
        clientSecret: "client_secret",
        refreshToken: "refresh_token",
      }),
      concurrency: 50,
    }),
    config: { client_id: client.id, client_secret: client.secret },
    secrets: createSecretRegistry(),
    clock,
    settings: { approvedHosts: [], allowNetworks: [] },
    seams: {
      ca,
      resolve: async () => [{ address: "93.184.215.14", family: 4 }],
      dial: () => connect(port, "127.0.0.1"),
    },
    tokens,
  });
  const never = new AbortController().signal;
  const send = () =>
    broker.request({ method: "GET", path: ["items"] }, never).then(
      ({ status }) => String(status),
      (error: unknown) => (error instanceof ConnectorError ? error.code : "FOREIGN"),
    );
  process.on("message", ({ nowMs, callerCount }: ProcessCommand) => {
    clock.advance(Math.max(0, nowMs - clock.now()));
    void Promise.all(Array.from({ length: callerCount }, send)).then((results) => {
      const counts: Record<string, number> = {};
      for (const result of results) counts[result] = (counts[result] ?? 0) + 1;
      report({ counts });
    });
  });
  process.on("disconnect", () => process.exit());
}

const [, file, settings] = process.argv;
if (file === import.meta.filename && settings !== undefined) {
  await run(JSON.parse(settings) as ProcessSettings);
  process.send?.("ready");
}
