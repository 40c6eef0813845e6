import type { NetworkSettings } from "svc-connectors/host";
import { defaultLimits, type Limits } from "./limiter.ts";

/** An OAuth application that the operator has registered with a provider. */
export interface OAuthApp {
  readonly clientId: string;
  readonly clientSecret: string;
  /** Where the provider may send the browser back; one set for each connector, compared as text. */
  readonly redirectUris: readonly string[];
}

/** What the operator decides (svc.config.yaml). */
export interface ControlSettings {
  readonly network: NetworkSettings;
  /** By connector id. */
  readonly oauthApps: Readonly<Record<string, OAuthApp>>;
  readonly limits: Limits;
}

export const defaultSettings: ControlSettings = {
  network: { approvedHosts: [], allowNetworks: [] },
  oauthApps: {},
  limits: defaultLimits,
};
