/** All that can be seen of one run of a connector, whatever it is written in. */
import type { JsonObject, JsonValue } from "svc-connectors";
import type {
  CatalogStream,
  ConfiguredCatalog,
  StreamDescriptor,
  StreamState,
} from "svc-connectors/host";
import type { Query } from "./database.ts";
import type { Exchange } from "./network.ts";

/** The verb that a connector runs, with its input. */
export type Command =
  | { readonly verb: "spec" }
  | { readonly verb: "check"; readonly config: JsonObject }
  | { readonly verb: "discover"; readonly config: JsonObject }
  | {
      readonly verb: "read";
      readonly config: JsonObject;
      readonly catalog: ConfiguredCatalog;
      readonly state?: readonly StreamState[] | undefined;
    };

/**
 * A message of the Airbyte Protocol, parsed. Numbers that JSON.parse would round stand as in the
 * line: see `line`.
 */
export type Message =
  | { readonly type: "SPEC"; readonly spec: JsonObject }
  | {
      readonly type: "CONNECTION_STATUS";
      readonly connectionStatus: {
        readonly status: "SUCCEEDED" | "FAILED";
        readonly message?: string;
      };
    }
  | { readonly type: "CATALOG"; readonly catalog: { readonly streams: readonly CatalogStream[] } }
  | { readonly type: "RECORD"; readonly record: RecordBody }
  | { readonly type: "STATE"; readonly state: StateBody }
  | { readonly type: "LOG"; readonly log: { readonly level: string; readonly message: string } }
  | { readonly type: "TRACE"; readonly trace: TraceBody }
  /**
   * CONNECTOR_CONFIG: the source asks for its changed configuration to be kept. It holds secrets,
   * and nobody but the platform reads it.
   */
  | {
      readonly type: "CONTROL";
      readonly control: {
        readonly type: string;
        readonly connectorConfig?: { readonly config: JsonObject };
      };
    };

export interface RecordBody {
  readonly stream: string;
  readonly namespace?: string;
  readonly data: JsonObject;
  readonly emitted_at?: number;
  readonly meta?: JsonObject;
}

export interface StateBody {
  readonly type?: string;
  readonly stream?: {
    readonly stream_descriptor: StreamDescriptor;
    readonly stream_state?: JsonValue;
  };
  readonly sourceStats?: { readonly recordCount?: number };
}

export interface TraceBody {
  readonly type: "ERROR" | "STREAM_STATUS" | "ESTIMATE" | "ANALYTICS";
  readonly error?: {
    readonly message?: string;
    readonly internal_message?: string;
    readonly stack_trace?: string;
    readonly failure_type?: string;
    readonly stream_descriptor?: StreamDescriptor;
  };
  readonly stream_status?: {
    readonly stream_descriptor: StreamDescriptor;
    readonly status: "STARTED" | "RUNNING" | "COMPLETE" | "INCOMPLETE";
  };
}

export interface ObservedMessage {
  readonly message: Message;
  /** As it was written, without the line's end. */
  readonly line: string;
  /** How many requests had been sent when it arrived. */
  readonly requestCount: number;
  /** Virtual time. */
  readonly atMs: number;
}

/** Every failure has one of these classes. */
export const errorClasses = [
  "config",
  "auth",
  "permission",
  "rate_limit",
  "transient",
  "provider",
  "schema",
  "state",
  "cancelled",
  "internal",
] as const;
export type ErrorClass = (typeof errorClasses)[number];

/** One failure as a user meets it: a failed check, a TRACE ERROR, a failed stream. */
export interface Failure {
  /**
   * Classes that it may be: one for svc connectors, several where only Airbyte's `failure_type` is
   * known, none when it says nothing.
   */
  readonly classes: readonly ErrorClass[];
  /** Stable code, where there is one. */
  readonly code?: string | undefined;
  readonly message: string;
  /** Label of the stream, for a failure of one. */
  readonly stream?: string | undefined;
}

export interface Outcome {
  /**
   * `crashed`: the process or function ended with an exception or without a word. `hung`: it had to
   * be ended from outside. A failed check or stream is `failed`.
   */
  readonly status: "succeeded" | "failed" | "cancelled" | "crashed" | "hung";
  readonly failures: readonly Failure[];
}

