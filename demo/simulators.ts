/**
 * Every provider simulator, as one network: names lead to loopback through the constructor seams, and whatever the service looks
 * up, dials and asks is written down. A name that no simulator has stays unknown; nothing leaves the machine.
 */
import { Socket } from "node:net";
import type { NetworkSeams } from "svc-connectors/host";
import { startBankdata } from "../fixtures/providers/bankdata/bankdata.ts";
import { type CertificateAuthority, createCertificateAuthority } from "../fixtures/providers/certificates.ts";
import { startMailer } from "../fixtures/providers/mailer/mailer.ts";
import { findPostgres, startPostgres } from "../fixtures/providers/postgres-server.ts";
import type { Faults } from "../fixtures/providers/simulator/faults.ts";
import type { LedgerEntry } from "../fixtures/providers/simulator/server.ts";
import { startSocial } from "../fixtures/providers/social/social.ts";
import { startTaskapp } from "../fixtures/providers/taskapp/taskapp.ts";
import { fillShop } from "./shop.ts";

/** Approved by the demo's operator; the cloud one comes approved with the connector. */
const mailerHost = "mail.example.com";
const cloudMailerHost = "acme.mailcoach.app";
/** The name in the certificate of the PostgreSQL server. */
const databaseHost = "db.example.test";
const publicAddress = { address: "93.184.215.14", family: 4 } as const;

type Resolved = Awaited<ReturnType<NonNullable<NetworkSeams["resolve"]>>>;

/** What was seen, in the order in which it came. Times are in ms. */
export interface Sightings {
  readonly requests: readonly (LedgerEntry & { readonly provider: string })[];
  readonly lookups: readonly { readonly host: string; readonly atMs: number }[];
  readonly connections: readonly { readonly host: string; readonly port: number; readonly atMs: number }[];
}

export type Simulators = Awaited<ReturnType<typeof startSimulators>>;

export async function startSimulators() {
  const authority = await createCertificateAuthority();
  const size = { seed: 7, campaigns: 60, lists: 4, subscribersPerList: 500 };
  const [mailer, cloudMailer, social, bankdata, taskapp, postgres] = await Promise.all([
    startMailer({ ...size, hostname: mailerHost, authority }),
    startMailer({ seed: 8, hostname: cloudMailerHost, authority }),
    startSocial({ seed: 7, authority }),
    startBankdata({ seed: 7, authority }),
    startTaskapp({ seed: 7, authority }),
    startShop(authority),
  ]);
  const ledgers: Readonly<Record<string, readonly LedgerEntry[]>> = {
    mailer: mailer.requests,
    mailer_cloud: cloudMailer.requests,
    social: social.requests,
    social_accounts: social.tokenRequests,
    bankdata: bankdata.requests,
    taskapp: taskapp.requests,
  };
  const faults: Readonly<Record<string, Faults>> = {
    mailer: mailer.faults,
    mailer_cloud: cloudMailer.faults,
    social: social.faults,
    social_accounts: social.tokenFaults,
    bankdata: bankdata.faults,
    taskapp: taskapp.faults,
  };

  const hosts = [
    { host: mailer.hostname, seams: mailer.seams },
    { host: cloudMailer.hostname, seams: cloudMailer.seams },
    { host: `social.zoho.${social.region}`, seams: social.seams },
    { host: `accounts.zoho.${social.region}`, seams: social.seams },
    { host: bankdata.hostname, seams: bankdata.seams },
    { host: taskapp.hostname, seams: taskapp.seams },
    ...(postgres ? [{ host: databaseHost, seams: toPostgres(postgres.port) }] : []),
  ];
  const find = (host: string) => hosts.find((one) => one.host === host.toLowerCase())?.seams;
  let lookups: Sightings["lookups"][number][] = [];
  let connections: Sightings["connections"][number][] = [];
  /** How many requests of each ledger were cleared. */
  const cleared = new Map<string, number>();
  const seams: NetworkSeams = {
    ca: authority.caPem,
    async resolve(host): Promise<Resolved> {
      lookups.push({ host, atMs: Date.now() });
      return (await find(host)?.resolve(host)) ?? [];
    },
    dial(target) {
      connections.push({ host: target.host, port: target.port, atMs: Date.now() });
      return find(target.host)?.dial(target) ?? new Socket().destroy(new Error("nobody answers there"));
    },
  };

  return {
    mailer,
    cloudMailer,
    social,
    bankdata,
    taskapp,
    postgres,
    seams,
    faults,
    /** Who runs the demo has approved this host, and registered these applications. */
    settings: {
      network: { approvedHosts: [mailerHost], allowNetworks: [] },
      oauthApps: {
        conn_social: { ...clientOf(social), redirectUris: [social.redirectUri] },
        conn_taskapp: { ...clientOf(taskapp.client), redirectUris: [taskapp.client.redirectUri] },
      },
    },
    sightings(): Sightings {
      const requests = Object.entries(ledgers).flatMap(([provider, entries]) =>
        entries.slice(cleared.get(provider) ?? 0).map((entry) => ({ provider, ...entry })),
      );
      return { requests: requests.sort((left, right) => left.atMs - right.atMs), lookups, connections };
    },
    clear() {
      for (const [provider, entries] of Object.entries(ledgers)) cleared.set(provider, entries.length);
      lookups = [];
      connections = [];
    },
    /** What the user does at the page of an authorization URL. Gives the callback's URL. @throws RangeError, TypeError */
    consent(authorizationUrl: string, decision: "grant" | "deny"): string {
      const host = new URL(authorizationUrl).hostname;
      return (host.startsWith("accounts.") ? social : taskapp).consent(authorizationUrl, decision);
    },
    async [Symbol.asyncDispose]() {
      await Promise.all([mailer, cloudMailer, social, bankdata, taskapp].map((one) => one.close()));
      await postgres?.stop();
    },
  };
}

const clientOf = ({ clientId, clientSecret }: { readonly clientId: string; readonly clientSecret: string }) => ({
  clientId,
  clientSecret,
});

/** A real PostgreSQL server with a small shop, where one is installed. */
async function startShop(authority: CertificateAuthority) {
  if (findPostgres() === undefined) return undefined;
  const server = await startPostgres({ authority });
  const { host: _loopback, port, ssl_mode: _mode, ...shop } = await fillShop(server);
  const config = { ...shop, host: databaseHost, port, ssl_mode: "verify-full" };
  return { port, config, stop: () => server.stop() };
}

function toPostgres(port: number) {
  return {
    resolve: async (): Promise<Resolved> => [publicAddress],
    dial: () => new Socket().connect({ port, host: "127.0.0.1" }),
  };
}
