/**
 * Every provider simulator, as one network: names lead to loopback through the constructor seams,
 * and every look-up, connection and request of the service is noted. A name that no simulator has
 * stays unknown; nothing leaves the machine.
 */
import { startBankdata } from "../simulators/bankdata/bankdata.ts";
import {
  type CertificateAuthority,
  createCertificateAuthority,
} from "../simulators/certificates.ts";
import { startMailer } from "../simulators/mailer/mailer.ts";
import { findPostgres, type PostgresServer, startPostgres } from "../simulators/postgres-server.ts";
import type { Faults } from "../simulators/simulator/faults.ts";
import type { LedgerEntry } from "../simulators/simulator/server.ts";
import { startSocial } from "../simulators/social/social.ts";
import { startTaskapp } from "../simulators/taskapp/taskapp.ts";
import { startWebhook } from "../simulators/webhook/webhook.ts";
import type { Network, NetworkEvent } from "./network.ts";
import { fillShop, shopRows } from "./shop.ts";

/** Approved by the demo's operator; the cloud one comes approved with the connector. */
const mailerHost = "mail.example.com";
const cloudMailerHost = "acme.mailcoach.app";
/** The name in the certificate of the PostgreSQL server. */
const databaseHost = "db.example.test";

/** The newest of the mailer: a name, and how many opened it. */
const campaigns = [
  ["Autumn sale", 180],
  ["New in: lamps", 95],
  ["Your questions", 40],
  ["Last chance", 230],
  ["Shop opening", 60],
] as const;
const dayMs = 24 * 3_600_000;

/** Requests, look-ups and connections in the order in which they came. Times are in ms. */
export interface Traffic {
  readonly requests: readonly (LedgerEntry & { readonly provider: string })[];
  readonly lookups: readonly { readonly host: string; readonly atMs: number }[];
  readonly connections: readonly {
    readonly host: string;
    readonly port: number;
    readonly atMs: number;
  }[];
}

export type Simulators = Awaited<ReturnType<typeof startSimulators>>;

export async function startSimulators() {
  const authority = await createCertificateAuthority();
  // The present is now, so that what happened on one day meets in a query.
  const [now, seed] = [new Date().toISOString(), 7];
  const size = { campaigns: 60, lists: 4, subscribersPerList: 500 };
  const [mailer, cloudMailer, social, bankdata, taskapp, webhook, postgres] = await Promise.all([
    startMailer({ ...size, seed, now, hostname: mailerHost, authority }),
    startMailer({ seed: 8, now, hostname: cloudMailerHost, authority }),
    startSocial({ seed, now, authority }),
    startBankdata({ seed, now, authority }),
    startTaskapp({ seed, now, timeEntriesPerWorkspace: 48, authority }),
    startWebhook({ authority }),
    startShop(authority),
  ]);
  for (const [index, [name, opens]] of campaigns.entries())
    mailer.mutate.addCampaign({
      name,
      opens,
      sentAt: new Date(Date.parse(now) - (index + 1) * dayMs).toISOString(),
    });
  const ledgers: Readonly<Record<string, readonly LedgerEntry[]>> = {
    mailer: mailer.requests,
    mailer_cloud: cloudMailer.requests,
    social: social.requests,
    social_accounts: social.tokenRequests,
    bankdata: bankdata.requests,
    taskapp: taskapp.requests,
    webhook: webhook.requests,
  };
  const faults: Readonly<Record<string, Faults>> = {
    mailer: mailer.faults,
    mailer_cloud: cloudMailer.faults,
    social: social.faults,
    social_accounts: social.tokenFaults,
    bankdata: bankdata.faults,
    taskapp: taskapp.faults,
    webhook: webhook.faults,
  };

  const network: Network = {
    ca: authority.caPem,
    ports: {
      [mailer.hostname]: mailer.port,
      [cloudMailer.hostname]: cloudMailer.port,
      [`social.zoho.${social.region}`]: social.port,
      [`accounts.zoho.${social.region}`]: social.tokenPort,
      [bankdata.hostname]: bankdata.port,
      [taskapp.hostname]: taskapp.port,
      [webhook.hostname]: webhook.port,
      ...(postgres ? { [databaseHost]: postgres.port } : {}),
    },
  };
  let seen: NetworkEvent[] = [];
  /** How many requests of each ledger were cleared. */
  const cleared = new Map<string, number>();

  return {
    mailer,
    cloudMailer,
    social,
    bankdata,
    taskapp,
    webhook,
    postgres,
    network,
    faults,
    /** Who runs the demo has approved this host, and registered these applications. */
    settings: {
      network: { approvedHosts: [mailerHost], allowNetworks: [] },
      oauthApps: {
        conn_social: { ...clientOf(social), redirectUris: [social.redirectUri] },
        conn_taskapp: { ...clientOf(taskapp.client), redirectUris: [taskapp.client.redirectUri] },
      },
    },
    traffic(): Traffic {
      const requests = Object.entries(ledgers).flatMap(([provider, entries]) =>
        entries.slice(cleared.get(provider) ?? 0).map((entry) => ({ provider, ...entry })),
      );
      return {
        requests: requests.sort((left, right) => left.atMs - right.atMs),
        lookups: seen.flatMap(({ type, ...event }) => (type === "lookup" ? [event] : [])),
        connections: seen.flatMap((event) => {
          if (event.type === "lookup") return [];
          const { type: _, ...connection } = event;
          return [connection];
        }),
      };
    },
    /** Remembers what the service has looked up or dialled. */
    see(event: NetworkEvent): void {
      seen.push(event);
    },
    clear() {
      for (const [provider, entries] of Object.entries(ledgers))
        cleared.set(provider, entries.length);
      seen = [];
    },
    /**
     * Grants or denies as the user would at the page of an authorization URL. Gives the callback's
     * URL.
     * @throws RangeError, TypeError
     */
    consent(authorizationUrl: string, decision: "grant" | "deny"): string {
      const host = new URL(authorizationUrl).hostname;
      return (host.startsWith("accounts.") ? social : taskapp).consent(authorizationUrl, decision);
    },
    async [Symbol.asyncDispose]() {
      await Promise.all(
        [mailer, cloudMailer, social, bankdata, taskapp, webhook].map((one) => one.close()),
      );
      await postgres?.stop();
    },
  };
}

const clientOf = ({
  clientId,
  clientSecret,
}: {
  readonly clientId: string;
  readonly clientSecret: string;
}) => ({
  clientId,
  clientSecret,
});

/**
 * A real PostgreSQL server with a small shop, and an empty database to write into, where one is
 * installed.
 */
async function startShop(authority: CertificateAuthority) {
  if (findPostgres() === undefined) return undefined;
  const server = await startPostgres({ authority });
  const [database, warehouse] = await Promise.all([fillShop(server), createWarehouse(server)]);
  const place = {
    host: databaseHost,
    port: server.port,
    username: "postgres",
    ssl_mode: "verify-full",
  };
  return {
    port: server.port,
    password: server.password,
    configuration: { ...place, database },
    warehouse: { ...place, database: warehouse },
    rowCounts: shopRows,
    stop: () => server.stop(),
  };
}

/** With a table for reverse ETL. @returns the name of the database */
async function createWarehouse(server: PostgresServer): Promise<string> {
  const database = await server.createDatabase();
  await database.query("CREATE TABLE readers (email text PRIMARY KEY, name text, opens integer)");
  return database.name;
}
