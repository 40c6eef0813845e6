/** A rule works with a lab: one connector, its recordings, and runs of it with any options. */
import type { JsonObject, JsonValue } from "svc-connectors";
import type { CatalogStream, Manifest } from "svc-connectors/host";
import type { Database, DatabaseCopy, QueryFault } from "./database.ts";
import type { LearnedProvider } from "./learned.ts";
import type { ConnectionFault, Provider, ProviderRequest } from "./network.ts";
import type { Command, ErrorClass, Failure, Message, Observation } from "./observation.ts";
import type { Baseline, ErrorAnswers, Recording } from "./recording.ts";
import type { ConformanceSettings } from "./settings.ts";
import type { Ability, Target, TargetKind } from "./target.ts";

/** A secret that the kit made up, and where it stands. */
export interface Canary {
  /** "config api_token", "issued access_token". */
  readonly name: string;
  readonly value: string;
}

/** A stream with what its golden runs gave. */
export interface StreamFacts {
  readonly label: string;
  readonly stream: CatalogStream;
  /** Names of the primary key's properties. */
  readonly primaryKey: readonly string[];
  readonly cursorField?: string | undefined;
  readonly isIncremental: boolean;
  /** The recording of its first read: full refresh, else incremental without a state. */
  readonly recording?: Recording | undefined;
  /** A recorded incremental read from a saved state. */
  readonly resumed?: Recording | undefined;
}

export interface GoldenRun {
  readonly recording: Recording;
  readonly observation: Observation;
}

/**
 * How one run differs from the usual one. Without any: the learned provider, a willing consumer, an
 * undisturbed network.
 */
export interface RunOptions {
  /** Default: the learned provider, unchanged. */
  readonly provider?: Provider | undefined;
  /**
   * `replay`: a server in memory (default). `server`: the loopback fault server. Targets without
   * the in-process broker use the server or the proxy in any case.
   */
  readonly transport?: "replay" | "server" | undefined;
  readonly connection?: { readonly fault: ConnectionFault; readonly host?: string } | undefined;
  /**
   * Of connectors that speak to a database: another one than the lab's, another password of the
   * role, and what goes wrong with a statement.
   */
  readonly database?:
    | {
        readonly on?: DatabaseCopy | undefined;
        readonly password?: string | undefined;
        readonly fault?: QueryFault | undefined;
        /** The statement of that index has arrived; it goes on when the promise resolves. */
        readonly onQuery?: ((index: number) => void | Promise<void>) | undefined;
      }
    | undefined;
  /** The consumer takes so many messages, then it is gone. */
  readonly stopAfter?: number | undefined;
  /**
   * The consumer takes so many messages, then none until the connector has come to rest; then all,
   * or none with `stopAfter`.
   */
  readonly stallAfter?: number | undefined;
  readonly cancel?: CancelMoment | undefined;
  readonly environment?: Readonly<Record<string, string>> | undefined;
  /** Added to the recorded clock origin. */
  readonly clockShiftMs?: number | undefined;
  /**
   * A slow consumer: while it takes that message, so much virtual time goes by. `at`: its number,
   * or the first RECORD.
   */
  readonly slow?: { readonly at: number | "record"; readonly ms: number } | undefined;
  /**
   * Real-time limits of HTTP requests, for servers that hang. Default for `server`: 2 s each, 6 s
   * in all.
   */
  readonly timeouts?:
    | {
        readonly connectMs: number;
        readonly headersMs: number;
        readonly idleMs: number;
        readonly totalMs: number;
      }
    | undefined;
  /**
   * Notes what the connector takes past its context (`traces.accesses`): for targets with `inside`.
   */
  readonly watchAccess?: boolean | undefined;
  /**
   * Keeps what the connector gives before anything filters it (`given`): for targets with `inside`.
   * All rows stay in memory.
   */
  readonly keepsGiven?: boolean | undefined;
  /**
   * Called when a request has arrived at the provider; it is answered when the promise resolves.
   */
  readonly onRequest?: ((request: ProviderRequest) => void | Promise<void>) | undefined;
  /**
   * Called for each message, with how many there were so far; the next one is taken when the
   * promise resolves.
   */
  readonly onMessage?: ((message: Message, count: number) => void | Promise<void>) | undefined;
  /** Called when a line comes that the consumer does not take: it stalls, or it is gone. */
  readonly onUntaken?: (() => void) | undefined;
  /**
   * True while the connector is at work although the network is quiet (it decompresses): no virtual
   * time goes by then.
   */
  readonly isBusy?: (() => boolean) | undefined;
  /**
   * Keeps no RECORD messages, of STATE messages in a row the last one, and no bodies of answers:
   * for runs of many rows, whose memory is looked at.
   */
  readonly isBrief?: boolean | undefined;
  /**
   * Ends the run from outside after so much real time, times `slowness`: it then counts as hung.
   * Default 30 s.
   */
  readonly deadlineMs?: number | undefined;
}

