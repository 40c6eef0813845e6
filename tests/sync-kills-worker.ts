/**
 * A worker in a process of its own that dies with -9 at a chosen moment of a job: before one of its
 * statements, or so much time after it. Forked by sync-kills.slow.test.ts; it takes jobs from its
 * first order on, so that a spare one can stand by.
 */
import { connect } from "node:net";
import { DuckDBConnection } from "@duckdb/node-api";
import { Client } from "pg";
import {
  type Clock,
  createDestinationHost,
  createScaledClock,
  systemClock,
} from "svc-connectors/host";
import { createControl } from "../control/create-control.ts";
import { startJobs } from "../control/jobs/worker.ts";
import { silentLog } from "../control/services/log.ts";
import type { Services } from "../control/services/services.ts";
import { openKeyring } from "../control/vault/keyring.ts";

export interface KillsWorkerOptions {
  readonly databaseUrl: string;
  readonly keyFile: string;
  readonly warehouses: string;
  /** Of a provider on loopback. */
  readonly provider?: { readonly hostname: string; readonly port: number; readonly ca: string };
}

/** The event at the n-th statement of the next jobs; 0 = nothing. */
export interface KillsCommand {
  readonly momentAt: number;
  readonly delayMs: number;
  readonly action: "die" | "tell";
  /**
   * How far its clock goes ahead of the machine's: in its time the leases of the dead have ended.
   */
  readonly aheadMs: number;
}

/**
 * "loaded", then for each order how many moments there were since the last one, and "moment" when
 * it was told to tell.
 */
export type KillsReport = "loaded" | "moment" | { readonly momentCount: number };

let order: KillsCommand = { momentAt: 0, delayMs: 0, action: "die", aheadMs: 0 };
let momentCount = 0;
let isInJob = false;

function moment(text: unknown): void {
  // Before it has taken a job there is nothing to lose.
  if (typeof text === "string" && text.includes(`from "job_logs"`)) isInJob = true;
  if (!isInJob || ++momentCount !== order.momentAt) return;
  if (order.action === "tell") return void process.send?.("moment");
  const die = () => process.kill(process.pid, "SIGKILL");
  if (order.delayMs === 0) die();
  else setTimeout(die, order.delayMs);
}

function watch(prototype: object, name: string): void {
  const methods = prototype as Record<string, (...args: unknown[]) => unknown>;
  const method = methods[name];
  if (!method) throw new Error(`there is no ${name}`);
  methods[name] = function (this: unknown, ...args: unknown[]) {
    const [first] = args;
    moment(typeof first === "object" ? (first as { text?: unknown } | null)?.text : first);
    return method.apply(this, args);
  };
}

/** Opens all but the jobs. */
async function open({
  databaseUrl,
  keyFile,
  warehouses,
  provider,
}: KillsWorkerOptions): Promise<Services> {
  const clock: Clock = { ...systemClock, now: () => Date.now() + order.aheadMs };
  const settings = {
    approvedHosts: provider ? [provider.hostname] : [],
    allowNetworks: ["127.0.0.1/32"],
  };
  const seams = provider
    ? {
        ca: provider.ca,
        resolve: async (host: string) => [
          { address: host === provider.hostname ? "93.184.215.14" : host, family: 4 },
        ],
        dial: (target: { readonly host: string; readonly port: number }) =>
          connect(target.host === provider.hostname ? provider.port : target.port, "127.0.0.1"),
      }
    : {};
  const control = await createControl({
    database: { url: databaseUrl, maxConnections: 4 },
    keyring: await openKeyring(keyFile, { create: false }),
    settings: { network: settings, warehouses },
    seams: seams as never,
    clock,
    sandbox: "inline",
    log: silentLog,
  });
  // Its time runs fast, so that nearly every checkpoint is committed.
  const destinations = createDestinationHost({ settings, clock: createScaledClock(200) });
  return { ...control.services, destinations };
}

const [, , options] = process.argv;
if (options !== undefined) {
  watch(Client.prototype, "query");
  watch(DuckDBConnection.prototype, "run");
  watch(DuckDBConnection.prototype, "runAndReadAll");
  const services = await open(JSON.parse(options) as KillsWorkerOptions);
  let isWorking = false;
  process.on("message", (given: KillsCommand) => {
    order = given;
    process.send?.({ momentCount } satisfies KillsReport);
    momentCount = 0;
    isInJob = false;
    if (isWorking) return;
    isWorking = true;
    void startJobs(services);
  });
  process.on("disconnect", () => process.exit());
  process.send?.("loaded");
}
