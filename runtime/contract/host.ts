import type { CatalogStream, ConfiguredCatalog, Manifest, StreamState } from "./catalog.ts";
import type { Clock } from "./clock.ts";
import type { ErrorRecord } from "./errors.ts";
import type { ContainedImage } from "./image.ts";
import type { JsonObject } from "./json.ts";
import type { HttpLimits, NetworkSeams, NetworkSettings } from "./network.ts";
import type { RateLedger } from "./rate-ledger.ts";
import type { Sink } from "./sink.ts";
import type { Source } from "./source.ts";
import type { TokenStore } from "./token-store.ts";

/**
 * `process`: Node's permission model (default) · `bubblewrap`: that inside Linux namespaces ·
 * `inline`: this process, for an author's debugger.
 */
export const sandboxLevels = ["process", "bubblewrap", "inline"] as const;
export type SandboxLevel = (typeof sandboxLevels)[number];

export interface HostOptions {
  readonly settings?: Partial<NetworkSettings> | undefined;
  readonly seams?: NetworkSeams | undefined;
  readonly clock?: Clock | undefined;
  readonly sandbox?: SandboxLevel | undefined;
  readonly limits?: Partial<WorkerLimits> | undefined;
  /** Deadlines and retries of HTTP requests. */
  readonly http?: Partial<HttpLimits> | undefined;
  /**
   * Connectors under development may declare a provider on this machine: with this, such a one is
   * reached at loopback addresses, and nothing else is opened. No setting says it. Default false.
   */
  readonly allowLocal?: boolean | undefined;
  /**
   * Loaded workers that are kept ready for each connector that was used: for servers, and for many
   * short runs. Default 0.
   */
  readonly keepWarm?: number | undefined;
  /**
   * Workers serve one run after another, as long as a run leaves nothing behind that another one
   * could meet. Only for the conformance kit, which makes a thousand runs of one connector. Default
   * false: each run has a worker of its own.
   */
  readonly keepsWorkers?: boolean | undefined;
  /**
   * Where the OAuth tokens of a run are kept, for the whole configuration of the run. Called once
   * for each run. Default, and for undefined: in memory, begun with the refresh token of the
   * configuration; one that is declared to change with each use is refused then.
   */
  readonly tokens?:
    | ((connector: ConnectorReference, config: JsonObject) => TokenStore | undefined)
    | undefined;
  /**
   * Puts something around the connector's functions. Only for `inline`, and only for the
   * conformance kit: it looks at what a connector gives before the output filter has seen it.
   */
  readonly aroundSource?: ((source: Source) => Source) | undefined;
  /** A worker was started, for the module at this URL. */
  readonly onWorkerStart?: ((connectorUrl: string) => void) | undefined;
}

export interface WorkerLimits {
  /** JavaScript heap of a worker. Default 512. */
  readonly memoryMb: number;
  /** Wall clock of a check or discover. Default 600 s. */
  readonly verbTimeoutMs: number;
  /** Wall clock of a read; default 24 h. */
  readonly readTimeoutMs: number;
  /** A worker that blocks its event loop for longer is ended. Default 60 s. */
  readonly unresponsiveMs: number;
  /** Time for a cancelled worker to stop by itself before it is killed. Default 5 s. */
  readonly graceMs: number;
  /** An image that neither says nor asks anything for longer is ended. Default 30 min. */
  readonly imageSilenceMs: number;
}

/** Where a connector's module lives. */
export interface ConnectorReference {
  /** Name as people type it, for messages. */
  readonly name: string;
  /**
   * file: URL of the module whose default export is the source, or of a declarative manifest. Of
   * one that is data it is `manifest:/NAME/manifest.yaml`, and only a name.
   */
  readonly url: string;
  /** The text of a declarative manifest that is data: it lies in no file of this host. */
  readonly document?: string | undefined;
  /** The image that the document tells of, which the host runs for the worker. */
  readonly container?: ContainedImage | undefined;
  /** The pin of code that does not come with svc, for those who run it for others. */
  readonly pin?: ConnectorPin | undefined;
}

/** The identity that a connector must still have, each time that it is loaded. */
export interface ConnectorPin {
  /** Digest of its code: `sha256:…`. */
  readonly code: string;
  /** Digest of what it says of itself. Undefined: nobody has asked it yet. */
  readonly manifest?: string | undefined;
  /** The least wall around it. */
  readonly sandbox: PinnedSandbox;
  /** It was taken away: it is never loaded. */
  readonly isRemoved?: boolean | undefined;
}

export const pinnedSandboxes = ["process", "bubblewrap"] as const;
export type PinnedSandbox = (typeof pinnedSandboxes)[number];

/**
 * An event of a verb that runs; for progress displays and logs. All text is already sanitised.
 */
export type HostEvent =
  | {
      readonly type: "log";
      readonly level: "debug" | "info" | "warn";
      readonly message: string;
      readonly fields: JsonObject;
    }
  | { readonly type: "waiting"; readonly untilMs: number; readonly reason: "rate_limit" | "retry" }
  /** The sandbox refused something that the connector tried. */
  | { readonly type: "denied"; readonly resource: string }
  /**
   * The connector put a secret into its output, and the output filter took it out. `where`:
   * "records", "state", "log", "output", "catalog", "error".
   */
  | { readonly type: "redacted"; readonly where: string; readonly stream?: string }
  /** Fields that the stream does not declare and that were left out. */
  | { readonly type: "dropped"; readonly stream: string; readonly fields: readonly string[] };