export type CancelMoment =
  | { readonly at: "start" }
  /** After so many messages; `times` > 1 cancels again and again. */
  | { readonly at: "message"; readonly count: number; readonly times?: number }
  /**
   * When the request of that index has arrived at the provider and before it is answered; with
   * `afterMs`, so much real time later: virtual time stands still until then.
   */
  | {
      readonly at: "request";
      readonly index: number;
      readonly afterMs?: number | undefined;
      readonly times?: number | undefined;
    }
  /**
   * When a wait of the clock has begun (a backoff); with `requestCount`, one after so many requests
   * while none is under way.
   */
  | { readonly at: "wait"; readonly requestCount?: number }
  /** When a connection is asked for. Only the fault server sees it. */
  | { readonly at: "dial" };

export interface Lab {
  readonly target: {
    readonly kind: TargetKind;
    readonly name: string;
    readonly sources: readonly { readonly path: string; readonly text: string }[];
    readonly freshSpec?: Target["freshSpec"] | undefined;
    readonly document?: Target["document"];
  };
  readonly settings: ConformanceSettings;
  readonly seed: number;
  readonly isExhaustive: boolean;
  /** How many times longer than usual the connector's first run took, 1 to 10. */
  readonly slowness: number;
  can(ability: Ability): boolean;

  /** `connectionSpecification`. */
  readonly spec: JsonObject;
  /** Only of svc connectors. */
  readonly manifest: Manifest | undefined;
  /** The whole valid configuration; secrets are canaries. */
  readonly config: JsonObject;
  /** JSON pointers of the secrets in the configuration. */
  readonly secretPaths: readonly string[];
  /**
   * Made up secrets of the configuration, and what the recordings' provider issues to prove later
   * requests; not what it issues to page.
   */
  readonly canaries: readonly Canary[];
  readonly streams: readonly StreamFacts[];
  readonly recordings: readonly Recording[];
  /** The recordings as they lie in the folder: secrets stand as placeholders. */
  readonly unfilled: readonly Recording[];
  readonly baseline: Baseline | undefined;
  /** The provider's own error answers, for injected faults. */
  readonly answers: ErrorAnswers | undefined;
  readonly learned: LearnedProvider;
  /** Where the connector's data comes from. */
  readonly egress: "http" | "postgres" | "mysql";
  /** The database of a connector that speaks to one. */
  readonly database: Database | undefined;
  /** Why there is nothing that the connector could read: what to install for it. */
  readonly missingProvider: string | undefined;
  /** Today, for the age of recordings and waivers; ms. */
  readonly todayMs: number;

  /** Each recording, replayed strictly. Done once. */
  golden(): Promise<readonly GoldenRun[]>;
  /** The spec and discover runs that the lab began with. */
  readonly first: { readonly spec: Observation; readonly discover: Observation };
  /** A run of its own. */
  run(command: Command, options?: RunOptions): Promise<Observation>;
  /** The run of this command that nothing disturbs. Done once for all who ask for it. */
  undisturbed(command: Command): Promise<Observation>;
  /** Every run that `golden` and the shared sweeps make, for rules that watch all of them. */
  everyRun(): Promise<readonly NamedRun[]>;
  /** Runs once for all rules that ask under this name. */
  once<T>(name: string, work: () => Promise<T>): Promise<T>;

  /** A strict provider for a recording: each interaction once, lanes in order. */
  replay(recording: Recording): Provider;
  /** The command that a recording was made with. */
  commandOf(recording: Recording): Command;
  /**
   * A read of these streams (all: none named), in their incremental mode where asked and possible.
   */
  readCommand(
    streams: readonly StreamFacts[],
    options?:
      | {
          syncMode?: "full_refresh" | "incremental" | undefined;
          state?: Readonly<Record<string, JsonValue>> | undefined;
          config?: JsonObject | undefined;
          selectedFields?: readonly string[] | undefined;
        }
      | undefined,
  ): Command & { verb: "read" };
  /**
   * At most so many of the items, chosen by the seed, the first and last always; all of them when
   * the run is exhaustive.
   */
  sample<T>(items: readonly T[], most: number): readonly T[];
}

export interface NamedRun {
  /** "campaigns (recorded)", "campaigns, request 2 answered 500". */
  readonly name: string;
  readonly observation: Observation;
}

/** True when the failure may be of one of these classes. */
export function isOfClass(failure: Failure, ...classes: readonly ErrorClass[]): boolean {
  return failure.classes.some((one) => classes.includes(one));
}
