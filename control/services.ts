import type { Clock, Host, NetworkSeams } from "svc-connectors/host";
import type { Connectors } from "./connectors.ts";
import type { Limiter } from "./limiter.ts";
import type { Log } from "./log.ts";
import type { ControlSettings } from "./settings.ts";
import type { Database } from "./store/database.ts";
import type { Mac } from "./vault/mac.ts";
import type { Vault } from "./vault/vault.ts";

/** What all operations of a server share. Made once by createControl. */
export interface Services {
  readonly database: Database;
  readonly vault: Vault;
  readonly mac: Mac;
  readonly connectors: Connectors;
  /** Runs connectors in sandboxed workers, through the egress. */
  readonly host: Host;
  readonly seams: NetworkSeams;
  readonly clock: Clock;
  readonly settings: ControlSettings;
  readonly limiter: Limiter;
  readonly log: Log;
}