/** Traces of a run beside its output. Only what the target can see is there. */
export interface Traces {
  /** Lines on stdout that are no messages. */
  readonly strayOutput: readonly string[];
  readonly errorOutput: string;
  /** Waits asked of the injected clock. */
  readonly waits: readonly { readonly atMs: number; readonly durationMs: number }[];
  /** Of this process: unhandled rejections, uncaught exceptions and warnings, one line each. */
  readonly accidents: readonly string[];
  /**
   * Accesses that the sandbox refused ("network", "fs", …), and those that the module made past its
   * context when it runs in this process.
   */
  readonly denied: readonly string[];
  /** Redactions of the runtime's output filter: the connector tried. */
  readonly redactions: readonly string[];
  /**
   * Milliseconds from the request to end (cancel) until the run had settled: of real time, and of
   * virtual time that went by.
   */
  readonly settledAfterMs?: number | undefined;
  /**
   * More that belongs to a search for leaks: container logs, `docker inspect`, files left behind.
   */
  readonly artefacts: readonly { readonly name: string; readonly text: string }[];
  /** Connections of the transport that were still open when the run had ended. */
  readonly openConnections: number;
  /**
   * Requests that had neither been answered nor been given up when the run had ended; only the
   * fault server knows.
   */
  readonly openRequests?: number | undefined;
  /**
   * Files, sockets, timers and the like that this process had more after the run than before, by
   * kind.
   */
  readonly leftHandles: readonly string[];
  /** Peak memory of the worker or container, where it is known. */
  readonly peakBytes?: number | undefined;
  /**
   * Accesses of the connector's own code past its context; only of runs that were asked to watch,
   * in this process.
   */
  readonly accesses?: readonly Access[] | undefined;
  /**
   * Refresh tokens that the runtime had kept (its token store), in order. Sources that keep their
   * own write CONTROL messages.
   */
  readonly tokenSaves: readonly TokenSave[];
  /**
   * Names that were looked up and connections that were asked for; only the fault server sees them.
   */
  readonly lookups: readonly string[];
  readonly dials: readonly {
    readonly host: string;
    readonly port: number;
    readonly address?: string | undefined;
  }[];
  /**
   * Statements that arrived at the database, the login's own included; empty for connectors that
   * speak HTTP.
   */
  readonly queries: readonly Query[];
}

export interface TokenSave {
  readonly refreshToken: string | undefined;
  /** Virtual time. */
  readonly atMs: number;
  /** How many requests had been sent. */
  readonly requestCount: number;
}

export type AccessKind = "fs" | "environment" | "clock" | "random" | "network" | "process";

/** One use of something that belongs to this process: see replay/access.ts. */
export interface Access {
  readonly kind: AccessKind;
  /** "Date.now()", "process.env.HOME", "fs.readFileSync". */
  readonly what: string;
  /** "index.ts:12": the connector's line that did it. */
  readonly where: string;
}

/**
 * One thing that a connector gave to what runs it, as it gave it. `context`: what it was given
 * itself. `thrown`: also what ends a program.
 */
export interface Given {
  readonly where: "log" | "records" | "state" | "catalog" | "context" | "thrown";
  /** Of a log line: "debug", "info", "warn". */
  readonly level?: string | undefined;
  readonly stream?: string | undefined;
  readonly value: unknown;
}

export interface Observation {
  readonly command: Command;
  readonly messages: readonly ObservedMessage[];
  readonly outcome: Outcome;
  readonly exchanges: readonly Exchange[];
  /** How many RECORD messages there were, kept or not. */
  readonly recordCount?: number | undefined;
  /** Recorded interactions that a strict replay did not see. */
  readonly unused: readonly string[];
  readonly traces: Traces;
  /**
   * Values that the connector gave, before anything filtered them; empty unless the run was asked
   * to keep it.
   */
  readonly given: readonly Given[];
  /** True when the consumer stopped the run itself (a crash that was wanted). */
  readonly isStopped: boolean;
  /**
   * How far the run was when it was cancelled, or when its consumer stalled and the connector came
   * to rest.
   */
  readonly cancelledAt?: RunProgress | undefined;
  readonly stalledAt?: RunProgress | undefined;
}

export interface RunProgress {
  readonly messageCount: number;
  readonly requestCount: number;
}
