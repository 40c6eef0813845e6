/**
 * An instance that the soak drives by hand: nothing in it happens by the machine's timers. It can
 * be stopped and started, and its power can be cut.
 */
import { cp, mkdir } from "node:fs/promises";
import { join } from "node:path";
import { type Clock, type NetworkSeams, systemClock } from "svc-connectors/host";
import { type ControlOptions, createControl } from "../../control/create-control.ts";
import { createDeliverer } from "../../control/events/deliver.ts";
import { noteExpiring } from "../../control/events/expiring.ts";
import { publishFacts } from "../../control/events/publish.ts";
import { createWebhookSender } from "../../control/events/send-webhook.ts";
import { createServer } from "../../control/http/server.ts";
import { askInstance } from "../../control/operator/ask.ts";
import { createOperator, type Operator } from "../../control/operator/operator.ts";
import { sweepOld } from "../../control/retention/sweep.ts";
import { createLog } from "../../control/services/log.ts";
import type { Services } from "../../control/services/services.ts";
import { defaultRetention } from "../../control/services/settings.ts";
import { openKeyring } from "../../control/vault/keyring.ts";
import { plentyOfRequests } from "../control.ts";

/** Time passes when the soak says so, and where somebody sleeps. */
export interface SoakClock extends Clock {
  move(durationMs: number): void;
  /** Not back: what took longer than that took longer. */
  moveTo(atMs: number): void;
}

const yieldMs = 5;

export function createSoakClock(startMs: number): SoakClock {
  let nowMs = startMs;
  return {
    now: () => nowMs,
    async sleep(durationMs, signal) {
      // Who sleeps beside a work, as the keeper of a lease, must not be faster than the work.
      await systemClock.sleep(yieldMs, signal as AbortSignal);
      nowMs += Math.ceil(Math.max(0, durationMs));
    },
    move(durationMs) {
      nowMs += durationMs;
    },
    moveTo(atMs) {
      nowMs = Math.max(nowMs, atMs);
    },
  };
}

export interface Answer {
  readonly status: number;
  // biome-ignore lint/suspicious/noExplicitAny: the soak reads what it expects
  readonly body: any;
}

export interface InstanceOptions {
  /** All that it keeps is below it. */
  readonly folder: string;
  /** `postgres://…`; undefined: embedded. */
  readonly databaseUrl?: string | undefined;
  readonly clock: SoakClock;
  readonly seams: NetworkSeams;
  readonly approvedHosts: readonly string[];
  /** Takes everything that it says: log lines, answers, metrics. */
  readonly hear: (text: string) => void;
}

export interface Instance extends AsyncDisposable {
  readonly services: Services;
  readonly operator: Operator;
  call(
    method: "GET" | "POST" | "PATCH" | "DELETE",
    path: string,
    options: {
      readonly token: string;
      readonly body?: object;
      readonly headers?: object;
      /** The answer is the one place that shows a secret. */
      readonly isShownOnce?: boolean;
    },
  ): Promise<Answer>;
  /** Publishes and delivers what has happened. */
  deliverEvents(): Promise<void>;
  /** Deletes what is old. */
  sweep(): Promise<void>;
}

export const warehousesOf = (folder: string) => join(folder, "warehouses");

export async function openInstance(options: InstanceOptions): Promise<Instance> {
  const { folder, databaseUrl, clock, seams, approvedHosts, hear } = options;
  const keyFile = join(folder, "keys.json");
  const archive = join(folder, "archive");
  await mkdir(archive, { recursive: true });
  const database: ControlOptions["database"] =
    databaseUrl === undefined ? { folder } : { url: databaseUrl, maxConnections: 4 };
  const reload = () => openKeyring(keyFile, { create: true });
  const control = await createControl({
    database,
    keyring: await reload(),
    keyFile,
    reloadKeyring: reload,
    clock,
    seams,
    sandbox: "inline",
    log: createLog({ write: hear }),
    settings: {
      network: { approvedHosts, allowNetworks: [] },
      warehouses: warehousesOf(folder),
      limits: plentyOfRequests,
      mail: { outbox: join(folder, "outbox") },
      retention: {
        ...defaultRetention,
        jobs: 40,
        job_logs: 10,
        events: 20,
        deliveries: 20,
        audit: 60,
      },
      auditArchive: archive,
    },
  });
  const { services } = control;
  const server = createServer(control, { streams: { lookEveryMs: 10, lifetimeMs: 50 } });
  await server.ready();
  const sender = createWebhookSender(services);
  const stopping = new AbortController();
  const deliverer = createDeliverer(services, sender, stopping.signal);
  return {
    services,
    operator: createOperator(askInstance(services)),
    async call(method, path, { token, body, headers = {}, isShownOnce = false }) {
      const answer = await server.inject({
        method,
        url: path === "/metrics" ? path : `/control/v1${path}`,
        remoteAddress: "127.0.0.1",
        headers: {
          host: "127.0.0.1:8080",
          authorization: `Bearer ${token}`,
          ...(body ? { "content-type": "application/json" } : {}),
          ...headers,
        },
        ...(body ? { payload: JSON.stringify(body) } : {}),
      });
      if (!isShownOnce) hear(answer.payload);
      const isJson = answer.payload.startsWith("{");
      return { status: answer.statusCode, body: isJson ? JSON.parse(answer.payload) : undefined };
    },
    async deliverEvents() {
      await noteExpiring(services);
      await publishFacts(services);
      await deliverer.fill();
      await deliverer.settle();
    },
    async sweep() {
      const { settings } = services;
      await sweepOld(services.database.db, {
        retention: settings.retention,
        auditArchive: settings.auditArchive,
        now: new Date(clock.now()),
        signal: stopping.signal,
        onFailure: (kind) => {
          throw new Error(`${kind} could not be swept`);
        },
      });
    },
    async [Symbol.asyncDispose]() {
      stopping.abort();
      await server.close();
      await deliverer.settle();
      await sender[Symbol.asyncDispose]();
      await control[Symbol.asyncDispose]();
    },
  };
}

/** Copies the disk at this moment, as after a power cut; the locks of the process are not of it. */
export const copyOf = (folder: string, to: string): Promise<void> =>
  cp(folder, to, { recursive: true, filter: (path) => !path.endsWith(".svc-stage") });
