import type {
  ActivationHost,
  Clock,
  DestinationHost,
  Host,
  NetworkSeams,
  SandboxLevel,
} from "svc-connectors/host";
import type { Connectors } from "../connectors/registry.ts";
import type { Operation } from "../contract/operation.ts";
import type { Mailer } from "../mail/mailer.ts";
import type { Database } from "../store/database.ts";
import type { Telemetry } from "../telemetry/telemetry.ts";
import type { Mac } from "../vault/mac.ts";
import type { Vault } from "../vault/vault.ts";
import type { Limiter } from "./limiter.ts";
import type { Log } from "./log.ts";
import type { ProviderRates } from "./provider-rates.ts";
import type { ControlSettings } from "./settings.ts";

export interface Jobs {
  /**
   * Tells the workers, here and elsewhere, that there is something to do. Call it after the
   * transaction that made it.
   */
  wake(): void;
}

/** The services that all operations of a server share. Made once by createControl. */
export interface Services {
  readonly database: Database;
  readonly vault: Vault;
  /** Where the keys of the vault are. Undefined: in memory. */
  readonly keyFile: string | undefined;
  readonly mac: Mac;
  readonly connectors: Connectors;
  /** The registry: a proposal names its operation. */
  readonly operations: readonly Operation[];
  /** Runs connectors in sandboxed workers, through the egress. */
  readonly host: Host;
  /** Runs destinations in this process. */
  readonly destinations: DestinationHost;
  /** Runs activation connectors, of reverse ETL, in this process. */
  readonly activations: ActivationHost;
  /** The queue of jobs. */
  readonly jobs: Jobs;
  /** How workers are walled in. */
  readonly sandbox: SandboxLevel;
  readonly seams: NetworkSeams;
  readonly clock: Clock;
  readonly settings: ControlSettings;
  readonly limiter: Limiter;
  /** Requests to providers, as all processes count them. */
  readonly providerRates: ProviderRates;
  readonly mailer: Mailer;
  /** Metrics and traces. */
  readonly telemetry: Telemetry;
  readonly log: Log;
}
