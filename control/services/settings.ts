import type { NetworkSettings } from "svc-connectors/host";

/**
 * Requests per minute and token; `anonymous`: requests without a valid token, by address.
 */
export const defaultLimits = { read: 600, write: 120, provider: 30, anonymous: 60 } as const;
export type Budget = keyof typeof defaultLimits;
export type Limits = Readonly<Record<Budget, number>>;

/** An OAuth application that the operator has registered with a provider. */
export interface OAuthApp {
  readonly clientId: string;
  readonly clientSecret: string;
  /** Where the provider may send the browser back; one set for each connector, compared as text. */
  readonly redirectUris: readonly string[];
}

/** How invitations reach people: into a folder, one file a mail, or over SMTP. */
export type MailSettings =
  | { readonly outbox: string }
  | { readonly smtp: SmtpServer /** `svc <svc@example.com>` */; readonly from: string };

export interface SmtpServer {
  readonly host: string;
  /**
   * 465: TLS from the first byte. Others: STARTTLS, which a server on another machine must offer.
   */
  readonly port: number;
  readonly user?: string | undefined;
  readonly password?: string | undefined;
}

/** How many jobs may run at once. */
export interface JobLimits {
  /** Jobs in one process. */
  readonly concurrency: number;
  /** Jobs of one workspace, everywhere. */
  readonly perWorkspace: number;
  /** Jobs with one credential: its provider counts what all of them ask for. */
  readonly perCredential: number;
  /** Jobs of one connector. */
  readonly perProvider: number;
  /** Jobs into one destination; one that only one writer can have open always has one. */
  readonly perDestination: number;
}

export const defaultJobLimits: JobLimits = {
  concurrency: 2,
  perWorkspace: 20,
  perCredential: 1,
  perProvider: 8,
  perDestination: 4,
};

/** How many days what has happened is kept; null: for ever. */
export interface Retention {
  /** Jobs that have ended, with their attempts and streams, and runs of reverse ETL. */
  readonly jobs: number | null;
  readonly job_logs: number | null;
  readonly events: number | null;
  readonly deliveries: number | null;
  /** The log of what each credential was opened for. */
  readonly credential_uses: number | null;
  readonly audit: number | null;
  /** Rows with an end of their own, after that: Idempotency-Keys, authorisations, prepares. */
  readonly ended: number;
}

export const defaultRetention: Retention = {
  jobs: 180,
  job_logs: 30,
  events: 30,
  deliveries: 30,
  credential_uses: 180,
  audit: null,
  ended: 1,
};

/** The decisions of the operator (svc.config.yaml; commands/settings-file.ts reads it). */
export interface ControlSettings {
  readonly network: NetworkSettings;
  /** OAuth apps by connector id. */
  readonly oauthApps: Readonly<Record<string, OAuthApp>>;
  /**
   * Images that administrators may add over the API: repositories, prefixes as `acme/*`, or names
   * with digests.
   */
  readonly images: readonly string[];
  readonly limits: Limits;
  readonly jobs: JobLimits;
  readonly retention: Retention;
  /** The folder to which entries of the audit log go that retention takes. Undefined: nowhere. */
  readonly auditArchive?: string | undefined;
  /** Undefined: no mail is sent. */
  readonly mail?: MailSettings | undefined;
  /**
   * Where the files of warehouses are (DuckDB): a folder for each workspace. Undefined:
   * destinations of that kind cannot be used.
   */
  readonly warehouses?: string | undefined;
  /**
   * Under which people and agents reach the server, without a path: `https://svc.example.com`.
   * Links in mails begin with it.
   */
  readonly publicUrl?: string | undefined;
  /** Where the server listens: links in mails begin with it when there is no public URL. */
  readonly ownUrl?: string | undefined;
  /** Where spans are sent, over OTLP/HTTP. Undefined: nowhere. */
  readonly otlpEndpoint?: string | undefined;
}

export const defaultSettings: ControlSettings = {
  network: { approvedHosts: [], allowNetworks: [] },
  oauthApps: {},
  images: [],
  limits: defaultLimits,
  jobs: defaultJobLimits,
  retention: defaultRetention,
};