/** The part of a request that anybody may see: neither its receiver nor its content. */
export interface ProviderRequest {
  readonly method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  /** Undefined: there was no answer. */
  readonly status: number | undefined;
  /** Until the answer was read. */
  readonly durationMs: number;
}

/** A request as the connector asked for it: without credentials, before any retry. */
export interface ConnectorCall {
  readonly method: ProviderRequest["method"];
  readonly url: URL;
  /**
   * The connector's line that asked, and those that wait for it, three at most: "index.ts:42 ←
   * index.ts:107"; undefined: not known.
   */
  readonly place: string | undefined;
}

export interface VerbOptions {
  readonly signal?: AbortSignal | undefined;
  readonly onEvent?: ((event: HostEvent) => void) | undefined;
  /**
   * The connector asks for something: for tools of its author. With it the worker says which line
   * asked, which is the word of code that is not trusted.
   */
  readonly onCall?: ((call: ConnectorCall) => void) | undefined;
  /** A request has reached the provider, or has failed on the way: for metrics and traces. */
  readonly onRequest?: ((request: ProviderRequest) => void) | undefined;
  /** Where the OAuth tokens of this run are kept. Default: as {@link HostOptions.tokens} says. */
  readonly tokens?: TokenStore | undefined;
  /** Where other processes with the same credential count their requests. Default: nowhere. */
  readonly ledger?: RateLedger | undefined;
}

export type CheckResult =
  | { readonly status: "succeeded" }
  | { readonly status: "failed"; readonly error: ErrorRecord };

export interface ReadRequest {
  /** The whole configuration, secrets included. */
  readonly config: JsonObject;
  readonly catalog: ConfiguredCatalog;
  readonly state?: readonly StreamState[] | undefined;
  /**
   * The key of hashed fields. Equal values have equal hashes under one key. Without it no catalog
   * may ask for hashes.
   */
  readonly hashKey?: Uint8Array | undefined;
  /**
   * A stream that cannot be read incrementally is read whole, with a warning, as clients of the
   * Airbyte Protocol expect that ask incremental of every stream. Default: it is refused.
   */
  readonly isIncrementalOptional?: boolean | undefined;
  /**
   * How many streams are read at a time, 1 to {@link maxParallelStreams}, each by a worker of its
   * own. Default 1.
   */
  readonly parallelStreams?: number | undefined;
  /**
   * The connection has other streams besides, which are not read this time: what they share with
   * these, as the place in a log of changes, has to stay for them.
   */
  readonly isPart?: boolean | undefined;
  /**
   * A source that reads a log of changes may wait so long for the first one, when there is none.
   * Default: it does not wait.
   */
  readonly waitMs?: number | undefined;
}

/** Most streams of one read at a time: a database gets no more sessions from it. */
export const maxParallelStreams = 4;

export interface StreamSummary {
  /** "namespace.name" or the name. */
  readonly stream: string;
  readonly status: "complete" | "incomplete";
  readonly recordCount: number;
  readonly nulledCount: number;
  readonly error?: ErrorRecord;
}

export interface ReadSummary {
  /** "failed" when any stream is incomplete. */
  readonly status: "succeeded" | "failed" | "cancelled";
  readonly recordCount: number;
  readonly byteCount: number;
  readonly requestCount: number;
  /** Values that did not fit their schema and were written as null. */
  readonly nulledCount: number;
  readonly redactedCount: number;
  readonly streams: readonly StreamSummary[];
  /** The first failure, also one that belongs to no stream. */
  readonly error?: ErrorRecord;
}

/**
 * Runs connectors. One host per process; each call starts (or takes a warm) worker for itself,
 * calls may overlap. Every method throws ConnectorError only.
 */
export interface Host extends AsyncDisposable {
  /**
   * Loads the connector and gives what it says of itself.
   * @throws CONNECTOR_UNKNOWN, CONNECTOR_INVALID
   */
  spec(connector: ConnectorReference, options?: VerbOptions): Promise<Manifest>;
  /** Whatever is wrong is a result, not an exception. @throws CANCELLED only */
  check(
    connector: ConnectorReference,
    config: JsonObject,
    options?: VerbOptions,
  ): Promise<CheckResult>;
  /** @throws TOO_MANY_TABLES beyond 6,000 streams */
  discover(
    connector: ConnectorReference,
    config: JsonObject,
    options?: VerbOptions,
  ): Promise<CatalogStream[]>;
  /**
   * Lists that a user may choose settings from, filtered like a catalog. Settings that are chosen
   * from it may be missing in `config`.
   * @param input what the user has chosen so far
   * @throws ENTITIES_UNSUPPORTED when the connector has none; else whatever went wrong
   */
  entities(
    connector: ConnectorReference,
    config: JsonObject,
    input: JsonObject,
    options?: VerbOptions,
  ): Promise<JsonObject>;
  /**
   * Failures of streams and of the run come back in the summary.
   * @throws CONFIG_INVALID, CATALOG_INVALID, STATE_INVALID, STREAM_UNKNOWN, SYNC_MODE_UNSUPPORTED,
   * TOO_MANY_TABLES before anything is read, CANCELLED before the connector is loaded
   */
  read(
    connector: ConnectorReference,
    request: ReadRequest,
    sink: Sink,
    options?: VerbOptions,
  ): Promise<ReadSummary>;
}
