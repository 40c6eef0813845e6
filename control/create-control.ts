import {
  type Clock,
  checkApprovedHosts,
  createActivationHost,
  createDestinationHost,
  createHost,
  type HostOptions,
  type NetworkSeams,
  type SandboxLevel,
  systemClock,
} from "svc-connectors/host";
import { endLeases, startSweep } from "./approvals/sweep.ts";
import { keepDeclared } from "./connectors/declared.ts";
import { followAdded } from "./connectors/follow.ts";
import type { ConnectorDeclaration } from "./connectors/places.ts";
import { createConnectors } from "./connectors/registry.ts";
import { authenticate } from "./door/authenticate.ts";
import type { Control } from "./door/control.ts";
import { execute } from "./door/execute.ts";
import { releaseAll } from "./door/idempotency.ts";
import { startEvents } from "./events/run.ts";
import { endJobLeases } from "./jobs/attempts.ts";
import type { JobRunners } from "./jobs/run.ts";
import { announceJobs, type RunningJobs, startJobs } from "./jobs/worker.ts";
import { createMailer } from "./mail/mailer.ts";
import { operations, operatorOperations } from "./operations/index.ts";
import { startRetention } from "./retention/run.ts";
import { createLimiter } from "./services/limiter.ts";
import { createLog, type Log } from "./services/log.ts";
import { createProviderRates } from "./services/provider-rates.ts";
import type { Services } from "./services/services.ts";
import { type ControlSettings, defaultSettings } from "./services/settings.ts";
import { type DatabaseOptions, openDatabase } from "./store/database.ts";
import { readQueue } from "./telemetry/queue.ts";
import { readReplicationLag } from "./telemetry/replication-lag.ts";
import { createTelemetry } from "./telemetry/telemetry.ts";
import type { Keyring } from "./vault/keyring.ts";
import { openMac } from "./vault/mac.ts";
import { createVault } from "./vault/vault.ts";

export interface ControlOptions {
  readonly database: DatabaseOptions;
  readonly keyring: Keyring;
  /** Where the keys were read from. Undefined: nowhere, and they cannot be changed. */
  readonly keyFile?: string | undefined;
  /** Reads the key file again, when another process may have rotated it. */
  readonly reloadKeyring?: (() => Promise<Keyring>) | undefined;
  readonly settings?: Partial<ControlSettings> | undefined;
  /** Constructor seams: how tests and the demo reach simulators on loopback. */
  readonly seams?: NetworkSeams | undefined;
  readonly clock?: Clock | undefined;
  readonly sandbox?: SandboxLevel | undefined;
  /** Deadlines and retries of requests to providers. */
  readonly http?: HostOptions["http"] | undefined;
  readonly log?: Log | undefined;
  /**
   * Connectors of one's own, besides those that commands have added. Undefined: nothing is said
   * about them; empty: those that were declared before are removed.
   */
  readonly connectors?: readonly ConnectorDeclaration[] | undefined;
  /** Where their packages are looked up, and relative paths begin. Default the working folder. */
  readonly connectorsFolder?: string | undefined;
  /**
   * `run`: jobs run in this process too · `announce`: it only tells the workers what there is to do
   * · `off` (default): neither; workers find it within seconds all the same. Processes of
   * the first two kinds also tell events, and delete what is old.
   */
  readonly jobs?: "run" | "announce" | "off" | undefined;
  /**
   * In place of what runs jobs of a kind: how tests make jobs that last, fail or end as they like.
   */
  readonly runners?: Partial<JobRunners> | undefined;
}

/**
 * @throws KeyFileError, CONFIG_INVALID when an approved host can never be safe, OUTPUT_FAILED when
 * another process has the folder open
 */
export async function createControl(options: ControlOptions): Promise<Control> {
  const {
    keyring,
    reloadKeyring,
    seams = {},
    clock = systemClock,
    sandbox = "process",
    log = createLog(),
  } = options;
  const settings = { ...defaultSettings, ...options.settings };
  checkApprovedHosts(settings.network.approvedHosts);
  const database = await openDatabase(options.database);
  try {
    const { db } = database;
    const vault = createVault(keyring, () => new Date(clock.now()), reloadKeyring);
    await vault.verify(db);
    // Nobody else has it: what seems to run has died.
    if (database.kind === "embedded") {
      await releaseAll(db);
      await endLeases(db, new Date(clock.now()));
      await endJobLeases(db, new Date(clock.now()));
    }
    const telemetry = createTelemetry({
      operations: [...operations, ...operatorOperations].map(({ id }) => id),
      isAddedConnector: (connectorId) => connectors.isAdded(connectorId),
      otlpEndpoint: settings.otlpEndpoint,
    });
    telemetry.gauges(async () => [
      ...(await readQueue(db, new Date(clock.now()))),
      ...(await readReplicationLag(db)),
    ]);
    const folder = options.connectorsFolder ?? process.cwd();
    const connectors = createConnectors({ clock, sandbox, db, folder });
    if (options.connectors) {
      const declared = { declarations: options.connectors, folder };
      await keepDeclared({ db, connectors, clock, log }, declared);
    }
    await connectors.reload();
    const host = createHost({
      settings: settings.network,
      seams,
      clock,
      keepWarm: 1,
      sandbox,
      onWorkerStart: (url) =>
        telemetry.count("svc_worker_starts_total", { connector: connectors.idOf(url) }),
      // Somebody waits for the answer: what a job may wait for in peace ends here within a minute.
      limits: { verbTimeoutMs: 60_000 },
      http: {
        maxAttempts: 2,
        retryBudgetMs: 20_000,
        headersTimeoutMs: 20_000,
        totalTimeoutMs: 30_000,
        maxRateLimitWaitMs: 5_000,
        ...options.http,
      },
    });
    const mac = await openMac(db, vault);
    const limiter = createLimiter(settings.limits, database);
    let jobs: RunningJobs | undefined;
    const services: Services = {
      database,
      vault,
      keyFile: options.keyFile,
      mac,
      connectors,
      operations,
      host,
      destinations: createDestinationHost({ settings: settings.network, seams, clock }),
      activations: createActivationHost({ settings: settings.network, seams, clock }),
      jobs: { wake: () => jobs?.wake() },
      sandbox,
      seams,
      clock,
      settings,
      limiter,
      providerRates: createProviderRates(database, clock),
      mailer: createMailer(settings.mail, log),
      telemetry,
      log,
    };
    const isServing = options.jobs === "run" || options.jobs === "announce";
    const following = isServing ? followAdded(services) : undefined;
    if (options.jobs === "announce") jobs = await announceJobs(services);
    if (options.jobs === "run") jobs = await startJobs(services, options.runners);
    const sweep = startSweep(services);
    const events = jobs && startEvents(services);
    const retention = jobs && startRetention(services);
    return {
      services,
      operations,
      authenticate: (facts) => authenticate(services, facts),
      execute: (operation, request, caller) => execute(services, operation, request, caller),
      async [Symbol.asyncDispose]() {
        await sweep[Symbol.asyncDispose]();
        await events?.[Symbol.asyncDispose]();
        await retention?.[Symbol.asyncDispose]();
        await jobs?.[Symbol.asyncDispose]();
        await following?.[Symbol.asyncDispose]();
        await host[Symbol.asyncDispose]();
        await telemetry[Symbol.asyncDispose]();
        await database[Symbol.asyncDispose]();
      },
    };
  } catch (error) {
    await database[Symbol.asyncDispose]();
    throw error;
  }
}
